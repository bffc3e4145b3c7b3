"""What a person sees of a run. Returns text; printing is the command's."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from typing import Final

import click

from ._checks import OTHER_DIALECT
from ._result import BAD, Result, Run, Status

WIDTH: Final = 100
TIMELINE_LINES: Final = 9

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
        counts = f"{len(bad)} of {len(ran)} checks"
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


def failure_report(result: Result, *, target: str, profile: str | None) -> str:
    """Return at most 25 lines: the rule, the wire, the answer, the difference, what to do."""
    requirement = result.check.requirement
    again = f"dsh-conformance {shlex.quote(target)}" + (f" --profile {profile}" if profile else "")
    if result.status is Status.HARNESS:
        lines = [f"the kit failed, not your adapter: {result.note}"]
    else:
        lines = [f"differs  {difference}" for difference in result.differences[:4]]
    head = f"{_styled(result.status)} {click.style(result.check.id, bold=True)}"
    report = [
        head,
        *_wrapped(f"{requirement.level}: ", requirement.statement, lines=3),
        *_wrapped("case: ", result.check.title, lines=2),
        *(_cut(f"  {line}") for line in lines),
    ]
    if result.said:
        report.append(_cut(f"  answer   {result.said}"))
    if result.lane:
        report.append(f"  lane     {result.lane}")
    report += [_cut(f"  {at * 1000:7.1f} ms  {side:<7}{what}") for at, side, what in _short(result)]
    report += [
        f"  repeat   {again} {result.check.id}",
        f"  explain  dsh-conformance explain {result.check.id}",
    ]
    return "\n".join(report)


def _short(result: Result) -> list[tuple[float, str, str]]:
    timeline = list(result.timeline)
    if len(timeline) <= TIMELINE_LINES:
        return timeline
    kept = TIMELINE_LINES - 1
    skipped = len(timeline) - kept
    middle = timeline[kept // 2]
    return [
        *timeline[: kept // 2],
        (middle[0], "", f"… {skipped} more …"),
        *timeline[-(kept - kept // 2) :],
    ]


def _wrapped(label: str, text: str, *, lines: int) -> list[str]:
    return textwrap.wrap(
        label + text,
        WIDTH,
        initial_indent="  ",
        subsequent_indent="  " + " " * len(label),
        max_lines=lines,
        placeholder=" …",
    )


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def headline(run: Run) -> str:
    """Return the verdict of the whole run in one or two lines."""
    counts = run.counts()
    code = run.exit_code
    verdict, colour = {
        0: ("CONFORMANT", "green"),
        1: ("NOT CONFORMANT", "red"),
        3: ("NO VERDICT: the kit failed", "magenta"),
        5: ("NO VERDICT: no MUST was checked", "yellow"),
    }[code]
    parts = [
        f"{counts[status]} {words}"
        for status, words in (
            (Status.PASS, "passed"),
            (Status.FAIL, "failed"),
            (Status.WRONG_REASON, "failed for the wrong reason"),
            (Status.STALE, "stale"),
            (Status.XFAIL, "failed as known"),
            (Status.WARN, "warned"),
            (Status.HARNESS, "broken in the kit"),
        )
        if counts[status]
    ]
    parts += _left_out(run)
    if run.not_run:
        parts.append(f"{run.not_run} not run after the first failure")
    musts = _kept(run, "must")
    shoulds = _kept(run, "should")
    return (
        f"{click.style(verdict, fg=colour, bold=True)}  {run.target}  "
        f"MUST {musts}, SHOULD {shoulds}; checks: {', '.join(parts) or 'none'}; "
        f"{run.elapsed_s:.1f} s"
    )


def _left_out(run: Run) -> list[str]:
    """Return what did not apply; cases of other dialects say little and count by themselves."""
    notes = [result.note for result in run.results if result.status is Status.NA]
    elsewhere = sum(note.startswith(OTHER_DIALECT) for note in notes)
    counted = ((len(notes) - elsewhere, "not applicable"), (elsewhere, "of other dialects"))
    return [f"{number} {words}" for number, words in counted if number]


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
