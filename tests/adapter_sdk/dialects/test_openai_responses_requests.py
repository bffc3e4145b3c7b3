"""What goes out on the responses wire."""

from __future__ import annotations

from typing import Any, Final

import pytest

from adapter_sdk import (
    Dialect,
    ImageBlock,
    LlmError,
    LlmRequest,
    Message,
    ReasoningBlock,
    TextBlock,
    Tool,
    ToolCallBlock,
    ToolResultBlock,
    assistant,
    system,
    user,
)
from adapter_sdk.dialects import OpenAIResponses

PIXEL: Final = ImageBlock("image/png", "iVBO")
WIRE_PIXEL: Final = {
    "type": "input_image",
    "image_url": "data:image/png;base64,iVBO",
    "detail": "auto",
}
LS: Final = Tool("ls", "List.", {"type": "object", "properties": {}})
HI: Final = user("Hi")


def wire_user(*content: Any) -> dict[str, Any]:
    parts = [
        {"type": "input_text", "text": part} if isinstance(part, str) else part for part in content
    ]
    return {"type": "message", "role": "user", "content": parts}


def wire_assistant(said: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": said}


def body(*messages: Message, dialect: Dialect | None = None, **options: Any) -> dict[str, Any]:
    request = LlmRequest(model="m", messages=messages or (HI,), **options)
    return dict((dialect or OpenAIResponses()).body(request))


def test_nothing_but_what_the_call_needs_is_sent_unasked() -> None:
    assert body() == {"model": "m", "input": [wire_user("Hi")], "stream": True, "store": False}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({"max_tokens": 5}, {"max_output_tokens": 5}, id="max_tokens"),
        pytest.param({"temperature": 0.0}, {"temperature": 0.0}, id="temperature"),
        pytest.param({"top_p": 0.5}, {"top_p": 0.5}, id="top_p"),
        pytest.param(
            {"tools": (LS, Tool("cat", strict=False)), "tool_choice": "required"},
            {
                "tools": [
                    {
                        "type": "function",
                        "name": "ls",
                        "description": "List.",
                        "parameters": LS.parameters,
                    },
                    {
                        "type": "function",
                        "name": "cat",
                        "parameters": LS.parameters,
                        "strict": False,
                    },
                ],
                "tool_choice": "required",
            },
            id="tools",
        ),
        pytest.param({"tool_choice": "auto"}, {}, id="a-choice-among-no-tools"),
    ],
)
def test_an_option_has_its_place(options: dict[str, Any], expected: dict[str, Any]) -> None:
    assert body(**options) == {**body(), **expected}


def test_a_tool_is_chosen_by_its_name() -> None:
    assert body(tools=(LS,), tool_choice="ls")["tool_choice"] == {"type": "function", "name": "ls"}


@pytest.mark.parametrize(
    ("messages", "items"),
    [
        pytest.param([user("What?", PIXEL)], [wire_user("What?", WIRE_PIXEL)], id="an-image"),
        pytest.param(
            [
                HI,
                assistant("I look.", ToolCallBlock("call_1", "ls", '{"p": 1.0')),
                user("And?", ToolResultBlock("call_1", (TextBlock("a"), TextBlock("b")))),
            ],
            [
                wire_user("Hi"),
                wire_assistant("I look."),
                {
                    "type": "function_call",
                    "call_id": "call_1",
                    "name": "ls",
                    "arguments": '{"p": 1.0',
                },
                {"type": "function_call_output", "call_id": "call_1", "output": "ab"},
                wire_user("And?"),
            ],
            id="a-call-and-its-result",
        ),
        pytest.param(
            [user(ToolResultBlock("call_1", (TextBlock("a"), PIXEL)), ToolResultBlock("call_2"))],
            [
                {
                    "type": "function_call_output",
                    "call_id": "call_1",
                    "output": [{"type": "input_text", "text": "a"}, WIRE_PIXEL],
                },
                {"type": "function_call_output", "call_id": "call_2", "output": "(no output)"},
            ],
            id="results-with-an-image-and-without-anything",
        ),
        pytest.param(
            [HI, assistant(ReasoningBlock("hm"), TextBlock("")), user(TextBlock("")), user("Go.")],
            [wire_user("Hi"), wire_user("Go.")],
            id="foreign-reasoning-and-empty-texts-are-left-out",
        ),
    ],
)
def test_a_conversation_becomes_items(messages: list[Message], items: list[Any]) -> None:
    assert body(*messages)["input"] == items


