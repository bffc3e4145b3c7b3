"""Loop, executor and log together, stopped at every place where a turn waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

import anyio
import anyio.lowlevel
import pytest

from adapter_sdk import AbortSignal, LlmRequest, Tool, ToolCallBlock
from adapter_sdk.agent import (
    AgentTool,
    CallNext,
    ContextOverflowRecovery,
    Decision,
    RequestError,
    Turn,
)
from adapter_sdk.retry import NormalRetry, RetryExecutor, RetryInvariant
from adapter_sdk.session import MemoryLog, progress_of, recover

from .backoffs import QUICK
from .playing import (
    BUSY,
    FULL,
    Play,
    Player,
    calls,
    fails,
    for_ever,
    half,
    loop_over,
    says,
    types_of,
)

pytestmark = pytest.mark.anyio


class Points:
    """Places where a turn waits; at the n-th one ``then`` is called, or the executor disposed."""

    def __init__(self, stop_at: int, then: Callable[[], object] | Literal["dispose"]) -> None:
        self.passed = 0
        self.stop_at = stop_at
        self.then = then
        self.executor: RetryExecutor | None = None

    async def __call__(self) -> None:
        if self.passed == self.stop_at:
            if self.then != "dispose":
                self.then()
            elif self.executor is not None:
                await self.executor.dispose()
        self.passed += 1
        await anyio.lowlevel.checkpoint()


# Prompt, chunks, listeners, backoff, summary, tools: as many as ``a_long_turn`` passes.
POINTS: Final = 24


async def a_long_turn(log: MemoryLog, point: Points, signal: AbortSignal | None) -> Turn:
    """A failure, an overflow, tools, an answer: with a point wherever something is awaited."""

    async def prompt(request: LlmRequest) -> LlmRequest:
        await point()
        return request

    async def listener(payload: RequestError, call_next: CallNext) -> Decision:
        await point()
        decision = await call_next(payload)
        await point()
        return decision

    async def summarise(*_: object) -> str:
        await point()
        return "gist"

    async def clock(_: dict[str, Any]) -> str:
        await point()
        return "noon"

    def pausing(script: list[Any]) -> Play:
        return [step for chunk in script for step in (point, chunk)]

    executor = point.executor = RetryExecutor(log)
    recovery = ContextOverflowRecovery(log, summarise)
    player = Player(
        [
            pausing(fails(BUSY, *half("No"))),
            pausing(fails(FULL)),
            pausing(calls(ToolCallBlock("c1", "clock", "{}"), ToolCallBlock("c2", "clock", "{}"))),
            pausing(says("Noon.")),
        ]
    )
    loop = loop_over(
        log,
        player,
        listener,
        recovery.request_error,
        executor.request_error,
        prompt=prompt,
        tools=[AgentTool(Tool("clock"), clock)],
        retry_policy=NormalRetry(backoff=QUICK),
    )
    try:
        return await loop.run_turn("Time?", abort=signal)
    finally:
        assert player.closed == len(player.requests)
        assert executor._waits == set()


def told() -> MemoryLog:
    """A log with a turn in it that is long enough to be summed up."""
    log = MemoryLog(invariants=[RetryInvariant()])
    log.append("turn/start", {"turn": 1})
    for text in ("one " * 50, "two"):
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        log.append("user/message", {"turn": 1, "message": message}, surface_op="append")
    log.append("turn/end", {"turn": 1, "reason": "complete"})
    return log


async def test_the_long_turn_passes_as_many_points_as_are_tried() -> None:
    point = Points(-1, for_ever)
    turn = await a_long_turn(told(), point, None)
    assert (turn.reason, point.passed) == ("complete", POINTS)


@pytest.mark.parametrize("stop_at", range(POINTS))
async def test_cancelled_at_any_await_the_log_is_whole_and_the_conversation_goes_on(
    stop_at: int,
) -> None:
    log = told()
    with anyio.CancelScope() as scope:
        await a_long_turn(log, Points(stop_at, scope.cancel), None)
    assert scope.cancelled_caught
    assert log.events[-1].data == {"turn": 2, "reason": "interrupted"}
    await goes_on(log)


@pytest.mark.parametrize("stop_at", range(POINTS))
async def test_aborted_at_any_await_the_turn_ends_and_the_conversation_goes_on(
    stop_at: int,
) -> None:
    log = told()
    signal = AbortSignal()
    turn = await a_long_turn(log, Points(stop_at, signal.abort), signal)
    # The player does not look at the signal: a stream that has begun is read to its end.
    assert turn.reason in ("aborted", "complete")
    await goes_on(log)


@pytest.mark.parametrize("stop_at", range(POINTS))
async def test_disposed_of_at_any_await_the_executor_retries_nothing_more(stop_at: int) -> None:
    log = told()
    turn = await a_long_turn(log, Points(stop_at, "dispose"), None)
    retried = "llm/retry" in types_of(log.events)
    assert turn.reason == ("complete" if retried else "error")
    await goes_on(log)


@pytest.mark.parametrize("stop_at", range(0, POINTS, 3))
async def test_a_fault_at_any_await_ends_the_turn_and_the_conversation_goes_on(
    stop_at: int,
) -> None:
    def fault() -> None:
        raise SystemError("of the program")

    log = told()
    try:
        turn = await a_long_turn(log, Points(stop_at, fault), None)
    except SystemError:
        assert log.events[-1].data == {"turn": 2, "reason": "fault"}
    else:  # in the adapter it is a failure of the call, in a tool a result
        assert turn.reason in ("complete", "error")
    await goes_on(log)


async def goes_on(log: MemoryLog) -> None:
    now = progress_of(log.events)
    assert (now.turn_open, now.step_open, now.calls) == (False, False, {})
    assert recover(log) == ()
    player = Player([says("Yes.")])
    assert (await loop_over(log, player).run_turn("Still there?")).reason == "complete"
    (messages,) = player.asked
    asked = [b.id for m in messages for b in m.content if b.type == "tool-call"]
    answered = [b.tool_call_id for m in messages for b in m.content if b.type == "tool-result"]
    assert asked == answered
