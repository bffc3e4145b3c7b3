"""The step loop and answers: what is written, sent and kept, and what cannot be stored."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    LlmFailure,
    LlmRequest,
    TextBlock,
    TextDelta,
    TokenUsage,
    ToolCallBlock,
    UsageReport,
    assistant,
    system,
    user,
)
from adapter_sdk.agent import Turn
from adapter_sdk.session import MemoryLog, derive_messages

from .playing import Player, calls, half, loop_over, says, types_of
from .turning import CLOCK, end_of

pytestmark = pytest.mark.anyio


async def test_a_turn_is_written_event_by_event() -> None:
    log = MemoryLog()
    usage = TokenUsage(3, 2)
    answer = says("Noon.")
    player = Player([[*answer[:-1], UsageReport(usage), answer[-1]]])
    turn = await loop_over(log, player).run_turn("What time is it?")
    assert turn == Turn(1, "complete", assistant("Noon."))
    assert types_of(log.events) == [
        "turn/start",
        "user/message",
        "step/start",
        "request/header",
        *["assistant/chunk"] * 5,
        "assistant/message",
        "step/end",
        "turn/end",
    ]
    committed = log.events[9]
    assert committed.data == {
        "turn": 1,
        "step": 1,
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Noon."}]},
        "finish": {"kind": "stop"},
        "usage": {"inputTokens": 3, "outputTokens": 2},
    }
    assert (committed.surface_op, committed.source_event_seqs) == ("append", (4, 5, 6, 7, 8))
    assert log.events[2].data == {"turn": 1, "step": 1, "provider": "example", "model": "m"}
    assert end_of(log) == {"turn": 1, "reason": "complete"}
    assert player.closed == 1


async def test_the_request_is_built_from_the_durable_history() -> None:
    log = MemoryLog()
    request = LlmRequest(model="m", messages=(system("Be brief."),), max_tokens=7)
    player = Player([says("Hello."), says("Fine.")])
    loop = loop_over(log, player, request=request)
    await loop.run_turn("Hi")
    await loop.run_turn("How are you?")
    assert player.requests[1] == dataclasses.replace(
        request,
        messages=(system("Be brief."), user("Hi"), assistant("Hello."), user("How are you?")),
    )


async def test_a_new_loop_over_the_same_log_goes_on() -> None:
    log = MemoryLog()
    await loop_over(log, Player([says("Hello.")])).run_turn("Hi")
    player = Player([says("Fine.")])
    turn = await loop_over(log, player).run_turn("How are you?")
    assert turn.turn == 2
    assert player.asked == [(user("Hi"), assistant("Hello."), user("How are you?"))]


async def test_an_answer_without_content_is_no_message_of_the_next_request() -> None:
    log = MemoryLog()
    player = Player([[Finish(MAX_TOKENS)], says("Fine.")])
    loop = loop_over(log, player)
    assert await loop.run_turn("Hi") == Turn(1, "complete", assistant())
    await loop.run_turn("Again")
    assert player.asked[1] == (user("Hi"), user("Again"))


async def test_a_prompt_changes_what_is_sent_and_nothing_else() -> None:
    async def prompt(request: LlmRequest) -> LlmRequest:
        return dataclasses.replace(request, messages=(system("Now."), *request.messages))

    log = MemoryLog()
    player = Player([says("Noon.")])
    await loop_over(log, player, prompt=prompt).run_turn("Hi")
    assert player.asked == [(system("Now."), user("Hi"))]
    assert derive_messages(log.events) == (user("Hi"), assistant("Noon."))


SURROGATE: Final = [BlockStart(0, "text"), TextDelta(0, "\ud83d"), Finish(STOP)]


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        (
            SURROGATE,
            "MALFORMED_RESPONSE",
            "the adapter's chunk cannot be stored: data.chunk.text: "
            "a lone surrogate, which UTF-8 cannot carry",
        ),
        (
            [*half("x"), Finish(STOP, {"n": float("nan")})],
            "MALFORMED_RESPONSE",
            "the adapter's chunk cannot be stored: data.chunk.replayState.n: "
            "nan is no number of JSON",
        ),
        (
            ["a word", Finish(STOP)],
            "MALFORMED_RESPONSE",
            "the adapter's chunk cannot be stored: str is no chunk",
        ),
        (
            calls(CLOCK, CLOCK),
            "MALFORMED_RESPONSE",
            "two tool calls of the answer have one id, or one has none",
        ),
        (
            calls(ToolCallBlock("", "clock", "{}")),
            "MALFORMED_RESPONSE",
            "two tool calls of the answer have one id, or one has none",
        ),
    ],
    ids=["surrogate", "nan", "no chunk", "one id twice", "no id"],
)
async def test_an_answer_that_cannot_be_stored_is_a_failure(
    script: Any, code: str, message: str
) -> None:
    log = MemoryLog()
    player = Player([script, says("Noon.")])
    failure = LlmFailure(message=message, code=code)
    loop = loop_over(log, player)
    assert await loop.run_turn("Hi") == Turn(1, "error", None, failure)
    assert derive_messages(log.events) == (user("Hi"),)
    assert player.closed == 1
    assert (await loop.run_turn("Hi")).reason == "complete"


async def test_a_finish_that_middleware_swallows_is_a_closed_stream() -> None:
    async def swallow(request: LlmRequest, call_next: Any) -> AsyncIterator[Chunk]:
        async for chunk in call_next(request):
            if chunk.type != "finish":
                yield chunk

    log = MemoryLog()
    turn = await loop_over(log, Player([says("x")]), middleware=[swallow]).run_turn("Hi")
    assert turn.failure == LlmFailure(
        message="the stream ended without a finish", code="STREAM_CLOSED"
    )


async def test_a_block_end_wins_over_its_deltas_in_the_committed_message() -> None:
    script = [*half("It si"), BlockEnd(0, TextBlock("It is")), Finish(STOP)]
    turn = await loop_over(MemoryLog(), Player([script])).run_turn("Hi")
    assert turn.message == assistant("It is")
