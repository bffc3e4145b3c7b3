"""The caller's signal ends the wait, and of signal and limit the first one counts."""

from __future__ import annotations

import anyio
import pytest

from adapter_sdk import AbortSignal, Expiry
from adapter_sdk._clock import running_clock
from adapter_sdk._reader import Aborted, Reader
from adapter_sdk.testing import ManualClock

from .lanes import Backend, both_backends
from .reading import IDLE_S, Source, outcome, reading, run
from .waiting import at_least, settle


@both_backends
@pytest.mark.parametrize("first", ["abort-is-set-up-first", "limit-is-set-up-first"])
@pytest.mark.parametrize(
    ("at", "expected"),
    [
        pytest.param(4.0, (4.0, Aborted("stop", 4.0)), id="abort-before-the-limit"),
        pytest.param(IDLE_S, (IDLE_S, Aborted("stop", IDLE_S)), id="a-tie-is-the-callers"),
        pytest.param(11.0, (IDLE_S, Expiry("idle", IDLE_S, IDLE_S)), id="abort-after-the-limit"),
    ],
)
def test_of_abort_and_limit_the_first_cause_counts(
    backend: Backend, first: str, at: float, expected: tuple[float, object]
) -> None:
    async def test() -> tuple[float, object]:
        signal = AbortSignal()
        reader = reading(Source((99,)).run(), abort=signal)

        def order() -> None:
            running_clock().call_at(at, lambda: signal.abort("stop"))

        if first == "abort-is-set-up-first":
            order()
        else:
            running_clock().call_at(0.5, order)
        seen = await outcome(reader)
        await at_least(5)
        again = await outcome(reader)
        assert again == (seen[0] + 5, expected[1])
        await reader.aclose()
        return seen

    assert run(backend, test) == expected


@pytest.mark.parametrize(
    ("abort_at", "expected"),
    [
        pytest.param(IDLE_S, Aborted("stop", IDLE_S), id="at-the-instant-at-which-it-was-due"),
        pytest.param(IDLE_S + 0.01, Expiry("idle", IDLE_S, IDLE_S), id="an-instant-later"),
    ],
)
def test_an_abort_that_comes_second_wins_a_tie_and_nothing_else(
    abort_at: float, expected: object
) -> None:
    async def test() -> object:
        clock, signal = ManualClock(), AbortSignal()
        reader = Reader(
            Source((1,)).run(),
            idle_timeout=IDLE_S,
            progress_timeout=None,
            abort=signal,
            clock=clock,
        )
        async with anyio.create_task_group() as group:
            group.start_soon(outcome, reader)
            await settle()
            clock.advance(IDLE_S)
            clock.advance(abort_at - IDLE_S)
            signal.abort("stop")
        await reader.aclose()
        return reader.cause

    assert run("asyncio", test) == expected


@both_backends
def test_an_abort_leaves_what_had_arrived(backend: Backend) -> None:
    async def test() -> list[tuple[float, object]]:
        signal = AbortSignal()
        reader = reading(Source(("a", "b")).run(), abort=signal)
        seen = [await outcome(reader)]
        await settle()
        signal.abort("stop")
        seen.append(await outcome(reader))
        await reader.aclose()
        return seen

    assert run(backend, test) == [(0.0, "a"), (0.0, Aborted("stop", 0.0))]


@both_backends
def test_a_signal_that_was_set_before_ends_the_first_wait(backend: Backend) -> None:
    async def test() -> tuple[float, object]:
        signal = AbortSignal()
        signal.abort("early")
        reader = reading(Source(("a",)).run(), abort=signal)
        seen = await outcome(reader)
        await reader.aclose()
        return seen

    assert run(backend, test) == (0.0, Aborted("early", 0.0))


@both_backends
def test_a_signal_after_the_close_changes_nothing_and_is_forgotten(backend: Backend) -> None:
    async def test() -> object:
        signal = AbortSignal()
        reader = reading(Source(("a",)).run(), abort=signal)
        await reader.aclose()
        signal.abort("late")
        return reader.cause

    assert run(backend, test) is None
