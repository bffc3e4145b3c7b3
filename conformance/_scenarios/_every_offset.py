"""sse-framing: a good stream that ends at any byte, in each way that a stream can end."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from adapter_sdk import TextDelta
from adapter_sdk.testing import Ending, Exchange, Send

from .._bench import Bench
from .._good_streams import EVENT_STREAM, GoodStream
from .._judge import Difference, shown
from .._observe import Observation
from .._scenario import Scenario, scenario
from .._sweep import Extent
from ._verdicts import outcome

# Characters of one to four bytes, so that a stream ends inside one too.
_PIECES: Final = ("Grüße, ", "世界 ", "🙂")

_CODE_OF_ENDING: Final[dict[Ending, str]] = {
    "eof": "STREAM_CLOSED",
    "cut": "TRANSPORT",
    "reset": "TRANSPORT",
    "hold": "TIMEOUT",
}

_WORD_OF_ENDING: Final[dict[Ending, str]] = {
    "eof": "a clean end",
    "cut": "a cut",
    "reset": "a reset",
    "hold": "silence",
}

# Offsets of a smoke run beside those at the edges of events.
_SEEDED_OFFSETS: Final = 12


def offsets(good: GoodStream, extent: Extent, seed: int) -> list[int]:
    """Return the numbers of bytes after which the stream ends, 1 or more.

    Args:
        good: The stream.
        extent: ``full``: every one. ``smoke``: the edges of events, the bytes around them, and
            a dozen more.
        seed: Of the dozen.
    """
    size = len(good.body)
    if extent == "full":
        return list(range(1, size + 1))
    edges = itertools.accumulate(len(event) for event in good.events)
    near = {edge + step for edge in edges for step in (-2, -1, 0, 1)}
    chance = random.Random(seed)  # noqa: S311 - why: repeatable, not secret
    near |= {chance.randint(1, size) for _ in range(_SEEDED_OFFSETS)}
    return sorted(offset for offset in near | {1} if 1 <= offset <= size)


@dataclass(frozen=True, slots=True)
class _End:
    """A stream that ends after ``offset`` bytes."""

    offset: int
    ending: Ending

    def exchange(self, body: bytes) -> Exchange:
        steps = (Send(body[: self.offset]),)
        return Exchange(200, EVENT_STREAM, steps=steps, ending=self.ending)

    def wrong(self, seen: Observation, good: GoodStream, proven_after: int) -> Iterator[_Wrong]:
        """Yield what is wrong with the call that ended here."""
        code = "success" if self.offset >= proven_after else _CODE_OF_ENDING[self.ending]
        got = seen.ending if seen.failure is None else seen.failure.code
        if got != code:
            phase = "before" if self.offset < proven_after else "from"
            yield _Wrong(f"{_WORD_OF_ENDING[self.ending]} {phase} the terminal marker", code, got)
            return
        whole = itertools.accumulate(len(event) for event in good.deltas)
        text = "".join(p for p, e in zip(good.pieces, whole, strict=True) if e <= self.offset)
        if seen.joined(TextDelta) != text:
            of = f"text delivered before {_WORD_OF_ENDING[self.ending]}"
            yield _Wrong(of, f"that of every whole event ({shown(text)})", outcome(seen))


@dataclass(frozen=True, slots=True)
class _Wrong:
    """One finding, without the place where it was made."""

    of: str
    expected: str
    got: str


def _told(findings: Iterable[tuple[int, _Wrong]]) -> list[Difference]:
    """Return one difference for each finding, with the first place and how many there are."""
    findings = list(findings)
    counts = Counter(wrong for _, wrong in findings)
    firsts: dict[_Wrong, int] = {}
    for offset, wrong in findings:
        firsts.setdefault(wrong, offset)
    return [
        Difference(
            f"{wrong.of}, after {firsts[wrong]} bytes"
            + (f" and at {count - 1} more places" if count > 1 else ""),
            wrong.expected,
            wrong.got,
        )
        for wrong, count in counts.items()
    ]


@scenario(
    "sse-framing",
    "A good stream that ends at any byte fails by the way it ends, and succeeds from its marker on",
    needs_client=True,
    needs_good_stream=True,
    virtual=True,
)
async def every_byte_offset(bench: Bench) -> list[Difference]:
    """Clean end, cut, reset and silence after each number of bytes."""
    good = bench.good_of(_PIECES)
    proven_after = good.proven_after(bench.target.declaration.terminal)
    ends = [
        _End(offset, ending)
        for offset in offsets(good, bench.sweep, bench.seed)
        for ending in _CODE_OF_ENDING
    ]
    findings: list[tuple[int, _Wrong]] = []
    async with bench.in_process([end.exchange(good.body) for end in ends]) as (adapter, _):
        for end in ends:
            seen = await bench.call(adapter)
            findings += [(end.offset, wrong) for wrong in end.wrong(seen, good, proven_after)]
    return _told(findings)


SCENARIOS: Final[tuple[Scenario, ...]] = (every_byte_offset,)
