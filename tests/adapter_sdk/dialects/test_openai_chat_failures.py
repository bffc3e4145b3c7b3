"""Answers on the chat completions wire that fail, and as what."""

from __future__ import annotations

from typing import Any, Final

import pytest

from adapter_sdk import Finish, LlmFailure, TokenUsage
from adapter_sdk.dialects import OpenAIChat

from .playing import SPLITS, Bad, chunks_of, finish_of, seen, sse

DIALECT: Final = OpenAIChat(terminal="done-sentinel")
LENIENT: Final = OpenAIChat()
DONE: Final = b"data: [DONE]\n\n"
HI: Final = {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}
USAGE: Final = {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 1}}


def finished(word: Any, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": word}]}


def failure_of(body: bytes, dialect: OpenAIChat = DIALECT) -> LlmFailure:
    finish = finish_of(chunks_of(dialect, body))
    assert isinstance(finish, Finish)
    assert finish.failure is not None
    return finish.failure


def play(*payloads: Any, dialect: OpenAIChat = DIALECT, done: bool = True) -> Bad:
    body = sse(*payloads) + (DONE if done else b"")
    found = [seen(chunks_of(dialect, body, split=split)) for split in SPLITS]
    assert found == [found[0]] * len(SPLITS)
    assert isinstance(found[0], Bad)
    return found[0]


ERROR: Final = {"error": {"message": "busy", "type": "server_error"}}


@pytest.mark.parametrize(
    ("payloads", "expected"),
    [
        pytest.param([HI, ERROR], Bad(code="SERVER", text="Hi"), id="error-after-text"),
        pytest.param([ERROR], Bad(code="SERVER"), id="error-first"),
        pytest.param(
            [HI, finished("stop"), ERROR], Bad(code="SERVER", text="Hi"), id="after-the-finish"
        ),
        pytest.param(
            [HI, USAGE, ERROR],
            Bad(code="SERVER", text="Hi", usage=TokenUsage(4, 1)),
            id="usage-is-kept",
        ),
        pytest.param(
            [HI, {**finished("stop"), **USAGE, "choices": finished("stop")["choices"], **ERROR}],
            Bad(code="SERVER", text="Hi", usage=TokenUsage(4, 1)),
            id="error-beside-choices-and-usage",
        ),
        pytest.param(
            [HI, {"error": {"message": "x", "code": 502}}],
            Bad(code="SERVER", text="Hi", status=502),
            id="status-of-its-own",
        ),
        pytest.param(
            [{"error": {"message": "x", "code": "429"}}],
            Bad(code="RATE_LIMIT", status=429),
            id="status-as-a-text",
        ),
        pytest.param(
            [{"error": {"message": "x", "code": "insufficient_quota"}}],
            Bad(code="QUOTA"),
            id="quota",
        ),
        pytest.param([{"error": "busy"}], Bad(code="SERVER"), id="error-as-a-text"),
        pytest.param([{"error": {}}], Bad(code="SERVER"), id="error-that-says-nothing"),
        pytest.param([[ERROR]], Bad(code="SERVER"), id="array-of-errors"),
        pytest.param([{"object": "error", "message": "x"}], Bad(code="SERVER"), id="object-error"),
        pytest.param(
            [{"type": "error", "error": {"message": "x"}}], Bad(code="SERVER"), id="type-error"
        ),
        *(
            pytest.param(
                [HI, b'data: {"%s":"error"}\n\n' % key.encode()],
                Bad(code="SERVER", text="Hi"),
                id=f"{key}-error-without-a-word",
            )
            for key in ("object", "type")
        ),
        pytest.param([{"message": "busy"}], Bad(code="SERVER"), id="message"),
        pytest.param([{"detail": "busy"}], Bad(code="SERVER"), id="detail"),
        pytest.param(
            [b'event: error\ndata: {"code":500,"message":"busy","type":"server_error"}\n\n'],
            Bad(code="SERVER", status=500),
            id="flat-under-an-error-event",
        ),
        pytest.param(
            [b"event: error\ndata: busy\n\n"], Bad(code="SERVER"), id="words-under-an-error-event"
        ),
        pytest.param(
            [b'event: error\ndata: {"choices":[]}\n\n'],
            Bad(code="SERVER"),
            id="an-error-by-its-name",
        ),
    ],
)
def test_an_error_inside_the_stream_fails_the_call(payloads: list[Any], expected: Bad) -> None:
    assert play(*payloads) == expected


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        pytest.param(b"data: {oops\n\n", "an event is no JSON: {oops", id="no-json"),
        pytest.param(b"data: 5\n\n", "a payload is int, not an object", id="number"),
        pytest.param(b'data: "x"\n\n', "a payload is str, not an object", id="string"),
        pytest.param(b"data: []\n\n", "a payload is list, not an object", id="array"),
        pytest.param(b"data: true\n\n", "a payload is bool, not an object", id="true"),
        pytest.param({"choices": "x"}, "choices is no array", id="choices"),
        pytest.param({"choices": {}}, "choices is no array", id="choices-as-an-object"),
        pytest.param({"choices": [5]}, "a choice is no object", id="choice"),
        pytest.param({"choices": [{"delta": "x"}]}, "a delta is no object", id="delta"),
        pytest.param(
            {"choices": [{"delta": {"content": 5}}]},
            "content is int where a string belongs",
            id="content",
        ),
        pytest.param(
            {"choices": [{"delta": {"reasoning": {"a": 1}}}]},
            "reasoning is dict where a string belongs",
            id="reasoning",
        ),
        pytest.param(
            {"choices": [{"delta": {"tool_calls": {}}}]}, "tool_calls is no array", id="tool-calls"
        ),
        pytest.param(
            {"choices": [{"delta": {"tool_calls": ["x"]}}]},
            "an entry of tool_calls is no object",
            id="entry",
        ),
        pytest.param(
            {"choices": [{"delta": {"tool_calls": [{"id": "c", "function": "ls"}]}}]},
            "the function of a tool call is no object",
            id="function",
        ),
        pytest.param(
            {"choices": [{"delta": {"tool_calls": [{"id": 5, "function": {"name": "ls"}}]}}]},
            "a tool call's id is int where a string belongs",
            id="id",
        ),
        pytest.param(
            {"choices": [{"delta": {"tool_calls": [{"id": "c", "function": {"name": ["ls"]}}]}}]},
            "a tool call's name is list where a string belongs",
            id="name",
        ),
        pytest.param(
            {
                "choices": [
                    {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}}
                ]
            },
            "a tool call fragment continues no known call",
            id="continuation-of-nothing",
        ),
        pytest.param(
            {
                "choices": [
                    {"delta": {"tool_calls": [{"id": "c", "function": {"arguments": "{}"}}]}}
                ]
            },
            "a tool call never got a name",
            id="call-without-a-name",
        ),
    ],
)
def test_what_has_no_good_meaning_is_malformed(payload: Any, message: str) -> None:
    assert play(HI, payload, finished("tool_calls")) == Bad(code="MALFORMED_RESPONSE", text="Hi")
    body = sse(HI, payload, finished("tool_calls")) + DONE
    assert failure_of(body).message == message


