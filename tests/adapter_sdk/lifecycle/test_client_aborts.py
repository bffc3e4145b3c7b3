"""Calls that are aborted, left or cancelled, in every state; and callers who take their time."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from adapter_sdk import AbortSignal, codes
from adapter_sdk.lifecycle import (
    AssistantChunk,
    LifecycleEvent,
    Recovery,
    ResponseInterrupted,
    ResponseStart,
)
from adapter_sdk.retry import Backoff

from .calling import (
    REQUEST,
    SERVER,
    Adapter,
    Backend,
    Says,
    Seen,
    failure,
    lanes,
    new_client,
    run,
    wait_s,
    watch,
)


@lanes
@pytest.mark.parametrize(
    ("script", "when", "words"),
    [
        pytest.param([Says("Hello")], "before", ["failed None ABORTED"], id="before-the-call"),
        pytest.param(
            [Says("Hello")], ResponseStart, ["start r0 a", "failed r0 ABORTED"], id="at-the-start"
        ),
        pytest.param(
            [Says("Hel", "hang")], "later", ["start r0 a", "text r0 Hel", "failed r0 ABORTED"],
            id="while-a-chunk-is-awaited",
        ),
        pytest.param(
            [Says("Hel", "hang")], AssistantChunk,
            ["start r0 a", "text r0 Hel", "failed r0 ABORTED"], id="while-the-caller-reads",
        ),
        pytest.param(
            [Says("Hel", SERVER)], ResponseInterrupted,
            ["start r0 a", "text r0 Hel", "interrupted r0 SERVER 200 backoff",
             "failed None ABORTED"],
            id="before-the-wait",
        ),
        pytest.param(
            [Says(end=failure(provider_retry_after_ms=60_000))], "later",
            ["start r0 a", "interrupted r0 SERVER 60000 provider", "failed None ABORTED"],
            id="in-the-wait",
        ),
    ],
)  # fmt: skip
def test_an_abort_ends_the_call_in_every_state(
    backend: Backend, script: list[Says], when: Any, words: list[str]
) -> None:
    async def main() -> tuple[Seen, Adapter]:
        abort, adapter, client = AbortSignal(), Adapter(script), new_client()
        client.register_route("a", "m", adapter=adapter)
        if when == "before":
            abort.abort("enough")

        async def on_event(event: LifecycleEvent) -> None:
            if not isinstance(when, str) and isinstance(event, when):
                abort.abort("enough")

        async def later() -> None:
            if when == "later":
                await wait_s(10)
                abort.abort("enough")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(later)
            seen = await watch(client, abort=abort, on_event=on_event)
        return seen, adapter

    seen, adapter = run(backend, main)
    assert seen.words == words
    assert seen.outcome.failure.message == "enough"
    assert seen.times[-1] == (10.0 if when == "later" else 0.0)
    assert len(adapter.closed_s) == len(adapter.asked_s)


@lanes
def test_leaving_early_closes_the_response_and_begins_no_other(backend: Backend) -> None:
    async def main() -> Adapter:
        adapter, client = Adapter([Says("Hel", "hang")]), new_client()
        client.register_route("a", "m", adapter=adapter)
        async with client.stream(REQUEST) as events:
            async for event in events:
                if isinstance(event, AssistantChunk):
                    break
        return adapter

    adapter = run(backend, main)
    assert (adapter.asked_s, adapter.closed_s) == ([0.0], [0.0])


@lanes
@pytest.mark.parametrize(
    "says", [Says("Hel", "hang"), Says(end=SERVER)], ids=["in-a-response", "in-a-wait"]
)
def test_cancellation_propagates_and_leaves_nothing_open(backend: Backend, says: Says) -> None:
    async def main() -> tuple[bool, Adapter]:
        adapter, client = (
            Adapter([says]),
            new_client(Recovery(backoff=Backoff(initial_delay_ms=60_000, max_delay_ms=60_000))),
        )
        client.register_route("a", "m", adapter=adapter)
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch, client)
                await wait_s(1)
                scope.cancel()
        return scope.cancelled_caught, adapter

    caught, adapter = run(backend, main)
    assert caught
    assert (len(adapter.asked_s), len(adapter.closed_s)) == (1, 1)


@lanes
def test_nothing_is_sent_before_the_first_event_is_awaited(backend: Backend) -> None:
    async def main() -> Adapter:
        adapter, client = Adapter([Says("Hello")]), new_client()
        client.register_route("a", "m", adapter=adapter)
        stream = client.stream(REQUEST)
        await anyio.lowlevel.checkpoint()
        await stream.aclose()
        return adapter

    assert run(backend, main).asked_s == []


@lanes
def test_a_caller_who_keeps_an_event_for_long_does_not_wait_twice(backend: Backend) -> None:
    async def main() -> Seen:
        client = new_client()
        slow = failure(codes.RATE_LIMIT, provider_retry_after_ms=5_000)
        client.register_route("a", "m", adapter=Adapter([Says(end=slow), Says("Hello")]))

        async def on_event(event: LifecycleEvent) -> None:
            if isinstance(event, ResponseInterrupted):
                await wait_s(4)

        return await watch(client, on_event=on_event)

    seen = run(backend, main)
    assert seen.times[seen.words.index("start r1 a")] == 5.0
