"""A request becomes the body of a chat completion; what is unset is left out, never null."""

from __future__ import annotations

from typing import Any, Final

import pytest

from adapter_sdk import (
    ImageBlock,
    LlmError,
    LlmFailure,
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
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.dialects.openai_chat import chat_body

PIXEL: Final = ImageBlock("image/png", "aGk=")
DOT: Final = ImageBlock("image/jpeg", "aG8=")
HI: Final = {"role": "user", "content": "hi"}


def image_part(image: ImageBlock) -> dict[str, Any]:
    url = f"data:{image.media_type};base64,{image.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def body(*messages: Message, **options: Any) -> dict[str, Any]:
    return dict(OpenAIChat().body(LlmRequest(model="m", messages=messages, **options)))


def keys(**fields: Any) -> dict[str, Any]:
    """Return a whole body of the one turn ``hi``, with these fields more."""
    return {
        "model": "m",
        "messages": [HI],
        "stream": True,
        "stream_options": {"include_usage": True},
        **fields,
    }


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        pytest.param({}, {}, id="nothing-set-nothing-sent"),
        pytest.param({"tools": (), "stop": ()}, {}, id="empty-lists-are-left-out"),
        pytest.param({"max_tokens": 5}, {"max_tokens": 5}, id="max-tokens"),
        pytest.param(
            {"temperature": 0.0, "top_p": 0.5}, {"temperature": 0.0, "top_p": 0.5}, id="sampling"
        ),
        pytest.param({"stop": ("a", "b")}, {"stop": ["a", "b"]}, id="stop"),
        pytest.param(
            {"tools": (Tool("ls"),)},
            {
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "ls",
                            "parameters": {"type": "object", "properties": {}},
                        },
                    }
                ]
            },
            id="tool-without-a-description",
        ),
        pytest.param(
            {"tools": (Tool("ls", "Lists.", {"type": "object", "b": 1, "a": 2}, strict=False),)},
            {
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "ls",
                            "description": "Lists.",
                            "parameters": {"type": "object", "b": 1, "a": 2},
                            "strict": False,
                        },
                    }
                ]
            },
            id="tool-with-everything",
        ),
        pytest.param({"tool_choice": "auto"}, {}, id="a-choice-without-tools-is-left-out"),
        pytest.param({"session_id": "s", "purpose": "p"}, {}, id="what-this-wire-does-not-have"),
    ],
)
def test_options_become_fields(options: dict[str, Any], fields: dict[str, Any]) -> None:
    assert body(user("hi"), **options) == keys(**fields)


def test_the_order_of_a_schema_is_kept() -> None:
    sent = body(user("hi"), tools=(Tool("ls", "", {"z": 1, "a": {"y": 1, "b": 2}}),))
    parameters = sent["tools"][0]["function"]["parameters"]
    assert [list(parameters), list(parameters["a"])] == [["z", "a"], ["y", "b"]]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("ls", {"type": "function", "function": {"name": "ls"}}),
    ],
)
def test_a_tool_choice_is_a_word_or_a_name(choice: str, expected: object) -> None:
    assert body(user("hi"), tools=(Tool("ls"),), tool_choice=choice)["tool_choice"] == expected


CALL: Final = ToolCallBlock("c1", "ls", '{ "p":1 }')
WIRE_CALL: Final = {
    "id": "c1",
    "type": "function",
    "function": {"name": "ls", "arguments": '{ "p":1 }'},
}


