"""Calls under limits: silence, slow readers, and the time of the whole call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from typing_extensions import override

from adapter_sdk import STOP, AbortSignal, Chunk, Deadline, Finish, LlmRequest, TextDelta
from adapter_sdk.lifecycle import LifecycleEvent, ResponseLimits

from .calling import (
    RECOVERY,
    SERVER,
    Adapter,
    Backend,
    Says,
    Seen,
    lanes,
    new_client,
    run,
    wait_s,
    watch,
)


@lanes
def test_a_silent_response_is_timed_out_and_another_one_answers(backend: Backend) -> None:
    async def main() -> tuple[Seen, Adapter]:
        adapter, client = Adapter([Says("Hel", "hang"), Says("Hello")]), new_client()
        client.register_route("a", "m", adapter=adapter)
        return await watch(client), adapter

    seen, adapter = run(backend, main)
    assert seen.words[2:4] == ["interrupted r0 TIMEOUT 200 backoff", "start r1 a"]
    assert seen.times[2:4] == [300.0, 300.2]
    assert adapter.closed_s[0] == 300.0
    assert seen.events[2].failure.message == "no chunk for 300 s, the idle limit"


@lanes
@pytest.mark.parametrize("first", ["abort", "limit"])
def test_an_abort_at_the_very_instant_of_a_limit_wins(backend: Backend, first: str) -> None:
    async def main() -> list[str]:
        limits = ResponseLimits(idle_timeout=10 if first == "abort" else 9.999)
        client, abort = new_client(replace(RECOVERY, limits=limits)), AbortSignal()
        client.register_route("a", "m", adapter=Adapter([Says(end="hang"), Says("Hello")]))

        async def later() -> None:
            await wait_s(10)
            abort.abort()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(later)
            seen = await watch(client, abort=abort)
        return seen.words

    words = run(backend, main)
    assert (words[1] == "failed r0 ABORTED") is (first == "abort")


@lanes
def test_without_an_idle_limit_silence_lasts_as_long_as_the_call(backend: Backend) -> None:
    async def main() -> Seen:
        limits = ResponseLimits(idle_timeout=None)
        client = new_client(replace(RECOVERY, limits=limits, max_elapsed=9_000))
        client.register_route("a", "m", adapter=Adapter([Says("Hel", "hang")]))
        return await watch(client)

    seen = run(backend, main)
    assert (seen.words[-1], seen.times[-1]) == ("failed r0 TIMEOUT", 9_000.0)


@lanes
def test_a_slow_reader_is_no_silent_response(backend: Backend) -> None:
    async def main() -> Seen:
        recovery = replace(RECOVERY, limits=ResponseLimits(idle_timeout=2))
        client = new_client(recovery)
        client.register_route("a", "m", adapter=Adapter([Says("Hello", after_s=1.5)]))

        async def on_event(event: LifecycleEvent) -> None:
            await wait_s(30)

        return await watch(client, on_event=on_event)

    assert run(backend, main).words[-1] == "committed r0 Hello"


@dataclass
class Slow:
    """Text every so often, for as long as it is asked."""

    every_s: float
    pieces: int

    async def stream(
        self, request: LlmRequest, abort: AbortSignal | None = None
    ) -> AsyncIterator[Chunk]:
        for _ in range(self.pieces):
            await wait_s(self.every_s)
            yield TextDelta(0, ".")
        yield Finish(STOP)


@lanes
@pytest.mark.parametrize(
    ("every_s", "end"),
    [
        pytest.param(290, "committed r0 .....", id="just-in-time"),
        pytest.param(310, "failed r0 TIMEOUT", id="too-late"),
    ],
)
def test_each_chunk_re_arms_the_idle_limit(backend: Backend, every_s: float, end: str) -> None:
    async def main() -> Seen:
        client = new_client(replace(RECOVERY, max_responses=1))
        client.register_route("a", "m", adapter=Slow(every_s, 5))
        return await watch(client)

    assert run(backend, main).words[-1] == end


@lanes
def test_no_timer_of_the_call_outlives_a_chunk(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[object] = []

    class Counted(Deadline):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            running.append(self)

        @override
        def close(self) -> None:
            super().close()
            running.remove(self)

    monkeypatch.setattr("adapter_sdk.lifecycle._limited.Deadline", Counted)
    counts: list[int] = []

    async def main() -> Seen:
        client = new_client(replace(RECOVERY, max_elapsed=3600))
        client.register_route("a", "m", adapter=Slow(1, 3))

        async def on_event(_: LifecycleEvent) -> None:
            counts.append(len(running))

        return await watch(client, on_event=on_event)

    assert run(backend, main).words[-1] == "committed r0 ..."
    assert set(counts) == {0}


@lanes
def test_the_time_of_the_whole_call_ends_a_response_too(backend: Backend) -> None:
    async def main() -> tuple[Seen, Adapter]:
        client = new_client(replace(RECOVERY, max_elapsed=30))
        adapter = Adapter([Says(end=SERVER), Says("Hel", "hang")])
        client.register_route("a", "m", adapter=adapter)
        return await watch(client), adapter

    seen, adapter = run(backend, main)
    assert seen.words[-2:] == ["text r1 Hel", "failed r1 TIMEOUT"]
    assert (seen.times[-1], adapter.closed_s[-1]) == (30.0, 30.0)
    assert seen.outcome.failure.message == "the time of the whole call is over"


@lanes
def test_a_caller_who_reads_beyond_the_time_of_the_call_gets_no_more(backend: Backend) -> None:
    async def main() -> Seen:
        client = new_client(replace(RECOVERY, max_elapsed=30))
        client.register_route("a", "m", adapter=Adapter([Says("Hello")]))

        async def on_event(event: LifecycleEvent) -> None:
            await wait_s(31)

        return await watch(client, on_event=on_event)

    assert run(backend, main).words == ["start r0 a", "failed r0 TIMEOUT"]
