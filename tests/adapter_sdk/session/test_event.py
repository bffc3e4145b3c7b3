"""One event is one line, and one line is one event, or it is refused."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapter_sdk.session import Event
from adapter_sdk.session._event import new_event

from .test_lossless import json_values

PLAIN: Final = b'{"type":"turn/start","seq":3,"time":1790000000000,"data":{"turn":1}}'


@pytest.mark.parametrize(
    ("event", "line"),
    [
        pytest.param(new_event("turn/start", {"turn": 1}, seq=3, time_ms=1790000000000), PLAIN),
        pytest.param(
            new_event(
                "assistant/message",
                {"text": "ü\n\u2028\x00"},
                seq=9,
                time_ms=0,
                surface_op="append",
                source_event_seqs=(2, 8),
            ),
            '{"type":"assistant/message","seq":9,"time":0,"data":{"text":"ü\\n\u2028\\u0000"},'
            '"surfaceOp":"append","sourceEventSeqs":[2,8]}'.encode(),
        ),
        pytest.param(
            new_event("a/b", {}, seq=1, time_ms=5, source_event_seqs=(0,)),
            b'{"type":"a/b","seq":1,"time":5,"data":{},"sourceEventSeqs":[0]}',
        ),
    ],
    ids=["plain", "everything", "sources alone"],
)
def test_an_event_is_one_line_in_camel_case_and_comes_back(event: Event, line: bytes) -> None:
    assert event.line().encode() == line
    assert Event.from_line(line) == event


@given(st.dictionaries(st.text(), json_values, max_size=4))
@example({"a": 1e16, "b": 1e-7, "c": 5e-324, "d": 1.0, "e": "\x7f\x1f"})
def test_every_event_comes_back_as_the_same_bytes(data: dict[str, Any]) -> None:
    event = new_event("a/b", data, seq=0, time_ms=1)
    again = Event.from_line(event.line().encode())
    assert again == event
    assert again.line() == event.line()
    assert "\n" not in event.line()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"", "no JSON"),
        (PLAIN[:-1], "no JSON"),
        (b"\0" * 40, "no JSON"),
        (PLAIN + PLAIN, "no JSON"),
        (PLAIN.replace(b"1}", b"NaN}"), "no JSON"),
        (b'"\xff"', "no JSON"),
        (b"[]", "no JSON object"),
        (b"{}", "the keys of an event are type, seq, time, data and two optional ones"),
        (
            b'{"seq":3,"type":"turn/start","time":1,"data":{}}',
            "the keys of an event are type, seq, time, data and two optional ones",
        ),
        (PLAIN.replace(b":3", b": 3"), "not written in the form of this log"),
        (PLAIN.replace(b'"turn":1', b'"turn":1,"turn":1'), "not written in the form of this log"),
        (PLAIN.replace(b'"turn":1', b'"turn":1e0'), "not written in the form of this log"),
        # A float in another spelling than Python's: 1e+16, 1e-07, 1e-05.
        (PLAIN.replace(b'"turn":1', b'"turn":1e16'), "not written in the form of this log"),
        (PLAIN.replace(b'"turn":1', b'"turn":1e-7'), "not written in the form of this log"),
        (PLAIN.replace(b'"turn":1', b'"turn":0.00001'), "not written in the form of this log"),
        (PLAIN.replace(b"turn/", b"turn\\/"), "not written in the form of this log"),
        (PLAIN.replace(b'"turn":1', b'"turn":-0.0'), "data.turn: -0.0, which comes back as 0"),
        (
            PLAIN.replace(b'"turn":1', b'"turn":[9007199254740992]'),
            "data.turn[0]: a whole number beyond 2^53-1",
        ),
        (
            PLAIN.replace(b'"turn":1', b'"turn":' + b"[" * 150 + b"]" * 150),
            f"{('data.turn' + '[0]' * 99)[:80]}…: nested deeper than 100",
        ),
        (PLAIN.replace(b":3", b":-3"), "seq: a whole number of 0 or more"),
        (PLAIN.replace(b":3", b":true"), "seq: a whole number of 0 or more"),
        (PLAIN.replace(b":1790000000000", b":1.5"), "time: a whole number of 0 or more"),
        (PLAIN.replace(b"turn/start", b"Turn"), "type: words in lower case, parted by a slash"),
        (PLAIN.replace(b'"turn/start"', b"7"), "type: words in lower case, parted by a slash"),
        (PLAIN.replace(b'{"turn":1}', b"[]"), "data: an object"),
        (PLAIN[:-1] + b',"surfaceOp":"delete"}', "surfaceOp: append or replace"),
        (PLAIN[:-1] + b',"sourceEventSeqs":3}', "sourceEventSeqs: a list"),
        (
            PLAIN[:-1] + b',"sourceEventSeqs":[]}',
            "sourceEventSeqs: at least one number, or left out",
        ),
        *(
            (
                PLAIN[:-1] + b',"sourceEventSeqs":' + cited + b"}",
                "sourceEventSeqs: numbers of earlier events, ascending",
            )
            for cited in (b"[1,0]", b"[1,1]", b"[3]", b"[-1]", b'["1"]', b"[true]")
        ),
    ],
)
def test_any_other_line_is_refused(line: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        Event.from_line(line)
    assert str(caught.value) == message


def test_an_event_cannot_be_changed() -> None:
    event = new_event("a/b", {"x": [1]}, seq=0, time_ms=1)
    with pytest.raises(AttributeError):
        event.seq = 2  # type: ignore[misc]  # why: what is tested
    with pytest.raises(TypeError):
        event.data["x"] = 1  # type: ignore[index]  # why: what is tested


def test_a_type_is_a_word_not_a_sentence() -> None:
    with pytest.raises(ValueError, match="type: words in lower case"):
        new_event("a/" + "b" * 127, {}, seq=0, time_ms=1)
