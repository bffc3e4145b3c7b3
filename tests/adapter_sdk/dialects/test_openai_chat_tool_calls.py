"""Which fragment belongs to which call, and that arguments leave as the provider's characters."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import pytest

from adapter_sdk import BlockEnd, BlockStart, Finish, ToolCallBlock, ToolCallDelta
from adapter_sdk.dialects import OpenAIChat

from .playing import JSON, SPLITS, Bad, Good, chunks_of, seen, sse

DIALECT: Final = OpenAIChat(terminal="done-sentinel")
DONE: Final = b"data: [DONE]\n\n"
MADE_UP: Final = re.compile(r"call_[0-9a-f]{32}")
Tools = tuple[tuple[str, str, str], ...]


def call(
    index: Any = None, call_id: Any = None, name: Any = None, arguments: Any = None, **more: Any
) -> dict[str, Any]:
    """Return one entry of ``tool_calls``; what is None is absent."""
    entry = {"index": index, "id": call_id, **more}
    function = {"name": name, "arguments": arguments}
    entry["function"] = {key: value for key, value in function.items() if value is not None}
    return {key: value for key, value in entry.items() if value is not None and value != {}}


def delta(*calls: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"tool_calls": list(calls)}}]}


FINISHED: Final = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def play(*payloads: Any) -> tuple[list[Tools], Bad | None]:
    """Return the calls of every split, made-up ids as ``*``, or the failure."""
    body = sse(*payloads, FINISHED) + DONE
    tools: list[Tools] = []
    for split in SPLITS:
        result = seen(chunks_of(DIALECT, body, split=split))
        if isinstance(result, Bad):
            return [], result
        assert result.finish == "tool-calls"
        ids = [call_id for call_id, _, _ in result.tools]
        assert all(ids)
        assert len(set(ids)) == len(ids)
        tools.append(tuple((MADE_UP.sub("*", i), name, text) for i, name, text in result.tools))
    return tools, None


ROWS = [
    pytest.param(
        [
            delta(call(0, "c1", "ls", "")),
            delta(call(0, arguments='{"a":')),
            delta(call(0, arguments="1}")),
        ],
        (("c1", "ls", '{"a":1}'),),
        id="id-and-name-first-then-arguments",
    ),
    pytest.param([delta(call(0, "c1", "ls", "{}"))], (("c1", "ls", "{}"),), id="one-delta"),
    pytest.param(
        [
            delta(call(0, "c1", "ls", "{"), call(1, "c2", "rm", "[")),
            delta(call(1, arguments="]")),
            delta(call(0, arguments="}")),
        ],
        (("c1", "ls", "{}"), ("c2", "rm", "[]")),
        id="two-interleaved",
    ),
    pytest.param(
        [delta(call(0, "c1", "ls", "{}")), delta(call(0, "c2", "rm", "[]"))],
        (("c1", "ls", "{}"), ("c2", "rm", "[]")),
        id="a-new-id-starts-a-new-call-at-the-same-index",
    ),
    pytest.param(
        [delta(call(0, "c1", "ls", "{}"), call(0, "c2", "rm", "[")), delta(call(0, arguments="]"))],
        (("c1", "ls", "{}"), ("c2", "rm", "[]")),
        id="and-a-bare-continuation-belongs-to-it",
    ),
    pytest.param(
        [
            delta(call(0, "c1", "ls", "{")),
            delta(call(1, "c2", "rm", "[")),
            delta(call(1, "c1", arguments="}")),
            delta(call(0, "c2", arguments="]")),
        ],
        (("c1", "ls", "{}"), ("c2", "rm", "[]")),
        id="an-id-beats-an-index",
    ),
    pytest.param(
        [delta(call(0, "c1", "ls", "{")), delta(call(0, "c1", "ls", "}"))],
        (("c1", "ls", "{}"),),
        id="id-and-name-repeated",
    ),
    pytest.param(
        [
            delta(call(0, "c1", "ls", "{")),
            delta({"index": 0, "id": None, "function": {"name": None, "arguments": "}"}}),
        ],
        (("c1", "ls", "{}"),),
        id="null-fields-overwrite-nothing",
    ),
    pytest.param(
        [delta(call(0, "c1", "ls", "{")), delta(call(0, "", "", "}"))],
        (("c1", "ls", "{}"),),
        id="empty-fields-overwrite-nothing",
    ),
    pytest.param(
        [delta(call(0, "c1", "read_", "")), delta(call(0, name="file", arguments="{}"))],
        (("c1", "read_file", "{}"),),
        id="name-in-fragments",
    ),
    pytest.param(
        [delta(call(0, "c1", "read_file", "{")), delta(call(0, name="file", arguments="}"))],
        (("c1", "read_file", "{}"),),
        id="a-suffix-of-the-name-is-a-repeat",
    ),
    pytest.param(
        [delta(call(0, "c1")), delta(call(0, name="ls")), delta(call(0, arguments="{}"))],
        (("c1", "ls", "{}"),),
        id="id-then-name-then-arguments",
    ),
    pytest.param(
        [delta(call(0, name="ls", arguments="{")), delta(call(0, "c1", arguments="}"))],
        (("*", "ls", "{}"),),
        id="an-id-that-comes-late-does-not-rename-the-call",
    ),
    pytest.param(
        [
            delta(call(0, name="ls", arguments="{")),
            delta(call(0, "c1", arguments="}")),
            delta(call(3, "c1", arguments=" ")),
        ],
        (("*", "ls", "{} "),),
        id="but-finds-it-from-then-on",
    ),
    pytest.param(
        [delta(call(None, "c1", "ls", "{")), delta(call(None, arguments="}"))],
        (("c1", "ls", "{}"),),
        id="no-index-at-all",
    ),
    pytest.param(
        [
            delta(call(None, "c1", "ls", "{}")),
            delta(call(None, "c2", "rm", "[")),
            delta(call(None, arguments="]")),
        ],
        (("c1", "ls", "{}"), ("c2", "rm", "[]")),
        id="no-index-two-ids",
    ),
    pytest.param(
        [delta(call("0", "c1", "ls", "{")), delta(call("0", arguments="}"))],
        (("c1", "ls", "{}"),),
        id="an-index-that-is-no-number-is-none",
    ),
    pytest.param(
        [delta(call(0, name="ls", arguments="{}"), call(1, name="ls", arguments="[]"))],
        (("*", "ls", "{}"), ("*", "ls", "[]")),
        id="no-ids-two-indices",
    ),
    pytest.param(
        [
            delta(call(None, name="ls", arguments="{}")),
            delta(call(None, name="rm", arguments="{}")),
        ],
        (("*", "ls", "{}"), ("*", "rm", "{}")),
        id="neither-id-nor-index-another-name-after-whole-arguments",
    ),
    pytest.param(
        [
            delta(call(None, name="ls", arguments='{"p":1}')),
            delta(call(None, name="ls", arguments='{"p":2}')),
        ],
        (("*", "ls", '{"p":1}'), ("*", "ls", '{"p":2}')),
        id="neither-id-nor-index-the-same-name-with-whole-arguments-again",
    ),
    pytest.param(
        [
            delta(call(None, name="ls", arguments='{"p":')),
            delta(call(None, name="ls", arguments="1}")),
            delta(call(None, name="ls", arguments="")),
        ],
        (("*", "ls", '{"p":1}'),),
        id="neither-id-nor-index-a-name-that-is-repeated",
    ),
    pytest.param(
        [
            {"choices": [{"delta": {"function_call": {"name": "ls", "arguments": "{"}}}]},
            {"choices": [{"delta": {"function_call": {"arguments": "}"}}}]},
        ],
        (("*", "ls", "{}"),),
        id="function-call-of-the-days-before-tools",
    ),
    pytest.param(
        [
            delta(call(0, "c1", "ls", "{", type="function")),
            delta(call(0, arguments="}", type="function")),
        ],
        (("c1", "ls", "{}"),),
        id="the-type-is-not-read",
    ),
]


@pytest.mark.parametrize(("payloads", "expected"), ROWS)
def test_calls_keep_their_identity(payloads: list[Any], expected: Tools) -> None:
    assert play(*payloads) == ([expected] * len(SPLITS), None)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param([""], "", id="empty-stays-empty"),
        pytest.param([None], "", id="absent-is-empty"),
        pytest.param(['{"a": 1,\n "b":1.50}'], '{"a": 1,\n "b":1.50}', id="characters-stay"),
        pytest.param(['{"a":1,}'], '{"a":1,}', id="malformed-stays"),
        pytest.param(['{"a":"x'], '{"a":"x', id="unterminated-stays"),
        pytest.param(["12"], "12", id="no-object-stays"),
        pytest.param(["{}", "{}"], "{}{}", id="more-after-a-whole-object-stays"),
        pytest.param(['{"a":"\ud83d', '\udc4d"}'], '{"a":"\U0001f44d"}', id="surrogate-pair"),
        pytest.param(['{"a":"\ud83d'], '{"a":"\ufffd', id="lone-surrogate"),
        pytest.param([{"a": 1, "b": [None]}], '{"a":1,"b":[null]}', id="an-object-of-its-own"),
    ],
)
def test_arguments_leave_as_they_came(arguments: list[Any], expected: str) -> None:
    first, *rest = arguments
    payloads = [
        delta(call(0, "c1", "ls", first)),
        *(delta(call(0, "c1", arguments=more)) for more in rest),
    ]
    assert play(*payloads) == ([(("c1", "ls", expected),)] * len(SPLITS), None)


def test_arguments_that_cannot_be_json_are_malformed() -> None:
    payload = sse(delta(call(0, "c1", "ls", {"a": float("nan")})))
    assert play(payload) == ([], Bad(code="MALFORMED_RESPONSE"))


def test_deltas_of_a_call_name_it_once_and_carry_its_id() -> None:
    payloads = [
        delta(call(0, "c1", "ls", "")),
        delta(call(0, "c1", "ls", '{"a"')),
        delta(call(0, "c1", "ls", "")),
        delta(call(0, arguments=":1}")),
    ]
    assert chunks_of(DIALECT, sse(*payloads, FINISHED) + DONE)[:-1] == [
        BlockStart(0, "tool-call"),
        ToolCallDelta(0, "c1", "", "ls"),
        ToolCallDelta(0, "c1", '{"a"'),
        ToolCallDelta(0, "c1", ":1}"),
        BlockEnd(0, ToolCallBlock("c1", "ls", '{"a":1}')),
    ]


def test_a_half_character_at_the_end_of_the_arguments_is_a_delta_too() -> None:
    chunks = chunks_of(DIALECT, sse(delta(call(0, "c1", "ls", "a\ud83d")), FINISHED) + DONE)
    text = "".join(chunk.arguments_delta for chunk in chunks if isinstance(chunk, ToolCallDelta))
    (end,) = [chunk.block for chunk in chunks if isinstance(chunk, BlockEnd)]
    assert end == ToolCallBlock("c1", "ls", text) == ToolCallBlock("c1", "ls", "a\ufffd")


def test_made_up_ids_differ_between_answers() -> None:
    body = sse(delta(call(0, name="ls", arguments="{}")), FINISHED) + DONE
    ids = set()
    for _ in range(2):
        result = seen(chunks_of(DIALECT, body))
        assert isinstance(result, Good)
        ids |= {call_id for call_id, _, _ in result.tools}
    assert (len(ids), all(MADE_UP.fullmatch(call_id) for call_id in ids)) == (2, True)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        pytest.param(
            [call(None, "c1", "ls", "{}"), call(None, "c2", "ls", "{}")],
            (("c1", "ls", "{}"), ("c2", "ls", "{}")),
            id="ids",
        ),
        pytest.param(
            [call(None, None, "ls", '{"p":1}'), call(None, None, "ls", '{"p":2}')],
            (("*", "ls", '{"p":1}'), ("*", "ls", '{"p":2}')),
            id="no-ids-and-one-name",
        ),
        pytest.param(
            [call(0, None, "ls", "{}"), call(1, None, "ls", "{}")],
            (("*", "ls", "{}"), ("*", "ls", "{}")),
            id="indices",
        ),
    ],
)
def test_calls_of_a_whole_completion_stay_apart(calls: list[Any], expected: Tools) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    body = json.dumps({"choices": [choice]}).encode()
    result = seen(chunks_of(DIALECT, body, media_type=JSON))
    assert isinstance(result, Good)
    assert tuple((MADE_UP.sub("*", i), *rest) for i, *rest in result.tools) == expected


@pytest.mark.parametrize("ending", ["cut", "error", "length", "bad-finish"])
def test_a_call_that_may_be_half_a_call_is_not_handed_out(ending: str) -> None:
    body = sse(delta(call(0, "c1", "rm", '{"p":"/"}')))
    body += {
        "cut": b"",
        "error": sse({"error": "busy"}) + DONE,
        "length": sse({"choices": [{"delta": {}, "finish_reason": "length"}]}) + DONE,
        "bad-finish": sse({"choices": [{"delta": {}, "finish_reason": "zzz"}]}) + DONE,
    }[ending]
    chunks = chunks_of(DIALECT, body)
    assert isinstance(chunks[-1], Finish)
    result = seen(chunks)
    if ending == "length":
        assert result == Good(finish="max-tokens")
    else:
        assert isinstance(result, Bad)
        assert not any(isinstance(chunk, BlockEnd) for chunk in chunks)
