"""The DeepSeek adapter against a live server: calls that wait, break, freeze or are given up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest
from anyio.to_thread import run_sync

from adapter_sdk import (
    MAX_TOKENS,
    AbortSignal,
    Chunk,
    Completion,
    Finish,
    LlmError,
    TextDelta,
    collect,
)

from .bigram_model import ENDLESS_ROUND, TEXT_SAID, Mode
from .connecting import PATIENT_SECONDS, QUESTION, connected
from .llama_server import ServerOptions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from reference_adapters.deepseek import DeepSeekAdapter

    from .conftest import StartServer

pytestmark = [pytest.mark.real, pytest.mark.anyio]

ENDLESS = ServerOptions(endless=True)
SHORT = replace(QUESTION, max_tokens=4)
SHORT_SAID = ENDLESS_ROUND[:20]
# Long enough for any answer of a server that lives, short enough to wait for.
IMPATIENT_SECONDS = 1.5
# An endless stream is under way by then, on every server.
CHUNKS_FIRST = 6


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


async def read_after(
    adapter: DeepSeekAdapter, event: Callable[[], None], *, abort: AbortSignal | None = None
) -> list[Chunk]:
    """Read a stream to its end; ``event`` happens when a few chunks have come."""
    chunks: list[Chunk] = []
    async with adapter.stream(QUESTION, abort=abort) as stream:
        async for chunk in stream:
            chunks.append(chunk)
            if len(chunks) == CHUNKS_FIRST:
                event()
    return chunks


async def test_a_second_stream_waits_for_the_only_slot(own_server: StartServer) -> None:
    server = own_server(Mode.ENDLESS, ENDLESS)
    completions: list[Completion] = []
    async with connected(server) as adapter:

        async def second() -> None:
            completions.append(await collect(adapter.stream(SHORT)))

        with anyio.fail_after(PATIENT_SECONDS):
            async with anyio.create_task_group() as tasks, adapter.stream(QUESTION) as first:
                await anext(first)
                tasks.start_soon(second)
                await run_sync(server.wait_for_queue, 1)
                assert completions == []

    assert [completion.message.text for completion in completions] == [SHORT_SAID]


async def test_two_slots_answer_two_streams_at_once(own_server: StartServer) -> None:
    server = own_server(Mode.ENDLESS, replace(ENDLESS, slots=2))
    with anyio.fail_after(PATIENT_SECONDS):
        async with connected(server) as adapter, adapter.stream(QUESTION) as first:
            await anext(first)
            completion = await collect(adapter.stream(SHORT))

    assert completion.message.text == SHORT_SAID


async def test_a_stream_aborted_in_the_queue_leaves_the_others_alone(
    own_server: StartServer,
) -> None:
    server = own_server(Mode.ENDLESS, ENDLESS)
    signal = AbortSignal()
    codes: list[str] = []
    async with connected(server) as adapter:

        async def second() -> None:
            with pytest.raises(LlmError) as caught:
                await collect(adapter.stream(SHORT, abort=signal))
            codes.append(caught.value.code)

        with anyio.fail_after(PATIENT_SECONDS):
            async with adapter.stream(QUESTION) as first:
                await anext(first)
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(second)
                    await run_sync(server.wait_for_queue, 1)
                    signal.abort()
                going_on = [await anext(first) for _ in range(CHUNKS_FIRST)]
            await run_sync(server.wait_for_idle)
            completion = await collect(adapter.stream(SHORT))

    assert codes == ["ABORTED"]
    assert len(text_of(going_on)) >= CHUNKS_FIRST
    assert completion.message.text == SHORT_SAID


async def test_a_server_killed_in_mid_stream_is_a_transport_failure(
    own_server: StartServer,
) -> None:
    server = own_server(Mode.ENDLESS, ENDLESS)
    async with connected(server) as adapter:
        chunks = await read_after(adapter, server.kill9)
        with pytest.raises(LlmError) as refused:
            await collect(adapter.stream(SHORT))

    last = chunks[-1]
    assert isinstance(last, Finish)
    assert last.failure is not None
    assert (last.failure.code, last.failure.status) == ("TRANSPORT", 200)
    said = text_of(chunks)
    assert said
    assert said == (ENDLESS_ROUND * len(said))[: len(said)]
    assert (refused.value.code, refused.value.failure.status) == ("TRANSPORT", None)


async def test_a_server_frozen_in_mid_stream_is_a_timeout_and_answers_when_it_thaws(
    own_server: StartServer,
) -> None:
    server = own_server(Mode.ENDLESS, ENDLESS)
    async with connected(server, idle_timeout=IMPATIENT_SECONDS) as adapter:
        chunks = await read_after(adapter, server.stop)
        server.resume()
        completion = await collect(adapter.stream(SHORT))

    last = chunks[-1]
    assert isinstance(last, Finish)
    assert last.failure is not None
    assert (last.failure.code, last.failure.status) == ("TIMEOUT", 200)
    assert completion.message.text == SHORT_SAID


async def test_a_server_frozen_before_its_answer_is_a_timeout_and_answers_when_it_thaws(
    own_server: StartServer,
) -> None:
    server = own_server(Mode.TEXT, ServerOptions())
    async with connected(server, idle_timeout=IMPATIENT_SECONDS) as adapter:
        server.stop()
        with pytest.raises(LlmError) as caught:
            await collect(adapter.stream(QUESTION))
        server.resume()
        completion = await collect(adapter.stream(QUESTION))

    assert (caught.value.code, caught.value.failure.status) == ("TIMEOUT", None)
    assert completion.message.text == TEXT_SAID


async def abort(adapter: DeepSeekAdapter) -> None:
    signal = AbortSignal()
    chunks = await read_after(adapter, signal.abort, abort=signal)
    last = chunks[-1]
    assert isinstance(last, Finish)
    assert last.failure is not None
    assert (last.reason.kind, last.failure.code) == ("aborted", "ABORTED")


async def leave_the_block(adapter: DeepSeekAdapter) -> None:
    async with adapter.stream(QUESTION) as stream:
        async for _ in stream:
            break


async def close_the_stream(adapter: DeepSeekAdapter) -> None:
    stream = adapter.stream(QUESTION)
    await anext(stream)
    await stream.aclose()


async def cancel_the_task(adapter: DeepSeekAdapter) -> None:
    with anyio.CancelScope() as scope:
        await read_after(adapter, scope.cancel)
    assert scope.cancelled_caught


@pytest.mark.parametrize(
    "give_up", [abort, leave_the_block, close_the_stream, cancel_the_task], ids=lambda f: f.__name__
)
async def test_a_stream_given_up_frees_its_slot_and_the_next_call_is_good(
    shared_server: StartServer, give_up: Callable[[DeepSeekAdapter], Awaitable[None]]
) -> None:
    server = shared_server(Mode.ENDLESS, ENDLESS)
    async with connected(server) as adapter:
        await give_up(adapter)
        with anyio.fail_after(PATIENT_SECONDS):
            await run_sync(server.wait_for_idle)
            completion = await collect(adapter.stream(SHORT))

    assert (completion.message.text, completion.finish) == (SHORT_SAID, MAX_TOKENS)
