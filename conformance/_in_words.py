"""What every report says in the same words: how many got which verdict, and how. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ._checks import OTHER_DIALECT
from ._repeat import place_of
from ._result import Status

# In the order in which a reader wants to know of them.
COUNTED: Final = {
    Status.FAIL: "failed",
    Status.WRONG_REASON: "failed for the wrong reason",
    Status.STALE: "stale",
    Status.HARNESS: "broken in the kit",
    Status.WARN: "warned",
    Status.XFAIL: "failed as known",
    Status.PASS: "passed",
    Status.NA: "not applicable",
}

# What is a lane to the kit is a way of playing to its reader.
_WITHOUT_SOCKET: Final = "in process, without a socket"
_WAYS: Final = (
    (re.compile(r"socket"), "over a loopback socket"),
    (re.compile(r"code"), "by code that makes calls of its own, so there is no timeline"),
    (re.compile(r"in-process, whole"), f"{_WITHOUT_SOCKET}; the bytes came whole"),
    (re.compile(r"in-process, byte by byte"), f"{_WITHOUT_SOCKET}; the bytes came one by one"),
    (
        re.compile(r"in-process, split with seed (\d+)"),
        rf"{_WITHOUT_SOCKET}; the bytes came in random pieces (seed \1)",
    ),
    (
        re.compile(r"in-process, (\w+) sweep"),
        rf"{_WITHOUT_SOCKET}; over a sweep (\1) of endings, pieces or variants",
    ),
    (re.compile(r"(\d+) plays"), r"over \1 plays of cases"),
)


def is_of_another_dialect(status: Status, note: str) -> bool:
    """Whether a check did not apply because its case is of a dialect that is not declared."""
    return status is Status.NA and note.startswith(OTHER_DIALECT)


def tally(verdicts: Iterable[tuple[Status, str]]) -> str:
    """Return how many checks got which verdict.

    Cases of other dialects say little of an adapter and are counted by themselves.

    Args:
        verdicts: Status and note of each check.
    """
    verdicts = list(verdicts)
    elsewhere = sum(is_of_another_dialect(status, note) for status, note in verdicts)
    parts = []
    for counted, words in COUNTED.items():
        number = sum(status is counted for status, _ in verdicts)
        if counted is Status.NA:
            number -= elsewhere
        if number:
            parts.append(f"{number} {words}")
    if elsewhere:
        parts.append(f"{elsewhere} of other dialects")
    return ", ".join(parts) or "none"


def played(check_id: str, lane: str) -> str:
    """Return how a verdict came about, in words; a lane that is not known stays as it is."""
    place = place_of(check_id, lane)
    if place is not None:
        return f"in the call of {place}"
    for pattern, words in _WAYS:
        found = pattern.fullmatch(lane)
        if found is not None:
            return found.expand(words)
    return lane
