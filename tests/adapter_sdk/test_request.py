"""What a request may ask; what breaks a rule is refused where it is made."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

from adapter_sdk import LlmRequest, Tool, user

MESSAGES = (user("hi"),)


def test_nothing_but_model_and_messages_is_needed() -> None:
    assert dataclasses.asdict(LlmRequest(model="m", messages=())) == {
        "model": "m",
        "messages": (),
        "tools": (),
        "tool_choice": None,
        "max_tokens": None,
        "temperature": None,
        "top_p": None,
        "stop": (),
        "reasoning_effort": None,
        "session_id": None,
        "purpose": None,
    }


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"max_tokens": 1}, id="smallest-cap"),
        pytest.param({"temperature": 0}, id="temperature-as-an-int"),
        pytest.param({"temperature": 1.5}, id="temperature"),
        pytest.param({"temperature": -1.0}, id="what-a-provider-takes-is-its-own-affair"),
        pytest.param({"top_p": 1e-9}, id="small-top-p"),
        pytest.param({"stop": ("\n", "END")}, id="stop"),
        pytest.param({"tools": (Tool("ls"),), "tool_choice": "ls"}, id="tools"),
    ],
)
def test_a_request_accepts_what_its_rules_allow(fields: dict[str, Any]) -> None:
    request = LlmRequest(model="m", messages=MESSAGES, **fields)
    assert {name: getattr(request, name) for name in fields} == fields


NUMBER = "LlmRequest.{}: a finite number"
CAP = "LlmRequest.max_tokens: a whole number of 1 or more"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param({"model": ""}, "LlmRequest.model: a non-empty string", id="empty-model"),
        pytest.param({"model": None}, "LlmRequest.model: a non-empty string", id="no-model"),
        pytest.param({"model": 5}, "LlmRequest.model: a non-empty string", id="number-as-model"),
        pytest.param({"max_tokens": 0}, CAP, id="cap-of-zero"),
        pytest.param({"max_tokens": -1}, CAP, id="negative-cap"),
        pytest.param({"max_tokens": 1.0}, CAP, id="cap-as-a-float"),
        pytest.param({"max_tokens": True}, CAP, id="cap-as-a-bool"),
        pytest.param({"max_tokens": "5"}, CAP, id="cap-as-text"),
        pytest.param({"temperature": math.nan}, NUMBER.format("temperature"), id="nan"),
        pytest.param({"temperature": math.inf}, NUMBER.format("temperature"), id="infinite"),
        pytest.param({"temperature": "0.5"}, NUMBER.format("temperature"), id="text"),
        pytest.param({"temperature": True}, NUMBER.format("temperature"), id="bool"),
        pytest.param({"top_p": -math.inf}, NUMBER.format("top_p"), id="top-p-infinite"),
        pytest.param({"top_p": [1]}, NUMBER.format("top_p"), id="top-p-as-a-list"),
        pytest.param(
            {"messages": []}, "LlmRequest.messages: a tuple, got list", id="messages-list"
        ),
        pytest.param(
            {"tools": [Tool("ls")]}, "LlmRequest.tools: a tuple, got list", id="tools-list"
        ),
        pytest.param({"stop": "END"}, "LlmRequest.stop: a tuple, got str", id="stop-as-one-text"),
    ],
)
def test_a_request_refuses_what_breaks_a_rule(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        LlmRequest(**{"model": "m", "messages": MESSAGES, **fields})
    assert str(caught.value) == message


def test_a_request_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        LlmRequest(model="m", messages=()).model = "n"  # type: ignore[misc]  # why: must not work


def test_a_tool_without_parameters_takes_none() -> None:
    assert dataclasses.asdict(Tool("ls")) == {
        "name": "ls",
        "description": "",
        "parameters": {"type": "object", "properties": {}},
        "strict": None,
    }
    assert Tool("a").parameters is not Tool("b").parameters
