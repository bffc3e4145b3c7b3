"""The step loop under abort and cancellation: what was delivered is kept, nothing is made up."""

from __future__ import annotations

from typing import Any, Final

import anyio
import pytest

from adapter_sdk import (
    AbortSignal,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    ToolCallBlock,
    ToolCallDelta,
    ToolResultBlock,
    assistant,
    user,
)
from adapter_sdk.agent import CallNext, Decision, RequestError, Turn
from adapter_sdk.session import Event, MemoryLog, derive_messages, recover

from .playing import BUSY, Player, calls, fails, for_ever, half, loop_over, says, types_of
from .turning import always_retry, end_of, tool

pytestmark = pytest.mark.anyio

ABORTED: Final = LlmFailure(message="the caller aborted the turn", code="ABORTED")

DELIVERED: Final[list[Chunk]] = [
    BlockStart(0, "reasoning"),
    ReasoningDelta(0, "Hm"),
    BlockStart(1, "text"),
    TextDelta(1, "It is"),
    BlockStart(2, "tool-call"),
    ToolCallDelta(2, "c1", "{", "clock"),
]


def interrupted_message(log: MemoryLog) -> Event:
    (event,) = (e for e in log.events if e.type == "assistant/message")
    return event


async def test_cancellation_commits_what_was_delivered_and_cites_exactly_its_chunks() -> None:
    log = MemoryLog()
    with anyio.CancelScope() as scope:
        player = Player([fails(BUSY, *half("No")), [*DELIVERED, scope.cancel, for_ever]])
        loop = loop_over(log, player, always_retry)
        await loop.run_turn("Time?")
    assert scope.cancelled_caught
    assert player.closed == 2
    event = interrupted_message(log)
    chunks = [e.seq for e in log.events if e.type == "assistant/chunk"]
    assert event.source_event_seqs == tuple(chunks[-6:])
    assert event.data["interrupted"] is True
    assert event.data["message"]["content"] == [
        {"type": "reasoning", "text": "Hm"},
        {"type": "text", "text": "It is"},
    ]
    assert end_of(log) == {"turn": 1, "reason": "interrupted"}
    assert recover(log) == ()


async def test_cancellation_before_anything_was_delivered_commits_nothing() -> None:
    log = MemoryLog()
    with anyio.CancelScope() as scope:
        await loop_over(log, Player([[scope.cancel, for_ever]])).run_turn("Time?")
    assert derive_messages(log.events) == (user("Time?"),)
    assert end_of(log) == {"turn": 1, "reason": "interrupted"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
async def test_what_is_no_exception_is_an_interruption_too(error: type[BaseException]) -> None:
    async def stop(_: RequestError, __: CallNext) -> Decision:
        raise error

    log = MemoryLog()
    with pytest.raises(error):
        await loop_over(log, Player([fails(BUSY, *half("x"))]), stop).run_turn("Hi")
    assert end_of(log) == {"turn": 1, "reason": "interrupted"}
    assert derive_messages(log.events) == (user("Hi"),)  # the attempt had failed


async def test_an_abort_in_the_stream_commits_what_was_delivered() -> None:
    signal = AbortSignal()
    failure = LlmFailure(message="stop", code="ABORTED")
    script = [*half("It is"), Finish(FinishReason("aborted", failure))]
    asked: list[RequestError] = []

    async def note(payload: RequestError, _: CallNext) -> Decision:
        asked.append(payload)
        return "retry"

    log = MemoryLog()
    player = Player([script, says("Noon.")])
    loop = loop_over(log, player, note)
    turn = await loop.run_turn("Time?", abort=signal)
    assert turn == Turn(1, "aborted", assistant("It is"), failure)
    assert asked == []
    assert interrupted_message(log).data["interrupted"] is True
    assert end_of(log) == {"turn": 1, "reason": "aborted", "error": failure.to_json()}
    await loop.run_turn("Go on")
    assert player.asked[1] == (user("Time?"), assistant("It is"), user("Go on"))


async def test_an_abort_before_the_turn_sends_nothing() -> None:
    signal = AbortSignal()
    signal.abort()
    log = MemoryLog()
    player = Player([])
    assert await loop_over(log, player).run_turn("Hi", abort=signal) == Turn(
        1, "aborted", None, ABORTED
    )
    assert types_of(log.events) == [
        "turn/start",
        "user/message",
        "step/start",
        "step/end",
        "turn/end",
    ]


@pytest.mark.parametrize("decision", ["retry", None])
async def test_an_abort_while_the_chain_thinks_ends_the_turn_as_aborted(decision: Any) -> None:
    signal = AbortSignal()

    async def abort(_: RequestError, __: CallNext) -> Decision:
        signal.abort()
        answer: Decision = decision
        return answer

    log = MemoryLog()
    player = Player([fails(BUSY, *half("x"))])
    turn = await loop_over(log, player, abort).run_turn("Hi", abort=signal)
    assert turn == Turn(1, "aborted", None, ABORTED)
    assert len(player.requests) == 1


NOT_RUN: Final = "The tool was not run: the turn was interrupted."
UNKNOWN: Final = "The turn was interrupted while the tool ran: whether it took effect is unknown."


@pytest.mark.parametrize("how", ["abort", "cancel", "crash"])
async def test_tools_that_are_broken_off_get_a_result_that_says_so(how: str) -> None:
    signal = AbortSignal()
    with anyio.CancelScope() as scope:

        async def stop(_: dict[str, Any]) -> str:
            if how == "abort":
                signal.abort()
            elif how == "cancel":
                scope.cancel()
            else:
                raise KeyboardInterrupt
            await for_ever()
            return "never"

        log = MemoryLog()
        two = [ToolCallBlock(f"c{n}", "stop", "{}") for n in (1, 2)]
        player = Player([calls(*two), says("Fine.")])
        loop = loop_over(log, player, tools=[tool("stop", stop)])
        if how == "crash":
            with pytest.raises(KeyboardInterrupt):
                await loop.run_turn("Go", abort=signal)
        else:
            turn = await loop.run_turn("Go", abort=signal)
            assert turn == Turn(1, "aborted", assistant(*two), ABORTED)
    assert end_of(log)["reason"] == ("aborted" if how == "abort" else "interrupted")
    results = (
        user(ToolResultBlock("c1", (TextBlock(UNKNOWN),), is_error=True)),
        user(ToolResultBlock("c2", (TextBlock(NOT_RUN),), is_error=True)),
    )
    assert derive_messages(log.events) == (user("Go"), assistant(*two), *results)
    # And the conversation goes on: every call has its result.
    assert (await loop.run_turn("Again")).reason == "complete"


async def test_an_abort_between_two_tools_runs_no_other() -> None:
    signal = AbortSignal()

    async def stop(_: dict[str, Any]) -> str:
        signal.abort()
        return "done"

    log = MemoryLog()
    two = [ToolCallBlock(f"c{n}", "stop", "{}") for n in (1, 2)]
    await loop_over(log, Player([calls(*two)]), tools=[tool("stop", stop)]).run_turn(
        "Go", abort=signal
    )
    texts = [m.content[0].content[0].text for m in derive_messages(log.events)[2:]]  # type: ignore[union-attr]  # why: tool results of one text
    assert texts == ["done", NOT_RUN]
