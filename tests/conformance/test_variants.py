"""Variants of a good answer: what becomes of its bytes, and that nothing else changes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import Any

import pytest

from conformance._case_file import shipped_cases
from conformance._sweep import body_of
from conformance._variants import VARIANTS, Variant

CHAT, MESSAGES, RESPONSES = "openai-chat", "anthropic-messages", "openai-responses"


def event(payload: dict[str, Any], *, named: bool = True) -> bytes:
    name = f"event: {payload['type']}\n" if named else ""
    return f"{name}data: {json.dumps(payload, separators=(',', ':'))}\n\n".encode()


def chat(*choices: dict[str, Any]) -> bytes:
    return event({"choices": list(choices)}, named=False)


TEXT = chat({"index": 0, "delta": {"content": "Hi"}, "finish_reason": None})
STOP = chat({"index": 0, "delta": {}, "finish_reason": "stop"})
USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n'
DONE = b"data: [DONE]\n\n"
BODY = TEXT + STOP + USAGE + DONE


def with_usage(chunk: bytes, output_tokens: int | None) -> bytes:
    usage = None if output_tokens is None else {"completion_tokens": output_tokens}
    return event({**json.loads(chunk.removeprefix(b"data: ")), "usage": usage}, named=False)


def call(**fields: Any) -> bytes:
    return chat({"delta": {"tool_calls": [{"index": 0, "id": "c1", **fields}]}})


def start(**usage: Any) -> bytes:
    return event({"type": "message_start", "message": {"id": "m", "usage": usage}})


def block(index: int, kind: str) -> bytes:
    content = {"type": kind, kind: ""}
    return event({"type": "content_block_start", "index": index, "content_block": content})


def delta(index: int, **fields: Any) -> bytes:
    return event({"type": "content_block_delta", "index": index, "delta": fields})


def stop(index: int) -> bytes:
    return event({"type": "content_block_stop", "index": index})


def end(reason: str | None, **usage: Any) -> bytes:
    told = {"stop_reason": reason, "stop_sequence": None}
    return event({"type": "message_delta", "delta": told, "usage": usage})


ONE = block(0, "text") + delta(0, type="text_delta", text="a")
TWO = block(1, "thinking") + delta(1, type="thinking_delta", thinking="b")
OVER = event({"type": "message_stop"})
PING = event({"type": "ping"})


def response(kind: str, number: int, **fields: Any) -> bytes:
    return event({"type": f"response.{kind}", "sequence_number": number, **fields})


ARGUMENTS = response("function_call_arguments.delta", 1, item_id="f", delta="{}")
WHOLE = response("function_call_arguments.done", 2, item_id="f", arguments="{}")
ITEM = response("output_item.done", 3, item={"type": "function_call", "id": "f"})


def variant(name: str) -> Variant:
    return next(variant for variant in VARIANTS if variant.name == name)


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("CRLF line ends", BODY.replace(b"\n", b"\r\n")),
        ("CR line ends", BODY.replace(b"\n", b"\r")),
        ("comments between the events", b": ping\n\ndata: "),
        ("no space after data:", b'data:{"choices"'),
        ("a byte order mark", b"\xef\xbb\xbfdata: "),
        ("an unknown key first", b'data: {"x_unknown":'),
    ],
)
def test_a_framing_variant_changes_the_bytes_of_any_dialect(name: str, begins: bytes) -> None:
    for dialect in (CHAT, MESSAGES, "another"):
        changed = variant(name).apply(BODY, dialect=dialect)

        assert changed is not None
        assert changed.startswith(begins)
        assert changed != BODY


def test_gzip_holds_the_same_bytes() -> None:
    changed = variant("gzip").apply(BODY, dialect=CHAT)

    assert changed is not None
    assert zlib.decompress(changed, zlib.MAX_WBITS | 16) == BODY


@pytest.mark.parametrize(
    ("name", "dialect", "body", "changed"),
    [
        pytest.param(
            "the finish on the last text",
            CHAT,
            BODY,
            chat({"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}) + USAGE + DONE,
            id="finish-on-the-text",
        ),
        pytest.param(
            "the finish on the last text",
            CHAT,
            with_usage(TEXT, 5) + with_usage(STOP, None) + DONE,
            with_usage(chat({"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}), 5)
            + DONE,
            id="finish-on-a-text-with-usage",
        ),
        pytest.param(
            "the finish on the last text",
            CHAT,
            with_usage(TEXT, 5) + with_usage(STOP, 6) + DONE,
            with_usage(chat({"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}), 6)
            + DONE,
            id="finish-with-usage-on-a-text-with-usage",
        ),
        pytest.param(
            "the finish twice", CHAT, BODY, TEXT + STOP + STOP + USAGE + DONE, id="finish-twice"
        ),
        pytest.param(
            "blank ids on continuations",
            CHAT,
            call(function={"name": "ls"}) + call(function={"arguments": "{}"}),
            call(function={"name": "ls"}) + call(function={"arguments": "{}", "name": ""}, id=""),
            id="blank-ids",
        ),
        pytest.param(
            "pings between the events",
            MESSAGES,
            ONE + OVER,
            block(0, "text") + PING + delta(0, type="text_delta", text="a") + PING + OVER,
            id="pings",
        ),
        pytest.param(
            "unknown deltas in every block",
            MESSAGES,
            block(0, "text") + stop(0) + OVER,
            block(0, "text") + delta(0, type="x_unknown_delta", text="x") + stop(0) + OVER,
            id="unknown-deltas",
        ),
        pytest.param(
            "all blocks stopped at the end",
            MESSAGES,
            ONE + stop(0) + TWO + stop(1) + end("end_turn") + OVER,
            ONE + TWO + stop(0) + stop(1) + end("end_turn") + OVER,
            id="stops-at-the-end",
        ),
        pytest.param(
            "usage in running totals",
            MESSAGES,
            start(input_tokens=4, output_tokens=1) + ONE + end("end_turn", output_tokens=9) + OVER,
            start(input_tokens=4, output_tokens=1)
            + ONE
            + end(None, output_tokens=4)
            + end("end_turn", output_tokens=9)
            + OVER,
            id="running-totals",
        ),
        pytest.param(
            "usage at the end alone",
            MESSAGES,
            start(input_tokens=4, output_tokens=1, cache_read_input_tokens=2)
            + end("end_turn", output_tokens=9, input_tokens=None)
            + OVER,
            start(input_tokens=0, output_tokens=0)
            + end("end_turn", input_tokens=4, output_tokens=9, cache_read_input_tokens=2)
            + OVER,
            id="usage-at-the-end",
        ),
        pytest.param(
            "obfuscation on every delta",
            RESPONSES,
            response("output_text.delta", 1, delta="a") + ITEM,
            response("output_text.delta", 1, delta="a", obfuscation="aZ3") + ITEM,
            id="obfuscation",
        ),
        pytest.param(
            "gaps in the sequence numbers",
            RESPONSES,
            response("created", 0) + response("completed", 1),
            response("created", 3) + response("completed", 10),
            id="gaps",
        ),
        pytest.param(
            "no sequence numbers",
            RESPONSES,
            response("created", 0),
            event({"type": "response.created"}),
            id="no-numbers",
        ),
        pytest.param(
            "arguments in deltas and items alone",
            RESPONSES,
            ARGUMENTS + WHOLE + ITEM,
            ARGUMENTS + ITEM,
            id="no-whole-arguments",
        ),
    ],
)
def test_a_variant_of_a_wire_changes_its_events(
    name: str, dialect: str, body: bytes, changed: bytes
) -> None:
    found = variant(name).apply(body, dialect=dialect)
    assert found is not None
    assert decoded(found) == decoded(changed)


def decoded(body: bytes) -> list[tuple[bytes, Any]]:
    """Return name and payload of each event: the order of keys is not the wire's affair."""
    events = []
    for text in body.removesuffix(b"\n\n").split(b"\n\n"):
        name, _, data = text.rpartition(b"data: ")
        events.append((name, data if data == b"[DONE]" else json.loads(data)))
    return events


