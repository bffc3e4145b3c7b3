"""The executor reads its counts from the log, and keeps its budgets over any history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from adapter_sdk import AbortSignal, codes
from adapter_sdk.retry import RETRY, Backoff, NormalRetry, RetryExecutor, check_retry_events
from adapter_sdk.testing import run_virtual

from .retrying import (
    ALWAYS,
    AUTH,
    NORMAL,
    SERVER,
    Backend,
    Downstream,
    Event,
    Log,
    Payload,
    coded,
    hinted,
    ids,
    lanes,
)


@lanes
def test_history_is_the_log(backend: Backend) -> None:
    """Same key counts up; a step, a policy and a provider of their own start at 1."""
    other_policy = NormalRetry(backoff=Backoff(initial_delay_ms=7))
    asked = [
        Payload(),
        Payload(),
        Payload(retry_policy=other_policy),
        Payload(),
        Payload(step=2),
        Payload(step=2),
        Payload(turn=2),
    ]

    async def run() -> Log:
        log, new_id = Log(), ids()
        for payload in asked:
            opened = [e for e in log.events if e.type == "step/start"]
            here = {"turn": payload.turn, "step": payload.step, "provider": "acme"}
            if not opened or opened[-1].data != here:
                log.open(payload.turn, payload.step, "acme")
            # A new executor each time: a restart resets nothing.
            executor = RetryExecutor(log, new_id=new_id)
            assert await executor.request_error(payload, Downstream()) == "retry"
        return log

    log = run_virtual(backend, run)
    assert [entry[1:] for entry in log.retries() if entry[0] == "retry"] == [
        (1, "id-1"),
        (2, "id-1"),
        (1, "id-2"),
        (3, "id-1"),
        (1, "id-3"),
        (2, "id-3"),
        (1, "id-4"),
    ]
    assert check_retry_events(log.events) == []


@pytest.mark.anyio
async def test_only_the_open_step_is_read_however_long_the_log() -> None:
    class Watched(list[Event]):
        read = 0

        @override
        def __reversed__(self) -> Iterator[Event]:
            for event in super().__reversed__():
                self.read += 1
                yield event

    log = Log()
    log.events = events = Watched()
    for _ in range(1000):
        log.append("assistant/chunk", {})
    log.open(1, 1, "acme")
    quick = NormalRetry(backoff=Backoff(initial_delay_ms=1, jitter_ratio=1))
    executor = RetryExecutor(log, random=lambda: 0.0)
    assert await executor.request_error(Payload(retry_policy=quick), Downstream()) == "retry"
    assert events.read == 1


@lanes
def test_two_failures_at_once_get_two_numbers(backend: Backend) -> None:
    async def run() -> list[tuple[str, int, str]]:
        log = Log()
        first, second = RetryExecutor(log, new_id=ids()), RetryExecutor(log, new_id=ids())
        async with anyio.create_task_group() as tasks:
            for executor in (first, second):
                tasks.start_soon(executor.request_error, Payload(), Downstream())
        return log.retries()

    written = run_virtual(backend, run)
    assert written[:2] == [("retry", 1, "id-1"), ("retry", 2, "id-1")]
    assert sorted(written[2:]) == [("retry-started", 1, "id-1"), ("retry-started", 2, "id-1")]


failures = st.sampled_from([SERVER, AUTH, hinted(40), hinted(99_000), coded(codes.TIMEOUT)])
policies = st.sampled_from([NORMAL, NormalRetry(max_retries=1), ALWAYS, None])
moves = st.lists(
    st.one_of(
        st.tuples(st.just("fail"), failures, policies),
        st.tuples(st.just("step"), st.none(), st.none()),
        st.tuples(st.just("turn"), st.none(), st.none()),
        st.tuples(st.just("abort"), failures, policies),
        st.tuples(st.just("restart"), st.none(), st.none()),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(moves=moves, backend=st.sampled_from(["asyncio", "trio"]))
def test_every_history_keeps_the_invariants_and_the_budgets(
    moves: list[tuple[str, Any, Any]], backend: Backend
) -> None:
    async def run() -> Log:
        log, turn, step = Log(), 1, 1
        executor = RetryExecutor(log)
        log.open(turn, step, "acme")
        for kind, failure, policy in moves:
            if kind == "turn":
                log.append("turn/end", {"turn": turn})
                turn, step = turn + 1, 1
                log.open(turn, step, "acme")
            elif kind == "step":
                log.append("step/end", {"turn": turn, "step": step})
                step += 1
                log.append("step/start", {"turn": turn, "step": step, "provider": "acme"})
            elif kind == "restart":
                await executor.dispose()
                executor = RetryExecutor(log)
            else:
                signal = AbortSignal()
                payload = Payload(failure, policy, turn, step, signal=signal)
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(executor.request_error, payload, Downstream())
                    if kind == "abort":
                        await anyio.lowlevel.checkpoint()
                        signal.abort()
        return log

    log = run_virtual(backend, run)
    assert check_retry_events(log.events) == []
    for event in log.events:
        if event.type == RETRY:
            assert event.data["retry"] <= event.data.get("maxRetries", event.data["retry"])
            assert event.data["delayMs"] <= 10_000
