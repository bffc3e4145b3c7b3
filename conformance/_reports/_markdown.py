"""Markdown that fits a pull request: the verdict, the requirements, and what is bad. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from .._result import Status
from ._model import CheckReport, Report, RequirementReport
from ._reading_order import causes, in_reading_order
from ._words import (
    NOT_FINE,
    counted,
    explain_command,
    facts,
    repeat_command,
    score,
    setting,
    timeline_lines,
    told,
    verdict,
)

# A comment may have 65536 characters; the rest is for whoever adds a line to it.
LONGEST: Final = 65_000
# What a detail that does not fit leaves for the sentence that says so.
RESERVE: Final = 200

TIMELINE_LINES: Final = 12
LONGEST_LINE: Final = 400

SIGNS: Final = {
    Status.PASS: "✅",
    Status.FAIL: "❌",
    Status.WRONG_REASON: "❌",
    Status.STALE: "❌",
    Status.WARN: "⚠️",
    Status.NA: "⚪",
    Status.XFAIL: "🔶",
    Status.HARNESS: "💥",
}
VERDICT_SIGNS: Final = {0: "✅", 1: "❌", 3: "💥", 5: "⚠️"}


def markdown(report: Report) -> str:
    """Return the report in GitHub's Markdown, below 65,000 characters whatever it holds."""
    lines = [*_head(report), *_tables(report)]
    text = "\n".join(lines) + "\n"
    left_out = 0
    for requirement in in_reading_order(report):
        for check in requirement.checks:
            if check.status not in NOT_FINE:
                continue
            detail = "\n".join(_detail(report, requirement, check)) + "\n"
            if left_out or len(text) + len(detail) > LONGEST - RESERVE:
                left_out += 1
            else:
                text += detail
    if left_out:
        text += f"\n{left_out} more did not fit here; the JSON and HTML reports have them all.\n"
    return text


def _head(report: Report) -> Iterator[str]:
    words, _ = verdict(report)
    yield f"### {VERDICT_SIGNS[report.exit_code]} {words}: {_code(report.target)}"
    yield ""
    yield f"**{score(report)}** · checks: {counted(report)} · {report.elapsed_s:.1f} s"
    yield ""
    yield (
        f"Edition {_plain(report.edition)}, kit {_plain(report.kit_version)}, "
        f"{_plain(setting(report))}; dialects: {_codes(report.dialects)}; "
        f"capabilities: {_codes(report.capabilities)}"
    )
    for sentence in causes(report):
        yield ""
        yield f"**{_plain(sentence)}**"


def _tables(report: Report) -> Iterator[str]:
    fine = (Status.PASS, Status.NA)
    bad = [r for r in in_reading_order(report) if r.status not in fine]
    good = [r for r in report.requirements if r.status in fine]
    if bad:
        yield from ("", *_table(bad))
    if good:
        yield from ("", "<details>", f"<summary>{_good_words(good)}</summary>", "")
        yield from (*_table(good), "", "</details>")


def _good_words(good: Iterable[RequirementReport]) -> str:
    statuses = [requirement.status for requirement in good]
    na = statuses.count(Status.NA)
    more = f", {na} not applicable" if na else ""
    return f"{statuses.count(Status.PASS)} requirements kept{more}"


def _table(requirements: Iterable[RequirementReport]) -> Iterator[str]:
    yield "| Verdict | Level | Requirement | Checks |"
    yield "| --- | --- | --- | --- |"
    for r in requirements:
        status = f"{SIGNS[r.status]} {r.status.value}"
        yield f"| {status} | {r.level} | {_code(r.id)} | {_plain(told(r))} |"


def _detail(report: Report, requirement: RequirementReport, check: CheckReport) -> Iterator[str]:
    body = [
        *facts(check),
        *timeline_lines(check.timeline, lines=TIMELINE_LINES),
        f"repeat:  {repeat_command(report, check)}",
        f"explain: {explain_command(report, check)}",
    ]
    fenced = "\n".join(_cut(line) for line in body)
    fence = "`" * max(3, _longest_run_of_backticks(fenced) + 1)
    yield ""
    yield f"#### {SIGNS[check.status]} {check.status.value} {_code(check.id)}"
    yield ""
    yield f"{requirement.level.upper()}: {_plain(requirement.statement)}  "
    yield f"Case: {_plain(check.title)}"
    yield ""
    yield from (f"{fence}text", fenced, fence)


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


def _longest_run_of_backticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _code(text: str) -> str:
    """Return ``text`` as a code span, in which nothing is markup."""
    text = _cut(" ".join(text.split()))
    ticks = "`" * (_longest_run_of_backticks(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _codes(texts: Iterable[str]) -> str:
    return ", ".join(_code(text) for text in texts) or "none"


def _plain(text: str) -> str:
    """Return ``text`` as words: no markup, link, mention or reference comes of it."""
    text = _cut(" ".join(text.split()))
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_{}\[\]|~])", r"\\\1", text)
    # An invisible joint keeps a mention, a reference and a bare address from becoming links.
    return re.sub(r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)", "<!-- -->", text)
