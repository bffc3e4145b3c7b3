"""Turns: what the three constructors make, and what counts as a turn's text."""

from __future__ import annotations

import pytest

from adapter_sdk import (
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    assistant,
    system,
    user,
)

IMAGE = ImageBlock("image/png", "aGk=")
CALL = ToolCallBlock("c1", "ls", "{}")
RESULT = ToolResultBlock("c1", (TextBlock("a.txt"),))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(
            system("Be brief."), Message("system", (TextBlock("Be brief."),)), id="system"
        ),
        pytest.param(user(), Message("user", ()), id="user-without-content"),
        pytest.param(
            user("Look:", IMAGE, TextBlock("why?"), RESULT),
            Message("user", (TextBlock("Look:"), IMAGE, TextBlock("why?"), RESULT)),
            id="user",
        ),
        pytest.param(
            assistant(ReasoningBlock("hm"), "Yes.", CALL),
            Message("assistant", (ReasoningBlock("hm"), TextBlock("Yes."), CALL)),
            id="assistant",
        ),
    ],
)
def test_a_turn_is_made_of_strings_and_blocks(made: Message, expected: Message) -> None:
    assert made == expected
    assert made.replay_state is None


@pytest.mark.parametrize(
    ("message", "text"),
    [
        pytest.param(assistant(), "", id="nothing"),
        pytest.param(assistant("a", " ", "b"), "a b", id="texts-are-joined-as-they-are"),
        pytest.param(assistant(ReasoningBlock("hm"), "a"), "a", id="reasoning-is-no-text"),
        pytest.param(user(RESULT, IMAGE, "a"), "a", id="results-and-images-are-no-text"),
        pytest.param(assistant(CALL), "", id="a-call-is-no-text"),
    ],
)
def test_the_text_of_a_turn(message: Message, text: str) -> None:
    assert message.text == text
