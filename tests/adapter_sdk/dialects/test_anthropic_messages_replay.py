"""An answer of the messages wire goes back to its provider."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

import pytest

from adapter_sdk import LlmRequest, Message, ReasoningBlock, user

from .messages_wire import (
    DIALECT,
    arguments,
    begin,
    closing,
    signature,
    start,
    stop,
    text,
    thought,
)
from .playing import chunks_of, finish_of, message_of, sse

ANSWER: Final = [
    start(),
    begin(0, "redacted_thinking", data="secret"),
    stop(0),
    begin(1, "server_tool_use", id="srv", name="web_search", input={}),
    stop(1),
    begin(2, "thinking", thinking="", signature=""),
    thought(2, "hm"),
    begin(3, "text", text=""),
    text(3, "Ok"),
    begin(4, "tool_use", id="t1", name="ls"),
    arguments(4, '{"a":1}'),
    signature(2, "sig"),
]
REDACTED: Final = {"type": "redacted_thinking", "data": "secret"}
THINKING: Final = {"type": "thinking", "thinking": "hm", "signature": "sig"}
TEXT: Final = {"type": "text", "text": "Ok"}
CALL: Final = {"type": "tool_use", "id": "t1", "name": "ls", "input": {"a": 1}}


def answer(word: str) -> Message:
    return message_of(chunks_of(DIALECT, sse(*ANSWER, *closing(word))))


def sent_back(message: Message) -> list[Any]:
    request = LlmRequest(model="m", messages=(user("Hi"), message))
    content: list[Any] = DIALECT.body(request)["messages"][1]["content"]
    return content


def test_the_state_stands_beside_the_blocks() -> None:
    assert finish_of(chunks_of(DIALECT, sse(*ANSWER, *closing("pause_turn")))).replay_state == {
        "version": 1,
        "dialect": "anthropic-messages",
        "response_id": "msg_1",
        "stop_reason": "pause_turn",
        "blocks": [{"redacted": "secret"}, {"signature": "sig"}, {}, {}],
    }


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("tool_use", [REDACTED, THINKING, TEXT, CALL]),
        ("max_tokens", [REDACTED, THINKING, TEXT]),
    ],
)
def test_thinking_goes_back_with_its_signature(word: str, expected: list[Any]) -> None:
    assert sent_back(answer(word)) == expected


def test_a_stored_state_is_as_good_as_a_fresh_one() -> None:
    message = answer("tool_use")
    stored = json.loads(json.dumps(message.replay_state))
    assert stored == message.replay_state
    assert sent_back(replace(message, replay_state=stored)) == sent_back(message)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"version": 2}, id="another-version"),
        pytest.param({"dialect": "openai-responses"}, id="another-dialect"),
        pytest.param({"blocks": [{}]}, id="too-few-entries"),
        pytest.param({"blocks": [5, 5, 5, 5]}, id="entries-of-another-kind"),
        pytest.param({"blocks": None}, id="no-entries"),
        pytest.param({"blocks": [{"redacted": 5}, {"signature": None}, {}, {}]}, id="odd-values"),
        pytest.param({"blocks": [{}, {"signature": ""}, {}, {}]}, id="empty-signature"),
    ],
)
def test_an_unusable_state_costs_the_thinking_and_nothing_else(change: dict[str, Any]) -> None:
    message = answer("tool_use")
    state = {**(message.replay_state or {}), **change}
    assert sent_back(replace(message, replay_state=state)) == [TEXT, CALL]


def test_a_message_whose_blocks_were_changed_loses_its_thinking() -> None:
    message = answer("tool_use")
    longer = replace(message, content=(ReasoningBlock("mine"), *message.content))
    assert sent_back(longer) == [TEXT, CALL]
    assert sent_back(replace(message, replay_state=None)) == [TEXT, CALL]
