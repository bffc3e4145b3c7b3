"""Shorten a timeline so that what proves a finding stays. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Moment: TypeAlias = tuple[float, str, str]
"""Seconds, side, what happened."""

# How many connections and requests there were, and what the caller was told, prove most findings.
_PROOF: Final = re.compile(r"connection \d+: (?:accepted|request received|bad request)|finish\b")
# How a connection ended proves the rest.
_END: Final = re.compile(
    r"connection \d+: (?:fin sent|rst sent|peer closed|peer reset|server closed|holding)"
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """So many moments that follow each other are not shown.

    Attributes:
        number: At least two: a single one takes no more room than this.
        at_s: When the first of them was.
    """

    number: int
    at_s: float


def shortened(timeline: Sequence[Moment], *, lines: int) -> list[Moment | LeftOut]:
    """Return at most ``lines`` of a timeline, in order.

    What says that a connection was accepted, that a request came, how a call and a connection
    ended stays before all else; of the rest, what comes first and last.
    """
    if len(timeline) <= lines:
        return list(timeline)
    kept: set[int] = set()
    for index in _by_weight(timeline, lines):
        if _cost({*kept, index}, len(timeline)) <= lines:
            kept.add(index)
    return list(_told(timeline, kept))


def shortened_lines(timeline: Sequence[Moment], *, lines: int) -> list[str]:
    """Return the same as text: milliseconds, side, what happened."""
    return [
        f"{'':>11}  {'':<7}… {moment.number} more …"
        if isinstance(moment, LeftOut)
        else f"{moment[0] * 1000:8.1f} ms  {moment[1]:<7}{moment[2]}"
        for moment in shortened(timeline, lines=lines)
    ]


def _by_weight(timeline: Sequence[Moment], lines: int) -> Iterator[int]:
    """Yield what may stay, the weightiest first; of each kind no more than there is room for."""
    kinds: tuple[list[int], list[int], list[int]] = ([], [], [])
    for index, (_, _, what) in enumerate(timeline):
        kinds[0 if _PROOF.match(what) else 1 if _END.match(what) else 2].append(index)
    for indexes in kinds:
        yield from _from_both_ends(indexes, lines)


def _from_both_ends(indexes: Sequence[int], lines: int) -> Iterator[int]:
    for step in range(min(lines, (len(indexes) + 1) // 2)):
        yield indexes[step]
        if step != len(indexes) - 1 - step:
            yield indexes[-1 - step]


def _cost(kept: Iterable[int], length: int) -> int:
    """Return how many lines it takes to show these moments and that others are left out."""
    cost, before = 0, -1
    for index in [*sorted(kept), length]:
        cost += 1 + (index - before > 1)
        before = index
    return cost - 1


def _told(timeline: Sequence[Moment], kept: set[int]) -> Iterator[Moment | LeftOut]:
    before = -1
    for index in [*sorted(kept), len(timeline)]:
        between = range(before + 1, index)
        if len(between) == 1:
            yield timeline[between[0]]
        elif between:
            yield LeftOut(len(between), timeline[between[0]][0])
        if index < len(timeline):
            yield timeline[index]
        before = index
