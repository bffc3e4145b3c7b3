"""The grammar of chunks, and that a block ends as its deltas said: streams written by hand."""

from __future__ import annotations

import pytest

from adapter_sdk import (
    STOP,
    TOOL_CALLS,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    OutputBlock,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    TokenUsage,
    ToolCallBlock,
    ToolCallDelta,
    UsageReport,
)
from conformance._grammar import grammar_errors

FAILED = Finish(FinishReason("error", LlmFailure(message="cut", code="TRANSPORT")))
USAGE = UsageReport(TokenUsage(1, 1))
TEXT: list[Chunk] = [BlockStart(0, "text"), TextDelta(0, "ab"), TextDelta(0, "c")]
CALL: list[Chunk] = [BlockStart(0, "tool-call"), ToolCallDelta(0, "c1", '{"a"', name="l")]
CALLED: list[Chunk] = [*CALL, ToolCallDelta(0, "c1", ":1}", name="s")]


def ended(*chunks: Chunk, block: OutputBlock) -> list[Chunk]:
    reason = TOOL_CALLS if block.type == "tool-call" else STOP
    return [*chunks, BlockEnd(0, block), Finish(reason)]


@pytest.mark.parametrize(
    "chunks",
    [
        ended(*TEXT, block=TextBlock("abc")),
        ended(BlockStart(0, "text"), block=TextBlock("abc")),
        ended(BlockStart(0, "text"), TextDelta(0, ""), block=TextBlock("abc")),
        ended(BlockStart(0, "reasoning"), ReasoningDelta(0, "hm"), block=ReasoningBlock("hm")),
        ended(*CALLED, block=ToolCallBlock("c1", "ls", '{"a":1}')),
        ended(
            BlockStart(0, "tool-call"),
            ToolCallDelta(0, "c1"),
            block=ToolCallBlock("c1", "ls", "{}"),
        ),
        [*TEXT, USAGE, FAILED],
    ],
    ids=[
        "text",
        "text that comes with its end alone",
        "text behind an empty delta",
        "reasoning",
        "a call in pieces",
        "name and arguments of a call with its end alone",
        "a failure leaves its block open",
    ],
)
def test_a_good_stream_breaks_nothing(chunks: list[Chunk]) -> None:
    assert grammar_errors(chunks, ended=True) == []


@pytest.mark.parametrize(
    ("chunks", "said"),
    [
        (
            ended(*TEXT, block=TextBlock("abX")),
            "chunk 3: block 0 ends with the text 'abX', its deltas said 'abc'",
        ),
        (
            ended(*TEXT, block=TextBlock("abcd")),
            "chunk 3: block 0 ends with the text 'abcd', its deltas said 'abc'",
        ),
        (
            ended(*TEXT, block=TextBlock("")),
            "chunk 3: block 0 ends with the text '', its deltas said 'abc'",
        ),
        (
            ended(BlockStart(0, "reasoning"), ReasoningDelta(0, "hm"), block=ReasoningBlock("h")),
            "chunk 2: block 0 ends with the text 'h', its deltas said 'hm'",
        ),
        (
            ended(*CALLED, block=ToolCallBlock("c1", "ls", '{"a": 1}')),
            """chunk 3: block 0 ends with the arguments '{"a": 1}', its deltas said '{"a":1}'""",
        ),
        (
            ended(*CALL, block=ToolCallBlock("c1", "ls", '{"a"')),
            "chunk 2: block 0 ends with the name 'ls', its deltas said 'l'",
        ),
        (
            ended(*CALLED, block=ToolCallBlock("c2", "ls", '{"a":1}')),
            "chunk 3: block 0 ends with the id 'c2', its deltas said 'c1'",
        ),
    ],
    ids=[
        "another text",
        "a longer text",
        "no text",
        "another reasoning",
        "arguments written again",
        "a longer name",
        "another id",
    ],
)
def test_a_block_that_ends_otherwise_than_its_deltas_said_is_told(
    chunks: list[Chunk], said: str
) -> None:
    assert grammar_errors(chunks, ended=True) == [said]


@pytest.mark.parametrize(
    ("chunks", "said"),
    [
        ([*TEXT, Finish(STOP)], "blocks [0] are left open by a good finish"),
        ([*TEXT], "there is no finish"),
        ([BlockStart(1, "text"), FAILED], "chunk 0: block 1 opens, 0 is next"),
        ([TextDelta(0, "a"), FAILED], "chunk 0: a text-delta for block 0, which is not open"),
        (
            [BlockStart(0, "text"), ReasoningDelta(0, "a"), FAILED],
            "chunk 1: a reasoning-delta for block 0, which is text",
        ),
        (
            ended(*TEXT, block=ReasoningBlock("abc")),
            "chunk 3: block 0 ends as reasoning, but is not open so",
        ),
        ([USAGE, USAGE, FAILED], "chunk 1: a second usage"),
        ([FAILED, USAGE], "chunk 1: usage after the finish"),
        ([FAILED, FAILED], "chunk 1: finish after the finish"),
    ],
    ids=[
        "a block left open",
        "no finish",
        "a block too far",
        "a delta without its block",
        "a delta of another type",
        "an end of another type",
        "two usages",
        "usage behind the finish",
        "two finishes",
    ],
)
def test_what_breaks_the_grammar_is_told(chunks: list[Chunk], said: str) -> None:
    assert grammar_errors(chunks, ended=True) == [said]


def test_a_stream_that_was_left_needs_no_finish() -> None:
    assert grammar_errors(TEXT, ended=False) == []
