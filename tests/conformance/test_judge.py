"""What a case says of a message, held against chunks written by hand."""

from __future__ import annotations

import pytest

from adapter_sdk import (
    STOP,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    OutputBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
)
from conformance._case_file import read_case
from conformance._judge import WireFacts, judge
from conformance._observe import Observation

CASE = """
requirement = "reasoning"
dialect = "any"
title = "A good answer"
[[exchange]]
status = 200
[expect]
outcome = "success"
[expect.message]
"""
TEXT, BLANK = TextBlock("Hi"), TextBlock("")
THOUGHT, NO_THOUGHT = ReasoningBlock("hm"), ReasoningBlock("")
CALL = ToolCallBlock("c1", "ls", "{}")


def differences(expected: str, *blocks: OutputBlock) -> list[str]:
    chunks: list[Chunk] = []
    for index, block in enumerate(blocks):
        chunks += [BlockStart(index, block.type), BlockEnd(index, block)]
    seen = Observation("success", [(0.0, chunk) for chunk in [*chunks, Finish(STOP)]])
    case = read_case(CASE + expected, case_id="reasoning/x", where="x")
    return [str(difference) for difference in judge(case, seen, WireFacts(1))]


@pytest.mark.parametrize(
    ("expected", "blocks"),
    [
        ('text = "absent"', [THOUGHT]),
        ('reasoning = "absent"', [TEXT]),
        ("tools = []", [TEXT, THOUGHT]),
        ('text = ""', [THOUGHT]),
        ('text = ""', [BLANK]),
        ('text = "Hi"\nreasoning = "hm"', [THOUGHT, TEXT]),
        ('tools = [["*", "ls", "{}"]]', [CALL]),
        ("", [TEXT]),
    ],
    ids=[
        "no text block",
        "no reasoning block",
        "no call",
        "no text, and no block of it",
        "no text in a block of it",
        "both as they are",
        "a call with any id",
        "nothing is said",
    ],
)
def test_a_message_as_expected_has_no_difference(expected: str, blocks: list[OutputBlock]) -> None:
    assert differences(expected, *blocks) == []


@pytest.mark.parametrize(
    ("expected", "blocks", "said"),
    [
        ('text = "absent"', [BLANK, THOUGHT], "text: expected no block, got a block with ''"),
        ('text = "absent"', [TEXT], "text: expected no block, got a block with 'Hi'"),
        (
            'reasoning = "absent"',
            [NO_THOUGHT, TEXT],
            "reasoning: expected no block, got a block with ''",
        ),
        ("tools = []", [TEXT, CALL], "tool calls: expected [], got [('c1', 'ls', '{}')]"),
        ('text = ""', [TEXT], "text: expected '', got 'Hi'"),
    ],
    ids=["a blank text", "a text", "blank reasoning", "a call", "a text where none is due"],
)
def test_a_block_that_must_not_be_there_is_told(
    expected: str, blocks: list[OutputBlock], said: str
) -> None:
    assert differences(expected, *blocks) == [said]
