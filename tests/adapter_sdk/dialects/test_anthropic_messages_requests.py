"""What goes out on the messages wire."""

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
from adapter_sdk.dialects import AnthropicMessages

PIXEL: Final = ImageBlock("image/png", "iVBO")
WIRE_PIXEL: Final = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"},
}
LS: Final = Tool("ls", "List.", {"type": "object", "properties": {}})
HI: Final = user("Hi")
WIRE_HI: Final = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}


def wire_text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def body(*messages: Message, dialect: Dialect | None = None, **options: Any) -> dict[str, Any]:
    request = LlmRequest(model="m", messages=messages or (HI,), **options)
    return dict((dialect or AnthropicMessages()).body(request))


def test_nothing_but_what_the_wire_demands_is_sent_unasked() -> None:
    assert body() == {"model": "m", "max_tokens": 32768, "messages": [WIRE_HI], "stream": True}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({"max_tokens": 5}, {"max_tokens": 5}, id="max_tokens"),
        pytest.param({"temperature": 0.0}, {"temperature": 0.0}, id="temperature"),
        pytest.param({"top_p": 0.5}, {"top_p": 0.5}, id="top_p"),
        pytest.param({"stop": ("a", "b")}, {"stop_sequences": ["a", "b"]}, id="stop"),
        pytest.param(
            {"tools": (LS,)},
            {"tools": [{"name": "ls", "description": "List.", "input_schema": LS.parameters}]},
            id="tools",
        ),
        pytest.param(
            {"tools": (Tool("ls", strict=True),), "tool_choice": "auto"},
            {
                "tools": [{"name": "ls", "input_schema": LS.parameters, "strict": True}],
                "tool_choice": {"type": "auto"},
            },
            id="a-strict-tool-without-description",
        ),
        pytest.param({"tool_choice": "auto"}, {}, id="a-choice-among-no-tools"),
    ],
)
def test_an_option_has_its_place(options: dict[str, Any], expected: dict[str, Any]) -> None:
    assert body(**options) == {**body(), **expected}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ("ls", {"type": "tool", "name": "ls"}),
    ],
)
def test_a_tool_choice_has_its_word(choice: str, expected: dict[str, str]) -> None:
    assert body(tools=(LS,), tool_choice=choice)["tool_choice"] == expected


@pytest.mark.parametrize(
    ("messages", "turns"),
    [
        pytest.param(
            [user("What?", PIXEL)],
            [{"role": "user", "content": [wire_text("What?"), WIRE_PIXEL]}],
            id="an-image",
        ),
        pytest.param(
            [HI, assistant("Yes."), user("Go.")],
            [
                WIRE_HI,
                {"role": "assistant", "content": [wire_text("Yes.")]},
                {"role": "user", "content": [wire_text("Go.")]},
            ],
            id="turn-by-turn",
        ),
        pytest.param(
            [
                HI,
                assistant(
                    "I look.", ToolCallBlock("t1", "ls", '{"p": 1}'), ToolCallBlock("t2", "ls", "")
                ),
                user("And?"),
                user(ToolResultBlock("t1", (TextBlock("a"), PIXEL))),
                user(ToolResultBlock("t2", is_error=True)),
            ],
            [
                WIRE_HI,
                {
                    "role": "assistant",
                    "content": [
                        wire_text("I look."),
                        {"type": "tool_use", "id": "t1", "name": "ls", "input": {"p": 1}},
                        {"type": "tool_use", "id": "t2", "name": "ls", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "t1",
                            "content": [wire_text("a"), WIRE_PIXEL],
                        },
                        {
                            "type": "tool_result",
                            "tool_use_id": "t2",
                            "content": [wire_text("(no output)")],
                            "is_error": True,
                        },
                        wire_text("And?"),
                    ],
                },
            ],
            id="results-of-several-turns-come-first-in-one",
        ),
        pytest.param(
            [
                HI,
                assistant(ReasoningBlock("hm"), TextBlock(" \n")),
                user(TextBlock("")),
                user("Go."),
            ],
            [{"role": "user", "content": [wire_text("Hi"), wire_text("Go.")]}],
            id="blank-texts-unsigned-reasoning-and-empty-turns-are-left-out",
        ),
    ],
)
def test_a_conversation_becomes_turns(messages: list[Message], turns: list[Any]) -> None:
    assert body(*messages)["messages"] == turns


def test_system_text_stands_above_the_turns_wherever_it_stood() -> None:
    sent = body(system("Be brief."), HI, system(""), system("And kind."))
    assert sent["system"] == [wire_text("Be brief.\n\nAnd kind.")]
    assert sent["messages"] == [WIRE_HI]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param('{"b": 1, "a": 1.0}', {"b": 1, "a": 1.0}, id="object"),
        pytest.param("", {}, id="empty"),
        pytest.param(" \n", {}, id="blank"),
        pytest.param('{"a', {"INVALID_JSON": '{"a'}, id="cut"),
        pytest.param("[1]", {"INVALID_JSON": "[1]"}, id="array"),
        pytest.param("null", {"INVALID_JSON": "null"}, id="null"),
        pytest.param('{"a": NaN}', {"INVALID_JSON": '{"a": NaN}'}, id="not-a-number"),
        pytest.param('{"a": 1e999}', {"INVALID_JSON": '{"a": 1e999}'}, id="infinite"),
    ],
)
def test_arguments_go_back_as_an_object_that_hides_nothing(
    arguments: str, expected: dict[str, Any]
) -> None:
    turns = body(HI, assistant(ToolCallBlock("t1", "ls", arguments)))["messages"]
    assert turns[1]["content"][0]["input"] == expected


