"""The words that every format uses: verdict, headline, counts, and what to do next. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from typing_extensions import override

from .._catalogue import Level
from .._in_words import played, tally
from .._repeat import repeat_of
from .._result import BAD, Status
from .._shortening import shortened_lines
from ._model import CheckReport, Event, Report, RequirementReport

Tone: TypeAlias = Literal["good", "bad", "warn", "known", "quiet", "broken"]

VERDICTS: Final[dict[int, tuple[str, Tone]]] = {
    0: ("CONFORMANT", "good"),
    1: ("NOT CONFORMANT", "bad"),
    3: ("NO VERDICT: the kit failed", "broken"),
    5: ("NO VERDICT: no MUST was checked", "warn"),
}

TONES: Final[dict[Status, Tone]] = {
    Status.PASS: "good",
    Status.FAIL: "bad",
    Status.WRONG_REASON: "bad",
    Status.WARN: "warn",
    Status.NA: "quiet",
    Status.XFAIL: "known",
    Status.STALE: "bad",
    Status.HARNESS: "broken",
}

NOT_FINE: Final = BAD | {Status.HARNESS, Status.WARN}
"""What a reader has to look at."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How many requirements of one level are kept.

    Attributes:
        kept: All their checks passed.
        checked: Those that applied and were selected.
        not_applicable: Those that need what the adapter does not declare.
        of_edition: All of the edition.
    """

    kept: int
    checked: int
    not_applicable: int
    of_edition: int

    @override
    def __str__(self) -> str:
        return f"{self.kept}/{self.checked}"

    @property
    def left_out(self) -> int:
        """Those that nobody selected."""
        return max(0, self.of_edition - self.checked - self.not_applicable)


def kept(report: Report, level: Level) -> Kept:
    """Return how many requirements of ``level`` the adapter keeps."""
    statuses = [r.status for r in report.requirements if r.level == level]
    not_applicable = statuses.count(Status.NA)
    return Kept(
        kept=statuses.count(Status.PASS),
        checked=len(statuses) - not_applicable,
        not_applicable=not_applicable,
        of_edition=report.edition_levels.get(level, 0),
    )


def verdict(report: Report) -> tuple[str, Tone]:
    """Return the verdict in words, and its tone."""
    return VERDICTS[report.exit_code]


def score(report: Report) -> str:
    """Return how many requirements of each level are kept, and what nobody looked at."""
    levels: tuple[Level, ...] = ("must", "should", "may")
    parts = [
        f"{level.upper()} {kept(report, level)}"
        for level in levels
        if kept(report, level).of_edition or kept(report, level).checked
    ]
    not_applicable = sum(kept(report, level).not_applicable for level in levels)
    left_out = sum(kept(report, level).left_out for level in levels)
    if not_applicable:
        parts.append(f"{not_applicable} not applicable")
    if left_out:
        parts.append(f"{left_out} not selected")
    return ", ".join(parts)


def counted(report: Report) -> str:
    """Return how many checks got which verdict."""
    return tally((check.status, check.note) for check in report.checks)


def setting(report: Report) -> str:
    """Return what the adapter was judged with, in one line."""
    profile = [f"profile {report.profile}"] if report.profile else []
    return ", ".join([*profile, report.backend, report.client, f"seed {report.seed}"])


def told(requirement: RequirementReport) -> str:
    """Return how many checks of a requirement ran and how many did not pass."""
    ran = [check for check in requirement.checks if check.status is not Status.NA]
    bad = [check for check in ran if check.status is not Status.PASS]
    if not ran:
        return requirement.checks[0].note
    if bad:
        return f"{len(bad)} of {len(ran)} check{'s' * (len(ran) != 1)}"
    return f"{len(ran)} check{'s' * (len(ran) != 1)}"


def facts(check: CheckReport) -> list[str]:
    """Return what was found, a line each: the differences, the note, the answer, how."""
    lines = [f"differs: {difference}" for difference in check.differences]
    if check.note:
        words = "the kit failed, not the adapter: " if check.status is Status.HARNESS else "note: "
        lines.append(words + check.note)
    if check.said:
        lines.append(f"answer: {check.said}")
    if check.lane:
        lines.append(f"played: {played(check.id, check.lane)}")
    return lines


def timeline_lines(timeline: Sequence[Event], *, lines: int) -> list[str]:
    """Return a line for each event, at most ``lines``; what proves a finding stays."""
    return shortened_lines([(e.at_s, e.side, e.what) for e in timeline], lines=lines)


def repeat_command(report: Report, check: CheckReport) -> str:
    """Return the command that runs one check again in the same setting."""
    return repeat_of(report).command(check.id, check.status, check.lane)


def explain_command(report: Report, check: CheckReport) -> str:
    """Return the command that explains one check."""
    return repeat_of(report).explanation(check.id)