def tool(call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


@pytest.mark.parametrize(
    ("messages", "wire"),
    [
        pytest.param((), [], id="nothing"),
        pytest.param((user("a", "b"),), [{"role": "user", "content": "ab"}], id="texts-are-joined"),
        pytest.param((user(),), [], id="a-turn-without-content"),
        pytest.param(
            (user("hi"), system("One."), assistant("ok"), system("Two."), system("")),
            [
                {"role": "system", "content": "One.\n\nTwo."},
                HI,
                {"role": "assistant", "content": "ok"},
            ],
            id="system-text-comes-first-wherever-it-stands",
        ),
        pytest.param((system(""), user("hi")), [HI], id="an-empty-system-turn-is-left-out"),
        pytest.param(
            (user("see", PIXEL, "there"),),
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "see"},
                        image_part(PIXEL),
                        {"type": "text", "text": "there"},
                    ],
                }
            ],
            id="image",
        ),
        pytest.param(
            (assistant("I look.", CALL),),
            [{"role": "assistant", "content": "I look.", "tool_calls": [WIRE_CALL]}],
            id="a-call-keeps-its-characters",
        ),
        pytest.param(
            (assistant(CALL),),
            [{"role": "assistant", "content": "", "tool_calls": [WIRE_CALL]}],
            id="no-text-is-an-empty-text",
        ),
        pytest.param(
            (assistant(ReasoningBlock("hm"), "a"),),
            [{"role": "assistant", "content": "a"}],
            id="reasoning-is-left-out-by-default",
        ),
        pytest.param(
            (user(ToolResultBlock("c1", (TextBlock("x"), TextBlock("y"))), ToolResultBlock("c2")),),
            [tool("c1", "xy"), tool("c2", "(no output)")],
            id="each-result-is-a-message-and-an-empty-one-says-so",
        ),
        pytest.param(
            (user(ToolResultBlock("c1", (TextBlock("x"),)), "and?"),),
            [{"role": "user", "content": "and?"}, tool("c1", "x")],
            id="results-come-after-the-users-text",
        ),
        pytest.param(
            (
                user(ToolResultBlock("c1", (PIXEL, TextBlock("x")))),
                user(ToolResultBlock("c2", (DOT,))),
                assistant("seen"),
            ),
            [
                tool("c1", "x"),
                tool("c2", "(no output)"),
                {"role": "user", "content": [image_part(PIXEL), image_part(DOT)]},
                {"role": "assistant", "content": "seen"},
            ],
            id="images-of-consecutive-results-follow-in-one-user-message",
        ),
        pytest.param(
            (user(ToolResultBlock("c1", (PIXEL,))), user("and?")),
            [
                tool("c1", "(no output)"),
                {"role": "user", "content": [image_part(PIXEL)]},
                {"role": "user", "content": "and?"},
            ],
            id="images-of-results-come-before-the-next-text",
        ),
        pytest.param(
            (user(ToolResultBlock("c1", (PIXEL,))),),
            [tool("c1", "(no output)"), {"role": "user", "content": [image_part(PIXEL)]}],
            id="images-of-the-last-result",
        ),
    ],
)
def test_turns_become_messages(messages: tuple[Message, ...], wire: list[Any]) -> None:
    assert body(*messages)["messages"] == wire


def test_reasoning_goes_back_in_the_field_that_is_named() -> None:
    turns = (assistant(ReasoningBlock("h"), "a", ReasoningBlock("m")), assistant("b"))
    request = LlmRequest(model="m", messages=turns)
    assert chat_body(request, reasoning_field="reasoning_content")["messages"] == [
        {"role": "assistant", "content": "a", "reasoning_content": "hm"},
        {"role": "assistant", "content": "b"},
    ]


def test_the_system_role_has_another_name_where_it_is_declared() -> None:
    request = LlmRequest(model="m", messages=(system("One."),))
    dialect = OpenAIChat(system_role="developer")
    assert dialect.body(request)["messages"] == [{"role": "developer", "content": "One."}]


@pytest.mark.parametrize("make", [system, assistant])
def test_an_image_outside_a_user_turn_is_refused(make: Any) -> None:
    role = make("x").role
    with pytest.raises(LlmError) as caught:
        body(Message(role, (TextBlock("x"), PIXEL)))
    article = "an" if role == "assistant" else "a"
    assert caught.value.failure == LlmFailure(
        message=f"an image in {article} {role} turn has no place on this wire",
        code="UNSUPPORTED_CONTENT",
    )


@pytest.mark.parametrize(
    ("efforts", "effort", "expected"),
    [
        pytest.param(("low", "high"), "low", {"reasoning_effort": "low"}, id="known"),
        pytest.param(("low", "high"), None, {}, id="unset"),
        pytest.param(
            ("low", "high"), "max", "reasoning effort 'max' is not one of: low, high", id="unknown"
        ),
        pytest.param((), "low", "reasoning effort 'low' is not one of: none at all", id="none"),
    ],
)
def test_an_effort_is_sent_where_it_is_declared(
    efforts: tuple[str, ...], effort: str | None, expected: dict[str, str] | str
) -> None:
    dialect = OpenAIChat(reasoning_efforts=efforts)
    request = LlmRequest(model="m", messages=(user("hi"),), reasoning_effort=effort)
    if isinstance(expected, dict):
        assert dialect.body(request) == keys(**expected)
        return
    with pytest.raises(LlmError) as caught:
        dialect.body(request)
    assert caught.value.failure == LlmFailure(message=expected, code="UNSUPPORTED_REASONING_EFFORT")


def test_the_dialect_says_where_and_how() -> None:
    dialect = OpenAIChat()
    assert (dialect.name, dialect.path, dialect.terminal) == (
        "openai-chat",
        "/chat/completions",
        "finish-reason",
    )
    assert dialect.credential_headers("sk-1") == {"authorization": "Bearer sk-1"}
    assert dialect.translator() is not dialect.translator()
