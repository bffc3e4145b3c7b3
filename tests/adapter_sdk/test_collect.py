"""A whole call as one value, or as one exception with the facts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import anyio
import pytest

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    TOOL_CALLS,
    BlockEnd,
    Chunk,
    Completion,
    Finish,
    FinishReason,
    LlmError,
    LlmFailure,
    ReasoningBlock,
    TextBlock,
    TextDelta,
    TokenUsage,
    ToolCallBlock,
    UsageReport,
    assistant,
    collect,
)
from adapter_sdk._messages import Message

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
