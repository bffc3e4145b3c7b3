"""What may follow what: an event out of order is refused on append, and named on load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adapter_sdk import ToolCallBlock, ToolResultBlock, assistant, user
from adapter_sdk.session import (
    InvariantError,
    MemoryLog,
    OpenCall,
    Progress,
    message_to_json,
    progress_of,
)

from .talking import CALL, CALLING, FAILED, HALF, RESULT, WHOLE, Talk


def empty(_: Talk) -> None:
    pass


def in_turn(talk: Talk) -> None:
    talk.begin()


def in_step(talk: Talk) -> None:
    talk.begin()
    talk.begin_step()


def half_way(talk: Talk) -> None:
    in_step(talk)
    talk.chunks(*HALF)


def failed(talk: Talk) -> None:
    half_way(talk)
    talk.chunks(FAILED)


def finished(talk: Talk) -> None:
    in_step(talk)
    talk.chunks(*WHOLE)


def committed(talk: Talk) -> None:
    finished(talk)
    talk.commit("It is noon")


def calling(talk: Talk) -> None:
    in_step(talk)
    talk.chunks(*CALLING)
    talk.commit(CALL)


def running(talk: Talk) -> None:
    calling(talk)
    talk.log.append("tool/start", {**talk.place, "toolCallId": "c1", "name": "clock"})


def append(type_: str, data: dict[str, Any], **options: Any) -> Callable[[Talk], object]:
    return lambda talk: talk.log.append(type_, {**talk.place, **data}, **options)


def says(role: Callable[..., Any], *content: Any) -> dict[str, Any]:
    return {"message": message_to_json(role(*content))}


ON_TOP = {"surface_op": "append"}


@pytest.mark.parametrize(
    ("before", "then", "problem"),
    [
        (empty, append("turn/start", {"turn": 2}), "turn/start: the next is 1"),
        (in_turn, append("turn/start", {"turn": 2}), "turn/start while turn 1 is open"),
        (empty, append("user/message", says(user, "x"), **ON_TOP), "user/message outside a turn"),
        (
            in_turn,
            append("user/message", {"turn": 3, **says(user, "x")}, **ON_TOP),
            "user/message of another turn than 1",
        ),
        (in_turn, append("user/message", says(user, "x")), "user/message: appends to the surface"),
        (
            in_turn,
            append("user/message", says(assistant, "x"), **ON_TOP),
            "user/message: role user",
        ),
        (in_step, append("user/message", says(user, "x"), **ON_TOP), "user/message in a step"),
        (empty, append("step/start", {}), "step/start outside a turn"),
        (in_turn, append("step/start", {"step": 2}), "step/start: the next is 1"),
        (in_step, append("step/start", {"step": 2}), "step/start while step 1 is open"),
        (in_turn, append("step/start", {"step": 1}), "step/start.provider: a string"),
        (
            in_turn,
            append("step/start", {"step": 1, "provider": "p"}),
            "step/start.model: a string",
        ),
        (in_turn, append("request/header", {"attempt": 1}), "request/header outside a step"),
        (
            in_step,
            append("request/header", {"attempt": 3}),
            "request/header: the next attempt is 2",
        ),
        (
            in_step,
            append("request/header", {"attempt": 2, "step": 2}),
            "request/header of another step than 1",
        ),
        (
            committed,
            append("request/header", {"attempt": 2}),
            "request/header after the step's message",
        ),
        (in_turn, lambda talk: talk.chunks(*HALF), "assistant/chunk outside a step"),
        (finished, lambda talk: talk.chunks(*HALF), "assistant/chunk after the attempt's finish"),
        (committed, lambda talk: talk.chunks(*HALF), "assistant/chunk after the step's message"),
        (
            in_step,
            append("assistant/chunk", {"chunk": {"type": "x"}}),
            "chunk.type: none of the seven",
        ),
        (failed, lambda talk: talk.commit("x"), "assistant/message of an attempt that failed"),
        (
            half_way,
            lambda talk: talk.commit("x"),
            "assistant/message.interrupted: true where the attempt did not end well",
        ),
        (
            finished,
            lambda talk: talk.commit("x", interrupted=1),
            "assistant/message.interrupted: true where the attempt did not end well",
        ),
        (committed, lambda talk: talk.commit("x"), "assistant/message after the step's message"),
        (
            finished,
            append("assistant/message", says(assistant, "x"), source_event_seqs=(4,), **ON_TOP),
            "assistant/message cites exactly the chunks of its attempt",
        ),
        (
            finished,
            append("assistant/message", says(assistant, "x"), **ON_TOP),
            "assistant/message cites exactly the chunks of its attempt",
        ),
        (
            finished,
            append("assistant/message", says(user, "x"), **ON_TOP),
            "assistant/message: role assistant",
        ),
        (
            finished,
            lambda talk: talk.log.append(
                "assistant/message",
                {**talk.place, **says(assistant, "x")},
                source_event_seqs=talk.chunk_seqs,
            ),
            "assistant/message: on the surface where it has content, and only there",
        ),
        (
            finished,
            lambda talk: talk.commit(CALL, interrupted=True),
            "assistant/message: interrupted, with a tool call",
        ),
        (
            finished,
            lambda talk: talk.commit(CALL, CALL),
            "assistant/message: two tool calls with one id",
        ),
        (
            committed,
            append("tool/start", {"toolCallId": "c1"}),
            "tool/start for no open call of the step's message",
        ),
        (
            calling,
            append("tool/start", {"toolCallId": "c2"}),
            "tool/start for no open call of the step's message",
        ),
        (
            calling,
            append("tool/start", {"toolCallId": 1}),
            "tool/start for no open call of the step's message",
        ),
        (
            running,
            append("tool/start", {"toolCallId": "c1"}),
            "tool/start for a call that was begun",
        ),
        (
            calling,
            lambda talk: talk.result(ToolResultBlock("c2")),
            "tool/result for no open call of the step's message",
        ),
        (
            calling,
            append("tool/result", says(user, "x"), **ON_TOP),
            "tool/result: a user message of one tool result",
        ),
        (
            calling,
            append("tool/result", says(user, RESULT, RESULT), **ON_TOP),
            "tool/result: a user message of one tool result",
        ),
        (calling, append("tool/result", says(user, RESULT)), "tool/result: appends to the surface"),
        (calling, lambda talk: talk.end_step(), "step/end while tool calls wait: c1"),
        (in_turn, lambda talk: talk.end_step(), "step/end outside a step"),
        (in_step, lambda talk: talk.end(), "turn/end while step 1 is open"),
        (empty, lambda talk: talk.end(), "turn/end outside a turn"),
        (in_turn, lambda talk: talk.end("tired"), "turn/end.reason: none of the known words"),
        (committed, append("context/overflow", {}), "context/overflow after the step's message"),
        (in_turn, append("context/summary", {}), "context/summary outside a step"),
    ],
)
def test_what_is_out_of_order_is_refused_and_changes_nothing(
    before: Callable[[Talk], object], then: Callable[[Talk], object], problem: str
) -> None:
    talk = Talk(MemoryLog())
    before(talk)
    stood = list(talk.log.events)
    with pytest.raises(InvariantError) as caught:
        then(talk)
    assert str(caught.value) == f"event {len(stood)}: {problem}"
    assert list(talk.log.events) == stood


def test_what_is_in_order_says_where_the_conversation_stands() -> None:
    talk = Talk(MemoryLog())
    assert progress_of(talk.log.events) == Progress()
    running(talk)
    now = progress_of(talk.log.events)
    message_seq = talk.log.events[-2].seq
    assert (now.turn, now.turn_open, now.step, now.step_open, now.attempt, now.committed) == (
        *(1, True, 1, True, 1, True),
    )
    assert now.calls == {"c1": OpenCall(CALL, message_seq, message_seq + 1)}
    assert [chunk for _, chunk in now.chunks] == list(CALLING)


def test_after_whole_turns_nothing_is_open() -> None:
    talk = Talk(MemoryLog())
    talk.whole_turn()
    talk.whole_turn()
    now = progress_of(talk.log.events)
    assert (now.turn, now.turn_open, now.step_open, now.calls) == (2, False, False, {})


def test_results_may_come_in_any_order() -> None:
    talk = Talk(MemoryLog())
    in_step(talk)
    talk.chunks(*WHOLE)
    talk.commit(CALL, ToolCallBlock("c2", "clock", "{}"))
    talk.result(ToolResultBlock("c2"))
    talk.result(ToolResultBlock("c1"))
    talk.end_step()
    assert progress_of(talk.log.events).calls == {}


def test_types_of_others_may_stand_anywhere() -> None:
    talk = Talk(MemoryLog())
    for stage in (empty, in_turn):
        stage(talk)
        talk.log.append("product/note", {"anything": [1]})
    assert [event.type for event in talk.log.events].count("product/note") == 2


def test_a_list_out_of_order_names_its_event() -> None:
    talk = Talk(MemoryLog())
    talk.whole_turn()
    events = list(talk.log.events)
    with pytest.raises(ValueError, match="event 3: request/header outside a step"):
        progress_of(events[:2] + events[3:])
