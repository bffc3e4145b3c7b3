"""What a person sees of a run. Returns text; printing is the command's."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final

import click

from ._causes import Finding, first_of, groups_of
from ._in_words import played, tally
from ._repeat import Repeat
from ._result import BAD, Result, Run, Status
from ._shortening import shortened_lines

WIDTH: Final = 100
TIMELINE_LINES: Final = 9

# A report is read at a glance: it fits a terminal of 25 lines, and ten of them a person's patience.
REPORT_LINES: Final = 25
MOST_REPORTS: Final = 10
MOST_DIFFERENCES: Final = 4
DIFFERENCE_LINES: Final = 8
# Of a text beside something else: narrower than this it is hard to read.
LEAST_COLUMNS: Final = 36
# One fault that shows everywhere must not hide the others.
REPORTS_OF_A_GROUP: Final = 3

_COLOURS: Final = {
    Status.PASS: "green",
    Status.FAIL: "red",
    Status.WRONG_REASON: "red",
    Status.WARN: "yellow",
    Status.NA: "bright_black",
    Status.XFAIL: "cyan",
    Status.STALE: "red",
    Status.HARNESS: "magenta",
}
_ORDER: Final = (
    Status.HARNESS,
    Status.FAIL,
    Status.WRONG_REASON,
    Status.STALE,
    Status.WARN,
    Status.XFAIL,
    Status.PASS,
    Status.NA,
)


def _styled(status: Status, text: str | None = None) -> str:
    return click.style(text or status.value, fg=_COLOURS[status])


def worst(results: Sequence[Result]) -> Status:
    """Return the verdict that a group of results deserves."""
    return next(status for status in _ORDER if any(r.status is status for r in results))


def requirement_line(results: Sequence[Result]) -> str:
    """Return one line for all results of one requirement."""
    requirement = results[0].check.requirement
    status = worst(results)
    ran = [r for r in results if r.status is not Status.NA]
    bad = [r for r in ran if r.status is not Status.PASS]
    if not ran:
        counts = results[0].note
    elif bad:
        counts = f"{len(bad)} of {len(ran)} check{'s' * (len(ran) != 1)}"
    else:
        counts = f"{len(ran)} check{'s' * (len(ran) != 1)}"
    return (
        f"{_styled(status, f'{status.value:<12}')} {requirement.level:<7}"
        f"{requirement.id:<28} {counts}"
    )


def check_line(result: Result) -> str:
    """Return one line for one check, for ``-v``."""
    note = f"  ({result.note})" if result.note else ""
    verdict = _styled(result.status, f"{result.status.value:<12}")
    return f"  {verdict} {result.check.id}{note}"


def failure_report(result: Result, repeat: Repeat | None) -> str:
    """Return at most 25 lines: the rule, the wire, the answer, the difference, what to do.

    Args:
        result: A verdict whose texts are clean.
        repeat: How the run was asked for; None where no command gives this verdict.
    """
    requirement, check = result.check.requirement, result.check
    head = [
        f"{_styled(result.status)} {click.style(check.id, bold=True)}",
        *_wrapped(f"{requirement.level}: ", requirement.statement, lines=3),
        *_wrapped("case: ", check.title, lines=2),
        *_what_differs(result),
    ]
    if result.said:
        head += _wrapped("answer   ", result.said, lines=2)
    if result.lane:
        head += _wrapped("played   ", played(check.id, result.lane), lines=2)
    commands = []
    if repeat is not None:
        commands = [
            f"  repeat   {repeat.command(check.id, result.status, result.lane)}",
            f"  explain  {repeat.explanation(check.id)}",
        ]
    room = min(TIMELINE_LINES, REPORT_LINES - len(head) - len(commands))
    timeline = [_cut(f" {line}") for line in shortened_lines(result.timeline, lines=room)]
    return "\n".join([*head, *timeline, *commands])


def _what_differs(result: Result) -> list[str]:
    if result.status is Status.HARNESS:
        return _wrapped("the kit failed, not your adapter: ", result.note, lines=4, hang=4)
    told: list[str] = []
    for number, text in enumerate(result.differences):
        # What was got, and what to do about it, stand at the end: fewer of them, and those whole.
        lines = _wrapped("differs  ", text, lines=4)
        if number == MOST_DIFFERENCES or len(told) + len(lines) > DIFFERENCE_LINES:
            left = len(result.differences) - number
            return [*told, f"  … and {left} more difference{'s' * (left != 1)}"]
        told += lines
    return told


def findings(results: Sequence[Result], repeat: Repeat, *, every: bool) -> list[str]:
    """Return the reports of what is bad, those that explain others first, and what to read first.

    Args:
        results: All of a run, clean.
        repeat: How the run was asked for.
        every: Whether each has its report; otherwise the first ten, and a line for the rest.
    """
    bad = [result for result in results if is_bad(result)]
    groups = groups_of(
        [
            Finding(
                number=number,
                requirement=result.check.requirement.id,
                status=result.status,
                differences=result.differences,
                has_timeline=bool(result.timeline),
            )
            for number, result in enumerate(bad)
        ]
    )
    most = len(bad) if every else MOST_REPORTS
    shown = first_of(groups, most=most, each=REPORTS_OF_A_GROUP)
    blocks = [failure_report(bad[finding.number], repeat) for finding in shown]
    failures = sum(result.status in BAD for result in bad)
    last = [sentence for group in groups if (sentence := group.sentence(failures))]
    left = len(bad) - len(shown)
    if left:
        last.append(
            f"{left} more {'is' if left == 1 else 'are'} not shown in full: -v shows all of them, "
            "--report html=FILE keeps them"
        )
    return [*blocks, "\n".join(last)] if last else blocks


def _wrapped(label: str, text: str, *, lines: int, hang: int | None = None) -> list[str]:
    return textwrap.wrap(
        label + text,
        WIDTH,
        initial_indent="  ",
        subsequent_indent="  " + " " * (len(label) if hang is None else hang),
        max_lines=lines,
        placeholder=" …",
        break_on_hyphens=False,
    )


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def catalogue_lines(data: dict[str, Any], *, columns: int, every_check: bool) -> Iterator[str]:
    """Yield the catalogue as a list: each requirement, and each of its checks if asked for.

    Args:
        data: The catalogue, as JSON data.
        columns: Of the terminal. A statement stands beside its requirement where there is room.
        every_check: Whether the checks are listed too.
    """
    for requirement in data["requirements"]:
        head = f"{requirement['level']:<7}{requirement['id']:<28}{len(requirement['checks']):>4}  "
        beside = columns - len(head) >= LEAST_COLUMNS
        if not beside:
            yield head.rstrip()
        yield from textwrap.wrap(
            requirement["statement"],
            max(columns, LEAST_COLUMNS),
            initial_indent=head if beside else " " * 7,
            subsequent_indent=" " * (len(head) if beside else 7),
            break_on_hyphens=False,
        )
        for check in requirement["checks"] if every_check else ():
            yield f"{'':<7}{check['id']}"


def headline(run: Run) -> str:
    """Return the verdict of the whole run in one or two lines."""
    code = run.exit_code
    verdict, colour = {
        0: ("CONFORMANT", "green"),
        1: ("NOT CONFORMANT", "red"),
        3: ("NO VERDICT: the kit failed", "magenta"),
        5: ("NO VERDICT: no MUST was checked", "yellow"),
    }[code]
    told = tally((result.status, result.note) for result in run.results)
    if run.not_run:
        told += f", {run.not_run} not run after the first failure"
    musts = _kept(run, "must")
    shoulds = _kept(run, "should")
    return (
        f"{click.style(verdict, fg=colour, bold=True)}  {run.target}  "
        f"MUST {musts}, SHOULD {shoulds}; checks: {told}; "
        f"{run.elapsed_s:.1f} s"
    )


def _kept(run: Run, level: str) -> str:
    by_requirement: dict[str, list[Result]] = {}
    for result in run.results:
        if result.check.requirement.level == level and result.status is not Status.NA:
            by_requirement.setdefault(result.check.requirement.id, []).append(result)
    kept = sum(worst(results) is Status.PASS for results in by_requirement.values())
    return f"{kept}/{len(by_requirement)}"


def is_bad(result: Result) -> bool:
    """Whether a result deserves a report of its own."""
    return result.status in BAD or result.status in (Status.HARNESS, Status.WARN)
