"""Chunks that break their grammar, and finish reasons misread."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from typing_extensions import override

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    TOOL_CALLS,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    ToolCallDelta,
    Translator,
    UsageReport,
)

from .._altering import Altered, ChunkEdit, choices_of, decoded, emitting, reading, translating
from .._good import Good
from .._mutant import Mutant, in_every_call

_GRAMMAR: Final = in_every_call("chunk-grammar")


def _chunk_edit(edit: Callable[[Chunk], Iterable[Chunk]]) -> type[Good]:
    return emitting(lambda: edit)


def _one_based(chunk: Any) -> Iterable[Chunk]:
    return (
        dataclasses.replace(chunk, index=chunk.index + 1) if hasattr(chunk, "index") else chunk,
    )


def _text_behind_the_finish(chunk: Chunk) -> Iterable[Chunk]:
    if isinstance(chunk, Finish) and chunk.failure is None:
        return (chunk, TextDelta(0, ""))
    return (chunk,)


def _usage_behind_the_finish() -> ChunkEdit:
    held: list[Chunk] = []

    def edit(chunk: Chunk) -> Iterable[Chunk]:
        if isinstance(chunk, UsageReport):
            held.append(chunk)
            return ()
        return (chunk, *held) if isinstance(chunk, Finish) else (chunk,)

    return edit


def _wrong_block(chunk: Chunk) -> Iterable[Chunk]:
    if isinstance(chunk, BlockEnd) and isinstance(chunk.block, ReasoningBlock):
        return (BlockEnd(chunk.index, TextBlock(chunk.block.text)),)
    return (chunk,)


def _reasoning_delta_more(chunk: Chunk) -> Iterable[Chunk]:
    if isinstance(chunk, BlockEnd) and isinstance(chunk.block, ReasoningBlock):
        return (ReasoningDelta(chunk.index, "."), chunk)
    return (chunk,)


def _text_delta_more() -> ChunkEdit:
    calls: list[Chunk] = []

    def edit(chunk: Chunk) -> Iterable[Chunk]:
        if isinstance(chunk, ToolCallDelta):
            calls.append(chunk)
        if isinstance(chunk, BlockEnd) and isinstance(chunk.block, TextBlock) and calls:
            return (TextDelta(chunk.index, "."), chunk)
        return (chunk,)

    return edit


def _first_arguments_are_lost() -> ChunkEdit:
    lost: set[int] = set()

    def edit(chunk: Chunk) -> Iterable[Chunk]:
        if isinstance(chunk, ToolCallDelta) and chunk.arguments_delta and chunk.index not in lost:
            lost.add(chunk.index)
            return (dataclasses.replace(chunk, arguments_delta=""),)
        return (chunk,)

    return edit


def _own_id_on_deltas(chunk: Chunk) -> Iterable[Chunk]:
    if isinstance(chunk, ToolCallDelta):
        return (dataclasses.replace(chunk, id=f"block_{chunk.index}"),)
    return (chunk,)


def _name_on_each_delta() -> ChunkEdit:
    names: dict[int, str] = {}

    def edit(chunk: Chunk) -> Iterable[Chunk]:
        if not isinstance(chunk, ToolCallDelta):
            return (chunk,)
        names[chunk.index] = names.get(chunk.index, "") + (chunk.name or "")
        return (dataclasses.replace(chunk, name=names[chunk.index]),)

    return edit


# ---- finish reasons ----------------------------------------------------------------------


class _LastWins(Altered):
    """Keeps the last finish reason in place of the first."""

    def __init__(self, inner: Translator) -> None:
        super().__init__(inner)
        self.words: list[object] = []

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        found = (choice.get("finish_reason") for choice in choices_of(decoded(data)))
        self.words += [word for word in found if word]
        for chunk in self.inner.event(name, data):
            undone = self.words[:1] == ["tool_calls"] and self.words[-1] == "stop"
            yield Finish(STOP) if isinstance(chunk, Finish) and undone else chunk


class _WordDecides(Altered):
    """Believes the word ``stop`` although tool calls came."""

    word: str | None = None

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        for choice in choices_of(decoded(data)):
            self.word = self.word or choice.get("finish_reason")
        for chunk in self.inner.event(name, data):
            promoted = isinstance(chunk, Finish) and chunk.reason == TOOL_CALLS
            yield Finish(STOP) if promoted and self.word == "stop" else chunk


def _cut_calls_are_calls() -> ChunkEdit:
    calls: list[Chunk] = []

    def edit(chunk: Chunk) -> Iterable[Chunk]:
        if isinstance(chunk, BlockEnd) and chunk.block.type == "tool-call":
            calls.append(chunk)
        if isinstance(chunk, Finish) and chunk.reason == MAX_TOKENS and calls:
            return (Finish(TOOL_CALLS),)
        return (chunk,)

    return edit


def _renamed(words: dict[str, str]) -> type[Good]:
    """Return an adapter that takes some finish reasons for others."""

    def edit(payload: Any) -> Iterable[Any]:
        for choice in choices_of(payload):
            word = choice.get("finish_reason")
            if isinstance(word, str):
                choice["finish_reason"] = words.get(word, word)
        return (payload,)

    return reading(lambda: edit)


def _unknown_is_stop(payload: Any) -> Iterable[Any]:
    for choice in choices_of(payload):
        if choice.get("finish_reason") in ("zzz", "brand_new_word"):
            choice["finish_reason"] = "stop"
    return (payload,)


class _ContentOfTheFinishIsLost(Altered):
    """Looks at the finish reason of an event and not at its text, once text has come."""

    text = False

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        payload = decoded(data)
        for choice in choices_of(payload):
            if choice.get("finish_reason") and self.text:
                choice["delta"] = {}
                data = json.dumps(payload).encode()
        chunks = list(self.inner.event(name, data))
        self.text = self.text or any(isinstance(chunk, TextDelta) for chunk in chunks)
        return chunks


class _EmptyWordEnds(Altered):
    """Takes an empty finish reason for ``stop``."""

    def __init__(self, inner: Translator) -> None:
        super().__init__(inner)
        self.ended = False

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        if self.ended and b'"content"' in data:
            return ()
        self.ended = self.ended or b'"finish_reason":""' in data
        return self.inner.event(name, data)


MUTANTS: Final = (
    Mutant(
        name="blocks-are-counted-from-one",
        broken="Counts blocks from one.",
        factory=_chunk_edit(lambda c: _one_based(c)),
        trips={_GRAMMAR: "block 1 opens, 0 is next"},
    ),
    Mutant(
        name="blocks-never-open",
        broken="Begins a text block with its first delta.",
        factory=_chunk_edit(
            lambda c: () if isinstance(c, BlockStart) and c.block_type == "text" else (c,)
        ),
        trips={_GRAMMAR: "which is not open"},
    ),
    Mutant(
        name="blocks-never-close",
        broken="Leaves its text block open at a good finish.",
        factory=_chunk_edit(
            lambda c: () if isinstance(c, BlockEnd) and c.block.type == "text" else (c,)
        ),
        trips={_GRAMMAR: "left open by a good finish"},
    ),
    Mutant(
        name="block-ends-as-another-type",
        broken="Ends a reasoning block as text.",
        factory=_chunk_edit(_wrong_block),
        trips={
            _GRAMMAR: "ends as text, but is not open so",
            "reasoning": "reasoning: expected 'hm', got ''",
            "empty-not-overreach": "reasoning: expected 'hmm', got ''",
            "sse-malformed": "reasoning: expected 'r', got ''",
        },
    ),
    Mutant(
        name="reasoning-is-shown-that-its-block-lacks",
        broken="Hands out one delta more than its reasoning block holds.",
        factory=_chunk_edit(_reasoning_delta_more),
        trips={_GRAMMAR: "ends with the text"},
    ),
    Mutant(
        name="text-is-shown-that-its-block-lacks",
        broken="Hands out one delta more than the text beside a tool call holds.",
        factory=emitting(_text_delta_more),
        trips={_GRAMMAR: "ends with the text"},
    ),
    Mutant(
        name="first-arguments-are-in-the-block-alone",
        broken="Hands out the first arguments of a call with its end and not as they come.",
        factory=emitting(_first_arguments_are_lost),
        trips={_GRAMMAR: "ends with the arguments"},
    ),
    Mutant(
        name="deltas-of-a-call-have-ids-of-their-own",
        broken="Numbers the deltas of a call where the call's id belongs.",
        factory=_chunk_edit(_own_id_on_deltas),
        trips={_GRAMMAR: "ends with the id"},
    ),
    Mutant(
        name="each-delta-repeats-the-name",
        broken="Repeats the whole name on each delta of a call, where pieces are appended.",
        factory=emitting(_name_on_each_delta),
        trips={_GRAMMAR: "ends with the name"},
    ),
    Mutant(
        name="usage-comes-twice",
        broken="Reports its usage twice.",
        factory=_chunk_edit(lambda c: (c, c) if isinstance(c, UsageReport) else (c,)),
        trips={_GRAMMAR: "a second usage"},
    ),
    Mutant(
        name="usage-follows-the-finish",
        broken="Reports its usage behind the finish.",
        factory=emitting(_usage_behind_the_finish),
        trips={_GRAMMAR: "usage after the finish"},
    ),
    Mutant(
        name="text-follows-the-finish",
        broken="Hands out an empty delta behind a good finish.",
        factory=_chunk_edit(_text_behind_the_finish),
        trips={_GRAMMAR: "text-delta after the finish"},
    ),
    Mutant(
        name="two-good-finishes",
        broken="Finishes a good call twice.",
        factory=_chunk_edit(
            lambda c: (c, c) if isinstance(c, Finish) and c.reason == TOOL_CALLS else (c,)
        ),
        trips={
            _GRAMMAR: "finish after the finish",
            in_every_call("failure-payload"): "terminal finishes: expected 1, got 2",
        },
    ),
    Mutant(
        name="last-finish-wins",
        broken="Keeps the last finish reason in place of the first.",
        factory=translating(_LastWins),
        trips={"finish-mapping": "finish: expected tool-calls, got stop"},
    ),
    Mutant(
        name="stop-beats-tool-calls",
        broken="Reports stop although complete tool calls came.",
        factory=translating(_WordDecides),
        trips={"finish-mapping": "finish: expected tool-calls, got stop"},
    ),
    Mutant(
        name="max-tokens-dispatches-calls",
        broken="Reports tool-calls although max-tokens cut them.",
        factory=emitting(_cut_calls_are_calls),
        trips={"tool-calls-not-dispatchable": "finish: expected max-tokens, got tool-calls"},
    ),
    Mutant(
        name="words-of-gateways-are-unknown",
        broken="Does not know end_turn and eos.",
        factory=_renamed({"end_turn": "other", "eos": "other"}),
        trips={"finish-mapping": "outcome: expected success, got failure UNKNOWN"},
    ),
    Mutant(
        name="full-context-is-a-stop",
        broken="Takes model_length for stop.",
        factory=_renamed({"model_length": "stop"}),
        trips={"finish-mapping": "finish: expected max-tokens, got stop"},
    ),
    Mutant(
        name="unknown-reason-is-a-stop",
        broken="Takes a finish reason that it does not know for stop.",
        factory=reading(lambda: _unknown_is_stop),
        trips={"finish-mapping": "outcome: expected failure, got success"},
    ),
    Mutant(
        name="unknown-reason-loses-its-word",
        broken="Does not tell which finish reason it did not know.",
        factory=_renamed({"brand_new_word": "other"}),
        trips={"finish-mapping": "message: expected 'brand_new_word' in it"},
    ),
    Mutant(
        name="exhausted-provider-is-a-stop",
        broken="Takes insufficient_system_resource for stop.",
        factory=_renamed({"insufficient_system_resource": "stop"}),
        trips={"code-server": "outcome: expected failure, got"},
    ),
    Mutant(
        name="text-of-the-finish-is-lost",
        broken="Drops text that comes with the finish reason.",
        factory=translating(_ContentOfTheFinishIsLost),
        trips={"finish-mapping": "text: expected 'Hello you', got 'Hello'"},
    ),
    Mutant(
        name="empty-reason-ends-the-text",
        broken="Reads no text behind an empty finish reason.",
        factory=translating(_EmptyWordEnds),
        trips={"finish-mapping": "text: expected 'Hi!', got 'Hi'"},
    ),
)
