"""Loop, executor and log together: budgets, waits that are broken off, and what comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from adapter_sdk import AbortSignal, LlmRequest, LlmRuntime, Tool, ToolCallBlock, assistant, user
from adapter_sdk.agent import AgentTool, RequestError, RequestErrorChain, StepLoop, Turn
from adapter_sdk.retry import AlwaysRetry, NormalRetry, RetryExecutor, RetryInvariant, retry_status
from adapter_sdk.session import JsonlLog, MemoryLog, SqliteLog, derive_messages, load_events

from .backoffs import QUICK, SLOW
from .playing import BUSY, Player, calls, fails, half, loop_over, says, types_of

pytestmark = pytest.mark.anyio


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
