"""Properties of the chat completions wire: whatever the pieces, one answer, and in the grammar."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from adapter_sdk import (
    BlockAssembler,
    BlockEnd,
    Chunk,
    ReasoningDelta,
    TextDelta,
    ToolCallBlock,
    ToolCallDelta,
)
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.testing import at
from conformance._grammar import grammar_errors

from .playing import Bad, chunks_of, seen, sse

DIALECT: Final = OpenAIChat(terminal="done-sentinel")
DONE: Final = b"data: [DONE]\n\n"
DELTAS: Final = (TextDelta, ReasoningDelta, ToolCallDelta)

# Lone halves of surrogate pairs included: JSON escapes carry them.
texts = st.text(st.characters(codec=None) | st.sampled_from("\ud83d\udc4d"), max_size=8)


def choice(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


@st.composite
def deltas(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Text, reasoning and the fragments of up to three calls, in any order that can be."""
    opened: set[int] = set()
    payloads = []
    for kind in draw(
        st.lists(st.sampled_from(["text", "reasoning", "call", "empty"]), max_size=12)
    ):
        text = draw(texts)
        if kind == "text":
            payloads.append(choice(content=text))
        elif kind == "reasoning":
            payloads.append(choice(reasoning_content=text))
        elif kind == "empty":
            payloads.append(
                draw(st.sampled_from([{"choices": []}, choice(), choice(content=None)]))
            )
        else:
            index = draw(st.integers(0, 2))
            entry: dict[str, Any] = {"index": index, "function": {"arguments": text}}
            if index not in opened or draw(st.booleans()):
                entry["id"] = f"c{index}"
                entry["function"]["name"] = f"tool_{index}"
            opened.add(index)
            payloads.append(choice(tool_calls=[entry]))
    return payloads


def assembled(chunks: list[Chunk]) -> BlockAssembler:
    assembler = BlockAssembler()
    for chunk in chunks:
        assembler.add(chunk)
    return assembler


@settings(deadline=None)
@given(
    payloads=deltas(),
    finish=st.sampled_from(["stop", "tool_calls", "length"]),
    cuts=st.lists(st.integers(1, 3000), max_size=6),
)
def test_a_good_answer_keeps_the_grammar_at_any_split_and_its_ends_say_what_its_deltas_said(
    payloads: list[dict[str, Any]], finish: str, cuts: list[int]
) -> None:
    body = sse(*payloads, choice(finish)) + DONE
    chunks = chunks_of(DIALECT, body)
    assert grammar_errors(chunks, ended=True) == []
    assert chunks_of(DIALECT, body, split=at(*cuts)) == chunks
    if isinstance(seen(chunks), Bad):
        return
    ends = [chunk for chunk in chunks if isinstance(chunk, BlockEnd)]
    from_deltas = assembled([chunk for chunk in chunks if not isinstance(chunk, BlockEnd)])
    assert from_deltas.blocks() == assembled(chunks).blocks()
    if finish != "length":
        assert from_deltas.blocks() == tuple(end.block for end in ends)
    for end in ends:
        text = end.block.arguments if isinstance(end.block, ToolCallBlock) else end.block.text
        text.encode()  # no lone surrogate leaves


@settings(deadline=None)
@given(payloads=deltas(), finish=st.sampled_from(["stop", "length"]), data=st.data())
def test_a_cut_anywhere_before_the_marker_is_a_failure_without_a_call_to_dispatch(
    payloads: list[dict[str, Any]], finish: str, data: st.DataObject
) -> None:
    body = sse(*payloads, choice(finish)) + DONE
    cut = data.draw(st.integers(0, len(body) - 2))
    whole = chunks_of(DIALECT, body)
    chunks = chunks_of(DIALECT, body[:cut])
    assert grammar_errors(chunks, ended=True) == []
    assert isinstance(seen(chunks), Bad)
    blocks = assembled(chunks).blocks()
    assert not any(isinstance(block, ToolCallBlock) for block in blocks)
    delivered = [chunk for chunk in chunks if isinstance(chunk, DELTAS)]
    assert delivered == [chunk for chunk in whole if isinstance(chunk, DELTAS)][: len(delivered)]
