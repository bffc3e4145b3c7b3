"""The requests that the reference adapter sends, pinned whole."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from adapter_sdk import LlmError
from conformance._conversations import CONVERSATIONS
from reference_adapters.deepseek import DeepSeekAdapter

MODEL = "deepseek-v4-flash-vision-exp"


@pytest.mark.parametrize("name", sorted(CONVERSATIONS))
def test_the_body_of_each_reference_conversation(name: str, snapshot: SnapshotAssertion) -> None:
    body = DeepSeekAdapter(api_key="k").body(CONVERSATIONS[name](MODEL))

    assert json.dumps(body, indent=1) == snapshot


@pytest.mark.parametrize(
    ("options", "asked", "expected"),
    [
        pytest.param({}, {}, {}, id="nothing-set-nothing-sent"),
        pytest.param(
            {"thinking": "enabled"},
            {},
            {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
            id="enabled-is-high",
        ),
        pytest.param(
            {"thinking": "disabled"}, {}, {"thinking": {"type": "disabled"}}, id="disabled"
        ),
        pytest.param(
            {"reasoning_effort": "low"},
            {"reasoning_effort": "max"},
            {"thinking": {"type": "enabled"}, "reasoning_effort": "max"},
            id="the-request-wins",
        ),
        pytest.param(
            {},
            {"reasoning_effort": "off"},
            {"thinking": {"type": "disabled"}},
            id="off-sends-no-effort",
        ),
        pytest.param(
            {"reasoning_effort": "max"},
            {"purpose": "session-title"},
            {"thinking": {"type": "disabled"}},
            id="a-title-needs-no-thought",
        ),
    ],
)
def test_the_switches_for_reasoning(
    options: dict[str, Any], asked: dict[str, Any], expected: dict[str, Any]
) -> None:
    request = dataclasses.replace(CONVERSATIONS["text"](MODEL), **asked)
    body = DeepSeekAdapter(api_key="k", **options).body(request)

    found = {key: body[key] for key in ("thinking", "reasoning_effort") if key in body}
    assert found == expected


@pytest.mark.parametrize(
    ("options", "effort"),
    [
        pytest.param({}, "medium", id="unknown-word"),
        pytest.param({"thinking": "disabled"}, "high", id="the-lock"),
    ],
)
def test_an_effort_that_cannot_be_had_is_refused(options: dict[str, Any], effort: str) -> None:
    request = dataclasses.replace(CONVERSATIONS["text"](MODEL), reasoning_effort=effort)

    with pytest.raises(LlmError) as refusal:
        DeepSeekAdapter(api_key="k", **options).body(request)

    assert refusal.value.code == "UNSUPPORTED_REASONING_EFFORT"
