"""What a crash left open is closed: text is kept, calls get results, the conversation goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from adapter_sdk import (
    BlockStart,
    Finish,
    FinishReason,
    LlmFailure,
    Message,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    ToolCallBlock,
    ToolCallDelta,
    ToolResultBlock,
    assistant,
    user,
)
from adapter_sdk.session import (
    Event,
    LogReader,
    MemoryLog,
    close_turn,
    derive_messages,
    progress_of,
    recover,
)

from .talking import CALL, CALLING, FAILED, HALF, RESULT, WHOLE, Talk

ASKED: Final = user("What time is it?")
NOT_RUN: Final = "The tool was not run: the turn was interrupted."
UNKNOWN: Final = "The turn was interrupted while the tool ran: whether it took effect is unknown."
OTHER: Final = ToolCallBlock("c2", "clock", "{}")
ABORTED: Final = Finish(FinishReason("aborted", LlmFailure(message="stop", code="ABORTED")))


def error(call_id: str, text: str) -> Message:
    return user(ToolResultBlock(call_id, (TextBlock(text),), is_error=True))


def stepping(*chunks: Any) -> Callable[[Talk], object]:
    def write(talk: Talk) -> None:
        talk.begin()
        talk.begin_step()
        talk.chunks(*chunks)

    return write


def in_turn(talk: Talk) -> None:
    talk.begin()


def between_steps(talk: Talk) -> None:
    stepping(*CALLING)(talk)
    talk.commit(CALL)
    talk.result()
    talk.end_step()


def waiting_for_a_retry(talk: Talk) -> None:
    stepping(*HALF, FAILED)(talk)
    talk.log.append("llm/retry", {"retryId": "r", **talk.place, "retry": 1})


def second_attempt(talk: Talk) -> None:
    stepping(*HALF, FAILED)(talk)
    talk.request(2)
    talk.chunks(BlockStart(0, "text"), TextDelta(0, "Noon"))


def two_calls(*, started: bool, answered: bool) -> Callable[[Talk], object]:
    def write(talk: Talk) -> None:
        stepping(*CALLING)(talk)
        talk.commit(CALL, OTHER)
        if started:
            talk.log.append("tool/start", {**talk.place, "toolCallId": "c1", "name": "clock"})
        if answered:
            talk.result()

    return write


def committed(talk: Talk) -> None:
    stepping(*WHOLE)(talk)
    talk.commit("It is noon")


@pytest.mark.parametrize(
    ("crashed", "closing", "messages"),
    [
        (lambda _: None, [], ()),
        (lambda talk: talk.whole_turn(), [], None),
        (lambda talk: talk.log.append("turn/start", {"turn": 1}), ["turn/end"], ()),
        (in_turn, ["turn/end"], (ASKED,)),
        (stepping(), ["step/end", "turn/end"], (ASKED,)),
        (
            stepping(*HALF),
            ["assistant/message", "step/end", "turn/end"],
            (ASKED, assistant("It is")),
        ),
        (
            stepping(BlockStart(0, "reasoning"), ReasoningDelta(0, "Hm")),
            ["assistant/message", "step/end", "turn/end"],
            (ASKED, assistant(ReasoningBlock("Hm"))),
        ),
        (
            stepping(BlockStart(0, "text"), TextDelta(0, " \n")),
            ["step/end", "turn/end"],
            (ASKED,),
        ),
        (
            stepping(BlockStart(0, "tool-call"), ToolCallDelta(0, "c1", "{", "rm")),
            ["step/end", "turn/end"],
            (ASKED,),
        ),
        (
            stepping(*HALF, ABORTED),
            ["assistant/message", "step/end", "turn/end"],
            (ASKED, assistant("It is")),
        ),
        (
            stepping(*WHOLE),
            ["assistant/message", "step/end", "turn/end"],
            (ASKED, assistant("It is noon")),
        ),
        (stepping(*HALF, FAILED), ["step/end", "turn/end"], (ASKED,)),
        (waiting_for_a_retry, ["step/end", "turn/end"], (ASKED,)),
        (
            second_attempt,
            ["assistant/message", "step/end", "turn/end"],
            (ASKED, assistant("Noon")),
        ),
        (
            two_calls(started=False, answered=False),
            ["tool/result", "tool/result", "step/end", "turn/end"],
            (ASKED, assistant(CALL, OTHER), error("c1", NOT_RUN), error("c2", NOT_RUN)),
        ),
        (
            two_calls(started=True, answered=False),
            ["tool/result", "tool/result", "step/end", "turn/end"],
            (ASKED, assistant(CALL, OTHER), error("c1", UNKNOWN), error("c2", NOT_RUN)),
        ),
        (
            two_calls(started=True, answered=True),
            ["tool/result", "step/end", "turn/end"],
            (ASKED, assistant(CALL, OTHER), user(RESULT), error("c2", NOT_RUN)),
        ),
        (committed, ["step/end", "turn/end"], (ASKED, assistant("It is noon"))),
        (between_steps, ["turn/end"], (ASKED, assistant(CALL), user(RESULT))),
    ],
    ids=[
        *("an empty log", "between turns", "turn started", "asked", "requested", "in the text"),
        *("in the reasoning", "only blanks", "half a call", "aborted", "whole but uncommitted"),
        *("failed", "waiting for a retry", "in the second attempt", "tools not begun"),
        *("a tool begun", "one of two answered", "committed", "between steps"),
    ],
)
def test_what_a_crash_left_open_is_closed(
    crashed: Callable[[Talk], object], closing: list[str], messages: tuple[Message, ...] | None
) -> None:
    log = MemoryLog()
    crashed(Talk(log))
    stood = len(log.events)
    assert [event.type for event in recover(log)] == closing
    assert [event.type for event in log.events[stood:]] == closing
    if messages is not None:
        assert derive_messages(log.events) == messages
    if closing:
        assert log.events[-1].data == {"turn": 1, "reason": "interrupted"}
    now = progress_of(log.events)
    assert (now.turn_open, now.step_open, now.calls) == (False, False, {})
    assert recover(log) == ()  # and a second time there is nothing to do


def kept(log: MemoryLog) -> Event:
    (event,) = (event for event in log.events if event.type == "assistant/message")
    return event


def test_a_kept_message_is_marked_and_cites_exactly_the_chunks_of_the_last_attempt() -> None:
    log = MemoryLog()
    talk = Talk(log)
    second_attempt(talk)
    recover(log)
    assert kept(log).data["interrupted"] is True
    assert kept(log).source_event_seqs == tuple(talk.chunk_seqs)


@pytest.mark.parametrize("reason", ["error", "fault"])
def test_only_an_interruption_keeps_what_had_arrived(reason: Any) -> None:
    log = MemoryLog()
    stepping(*HALF)(Talk(log))
    failure = LlmFailure(message="busy", code="SERVER")
    close_turn(log, LogReader(log.events), reason=reason, error=failure)
    assert derive_messages(log.events) == (ASKED,)
    assert log.events[-1].data == {"turn": 1, "reason": reason, "error": failure.to_json()}


def test_a_reader_follows_a_log_and_reads_each_event_once() -> None:
    log = MemoryLog()
    reader = LogReader(log.events)
    assert (reader.messages, reader.progress.turn) == ((), 0)
    Talk(log).whole_turn()
    assert reader.messages == derive_messages(log.events)
    assert [seq for seq, _ in reader.entries] == [
        event.seq for event in log.events if event.surface_op
    ]
    assert reader.progress == progress_of(log.events)


def test_a_reader_of_events_out_of_order_names_the_event() -> None:
    log = MemoryLog()
    Talk(log).whole_turn()
    events = [*log.events[:3], *log.events[4:]]
    with pytest.raises(ValueError, match="event 4: assistant/chunk before a request/header"):
        LogReader(events).progress  # noqa: B018 - why: reading is what fails
