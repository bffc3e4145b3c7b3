"""A whole call as one value, or as one exception with the facts."""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator, Sequence

import anyio
import httpx
import pytest

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    TOOL_CALLS,
    BaseAdapter,
    BlockEnd,
    Chunk,
    Completion,
    Finish,
    FinishReason,
    LlmError,
    LlmFailure,
    LlmRequest,
    ReasoningBlock,
    TextBlock,
    TextDelta,
    TokenUsage,
    ToolCallBlock,
    UsageReport,
    assistant,
    collect,
    user,
)
from adapter_sdk._messages import Message
from adapter_sdk.dialects import OpenAIChat

pytestmark = pytest.mark.anyio

CALL = ToolCallBlock("c1", "ls", "{}")
BLOCKS: list[Chunk] = [
    BlockEnd(0, ReasoningBlock("hm")),
    BlockEnd(1, TextBlock("Hi")),
    BlockEnd(2, CALL),
]
USAGE = TokenUsage(4, 1)


async def stream_of(chunks: Sequence[Chunk]) -> AsyncIterator[Chunk]:
    for chunk in chunks:
        yield chunk


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        pytest.param(
            [TextDelta(0, "Hi"), Finish(STOP)],
            Completion(assistant("Hi"), STOP, None),
            id="text-without-usage",
        ),
        pytest.param(
            [*BLOCKS, UsageReport(USAGE), Finish(TOOL_CALLS)],
            Completion(assistant(ReasoningBlock("hm"), "Hi", CALL), TOOL_CALLS, USAGE),
            id="reasoning-text-and-call",
        ),
        pytest.param(
            [*BLOCKS, Finish(MAX_TOKENS)],
            Completion(assistant(ReasoningBlock("hm"), "Hi"), MAX_TOKENS, None),
            id="max-tokens-drops-the-call",
        ),
        pytest.param(
            [BlockEnd(0, TextBlock("Hi")), Finish(STOP, {"id": "r1", "blocks": ["s"]})],
            Completion(
                Message("assistant", (TextBlock("Hi"),), {"id": "r1", "blocks": ["s"]}), STOP, None
            ),
            id="replay-state",
        ),
        pytest.param([Finish(STOP)], Completion(assistant(), STOP, None), id="nothing"),
    ],
)
async def test_a_good_call_is_a_completion(chunks: list[Chunk], expected: Completion) -> None:
    assert await collect(stream_of(chunks)) == expected


@pytest.mark.parametrize(
    ("reason", "failure"),
    [
        pytest.param("error", LlmFailure(message="busy", code="SERVER", status=503), id="error"),
        pytest.param("aborted", LlmFailure(message="stop", code="ABORTED"), id="aborted"),
    ],
)
async def test_a_failed_call_raises_its_failure(reason: str, failure: LlmFailure) -> None:
    with pytest.raises(LlmError) as caught:
        await collect(stream_of([*BLOCKS, Finish(FinishReason(reason, failure))]))
    assert caught.value.failure is failure
    assert caught.value.code == failure.code


class Broken(BaseAdapter):
    dialect = OpenAIChat()
    default_base_url = "http://api.example/v1"


def raising(error: Exception) -> httpx.AsyncClient:
    def answer(_: httpx.Request) -> httpx.Response:
        raise error

    return httpx.AsyncClient(transport=httpx.MockTransport(answer))


def wrapping(inner: str) -> httpx.ConnectError:
    outer = httpx.ConnectError("no route")
    outer.__context__ = OSError(inner)
    return outer


@pytest.mark.parametrize(
    ("error", "is_told"),
    [
        pytest.param(httpx.ConnectError("no route"), True, id="what-the-client-raised"),
        pytest.param(httpx.ReadError("sent Bearer sk-1"), False, id="with-the-key-in-its-text"),
        pytest.param(wrapping("sent Bearer sk-1"), False, id="with-the-key-in-what-it-came-from"),
        pytest.param(wrapping("reset"), True, id="with-another"),
    ],
)
async def test_the_error_carries_what_broke_underneath_unless_that_tells_the_key(
    error: httpx.TransportError, is_told: bool
) -> None:
    async with raising(error) as client:
        adapter = Broken(api_key="sk-1", http_client=client)
        with pytest.raises(LlmError) as caught:
            await collect(adapter.stream(LlmRequest(model="m", messages=(user("Hi"),))))
    assert caught.value.code == "TRANSPORT"
    assert caught.value.__cause__ is (error if is_told else None)
    assert "sk-1" not in "".join(traceback.format_exception(caught.value))


async def test_a_refusal_without_a_cause_has_none() -> None:
    request = LlmRequest(model="m", messages=(user("Hi"),))
    with pytest.raises(LlmError) as refused:
        await collect(Broken(api_key="bad\x00key").stream(request))
    assert (refused.value.code, refused.value.__cause__) == ("INVALID_CREDENTIAL", None)


async def test_a_stream_without_a_finish_raises() -> None:
    with pytest.raises(LlmError) as caught:
        await collect(stream_of(BLOCKS))
    assert caught.value.failure == LlmFailure(
        message="the stream ended without a finish", code="STREAM_CLOSED"
    )


async def test_cancellation_passes_through() -> None:
    async def silent() -> AsyncIterator[Chunk]:
        await anyio.Event().wait()
        yield Finish(STOP)

    with anyio.CancelScope() as scope:
        scope.cancel()
        await collect(silent())
    assert scope.cancelled_caught
