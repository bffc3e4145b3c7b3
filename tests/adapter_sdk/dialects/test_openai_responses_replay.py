"""An answer of the responses wire goes back to its provider."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

import pytest

from adapter_sdk import LlmRequest, Message, user

from .playing import chunks_of, finish_of, message_of, sse
from .responses_wire import DIALECT, call, done, end, message, reasoning

SEALED: Final = reasoning("hm", encrypted_content="gAAAA")
SILENT: Final = reasoning(item_id="rs_2", encrypted_content="gBBBB")
SAID: Final = message("Ok", phase="commentary")
CALL: Final = call('{"a":1}')
ANSWER: Final = [done(SEALED), done(SAID), done(SILENT), done(CALL)]

WIRE_CALL: Final = {
    "type": "function_call",
    "call_id": "call_1",
    "name": "ls",
    "arguments": '{"a":1}',
}
WHOLE: Final = [
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "hm"}],
        "encrypted_content": "gAAAA",
    },
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Ok", "annotations": []}],
        "phase": "commentary",
    },
    {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "gBBBB"},
    {**WIRE_CALL, "id": "fc_1"},
]
SHORT: Final = [
    {"type": "message", "role": "assistant", "content": "Ok", "phase": "commentary"},
    WIRE_CALL,
]
NEUTRAL: Final = [{"type": "message", "role": "assistant", "content": "Ok"}, WIRE_CALL]


def answer(*events: Any) -> Message:
    return message_of(chunks_of(DIALECT, sse(*events)))


def sent_back(message: Message) -> list[Any]:
    request = LlmRequest(model="m", messages=(user("Hi"), message))
    items: list[Any] = DIALECT.body(request)["input"][1:]
    return items


def test_the_state_stands_beside_the_blocks() -> None:
    assert finish_of(chunks_of(DIALECT, sse(*ANSWER, end()))).replay_state == {
        "version": 1,
        "dialect": "openai-responses",
        "response_id": "resp_1",
        "stop_reason": "completed",
        "blocks": [
            {"id": "rs_1", "encrypted_content": "gAAAA"},
            {"id": "msg_1", "phase": "commentary"},
            {"id": "rs_2", "encrypted_content": "gBBBB"},
            {"id": "fc_1"},
        ],
    }


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([*ANSWER, end()], WHOLE, id="everything"),
        pytest.param([end(SEALED, SAID, SILENT, CALL)], WHOLE, id="in-the-response-alone"),
        pytest.param(
            [*ANSWER, end(kind="incomplete", incomplete_details={"reason": "max_output_tokens"})],
            WHOLE[:3],
            id="cut",
        ),
        pytest.param([done(SAID), done(CALL), end()], SHORT, id="no-reasoning-no-ids"),
        pytest.param(
            [done(SEALED), done(reasoning("!", item_id="rs_3")), done(SAID), done(CALL), end()],
            SHORT,
            id="reasoning-that-cannot-go-back-takes-all-ids-with-it",
        ),
        pytest.param(
            [done(reasoning(item_id="rs_3")), done(SAID), done(CALL), end()],
            SHORT,
            id="even-where-it-has-no-block",
        ),
        pytest.param(
            [done({**SEALED, "id": None}), done(SAID), done(CALL), end()],
            SHORT,
            id="reasoning-without-an-id",
        ),
    ],
)
def test_reasoning_goes_back_encrypted(events: list[Any], expected: list[Any]) -> None:
    assert sent_back(answer(*events)) == expected


def test_a_stored_state_is_as_good_as_a_fresh_one() -> None:
    message = answer(*ANSWER, end())
    stored = json.loads(json.dumps(message.replay_state))
    assert sent_back(replace(message, replay_state=stored)) == WHOLE


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"version": 2}, id="another-version"),
        pytest.param({"dialect": "anthropic-messages"}, id="another-dialect"),
        pytest.param({"blocks": [{}]}, id="too-few-entries"),
        pytest.param({"blocks": [{"id": 5, "encrypted_content": 5}, {}, {}, {}]}, id="odd-values"),
    ],
)
def test_an_unusable_state_costs_the_reasoning_and_nothing_else(change: dict[str, Any]) -> None:
    message = answer(*ANSWER, end())
    state = {**(message.replay_state or {}), **change}
    assert sent_back(replace(message, replay_state=state)) == NEUTRAL