@pytest.mark.parametrize(
    ("name", "dialect", "body"),
    [
        ("pings between the events", CHAT, BODY),
        ("obfuscation on every delta", MESSAGES, ONE),
        ("blank ids on continuations", CHAT, BODY),
        ("all blocks stopped at the end", MESSAGES, ONE + stop(0) + end("end_turn") + OVER),
        ("all blocks stopped at the end", MESSAGES, ONE + stop(0) + ONE + stop(0) + end("x")),
        ("usage in running totals", MESSAGES, ONE + end("end_turn") + OVER),
        ("usage at the end alone", MESSAGES, ONE + end("end_turn", output_tokens=1) + OVER),
        ("arguments in deltas and items alone", RESPONSES, WHOLE + ITEM),
        ("arguments in deltas and items alone", RESPONSES, ARGUMENTS + WHOLE),
        ("explicit nulls", CHAT, b"retry: 1\n\n"),
        ("explicit nulls", CHAT, BODY.replace(b"\n", b"\r\n")),
    ],
    ids=[
        "another dialect",
        "another wire",
        "no call",
        "one block",
        "two blocks of one index",
        "no usage at the end",
        "no usage at the start",
        "arguments that came in no delta",
        "arguments that come in no item",
        "an event without data",
        "other line ends",
    ],
)
def test_a_variant_that_does_not_fit_changes_nothing(name: str, dialect: str, body: bytes) -> None:
    assert variant(name).apply(body, dialect=dialect) is None


