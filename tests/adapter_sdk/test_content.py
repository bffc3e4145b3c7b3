"""Blocks are plain frozen values that name their own type."""

from __future__ import annotations

import dataclasses

import pytest

from adapter_sdk import ImageBlock, ReasoningBlock, TextBlock, ToolCallBlock, ToolResultBlock

BLOCKS = [
    pytest.param(TextBlock("a"), {"text": "a", "type": "text"}, id="text"),
    pytest.param(ReasoningBlock("a"), {"text": "a", "type": "reasoning"}, id="reasoning"),
    pytest.param(
        ToolCallBlock("c1", "ls", '{"p": 1}'),
        {"id": "c1", "name": "ls", "arguments": '{"p": 1}', "type": "tool-call"},
        id="tool-call",
    ),
    pytest.param(
        ImageBlock("image/png", "aGk="),
        {"media_type": "image/png", "data": "aGk=", "type": "image"},
        id="image",
    ),
    pytest.param(
        ToolResultBlock("c1"),
        {"tool_call_id": "c1", "content": (), "is_error": False, "type": "tool-result"},
        id="tool-result",
    ),
]


@pytest.mark.parametrize(("block", "fields"), BLOCKS)
def test_a_block_holds_these_fields_and_no_others(block: object, fields: dict[str, object]) -> None:
    assert {name: getattr(block, name) for name in fields} == fields
    assert set(type(block).__slots__) == set(fields)  # type: ignore[attr-defined]  # why: slotted


@pytest.mark.parametrize(("block", "fields"), BLOCKS)
def test_a_block_is_frozen_and_compares_by_value(block: object, fields: dict[str, object]) -> None:
    same = type(block)(**{name: value for name, value in fields.items() if name != "type"})
    assert (block == same, hash(block) == hash(same)) == (True, True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        block.type = "other"  # type: ignore[attr-defined]  # why: this is what must not work


def test_text_and_reasoning_of_the_same_words_differ() -> None:
    said: list[object] = [TextBlock("a")]
    assert ReasoningBlock("a") not in said
