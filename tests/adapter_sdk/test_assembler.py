"""From chunks to blocks and a message, however sloppy the chunks are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    TOOL_CALLS,
    BlockAssembler,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    Message,
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

CALL = ToolCallBlock("c1", "ls", '{"p":1}')
ERROR = FinishReason("error", LlmFailure(message="broke", code="SERVER"))
ABORTED = FinishReason("aborted", LlmFailure(message="stopped", code="ABORTED"))
GOOD_STREAM: list[Chunk] = [
    BlockStart(0, "reasoning"),
    ReasoningDelta(0, "h"),
    BlockStart(1, "text"),
    TextDelta(1, "Hi"),
    ReasoningDelta(0, "m"),
    BlockStart(2, "tool-call"),
    ToolCallDelta(2, "c1", "", "ls"),
    TextDelta(1, "."),
    ToolCallDelta(2, "c1", '{"p":'),
    ToolCallDelta(2, "c1", "1}"),
]
ENDS: list[Chunk] = [
    BlockEnd(0, ReasoningBlock("hm")),
    BlockEnd(1, TextBlock("Hi.")),
    BlockEnd(2, CALL),
]
BLOCKS = (ReasoningBlock("hm"), TextBlock("Hi."), CALL)


def assembled(chunks: Sequence[Chunk]) -> BlockAssembler:
    assembler = BlockAssembler()
    for chunk in chunks:
        assembler.add(chunk)
    return assembler


@pytest.mark.parametrize(
    ("chunks", "blocks"),
    [
        pytest.param([], (), id="nothing"),
        pytest.param([*GOOD_STREAM, *ENDS, Finish(TOOL_CALLS)], BLOCKS, id="a-good-stream"),
        pytest.param([*GOOD_STREAM, Finish(TOOL_CALLS)], BLOCKS, id="without-block-ends"),
        pytest.param(GOOD_STREAM, BLOCKS, id="without-a-finish"),
        pytest.param(
            [*(c for c in GOOD_STREAM if not isinstance(c, BlockStart)), *ENDS],
            BLOCKS,
            id="without-block-starts",
        ),
        pytest.param(ENDS, BLOCKS, id="block-ends-alone"),
        pytest.param(ENDS[::-1], BLOCKS, id="blocks-stand-by-index"),
        pytest.param(
            [TextDelta(7, "b"), TextDelta(3, "a")],
            (TextBlock("a"), TextBlock("b")),
            id="indices-with-gaps",
        ),
        pytest.param([BlockStart(0, "text")], (TextBlock(""),), id="a-start-alone"),
        pytest.param(
            [BlockStart(0, "text"), TextDelta(0, "a"), BlockStart(0, "text"), TextDelta(0, "b")],
            (TextBlock("ab"),),
            id="a-second-start-changes-nothing",
        ),
        pytest.param(
            [TextDelta(0, "half"), BlockEnd(0, TextBlock("whole"))],
            (TextBlock("whole"),),
            id="a-block-end-wins-over-the-deltas",
        ),
        pytest.param(
            [BlockEnd(0, TextBlock("whole")), TextDelta(0, " and more"), BlockStart(0, "text")],
            (TextBlock("whole"),),
            id="a-block-end-freezes-its-index",
        ),
        pytest.param(
            [BlockEnd(0, TextBlock("first")), BlockEnd(0, TextBlock("second"))],
            (TextBlock("first"),),
            id="a-second-block-end-changes-nothing",
        ),
        pytest.param(
            [BlockEnd(0, CALL), ToolCallDelta(0, "c9", "x", "rm")],
            (CALL,),
            id="a-frozen-call-keeps-id-name-and-arguments",
        ),
        pytest.param(
            [BlockStart(0, "text"), BlockEnd(0, ReasoningBlock("hm"))],
            (ReasoningBlock("hm"),),
            id="a-block-end-decides-the-type",
        ),
        pytest.param(
            [
                ToolCallDelta(0, "", "", "read_"),
                ToolCallDelta(0, "c1", "{", "file"),
                ToolCallDelta(0, "c2", "}"),
            ],
            (ToolCallBlock("c1", "read_file", "{}"),),
            id="the-first-id-stays-and-names-are-appended",
        ),
        pytest.param(
            [TextDelta(0, "a"), Finish(STOP), TextDelta(0, "b"), TextDelta(1, "c")],
            (TextBlock("a"),),
            id="nothing-counts-after-the-finish",
        ),
    ],
)
def test_blocks_are_assembled(chunks: list[Chunk], blocks: tuple[OutputBlock, ...]) -> None:
    assembler = assembled(chunks)
    assert assembler.blocks() == blocks
    assert assembler.message() == Message("assistant", blocks)


@pytest.mark.parametrize(
    ("reason", "blocks"),
    [
        pytest.param(STOP, BLOCKS, id="stop"),
        pytest.param(TOOL_CALLS, BLOCKS, id="tool-calls"),
        pytest.param(FinishReason("pause"), BLOCKS, id="a-kind-of-tomorrow"),
        pytest.param(MAX_TOKENS, BLOCKS[:2], id="max-tokens"),
        pytest.param(ERROR, BLOCKS[:2], id="error"),
        pytest.param(ABORTED, BLOCKS[:2], id="aborted"),
    ],
)
@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(GOOD_STREAM, id="open"),
        pytest.param([*GOOD_STREAM, *ENDS], id="ended"),
    ],
)
def test_an_end_that_may_cut_a_call_leaves_none(
    chunks: list[Chunk], reason: FinishReason, blocks: tuple[OutputBlock, ...]
) -> None:
    assembler = assembled([*chunks, Finish(reason)])
    assert assembler.blocks() == blocks
    assert assembler.message().content == blocks
    assert assembler.finish_reason == reason


@pytest.mark.parametrize(
    ("chunks", "kept"),
    [
        pytest.param(GOOD_STREAM, BLOCKS[:2], id="text-and-reasoning-without-the-call"),
        pytest.param([*GOOD_STREAM, Finish(ABORTED)], BLOCKS[:2], id="after-an-abort"),
        pytest.param([*GOOD_STREAM, *ENDS, Finish(TOOL_CALLS)], BLOCKS[:2], id="after-a-good-end"),
        pytest.param(
            [TextDelta(0, " \n\u00a0"), ReasoningDelta(1, "\t"), TextDelta(2, " a ")],
            (TextBlock(" a "),),
            id="blank-blocks-go-and-the-rest-stays-as-it-is",
        ),
        pytest.param([BlockStart(0, "text")], (), id="empty-blocks-go"),
        pytest.param([], (), id="nothing"),
    ],
)
def test_what_is_kept_of_a_stream_that_was_broken_off(
    chunks: list[Chunk], kept: tuple[OutputBlock, ...]
) -> None:
    assert assembled(chunks).interrupted_blocks() == kept


def test_usage_and_reason_are_at_hand_as_they_come() -> None:
    assembler = BlockAssembler()
    seen: list[object] = [(assembler.usage, assembler.finish_reason)]
    for chunk in (UsageReport(TokenUsage(1, 2)), Finish(STOP), UsageReport(TokenUsage(9, 9))):
        assembler.add(chunk)
        seen.append((assembler.usage, assembler.finish_reason))
    usage = TokenUsage(1, 2)
    assert seen == [(None, None), (usage, None), (usage, STOP), (usage, STOP)]


@pytest.mark.parametrize(
    ("reason", "state", "expected"),
    [
        pytest.param(STOP, None, None, id="no-state"),
        pytest.param(STOP, {"v": 1}, {"v": 1}, id="a-state-without-a-list-beside-the-blocks"),
        pytest.param(
            TOOL_CALLS,
            {"v": 1, "blocks": ["r", "t", "c"]},
            {"v": 1, "blocks": ["r", "t", "c"]},
            id="in-step",
        ),
        pytest.param(
            MAX_TOKENS,
            {"v": 1, "blocks": ["r", "t", "c"]},
            {"v": 1, "blocks": ["r", "t"]},
            id="the-entry-of-a-dropped-call-goes-with-it",
        ),
        pytest.param(MAX_TOKENS, {"v": 1}, {"v": 1}, id="no-list-to-prune"),
        pytest.param(MAX_TOKENS, {"blocks": ["r", "t"]}, None, id="too-few-entries"),
        pytest.param(STOP, {"blocks": ["r", "t"]}, None, id="too-few-entries-without-a-drop"),
        pytest.param(STOP, {"blocks": ["r", "t", "c", "x"]}, None, id="too-many-entries"),
        pytest.param(STOP, {"blocks": []}, None, id="no-entries"),
        pytest.param(STOP, {"blocks": "rtc"}, None, id="a-text-is-no-list"),
        pytest.param(STOP, {"blocks": None}, None, id="null-is-no-list"),
        pytest.param(STOP, {"blocks": {"0": "r"}}, None, id="an-object-is-no-list"),
    ],
)
def test_replay_state_is_pruned_in_step_or_dropped_whole(
    reason: FinishReason, state: dict[str, Any] | None, expected: dict[str, Any] | None
) -> None:
    given_state = None if state is None else dict(state)
    assert (
        assembled([*GOOD_STREAM, *ENDS, Finish(reason, state)]).message().replay_state == expected
    )
    assert state == given_state


def test_the_entry_that_goes_is_the_one_of_the_dropped_block() -> None:
    chunks: list[Chunk] = [
        BlockEnd(0, TextBlock("a")),
        BlockEnd(2, CALL),
        BlockEnd(5, ToolCallBlock("c2", "rm", "{}")),
        BlockEnd(9, TextBlock("b")),
        Finish(MAX_TOKENS, {"blocks": [None, {"sig": "x"}, {"sig": "y"}, {"sig": "z"}]}),
    ]
    assert assembled(chunks).message() == Message(
        "assistant", (TextBlock("a"), TextBlock("b")), {"blocks": [None, {"sig": "z"}]}
    )


class Weighed(str):
    """Counts the characters that are copied when it is appended to a text."""

    copied = 0
    __slots__ = ()

    def __radd__(self, before: str) -> str:
        Weighed.copied += len(before) + len(self)
        return str(before) + str(self)

    @override
    def __add__(self, after: str, /) -> str:
        Weighed.copied += len(self) + len(after)
        return str(self) + str(after)


@pytest.mark.parametrize(
    "delta",
    [
        pytest.param(lambda text: TextDelta(0, text), id="text"),
        pytest.param(lambda text: ReasoningDelta(0, text), id="reasoning"),
        pytest.param(lambda text: ToolCallDelta(0, "c1", text), id="arguments"),
    ],
)
def test_feeding_is_linear_in_the_text(delta: Any) -> None:
    Weighed.copied = 0
    assert "a" + Weighed("bc") == "abc"  # the scale works
    assert Weighed.copied == 3
    count = 10_000
    assembler = assembled([delta(Weighed("token ")) for _ in range(count)])
    (block,) = assembler.blocks()
    assert len(getattr(block, "text", "") or getattr(block, "arguments", "")) == 6 * count
    assert Weighed.copied <= 6 * count


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[Chunk], tuple[OutputBlock, ...]]:
    """Blocks, and their deltas cut anywhere and mixed in any order that keeps each block's own."""
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    blocks: list[OutputBlock] = draw(
        st.lists(
            text.map(TextBlock)
            | text.map(ReasoningBlock)
            | st.builds(ToolCallBlock, st.just("c"), st.just("ls"), text),
            max_size=4,
        )
    )
    lanes: list[list[Chunk]] = []
    for index, block in enumerate(blocks):
        whole = block.arguments if isinstance(block, ToolCallBlock) else block.text
        cut = draw(st.integers(0, len(whole)))
        lane: list[Chunk] = [BlockStart(index, block.type)]
        for number, part in enumerate((whole[:cut], whole[cut:])):
            match block:
                case TextBlock():
                    lane.append(TextDelta(index, part))
                case ReasoningBlock():
                    lane.append(ReasoningDelta(index, part))
                case ToolCallBlock():
                    lane.append(ToolCallDelta(index, "c", part, None if number else "ls"))
        if draw(st.booleans()):
            lane.append(BlockEnd(index, block))
        lanes.append(lane)
    order = draw(st.permutations([i for i, lane in enumerate(lanes) for _ in lane]))
    return [lanes[i].pop(0) for i in order], tuple(blocks)


@settings(deadline=None)
@given(stream=streams())
def test_any_interleaving_gives_the_same_blocks(
    stream: tuple[list[Chunk], tuple[OutputBlock, ...]],
) -> None:
    chunks, blocks = stream
    assert assembled(chunks).blocks() == blocks