def test_a_continuation_at_an_index_that_nobody_opened_is_malformed() -> None:
    entry = {"index": 0, "id": "c", "function": {"name": "ls", "arguments": "{"}}
    stray = {"index": 1, "function": {"arguments": "}"}}
    first, second = (finished(None, tool_calls=[call]) for call in (entry, stray))
    assert play(first, second, finished("tool_calls")) == Bad(code="MALFORMED_RESPONSE")


@pytest.mark.parametrize(
    ("word", "code", "message"),
    [
        *(
            pytest.param(word, code, f"the provider ended with finish reason {word!r}", id=word)
            for word, code in (
                ("content_filter", "CONTENT_FILTER"),
                ("sensitive", "CONTENT_FILTER"),
                ("insufficient_system_resource", "SERVER"),
                ("error", "SERVER"),
                ("network_error", "TRANSPORT"),
                ("zzz", "UNKNOWN"),
                ("STOP", "UNKNOWN"),
            )
        ),
        pytest.param(7, "UNKNOWN", "the provider ended with finish reason '7'", id="number"),
    ],
)
@pytest.mark.parametrize("place", ["alone", "before-a-stop", "after-a-stop", "after-a-whole-call"])
def test_a_bad_finish_word_fails_the_call(
    word: object, code: str, message: str, place: str
) -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "ls", "arguments": "{}"}}
    payloads = {
        "alone": [HI, finished(word)],
        "before-a-stop": [HI, finished(word), finished("stop")],
        "after-a-stop": [HI, finished("stop"), finished(word)],
        "after-a-whole-call": [HI, finished(None, tool_calls=[call]), finished(word)],
    }[place]
    assert play(*payloads) == Bad(code=code, text="Hi")
    assert failure_of(sse(*payloads) + DONE).message == message


def test_the_first_of_two_bad_finish_words_counts() -> None:
    assert play(HI, finished("sensitive"), finished("error")) == Bad(
        code="CONTENT_FILTER", text="Hi"
    )


@pytest.mark.parametrize(
    ("payloads", "expected"),
    [
        pytest.param([finished("stop")], Bad(code="EMPTY_RESPONSE"), id="no-content"),
        pytest.param(
            [finished("stop"), USAGE],
            Bad(code="EMPTY_RESPONSE", usage=TokenUsage(4, 1)),
            id="no-content-after-its-usage",
        ),
        pytest.param(
            [finished("stop", content="", reasoning_content="", tool_calls=[])],
            Bad(code="EMPTY_RESPONSE"),
            id="empty-fields",
        ),
        pytest.param(
            [finished("tool_calls")], Bad(code="EMPTY_RESPONSE"), id="calls-that-never-came"
        ),
    ],
)
def test_a_completed_stop_without_content_is_an_empty_response(
    payloads: list[Any], expected: Bad
) -> None:
    assert play(*payloads) == expected


@pytest.mark.parametrize(
    ("dialect", "payloads", "done", "message"),
    [
        pytest.param(
            DIALECT, [HI], False, "the stream ended without [DONE]", id="sentinel-without-anything"
        ),
        pytest.param(
            DIALECT,
            [HI, finished("length")],
            False,
            "the stream ended without [DONE] after finish reason max-tokens",
            id="sentinel-after-a-finish",
        ),
        pytest.param(
            DIALECT, [HI], True, "[DONE] came without a finish reason", id="done-without-a-finish"
        ),
        pytest.param(
            DIALECT,
            [HI, finished("")],
            True,
            "[DONE] came without a finish reason",
            id="empty-finish",
        ),
        pytest.param(
            LENIENT, [HI], False, "the stream ended without a finish reason", id="finish-missing"
        ),
        pytest.param(
            LENIENT, [HI], True, "[DONE] came without a finish reason", id="lenient-done-alone"
        ),
    ],
)
def test_an_end_without_its_evidence_is_a_closed_stream(
    dialect: OpenAIChat, payloads: list[Any], *, done: bool, message: str
) -> None:
    assert play(*payloads, dialect=dialect, done=done) == Bad(code="STREAM_CLOSED", text="Hi")
    body = sse(*payloads) + (DONE if done else b"")
    assert failure_of(body, dialect).message == message
