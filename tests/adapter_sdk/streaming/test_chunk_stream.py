"""The stream of one call: when it sends, when it ends, and what a bug of the dialect becomes."""

from __future__ import annotations

from types import ModuleType

import anyio
import httpx
import pytest
from typing_extensions import override

from adapter_sdk import Chunk, FinishReason, LlmRequest, WireRequest
from adapter_sdk.dialects.openai_chat import ChatTranslator
from adapter_sdk.testing import Exchange, Scripted, Send

from .chat_answer import DONE, GOOD, GOOD_CHUNKS, HEADERS, HI, REQUEST, STOPPED, USAGE, Example
from .lanes import Backend, both_backends, lanes
from .scripted_play import play
from .waiting import settle


@lanes
def test_a_call_sends_one_request_once_it_is_read_and_ends_with_its_finish(
    backend: Backend, library: ModuleType
) -> None:
    async def test(adapter: Example, scripted: Scripted) -> None:
        stream = adapter.stream(REQUEST)
        await settle()
        assert scripted.requests == []
        assert [chunk async for chunk in stream] == GOOD_CHUNKS
        assert (len(scripted.requests), scripted.open_responses) == (1, 0)
        for _ in range(2):
            with pytest.raises(StopAsyncIteration):
                await anext(stream)
        assert len(scripted.requests) == 1

    play(backend, library, [GOOD], test)


@both_backends
def test_a_stream_that_is_never_read_sends_nothing(backend: Backend) -> None:
    async def test(adapter: Example, scripted: Scripted) -> None:
        adapter.stream(REQUEST)
        left = adapter.stream(REQUEST)
        await left.aclose()
        await settle()
        with pytest.raises(StopAsyncIteration):
            await anext(left)
        assert scripted.requests == []

    play(backend, httpx, [GOOD], test)


@both_backends
def test_the_marker_ends_the_call_although_the_connection_stays_open(backend: Backend) -> None:
    held = Exchange(200, HEADERS, steps=(HI, STOPPED, USAGE, DONE), ending="hold")

    async def test(adapter: Example, scripted: Scripted) -> None:
        assert [chunk async for chunk in adapter.stream(REQUEST)] == GOOD_CHUNKS
        assert (anyio.current_time(), scripted.open_responses) == (0.0, 0)

    play(backend, httpx, [held], test)


class Noting(Example):
    """Notes when its client is made and when a call's request is."""

    def __init__(self, scripted: Scripted, notes: list[str]) -> None:
        super().__init__(http_client=scripted.client, api_key="sk-1")
        self.notes = notes

    @override
    def open(self) -> None:
        self.notes.append("open")
        super().open()

    @override
    async def wire_request(self, request: LlmRequest) -> WireRequest:
        self.notes.append("request")
        return await super().wire_request(request)


@both_backends
def test_the_client_is_made_before_any_limit_of_the_call_runs(backend: Backend) -> None:
    async def test(adapter: Example, scripted: Scripted) -> list[str]:
        notes: list[str] = []
        stream = Noting(scripted, notes).stream(REQUEST)
        assert notes == []
        assert [chunk async for chunk in stream] == GOOD_CHUNKS
        return notes

    assert play(backend, httpx, [GOOD], test)[:2] == ["open", "request"]


# ---- bugs of an author -------------------------------------------------------------------


@both_backends
@pytest.mark.parametrize("method", ["event", "close"])
def test_a_bug_of_the_dialect_is_a_failure_with_the_facts_of_the_call(
    backend: Backend, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> list[Chunk]:
        raise KeyError("choices")

    monkeypatch.setattr(ChatTranslator, method, broken)
    exchange = Exchange(200, HEADERS, steps=(HI,) if method == "event" else (Send(b": c\n\n"),))

    async def test(adapter: Example, scripted: Scripted) -> list[Chunk]:
        return [chunk async for chunk in adapter.stream(REQUEST)]

    (finish,) = play(backend, httpx, [exchange], test)
    assert finish.failure.to_json() == {
        "message": "KeyError: 'choices'",
        "code": "UNKNOWN",
        "status": 200,
        "requestId": "req_1",
    }
    assert finish.reason == FinishReason("error", finish.failure)