def test_unknown_keys_reach_every_object_but_the_arguments_of_a_call() -> None:
    body = event(
        {
            "type": "content_block_start",
            "content_block": {"type": "tool_use", "input": {"a": {}}, "list": [{"b": 1}]},
        }
    )
    unknown = {"list": [1, None, "x"], "text": "x", "type": "x"}
    found = variant("unknown keys at every depth").apply(body, dialect=MESSAGES)
    assert found is not None
    assert decoded(found)[0][1] == {
        "type": "content_block_start",
        "content_block": {
            "type": "tool_use",
            "input": {"a": {}},
            "list": [{"b": 1, "x_unknown": unknown}],
            "x_unknown": unknown,
        },
        "x_unknown": unknown,
    }


@pytest.mark.parametrize(
    ("dialect", "body", "nulls"),
    [
        (CHAT, TEXT, ["choices.0.delta.tool_calls", "choices.0.logprobs", "error", "usage"]),
        (
            MESSAGES,
            start(input_tokens=1),
            ["error", "message.stop_reason", "message.usage.cache_read_input_tokens"],
        ),
        (MESSAGES, block(0, "text"), ["content_block.citations", "error"]),
        (MESSAGES, end("end_turn"), ["delta.container", "usage.input_tokens"]),
        (
            RESPONSES,
            response("completed", 1, response={"usage": {}, "output": [{"type": "message"}]}),
            ["response.error", "response.usage.input_tokens_details", "response.output.0.phase"],
        ),
        (RESPONSES, response("output_text.delta", 1, delta="a"), ["logprobs", "obfuscation"]),
    ],
    ids=["chat", "start", "block", "end", "response", "delta"],
)
def test_explicit_nulls_stand_where_the_wire_may_leave_a_field_out(
    dialect: str, body: bytes, nulls: list[str]
) -> None:
    found = variant("explicit nulls").apply(body, dialect=dialect)
    assert found is not None
    assert set(nulls) <= set(null_places(decoded(found)[0][1], ""))


def null_places(value: Any, place: str) -> list[str]:
    if value is None:
        return [place.removeprefix(".")]
    pairs: Iterable[tuple[object, Any]] = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    return [found for key, item in pairs for found in null_places(item, f"{place}.{key}")]


@pytest.mark.parametrize("name", [variant.name for variant in VARIANTS])
def test_every_variant_fits_some_good_answer_of_each_of_its_dialects(name: str) -> None:
    good = [
        case
        for case in shipped_cases()
        if case.expect.outcome == "success" and len(case.exchange) == 1 and case.exchange[0].send
    ]
    for dialect in variant(name).edits:
        fitting = [
            case
            for case in good
            if dialect in ("any", case.dialect)
            and not case.is_flood
            and not case.is_timed
            and case.exchange[0].headers
            and variant(name).apply(body_of(case), dialect=case.dialect) is not None
        ]
        assert len(fitting) >= 5, dialect