def test_system_text_becomes_instructions_wherever_it_stood() -> None:
    sent = body(system("Be brief."), HI, system(""), system("And kind."))
    assert (sent["instructions"], sent["input"]) == (
        "Be brief.\n\nAnd kind.",
        [wire_user("Hi")],
    )


ENCRYPTED: Final = {"include": ["reasoning.encrypted_content"]}
THINKER: Final = OpenAIResponses(reasoning_efforts=("low", "high"))


@pytest.mark.parametrize(
    ("dialect", "effort", "expected"),
    [
        pytest.param(
            THINKER, "high", {"reasoning": {"effort": "high"}, **ENCRYPTED}, id="an-effort"
        ),
        pytest.param(THINKER, None, ENCRYPTED, id="no-effort"),
        pytest.param(
            OpenAIResponses(reasoning_efforts=("low",), reasoning_summary="auto"),
            "low",
            {"reasoning": {"effort": "low", "summary": "auto"}, **ENCRYPTED},
            id="a-summary",
        ),
        pytest.param(
            OpenAIResponses(reasoning_efforts=("low",), encrypted_reasoning=False),
            "low",
            {"reasoning": {"effort": "low"}},
            id="nothing-to-send-back",
        ),
        pytest.param(
            OpenAIResponses(encrypted_reasoning=True), None, ENCRYPTED, id="a-fixed-effort"
        ),
        pytest.param(OpenAIResponses(), None, {}, id="a-model-that-does-not-reason"),
    ],
)
def test_reasoning_is_asked_for(
    dialect: Dialect, effort: str | None, expected: dict[str, Any]
) -> None:
    assert body(dialect=dialect, reasoning_effort=effort) == {**body(), **expected}


@pytest.mark.parametrize(
    ("messages", "options", "code", "message"),
    [
        pytest.param(
            [HI],
            {"stop": ("a",)},
            "UNSUPPORTED_OPTION",
            "stop: the responses wire has no such option",
            id="stop",
        ),
        pytest.param(
            [HI],
            {"reasoning_effort": "odd"},
            "UNSUPPORTED_REASONING_EFFORT",
            "reasoning effort 'odd' is not one of: low, high",
            id="effort",
        ),
        pytest.param(
            [Message("system", (PIXEL,))],
            {},
            "UNSUPPORTED_CONTENT",
            "an image in a system turn has no place on this wire",
            id="image-in-system",
        ),
        pytest.param(
            [assistant(PIXEL)],
            {},
            "UNSUPPORTED_CONTENT",
            "an image in an assistant turn has no place on this wire",
            id="image-in-assistant",
        ),
        pytest.param(
            [assistant(ToolResultBlock("call_1"))],
            {},
            "UNSUPPORTED_CONTENT",
            "a tool result in an assistant turn has no place on this wire",
            id="result-in-assistant",
        ),
        pytest.param(
            [Message("user", (ToolCallBlock("call_1", "ls", ""),))],
            {},
            "UNSUPPORTED_CONTENT",
            "a tool call in a user turn has no place on this wire",
            id="call-in-user",
        ),
        pytest.param(
            [Message("user", (ReasoningBlock("hm"),))],
            {},
            "UNSUPPORTED_CONTENT",
            "reasoning in a user turn has no place on this wire",
            id="reasoning-in-user",
        ),
    ],
)
def test_what_the_wire_cannot_say_is_refused(
    messages: list[Message], options: dict[str, Any], code: str, message: str
) -> None:
    with pytest.raises(LlmError) as caught:
        body(*messages, dialect=THINKER, **options)
    assert (caught.value.failure.code, caught.value.failure.message) == (code, message)


def test_the_credential_goes_in_a_header() -> None:
    dialect = OpenAIResponses()
    assert dialect.credential_headers("k") == {"authorization": "Bearer k"}
    assert (dialect.name, dialect.path, dialect.terminal) == (
        "openai-responses",
        "/responses",
        "response-completed",
    )
