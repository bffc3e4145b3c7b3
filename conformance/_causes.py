"""One fault of an adapter fails many checks: find which, so that a reader begins there. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from ._result import BAD, Status

# What the server of a test answers where its script is over; an adapter passes the words on.
BEYOND_THE_SCRIPT: Final = "one request more than this test expects"

_COUNTED_REQUESTS: Final = re.compile(
    r"(?:HTTP )?requests\b.*: expected (?:at most )?(\d+)\b.*, got (\d+)\b"
)


@dataclass(frozen=True, slots=True)
class Cause:
    """A fault that shows in checks of many requirements.

    Attributes:
        words: What went wrong, in plain words.
        requirement: Id of the one that is about it, or None.
        remedy: What to try where no requirement is about it.
    """

    words: str
    requirement: str | None
    remedy: str = ""


MORE_REQUESTS: Final = Cause("more than one HTTP request", "single-attempt")
NO_REQUEST: Final = Cause(
    "no HTTP request reached the server",
    None,
    "dsh-conformance doctor, and see whether base_url is used",
)
RAISED: Final = Cause("an exception in place of a finish", "foreign-exceptions")
_OF_WORDS: Final = (
    (BEYOND_THE_SCRIPT, MORE_REQUESTS),
    (", got an exception: ", RAISED),
    ("the end of the call: expected a finish", RAISED),
    (", got no end within ", Cause("a call without an end", "idle-timeout")),
    ("the connection: expected closed", Cause("a connection left in use", "connection-released")),
    (
        "outcome: expected failure, got success",
        Cause("a success where the call had to fail", "terminal-evidence"),
    ),
)


def cause_of(differences: Iterable[str]) -> Cause | None:
    """Return the fault that the differences of a check show, or None where it is their own."""
    found: Cause | None = None
    for difference in differences:
        counted = _COUNTED_REQUESTS.match(difference)
        if counted is not None:
            expected, got = int(counted[1]), int(counted[2])
            if got > max(1, expected):
                return MORE_REQUESTS
            if got == 0 < expected:
                found = NO_REQUEST  # unless something says why
        for words, cause in _OF_WORDS:
            if words in difference:
                return cause
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A check that a reader has to look at.

    Attributes:
        number: Its place among all that are found.
        requirement: Id of its requirement.
        status: Its verdict.
        differences: What is not as expected.
        has_timeline: Whether it shows both sides of a call.
    """

    number: int
    requirement: str
    status: Status
    differences: tuple[str, ...]
    has_timeline: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Findings that belong together, what explains the others first.

    Attributes:
        cause: The fault that they share, or None for those of one requirement.
        findings: At least one.
        begin_with: The requirement that is about the cause where it is among those that are not
            kept, else the one with the most findings; or what to try.
    """

    cause: Cause | None
    findings: tuple[Finding, ...]
    begin_with: str = ""

    def sentence(self, failures: int) -> str:
        """Return which of all ``failures`` have this cause, and where to begin."""
        own = sum(finding.status in BAD for finding in self.findings)
        if self.cause is None or not own:
            return ""
        return f"{own} of {failures} failures: {self.cause.words}; begin with {self.begin_with}"


def groups_of(findings: Sequence[Finding]) -> list[Group]:
    """Return the findings in the order in which they should be read.

    First where the kit itself failed, then each fault that shows in several requirements, the
    one with the most failures first, then each requirement by itself; warnings come last.
    """
    broken = [finding for finding in findings if finding.status is Status.HARNESS]
    by_cause: dict[Cause, list[Finding]] = {}
    for finding in findings:
        cause = None if finding in broken else cause_of(finding.differences)
        if cause is not None:
            by_cause.setdefault(cause, []).append(finding)
    shared = {
        cause: found
        for cause, found in by_cause.items()
        if len({finding.requirement for finding in found}) > 1
    }
    explained = {finding.number for found in shared.values() for finding in found}
    groups = [Group(None, (finding,)) for finding in broken]
    for cause, found in sorted(shared.items(), key=lambda item: -_failures(item[1])):
        first = _begin_with(cause, found)
        ranked = sorted(found, key=partial(_rank, first))
        groups.append(Group(cause, tuple(ranked), first))
    by_requirement: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding not in broken and finding.number not in explained:
            by_requirement.setdefault(finding.requirement, []).append(finding)
    own = [Group(None, tuple(found)) for found in by_requirement.values()]
    return groups + sorted(own, key=lambda group: not _failures(group.findings))


def first_of(groups: Sequence[Group], *, most: int, each: int) -> list[Finding]:
    """Return at most ``most`` findings in order, with ``each`` of every group before more of it."""
    left, chosen = most, set[int]()
    for share in (each, most):
        for group in groups:
            fresh = [f.number for f in group.findings[:share] if f.number not in chosen][:left]
            chosen.update(fresh)
            left -= len(fresh)
    return [finding for group in groups for finding in group.findings if finding.number in chosen]


def _failures(findings: Iterable[Finding]) -> int:
    return sum(finding.status in BAD for finding in findings)


def _begin_with(cause: Cause, found: Sequence[Finding]) -> str:
    if cause.requirement is None:
        return cause.remedy
    named = Counter(finding.requirement for finding in found)
    return cause.requirement if cause.requirement in named else named.most_common(1)[0][0]


def _rank(first: str, finding: Finding) -> tuple[bool, bool, bool, int]:
    return (
        finding.requirement != first,
        finding.status is Status.WARN,
        not finding.has_timeline,
        finding.number,
    )
