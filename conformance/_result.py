"""What a run says. One model feeds every report. Pure values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from ._catalogue import Requirement


class Status(StrEnum):
    """The verdict of one check."""

    PASS = "PASS"  # noqa: S105 - why: a verdict, not a password
    FAIL = "FAIL"
    WRONG_REASON = "WRONG_REASON"
    """It failed as it ought to, with another code."""
    WARN = "WARN"
    """A SHOULD or MAY that is not kept."""
    NA = "NA"
    """It needs a capability that the adapter does not declare."""
    XFAIL = "XFAIL"
    """It failed as its entry in the known-failures file says."""
    STALE = "STALE"
    """A known failure that passes, fails otherwise, has expired or matches nothing."""
    HARNESS = "HARNESS"
    """The kit itself failed: not the adapter's doing."""


BAD = frozenset({Status.FAIL, Status.WRONG_REASON, Status.STALE})


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that can be run and judged.

    Attributes:
        id: ``requirement_folder/what_happens``.
        requirement: What it shows.
        title: The right behaviour, in one sentence.
    """

    id: str
    requirement: Requirement
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The verdict of one check.

    Attributes:
        check: What was checked.
        status: The verdict.
        differences: What is not as expected, in plain words.
        lane: Which lane gave the verdict: ``socket``, ``in-process`` and its split, ``code``; of a
            rule for every call, how many plays it is about or in which check it was not kept.
        said: What the adapter told its caller, in one line.
        timeline: Both sides on one clock: seconds, side, what.
        elapsed_s: How long it took.
        note: Why it was not applicable, or what broke the kit.
    """

    check: Check
    status: Status
    differences: tuple[str, ...] = ()
    lane: str = ""
    said: str = ""
    timeline: tuple[tuple[float, str, str], ...] = ()
    elapsed_s: float = 0.0
    note: str = ""


@dataclass(slots=True)
class Run:
    """All verdicts of one run.

    Attributes:
        target: As it was asked for.
        edition: Of the requirement catalogue.
        seed: Of the seeded splits.
        profile: The profile that was judged, or None.
        backend: ``asyncio`` or ``trio``.
        client: Which HTTP client the adapter used, in words.
        dialects: Declared by the adapter.
        capabilities: Declared by the adapter, sorted.
        results: One a check, in the order of the catalogue.
        elapsed_s: Of the whole run.
        not_run: Checks that were left out because the first bad verdict ended the run.
        cases: The folder of more case files, as it was given, or None.
        known_failures: The file of known failures, as it was given, or None.
    """

    target: str
    edition: str
    seed: int
    profile: str | None = None
    backend: str = "asyncio"
    client: str = "the adapter's own client"
    dialects: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    results: list[Result] = field(default_factory=list)
    elapsed_s: float = 0.0
    not_run: int = 0
    cases: str | None = None
    known_failures: str | None = None

    def counts(self) -> Counter[Status]:
        """Return how often each status was given."""
        return Counter(result.status for result in self.results)

    @property
    def exit_code(self) -> int:
        """0 conformant, 1 not, 3 the kit failed, 5 no MUST was checked."""
        counts = self.counts()
        if counts[Status.HARNESS]:
            return 3
        if any(counts[status] for status in BAD):
            return 1
        return 0 if _a_must_ran(self.results) else 5


def _a_must_ran(results: Iterable[Result]) -> bool:
    return any(r.check.requirement.level == "must" and r.status is Status.PASS for r in results)
