"""What one event costs, counted and not timed: the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

import pytest

from adapter_sdk import BlockAssembler, IdleWatchdog
from adapter_sdk.testing import ManualClock

from .streams import event, read, texts, tool_fragments

EVENTS: Final = 500


def calls_of(run: Callable[[], object]) -> int:
    """Return how many functions ``run`` calls, those of the interpreter included."""
    count = 0

    def profile(_: Any, kind: str, __: Any) -> None:
        nonlocal count
        count += kind in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def reasoning(count: int) -> list[bytes]:
    return [event({"content": None, "reasoning_content": " why"}) for _ in range(count)]


def per_event(body: Callable[[int], list[bytes]], *, join: bool) -> float:
    """Return the calls that one more event costs, without those of a whole stream."""

    def cost(count: int) -> int:
        reads = [*body(count), *texts(0)]
        if join:
            reads = [b"".join(reads)]
        return calls_of(lambda: read(reads, BlockAssembler()))

    read(texts(1))  # what is imported once is no cost of an event
    return (cost(2 * EVENTS) - cost(EVENTS)) / EVENTS


# Measured on 3.11, 3.12 and 3.13, and a tenth more. One call is some 0.05 us of a server's core.
MOST_CALLS: Final = {
    ("text", False): 32,
    ("text", True): 25,
    ("reasoning", False): 33,
    ("reasoning", True): 26,
    ("tool-call", False): 34,
    ("tool-call", True): 27,
}

BODIES: Final[dict[str, Callable[[int], list[bytes]]]] = {
    "text": lambda count: list(texts(count))[:-1],
    "reasoning": reasoning,
    "tool-call": lambda count: list(tool_fragments(count))[:-1],
}


@pytest.mark.parametrize(
    ("kind", "join"),
    [pytest.param(*key, id=f"{key[0]}-{'burst' if key[1] else 'token'}") for key in MOST_CALLS],
)
def test_an_event_costs_few_calls(kind: str, join: bool) -> None:
    assert per_event(BODIES[kind], join=join) <= MOST_CALLS[kind, join]


def test_a_wait_under_both_limits_costs_few_calls() -> None:
    watchdog = IdleWatchdog(
        idle_timeout=300, progress_timeout=900, on_expired=lambda _: None, clock=ManualClock()
    )

    def waits(count: int) -> int:
        def run() -> None:
            for _ in range(count):
                watchdog.arm()
                watchdog.disarm()
                watchdog.progress()

        return calls_of(run)

    assert (waits(2 * EVENTS) - waits(EVENTS)) / EVENTS <= 6
