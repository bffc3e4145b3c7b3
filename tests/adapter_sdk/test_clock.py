"""The clock of each loop: when it wakes whom, and in which context."""

from __future__ import annotations

import contextvars
from datetime import UTC, datetime, timedelta
from typing import Literal

import anyio
import anyio.lowlevel
import pytest

from adapter_sdk._clock import AsyncioClock, TrioClock, in_trio, running_clock
from adapter_sdk.testing import run_virtual

Backend = Literal["asyncio", "trio"]

both_backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])
holder: contextvars.ContextVar[str] = contextvars.ContextVar("holder", default="nobody")


@pytest.mark.parametrize(
    ("backend", "trio_task", "clock_type"),
    [
        pytest.param("asyncio", False, AsyncioClock, id="asyncio"),
        pytest.param("trio", True, TrioClock, id="trio"),
    ],
)
def test_the_running_loop_is_recognised(
    backend: Backend, trio_task: object, clock_type: object
) -> None:
    async def run() -> tuple[object, object]:
        return in_trio(), type(running_clock())

    assert run_virtual(backend, run) == (trio_task, clock_type)


def test_without_a_loop_there_is_no_clock() -> None:
    assert in_trio() is False
    with pytest.raises(RuntimeError):
        running_clock()


@both_backends
def test_callbacks_come_at_their_instant_and_in_order(backend: Backend) -> None:
    async def run() -> list[tuple[str, float]]:
        clock = running_clock()
        seen: list[tuple[str, float]] = []
        last = anyio.Event()

        def note(name: str) -> None:
            seen.append((name, clock.monotonic()))
            if name == "late":
                last.set()

        clock.call_at(500.0, lambda: note("late"))
        clock.call_at(0.25, lambda: note("early"))
        clock.call_at(-1.0, lambda: note("past"))
        await last.wait()
        return seen

    assert run_virtual(backend, run) == [
        ("past", 0.0),
        ("early", 0.25),
        ("late", 500.0),
    ]


@both_backends
def test_a_cancelled_timer_never_fires(backend: Backend) -> None:
    async def run() -> list[str]:
        clock = running_clock()
        seen: list[str] = []
        over = anyio.Event()
        at_once = clock.call_at(1.0, lambda: seen.append("at once"))
        at_once.cancel()
        later = clock.call_at(1.0, lambda: seen.append("later"))
        await anyio.lowlevel.checkpoint()
        later.cancel()
        later.cancel()
        fired = clock.call_at(2.0, lambda: seen.append("fired"))
        clock.call_at(3.0, over.set)
        await over.wait()
        fired.cancel()
        return seen

    assert run_virtual(backend, run) == ["fired"]


@both_backends
def test_a_timer_holds_nothing_of_the_callers_context(backend: Backend) -> None:
    async def run() -> list[str]:
        holder.set("the caller")
        seen: list[str] = []
        over = anyio.Event()

        def look() -> None:
            seen.append(holder.get())
            over.set()

        running_clock().call_at(1.0, look)
        await over.wait()
        return [*seen, holder.get()]

    assert run_virtual(backend, run) == ["nobody", "the caller"]


@both_backends
def test_the_wall_clock_is_aware(backend: Backend) -> None:
    async def run() -> datetime:
        return running_clock().utc_now()

    before = datetime.now(UTC)
    now = run_virtual(backend, run)
    assert before <= now <= datetime.now(UTC)
    assert now.utcoffset() == timedelta(0)
