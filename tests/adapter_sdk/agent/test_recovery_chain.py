"""Loop, executor and log together: the verification list of the recovery design, on both loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import anyio.lowlevel
import pytest

from adapter_sdk import (
    AbortSignal,
    BaseAdapter,
    LlmRequest,
    LlmRuntime,
    Tool,
    ToolCallBlock,
    assistant,
    user,
)
from adapter_sdk.agent import (
    AgentTool,
    CallNext,
    ContextOverflowRecovery,
    Decision,
    RequestError,
    RequestErrorChain,
    StepLoop,
    Turn,
)
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.retry import (
    AlwaysRetry,
    Backoff,
    NormalRetry,
    RetryExecutor,
    RetryInvariant,
    retry_status,
)
from adapter_sdk.session import (
    JsonlLog,
    MemoryLog,
    SqliteLog,
    derive_messages,
    load_events,
    progress_of,
    recover,
)
from adapter_sdk.testing import Exchange, FaultServer, Send, run_virtual, scripted_client

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

QUICK: Final = Backoff(initial_delay_ms=1, max_delay_ms=1, jitter_ratio=0)
SLOW: Final = Backoff(initial_delay_ms=60_000, max_delay_ms=60_000, jitter_ratio=0)


class Listening:
    """A listener that starts something once, the first time it is asked."""

    def __init__(self, then: Callable[[], object]) -> None:
        self.then = then

    async def request_error(self, payload: RequestError, call_next: CallNext) -> Decision:
        self.then()
        return await call_next(payload)


async def test_a_retried_turn_is_one_row_one_answer_and_no_withdrawn_text() -> None:
    log = MemoryLog(invariants=[RetryInvariant()])
    executor = RetryExecutor(log)
    player = Player([fails(BUSY, *half("No")), fails(BUSY), says("Noon.")])
    loop = loop_over(log, player, executor.request_error, retry_policy=NormalRetry(backoff=QUICK))
    assert await loop.run_turn("Time?") == Turn(1, "complete", assistant("Noon."))
    (row,) = retry_status(log.events)
    assert (row.count, row.state, row.withdrawn_characters) == ("2/5", "started", 2)
    assert derive_messages(log.events) == (user("Time?"), assistant("Noon."))


@pytest.mark.parametrize(("retries", "requests"), [(0, 1), (1, 2), (3, 4)])
async def test_a_budget_of_n_costs_n_more_requests(retries: int, requests: int) -> None:
    log = MemoryLog(invariants=[RetryInvariant()])
    executor = RetryExecutor(log)
    player = Player([fails(BUSY)] * 9)
    policy = NormalRetry(max_retries=retries, backoff=QUICK)
    loop = loop_over(log, player, executor.request_error, retry_policy=policy)
    assert (await loop.run_turn("Time?")).failure == BUSY
    assert len(player.requests) == requests


async def test_each_step_has_a_budget_of_its_own() -> None:
    async def clock(_: dict[str, Any]) -> str:
        return "noon"

    log = MemoryLog(invariants=[RetryInvariant()])
    executor = RetryExecutor(log)
    call = calls(ToolCallBlock("c1", "clock", "{}"))
    player = Player([fails(BUSY), call, fails(BUSY), says("Noon.")])
    policy = NormalRetry(max_retries=1, backoff=QUICK)
    loop = loop_over(
        log,
        player,
        executor.request_error,
        retry_policy=policy,
        tools=[AgentTool(Tool("clock"), clock)],
    )
    assert (await loop.run_turn("Time?")).reason == "complete"
    assert [e.data["step"] for e in log.events if e.type == "llm/retry"] == [1, 2]


async def test_always_goes_on_until_it_succeeds() -> None:
    log = MemoryLog(invariants=[RetryInvariant()])
    executor = RetryExecutor(log)
    player = Player([*[fails(BUSY)] * 12, says("Noon.")])
    policy = AlwaysRetry(backoff=QUICK)
    loop = loop_over(log, player, executor.request_error, retry_policy=policy)
    assert (await loop.run_turn("Time?")).reason == "complete"
    assert len(player.requests) == 13


@pytest.mark.parametrize("how", ["cancel", "abort", "dispose"])
async def test_a_wait_that_is_broken_off_starts_nothing_and_leaves_nothing_alive(how: str) -> None:
    log = MemoryLog(invariants=[RetryInvariant()])
    signal = AbortSignal()
    chain = RequestErrorChain()
    executor = RetryExecutor(log, register=chain.register)
    runtime = LlmRuntime()
    player = Player([fails(BUSY, *half("x")), says("never")])
    runtime.register("example", player)
    loop = StepLoop(
        log,
        runtime,
        provider="example",
        request=LlmRequest(model="m", messages=()),
        request_error=chain,
        retry_policy=NormalRetry(backoff=SLOW),
    )
    turns: list[Turn] = []

    async def run() -> None:
        turns.append(await loop.run_turn("Time?", abort=signal))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        while types_of(log.events)[-1:] != ["llm/retry"]:
            await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        if how == "cancel":
            tasks.cancel_scope.cancel()
        elif how == "abort":
            signal.abort()
        else:
            await executor.dispose()
    await executor.dispose()
    assert executor._waits == set()
    assert (len(player.requests), player.closed) == (1, 1)
    assert types_of(log.events)[-3:] == ["llm/retry", "step/end", "turn/end"]
    reasons = {"cancel": "interrupted", "abort": "aborted", "dispose": "error"}
    assert log.events[-1].data["reason"] == reasons[how]
    assert [turn.reason for turn in turns] == ([] if how == "cancel" else [reasons[how]])
    (row,) = retry_status(log.events)
    assert row.state == "cancelled"
    assert derive_messages(log.events) == (user("Time?"),)


async def test_a_disposed_executor_is_no_part_of_the_next_turn() -> None:
    log = MemoryLog(invariants=[RetryInvariant()])
    chain = RequestErrorChain()
    executor = RetryExecutor(log, register=chain.register)
    await executor.dispose()
    assert await chain.ask(RequestError(1, 1, "example", BUSY, None, None)) is None
    assert len(log.events) == 0


@pytest.mark.parametrize("kind", [JsonlLog, SqliteLog])
async def test_a_retried_turn_comes_back_from_the_disk_and_its_count_goes_on(
    kind: type[JsonlLog | SqliteLog], tmp_path: Path
) -> None:
    path = tmp_path / ("log.jsonl" if kind is JsonlLog else "log.db")
    policy = NormalRetry(max_retries=1, backoff=QUICK)
    with kind(path, invariants=[RetryInvariant()]) as log:
        executor = RetryExecutor(log)
        player = Player([fails(BUSY, *half("No")), says("Noon.")])
        loop = loop_over(log, player, executor.request_error, retry_policy=policy)
        await loop.run_turn("Time?")
        written = [event.line() for event in log.events]
        rows = retry_status(log.events)
    assert [event.line() for event in load_events(path, invariants=[RetryInvariant()])] == written
    with kind(path, invariants=[RetryInvariant()]) as log:
        assert retry_status(log.events) == rows
        assert derive_messages(log.events) == (user("Time?"), assistant("Noon."))


# ---- real adapters -----------------------------------------------------------------------


class Adapter(BaseAdapter):
    """A provider that ends its streams with ``[DONE]``."""

    dialect = OpenAIChat(terminal="done-sentinel")


STREAM: Final = (("content-type", "text/event-stream"),)
HALF: Final = Send(b'data: {"choices":[{"index":0,"delta":{"content":"Half"}}]}\n\n')
WHOLE: Final = (
    Send(b'data: {"choices":[{"index":0,"delta":{"content":"Noon."}}]}\n\n'),
    Send(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'),
    Send(b"data: [DONE]\n\n"),
)


async def test_a_silence_of_the_provider_is_timed_out_and_retried(anyio_backend: str) -> None:
    exchanges = [
        Exchange(200, STREAM, steps=(HALF,), ending="hold"),
        Exchange(200, STREAM, steps=WHOLE),
    ]

    async def run() -> tuple[Turn, MemoryLog, float]:
        scripted = scripted_client(exchanges)
        log = MemoryLog(invariants=[RetryInvariant()])
        runtime = LlmRuntime()
        adapter = Adapter(base_url="http://example.test", api_key="k", http_client=scripted.client)
        runtime.register("example", adapter)
        chain = RequestErrorChain()
        executor = RetryExecutor(log, register=chain.register)
        loop = StepLoop(
            log,
            runtime,
            provider="example",
            request=LlmRequest(model="m", messages=()),
            request_error=chain,
            retry_policy=NormalRetry(backoff=QUICK),
        )
        turn = await loop.run_turn("Time?")
        await executor.dispose()
        await scripted.client.aclose()
        assert scripted.open_responses == 0
        return turn, log, anyio.current_time()

    backend: Any = anyio_backend
    turn, log, seconds = await anyio.to_thread.run_sync(lambda: run_virtual(backend, run))
    assert turn.message == assistant("Noon.")
    (retry,) = (event.data for event in log.events if event.type == "llm/retry")
    assert retry["failure"]["code"] == "TIMEOUT"
    assert 300 <= seconds < 301  # of virtual time: the idle limit


async def test_each_attempt_is_one_request_on_the_wire() -> None:
    throttled = Exchange(429, (("retry-after-ms", "1"),), body=b'{"error":"slow"}')
    cut = Exchange(200, STREAM, steps=(HALF,), ending="cut")
    log = MemoryLog(invariants=[RetryInvariant()])
    with FaultServer([throttled, cut, Exchange(200, STREAM, steps=WHOLE)]) as server:
        async with Adapter(base_url=server.base_url, api_key="k") as adapter:
            runtime = LlmRuntime()
            runtime.register("example", adapter)
            chain = RequestErrorChain()
            executor = RetryExecutor(log, register=chain.register)
            loop = StepLoop(
                log,
                runtime,
                provider="example",
                request=LlmRequest(model="m", messages=()),
                request_error=chain,
                retry_policy=NormalRetry(backoff=QUICK),
            )
            turn = await loop.run_turn("Time?")
            await executor.dispose()
        assert turn.message == assistant("Noon.")
        bodies = {request.body for request in server.requests}
        assert (len(server.requests), len(bodies)) == (3, 1)
    failures = [e.data["failure"]["code"] for e in log.events if e.type == "llm/retry"]
    assert failures == ["RATE_LIMIT", "TRANSPORT"]


# ---- every await -------------------------------------------------------------------------


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
