"""Time and memory grow with what is read, and no faster."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest

from adapter_sdk import BlockAssembler

from .streams import event, new_core, one_large_event, read, texts, tool_fragments

# Sixteen times the size in at most twenty times the time; a quadratic part needs 256 times.
LARGER: Final = 16
MOST_TIMES: Final = 20.0

# A processor that is shared now and then is measured again.
LOOKS: Final = 6


def seconds(body: Callable[[int], Iterable[bytes]], size: int) -> float:
    reads = list(body(size))
    gc.collect()
    began = time.process_time()
    read(reads, BlockAssembler())
    return time.process_time() - began


@pytest.mark.parametrize(
    ("body", "size"),
    [
        # Larger ones measure where the processor's caches and malloc's arenas end.
        pytest.param(one_large_event, 1 << 17, id="one-event-of-2-mb"),
        pytest.param(tool_fragments, 2_000, id="32,000-tool-fragments"),
        pytest.param(texts, 2_000, id="32,000-words"),
    ],
)
def test_time_is_linear(body: Callable[[int], Iterable[bytes]], size: int) -> None:
    found = []
    for _ in range(LOOKS):
        # As much work on both sides of the division, so that a busy moment weighs on both.
        small = sum(seconds(body, size) for _ in range(LARGER)) / LARGER
        found.append(seconds(body, LARGER * size) / small)
        if found[-1] <= MOST_TIMES:
            return
    pytest.fail(f"{LARGER} times the size took {found} times the time")


def test_a_large_event_is_held_twice_at_most() -> None:
    size = 1 << 22
    reads = list(one_large_event(size))
    read(one_large_event(1), BlockAssembler())  # what is imported once is no part of an event
    gc.collect()
    tracemalloc.start()
    try:
        read(reads, BlockAssembler())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # As bytes and as text. Above malloc's largest threshold each copy is paid for in new pages.
    assert peak <= 2.1 * size


def test_a_long_stream_keeps_no_more_than_its_text() -> None:
    core = new_core()
    core.data(event({"content": "x"}))
    gc.collect()
    tracemalloc.start()
    try:
        words = 20_000
        for data in texts(words):
            core.data(data)
            core.out.clear()
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The block's end holds the whole text, so the text under way is kept; nothing else is.
    assert kept <= 1.5 * 6 * words + 20_000


def test_an_assembler_takes_at_most_three_times_the_text() -> None:
    words = 20_000
    assembler, core = BlockAssembler(), new_core()
    chunks: list[Any] = []
    for data in texts(words):
        core.data(data)
        chunks += core.out
        core.out.clear()
    ends = chunks[-2:]
    deltas = [(type(chunk), chunk.index, chunk.text) for chunk in chunks[1:-2]]
    del chunks
    gc.collect()
    tracemalloc.start()
    try:
        for kind, index, text in deltas:
            assembler.add(kind(index, text))
        blocks = assembler.blocks()
        for end in ends:
            assembler.add(end)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert blocks == assembler.blocks()
    assert peak <= 3 * 6 * words
