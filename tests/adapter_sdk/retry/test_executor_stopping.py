"""The executor under abort, disposal and cancellation: nothing of it stays behind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from typing_extensions import override

from adapter_sdk import AbortSignal
from adapter_sdk.retry import (
    RETRY,
    RETRY_STARTED,
    Backoff,
    Decision,
    NormalRetry,
    RetryExecutor,
    RetryPolicy,
)
from adapter_sdk.testing import ManualClock, run_virtual

from .retrying import ALWAYS, AUTH, NORMAL, Backend, Downstream, Event, Log, Payload, lanes


@lanes
@pytest.mark.parametrize("policy", [NORMAL, ALWAYS], ids=["normal", "always"])
def test_an_abort_before_the_failure_writes_nothing(backend: Backend, policy: RetryPolicy) -> None:
    async def run() -> tuple[Decision, Log]:
        log, signal = Log(), AbortSignal()
        signal.abort()
        payload = Payload(retry_policy=policy, signal=signal)
        return await RetryExecutor(log).request_error(payload, Downstream()), log

    decision, log = run_virtual(backend, run)
    assert (decision, log.events) == (None, [])


@lanes
@pytest.mark.parametrize("stop", ["abort", "dispose"])
def test_what_stops_while_downstream_thinks_writes_nothing(backend: Backend, stop: str) -> None:
    async def run() -> tuple[Decision, Log]:
        log, signal = Log(), AbortSignal()
        executor = RetryExecutor(log)

        async def downstream(_: Payload) -> Decision:
            if stop == "abort":
                signal.abort()
            else:
                await executor.dispose()
            return None

        return await executor.request_error(Payload(AUTH, ALWAYS, signal=signal), downstream), log

    decision, log = run_virtual(backend, run)
    assert (decision, log.events) == (None, [])


class CountingSignal(AbortSignal):
    """A signal that knows how many listen."""

    listening = 0

    @override
    def on_abort(self, listener: Callable[[], None]) -> Callable[[], None]:
        self.listening += 1
        release = super().on_abort(listener)

        def counted() -> None:
            self.listening -= 1
            release()

        return counted


@dataclass
class Waiting:
    """One retry in its wait, on a clock that only the test moves."""

    log: Log = field(default_factory=Log)
    clock: ManualClock = field(default_factory=ManualClock)
    signal: CountingSignal = field(default_factory=CountingSignal)
    scopes: list[anyio.CancelScope] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    unregistered: int = 0

    def __post_init__(self) -> None:
        self.executor = RetryExecutor(self.log, register=self._register, clock=self.clock)

    def _register(self, _: Callable[..., Awaitable[Decision]]) -> Callable[[], None]:
        def unregister() -> None:
            self.unregistered += 1

        return unregister

    async def fail(self) -> None:
        with anyio.CancelScope() as scope:
            self.scopes.append(scope)
            payload = Payload(signal=self.signal)
            self.decisions.append(await self.executor.request_error(payload, Downstream()))

    @property
    def written(self) -> list[str]:
        return [event.type for event in self.log.events]


@pytest.mark.anyio
async def test_disposal_in_backoff_leaves_nothing_alive() -> None:
    waiting = Waiting()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiting.fail)
        tasks.start_soon(waiting.fail)
        await anyio.wait_all_tasks_blocked()
        assert waiting.clock.pending == 2
        await waiting.executor.dispose()
        # Both waits have ended by now, not only been told to.
        assert waiting.decisions == [None, None]
    assert waiting.written == [RETRY, RETRY]
    assert (waiting.clock.pending, waiting.signal.listening) == (0, 0)
    assert waiting.unregistered == 1
    heard = waiting.log.events[:]
    waiting.clock.advance(3600)
    assert waiting.log.events == heard


@pytest.mark.anyio
async def test_disposal_twice_and_with_nothing_to_do_returns() -> None:
    waiting = Waiting()
    await waiting.executor.dispose()
    await waiting.executor.dispose()
    assert waiting.unregistered == 1
    downstream = Downstream("retry")
    assert await waiting.executor.request_error(Payload(), downstream) == "retry"
    assert (downstream.asked, waiting.log.events) == (1, [])


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["abort", "cancel", "abort-as-the-wait-ends"])
async def test_a_wait_that_is_stopped_starts_nothing(how: str) -> None:
    waiting = Waiting()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiting.fail)
        await anyio.wait_all_tasks_blocked()
        match how:
            case "abort":
                waiting.signal.abort()
            case "cancel":
                waiting.scopes[0].cancel()
            case _:
                waiting.clock.advance(1)
                waiting.signal.abort()  # the waiter has not run since: the abort is in time
    assert waiting.decisions == ([] if how == "cancel" else [None])
    assert waiting.written == [RETRY]
    assert (waiting.clock.pending, waiting.signal.listening) == (0, 0)
    await waiting.executor.dispose()  # returns: no wait is left over


@lanes
@pytest.mark.parametrize("stop", ["nothing", "abort", "cancel", "dispose"])
def test_a_wait_of_no_time_can_be_stopped_too(backend: Backend, stop: str) -> None:
    async def main() -> tuple[list[Decision], Log]:
        log, signal, decisions = Log(), AbortSignal(), []
        at_once = NormalRetry(backoff=Backoff(initial_delay_ms=1, jitter_ratio=1))
        executor = RetryExecutor(log, random=lambda: 0.0)
        with anyio.CancelScope() as scope:

            async def fail() -> None:
                payload = Payload(retry_policy=at_once, signal=signal)
                decisions.append(await executor.request_error(payload, Downstream()))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(fail)
                while not log.events:  # the wait has begun, and is over at the next step
                    await anyio.lowlevel.checkpoint()
                match stop:
                    case "abort":
                        signal.abort()
                    case "cancel":
                        scope.cancel()
                    case "dispose":
                        await executor.dispose()
                    case _:
                        pass
        return decisions, log

    decisions, log = run_virtual(backend, main)
    assert log.events[0].data["delayMs"] == 0
    # Whatever came first won: started and answered, or neither.
    began = [event.type for event in log.events] == [RETRY, RETRY_STARTED]
    assert decisions == (["retry"] if began else [] if stop == "cancel" else [None])
    assert began or stop != "nothing"


@pytest.mark.anyio
async def test_disposal_that_is_cancelled_can_be_asked_again() -> None:
    waiting = Waiting()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiting.fail)
        await anyio.wait_all_tasks_blocked()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await waiting.executor.dispose()
        await waiting.executor.dispose()
        assert waiting.decisions == [None]


@pytest.mark.anyio
async def test_cancellation_while_downstream_thinks_propagates() -> None:
    log, decisions = Log(), []
    with anyio.CancelScope() as scope:

        async def downstream(_: Payload) -> Decision:
            scope.cancel()
            await anyio.lowlevel.checkpoint()
            return None

        payload = Payload(AUTH, ALWAYS)
        decisions.append(await RetryExecutor(log).request_error(payload, downstream))
    assert (decisions, log.events, scope.cancelled_caught) == ([], [], True)


@pytest.mark.anyio
async def test_a_log_that_refuses_ends_the_call_and_leaves_no_timer() -> None:
    class Full(Log):
        @override
        def append(self, type_: str, data: Mapping[str, Any], /) -> Event:
            raise OSError("no space left")

    clock = ManualClock()
    executor = RetryExecutor(Full(), clock=clock)
    with pytest.raises(OSError, match="no space left"):
        await executor.request_error(Payload(), Downstream())
    assert clock.timers_made == 0
    await executor.dispose()
