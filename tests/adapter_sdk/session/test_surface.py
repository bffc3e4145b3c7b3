"""The messages of a log come from its surface events alone."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter_sdk import Message, assistant, user
from adapter_sdk.session import Event, MemoryLog, Surface, derive_messages, message_to_json
from adapter_sdk.session._event import new_event

from .talking import TALKED, Talk

ONE_TWO_THREE: Final = ("one", "two", "three")


def said(seq: int, text: str, op: str = "append", cites: tuple[int, ...] | None = None) -> Event:
    data = {"message": message_to_json(user(text))}
    return new_event("a/b", data, seq=seq, time_ms=0, surface_op=op, source_event_seqs=cites)


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [message.text for message in messages]


def test_chunks_of_failed_attempts_and_retries_never_reach_the_model() -> None:
    log = MemoryLog()
    Talk(log).whole_turn()
    assert derive_messages(log.events) == TALKED
    types = {event.type for event in log.events}
    assert {"assistant/chunk", "llm/retry", "request/header"} <= types


def test_an_answer_without_content_is_committed_and_is_no_message() -> None:
    log = MemoryLog()
    talk = Talk(log)
    talk.begin()
    talk.begin_step()
    talk.chunks()
    talk.chunk_seqs = [log.append("assistant/chunk", FINISHED).seq]
    talk.commit()
    assert derive_messages(log.events) == (user("What time is it?"),)


FINISHED: Final = {
    "turn": 1,
    "step": 1,
    "chunk": {"type": "finish", "reason": {"kind": "max-tokens"}},
}


@pytest.mark.parametrize(
    ("cites", "left"),
    [
        ((0,), ["new", "two", "three"]),
        ((1,), ["one", "new", "three"]),
        ((0, 1), ["new", "three"]),
        ((1, 2), ["one", "new"]),
        ((0, 1, 2), ["new"]),
    ],
)
def test_a_replacement_stands_where_the_replaced_stood(
    cites: tuple[int, ...], left: list[str]
) -> None:
    events = [said(n, text) for n, text in enumerate(ONE_TWO_THREE)]
    assert texts(derive_messages([*events, said(3, "new", "replace", cites)])) == left


def test_a_replacement_can_be_replaced_and_others_go_on_behind_it() -> None:
    events = [said(n, text) for n, text in enumerate(ONE_TWO_THREE)]
    events += [said(3, "A", "replace", (0, 1)), said(4, "four")]
    events += [said(5, "B", "replace", (2, 3)), said(6, "C", "replace", (4,))]
    assert texts(derive_messages(events)) == ["B", "C"]


@pytest.mark.parametrize(
    ("events", "message"),
    [
        (
            [said(0, "x"), said(1, "y", "replace")],
            "event 1: a replacement cites the events whose messages it replaces",
        ),
        (
            [said(0, "x"), new_event("a/b", {}, seq=1, time_ms=0), said(2, "y", "replace", (1,))],
            "event 2: a replacement cites an event that has no message here any more",
        ),
        (
            [said(0, "x"), said(1, "y", "replace", (0,)), said(2, "z", "replace", (0,))],
            "event 2: a replacement cites an event that has no message here any more",
        ),
        (
            [said(0, "x"), said(1, "y"), said(2, "z"), said(3, "n", "replace", (0, 2))],
            "event 3: a replacement cites messages that do not stand next to each other",
        ),
        (
            [new_event("a/b", {}, seq=0, time_ms=0, surface_op="append")],
            "event 0: message: an object, got NoneType",
        ),
    ],
)
def test_a_surface_that_makes_no_sense_is_refused(events: list[Event], message: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        derive_messages(events)
    assert str(caught.value) == message


def test_a_refused_event_leaves_the_surface_as_it_was() -> None:
    surface = Surface()
    surface.take(said(0, "x"))
    assert surface.problem(said(1, "y", "replace", (0,))) is None
    assert surface.problem(said(1, "y", "replace")) is not None
    assert surface.entries == ((0, user("x")),)


@given(st.data())
def test_any_run_of_operations_amounts_to_what_a_list_would_hold(data: st.DataObject) -> None:
    model: list[tuple[int, str]] = []
    events: list[Event] = []
    replaces = data.draw(st.lists(st.booleans(), max_size=25))
    for seq, replace in enumerate(replaces):
        if model and replace:
            start = data.draw(st.integers(0, len(model) - 1))
            stop = data.draw(st.integers(start + 1, len(model)))
            cited = tuple(sorted(old for old, _ in model[start:stop]))
            events.append(said(seq, str(seq), "replace", cited))
            model[start:stop] = [(seq, str(seq))]
        else:
            events.append(said(seq, str(seq)))
            model.append((seq, str(seq)))
    assert texts(derive_messages(events)) == [text for _, text in model]


def test_roles_and_blocks_stay_as_they_are() -> None:
    message = assistant("x")
    data = {"message": message_to_json(message)}
    event = new_event("a/b", data, seq=0, time_ms=0, surface_op="append")
    assert derive_messages([event]) == (message,)