def test_ids_of_other_providers_become_ids_that_this_one_takes() -> None:
    ids = ("functions.ls:0", "functions_ls.0", "call_1")
    calls = [ToolCallBlock(id_, "ls", "{}") for id_ in ids]
    results = [ToolResultBlock(id_) for id_ in ids]
    _, asked, answered = body(HI, assistant(*calls), user(*results))["messages"]
    wire_ids = [block["id"] for block in asked["content"]]
    assert wire_ids == ["functions_ls_0_007a343f", "functions_ls_0_ea662a15", "call_1"]
    assert wire_ids == [block["tool_use_id"] for block in answered["content"]]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        pytest.param(
            Message("system", (PIXEL,)), "an image in a system turn", id="image-in-system"
        ),
        pytest.param(assistant(PIXEL), "an image in an assistant turn", id="image-in-assistant"),
        pytest.param(
            assistant(ToolResultBlock("t1")),
            "a tool result in an assistant turn",
            id="result-in-assistant",
        ),
        pytest.param(
            Message("user", (ToolCallBlock("t1", "ls", ""),)),
            "a tool call in a user turn",
            id="call-in-user",
        ),
        pytest.param(
            Message("user", (ReasoningBlock("hm"),)), "reasoning in a user turn", id="reasoning"
        ),
    ],
)
def test_a_block_in_the_wrong_turn_is_refused(message: Message, said: str) -> None:
    with pytest.raises(LlmError) as caught:
        body(HI, message)
    assert caught.value.failure.code == "UNSUPPORTED_CONTENT"
    assert caught.value.failure.message == f"{said} has no place on this wire"


THINKER: Final = AnthropicMessages(
    thinking_budgets={"none": 0, "high": 4096}, reasoning_efforts=("off", "max")
)


@pytest.mark.parametrize(
    ("effort", "expected"),
    [
        ("none", {"thinking": {"type": "disabled"}}),
        ("high", {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ("off", {"thinking": {"type": "disabled"}}),
        ("max", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}}),
    ],
)
def test_an_effort_becomes_the_fields_that_ask_for_it(
    effort: str, expected: dict[str, Any]
) -> None:
    assert body(dialect=THINKER, reasoning_effort=effort) == {**body(), **expected}


@pytest.mark.parametrize(
    ("dialect", "options", "code", "message"),
    [
        pytest.param(
            THINKER,
            {"reasoning_effort": "odd"},
            "UNSUPPORTED_REASONING_EFFORT",
            "reasoning effort 'odd' is not one of: none, high, off, max",
            id="unknown",
        ),
        pytest.param(
            AnthropicMessages(),
            {"reasoning_effort": "high"},
            "UNSUPPORTED_REASONING_EFFORT",
            "reasoning effort 'high' is not one of: none at all",
            id="none-offered",
        ),
        pytest.param(
            THINKER,
            {"reasoning_effort": "high", "max_tokens": 4096},
            "UNSUPPORTED_OPTION",
            "max_tokens: 4096 leaves no room beside the 4096 thinking tokens of effort 'high'",
            id="no-room",
        ),
    ],
)
def test_an_effort_that_cannot_be_had_is_refused(
    dialect: Dialect, options: dict[str, Any], code: str, message: str
) -> None:
    with pytest.raises(LlmError) as caught:
        body(dialect=dialect, **options)
    assert (caught.value.failure.code, caught.value.failure.message) == (code, message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"default_max_tokens": 0}, "default_max_tokens: a whole number of tokens, 1 or more"),
        ({"thinking_budgets": {"low": -1}}, "thinking_budgets['low']: a whole number of tokens"),
        ({"thinking_budgets": {"low": 1.5}}, "thinking_budgets['low']: a whole number of tokens"),
    ],
)
def test_a_dialect_that_cannot_work_is_not_made(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        AnthropicMessages(**options)
    assert str(caught.value) == message


def marked(block: dict[str, Any], **more: str) -> dict[str, Any]:
    return {**block, "cache_control": {"type": "ephemeral", **more}}


def test_marks_end_what_conversations_share_and_the_last_user_turn() -> None:
    asked = (system("Be brief."), HI, user("Go."), assistant("Well"))
    sent = body(*asked, dialect=AnthropicMessages(cache_ttl="5m"), tools=(LS,))
    assert sent["system"] == [marked(wire_text("Be brief."))]
    assert sent["messages"] == [
        {"role": "user", "content": [wire_text("Hi"), marked(wire_text("Go."))]},
        {"role": "assistant", "content": [wire_text("Well")]},
    ]
    assert sent["tools"] == body(*asked, tools=(LS,))["tools"]


def test_without_system_text_the_last_tool_is_marked() -> None:
    dialect = AnthropicMessages(cache_ttl="1h")
    sent = body(dialect=dialect, tools=(LS, Tool("cat")))
    tools = body(tools=(LS, Tool("cat")))["tools"]
    assert sent["tools"] == [tools[0], marked(tools[1], ttl="1h")]


def test_with_turns_alone_the_last_user_turn_is_marked() -> None:
    sent = body(dialect=AnthropicMessages(cache_ttl="5m"))
    assert sent == {
        **body(),
        "messages": [{"role": "user", "content": [marked(wire_text("Hi"))]}],
    }


def test_the_credential_and_the_version_go_in_headers() -> None:
    dialect = AnthropicMessages(version="2099-01-01")
    assert dialect.credential_headers("k") == {
        "x-api-key": "k",
        "anthropic-version": "2099-01-01",
    }
    assert (dialect.name, dialect.path, dialect.terminal) == (
        "anthropic-messages",
        "/v1/messages",
        "message-stop",
    )
