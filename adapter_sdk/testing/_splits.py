"""Ways to split bytes into reads. A case holds for every one of them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import TypeAlias

Split: TypeAlias = Callable[[bytes], Iterator[bytes]]
"""Cuts bytes into the pieces in which a transport delivers them."""


def whole(data: bytes) -> Iterator[bytes]:
    """One read."""
    if data:
        yield data


def byte_by_byte(data: bytes) -> Iterator[bytes]:
    """One byte a read."""
    for position in range(len(data)):
        yield data[position : position + 1]


def at(*positions: int) -> Split:
    """Cut at these offsets, counted over the whole body."""

    def cut(data: bytes) -> Iterator[bytes]:
        edges = [0, *sorted({p for p in positions if 0 < p < len(data)}), len(data)]
        for start, end in itertools.pairwise(edges):
            if data[start:end]:
                yield data[start:end]

    return cut


def seeded(seed: int, *, longest: int = 40) -> Split:
    """Pieces of 1 to ``longest`` bytes, the same ones for the same seed and bytes."""

    def cut(data: bytes) -> Iterator[bytes]:
        chance = random.Random(seed)  # noqa: S311 - why: repeatable, not secret
        start = 0
        while start < len(data):
            end = start + chance.randint(1, longest)
            yield data[start:end]
            start = end

    return cut
