"""Token counts, reasoning and unknown fields misread."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from typing_extensions import override

from adapter_sdk import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    OutputBlock,
    ProtocolFault,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    TokenUsage,
    Translator,
    UsageReport,
    codes,
)

from .._altering import (
    Altered,
    choices_of,
    decoded,
    deltas_of,
    emitting,
    reading,
    translating,
)
from .._good import Good
from .._mutant import Mutant


def _counting(edit: Callable[[TokenUsage], TokenUsage]) -> type[Good]:
    """Return an adapter whose usage is edited."""

    def edited(chunk: Chunk) -> Iterable[Chunk]:
        return (UsageReport(edit(chunk.usage)),) if isinstance(chunk, UsageReport) else (chunk,)

    return emitting(lambda: edited)


def _malformed(said: str) -> ProtocolFault:
    return ProtocolFault(codes.MALFORMED_RESPONSE, said)


def _repeats_add_up() -> Callable[[Any], Iterable[Any]]:
    total = 0

    def edit(payload: Any) -> Iterable[Any]:
        nonlocal total
        usage = payload.get("usage")
        if isinstance(usage, dict) and isinstance(usage.get("prompt_tokens"), int):
            total += usage["prompt_tokens"]
            usage["prompt_tokens"] = total
        return (payload,)

    return edit


def _null_usage_fails(payload: Any) -> Iterable[Any]:
    usage = payload.get("usage", {})
    if usage is None or (isinstance(usage, dict) and None in usage.values()):
        raise _malformed("usage: a count is null")
    return (payload,)


def _partial_erases(payload: Any) -> Iterable[Any]:
    usage = payload.get("usage")
    if isinstance(usage, dict) and "prompt_tokens" not in usage:
        payload["usage"] = {**usage, "prompt_tokens": 0, "completion_tokens": 0}
    return (payload,)


def _usage_needs_choices(payload: Any) -> Iterable[Any]:
    if "choices" not in payload:
        payload.pop("usage", None)
    return (payload,)


# ---- reasoning ---------------------------------------------------------------------------


def _as_text(chunk: Chunk) -> Iterable[Chunk]:
    match chunk:
        case BlockStart(index, "reasoning"):
            return (BlockStart(index, "text"),)
        case ReasoningDelta(index, text):
            return (TextDelta(index, text),)
        case BlockEnd(index, ReasoningBlock(text)):
            return (BlockEnd(index, TextBlock(text)),)
        case _:
            return (chunk,)


def _one_field_only(payload: Any) -> Iterable[Any]:
    for delta in deltas_of(payload):
        delta.pop("reasoning", None)
    return (payload,)


def _both_fields(payload: Any) -> Iterable[Any]:
    for delta in deltas_of(payload):
        first, second = delta.get("reasoning_content"), delta.pop("reasoning", None)
        if isinstance(first, str) and isinstance(second, str):
            delta["reasoning_content"] = first + second
        elif second is not None:
            delta["reasoning"] = second
    return (payload,)


def _empty_field_decides(payload: Any) -> Iterable[Any]:
    for delta in deltas_of(payload):
        if delta.get("reasoning_content") == "":
            delta.pop("reasoning", None)
    return (payload,)


def _text_beside_reasoning_is_lost(payload: Any) -> Iterable[Any]:
    for delta in deltas_of(payload):
        if delta.get("reasoning_content") and delta.get("content"):
            delta.pop("content")
    return (payload,)


# Stands for the empty text, which opens nothing in the good twin.
_MARK: Final = "?"


class _EmptyDeltaOpens(Altered):
    """Opens a reasoning block for a first delta that is empty."""

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        if b'"reasoning_content":""' not in data or b'"content":null' not in data:
            return [_without_mark(chunk) for chunk in self.inner.event(name, data)]
        begun = {"index": 0, "delta": {"reasoning_content": _MARK}}
        chunks = self.inner.event(name, json.dumps({"choices": [begun]}).encode())
        return [chunk for chunk in chunks if isinstance(chunk, BlockStart)]


def _without_mark(chunk: Chunk) -> Chunk:
    if isinstance(chunk, BlockEnd) and isinstance(chunk.block, ReasoningBlock):
        return BlockEnd(chunk.index, ReasoningBlock(chunk.block.text.removeprefix(_MARK)))
    return chunk


class _EmptyFieldLeavesABlock(Altered):
    """Ends a good answer with an empty block for a field that only ever was empty."""

    def __init__(self, inner: Translator, field: str, block: OutputBlock) -> None:
        super().__init__(inner)
        self.field, self.block = field, block
        self.begun: list[str] = []
        self.was_empty = False

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        self.was_empty |= any(delta.get(self.field) == "" for delta in deltas_of(decoded(data)))
        for chunk in self.inner.event(name, data):
            if isinstance(chunk, BlockStart):
                self.begun.append(chunk.block_type)
            if isinstance(chunk, (UsageReport, Finish)) and self.begun and self.was_empty:
                yield from self._left_over()
            yield chunk

    def _left_over(self) -> Iterator[Chunk]:
        if self.block.type not in self.begun:
            index = len(self.begun)
            self.begun.append(self.block.type)
            yield BlockStart(index, self.block.type)
            yield BlockEnd(index, self.block)


# ---- unknown fields ----------------------------------------------------------------------


def _refusing(wrong: Callable[[Any], bool], said: str) -> type[Good]:
    """Return an adapter that refuses the payloads for which ``wrong`` holds."""

    def edit(payload: Any) -> Iterable[Any]:
        if wrong(payload):
            raise _malformed(said)
        return (payload,)

    return reading(lambda: edit)


def _has_no_number(payload: Any) -> bool:
    return any(word in json.dumps(payload) for word in ("NaN", "Infinity"))


def _every_choice(payload: Any) -> Iterable[Any]:
    for choice in choices_of(payload):
        choice["index"] = 0
    return (payload,)


def _first_choice_in_the_list(payload: Any) -> Iterable[Any]:
    choices = choices_of(payload)
    if len(choices) > 1:
        payload["choices"] = [{**choices[0], "index": 0}]
    return (payload,)


MUTANTS: Final = (
    Mutant(
        name="cached-tokens-count-twice",
        broken="Counts cached tokens as input too.",
        factory=_counting(
            lambda u: dataclasses.replace(
                u, input_tokens=u.input_tokens + (u.cache_read_tokens or 0)
            )
        ),
        trips={"usage": "usage.input_tokens: expected 6, got 10"},
    ),
    Mutant(
        name="reasoning-tokens-count-twice",
        broken="Adds reasoning tokens to the output.",
        factory=_counting(
            lambda u: dataclasses.replace(
                u, output_tokens=u.output_tokens + (u.reasoning_tokens or 0)
            )
        ),
        trips={"usage": "usage.output_tokens: expected 9, got 14"},
    ),
    Mutant(
        name="usage-reports-add-up",
        broken="Adds up the reports of one answer.",
        factory=reading(_repeats_add_up),
        trips={"usage": "usage.input_tokens: expected 4, got 8"},
    ),
    Mutant(
        name="null-usage-fails",
        broken="Fails where a count is null.",
        factory=reading(lambda: _null_usage_fails),
        trips={"usage": "outcome: expected success, got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="partial-usage-erases",
        broken="Lets a report of details alone replace a full one.",
        factory=reading(lambda: _partial_erases),
        trips={"usage": "usage.input_tokens: expected 4, got 0"},
    ),
    Mutant(
        name="usage-without-choices-is-unread",
        broken="Reads usage only beside choices.",
        factory=reading(lambda: _usage_needs_choices),
        trips={"usage": "no usage"},
    ),
    Mutant(
        name="reasoning-is-text",
        broken="Hands out reasoning as text.",
        factory=emitting(lambda: _as_text),
        trips={
            "reasoning": "text: expected 'Hi', got 'hmHi'",
            "chunk-grammar": "text: expected 'ab', got 'rsab'",
            "empty-not-overreach": "text: expected '', got 'hmm'",
            "idle-timeout": "partial_reasoning: expected 'thinking', got ''",
            "sse-malformed": "text: expected 'Hi', got 'rHi'",
            "terminal-evidence": "partial_text: expected 'b', got 'ab'",
        },
    ),
    Mutant(
        name="one-reasoning-field",
        broken="Reads reasoning_content and not reasoning.",
        factory=reading(lambda: _one_field_only),
        trips={"reasoning": "reasoning: expected 'hm', got ''"},
    ),
    Mutant(
        name="reasoning-is-doubled",
        broken="Adds up two fields that carry the same reasoning.",
        factory=reading(lambda: _both_fields),
        trips={"reasoning": "reasoning: expected 'hm', got 'hmhm'"},
    ),
    Mutant(
        name="empty-reasoning-field-decides",
        broken="Stops at the first reasoning field although it is empty.",
        factory=reading(lambda: _empty_field_decides),
        trips={"reasoning": "reasoning: expected 'hm', got ''"},
    ),
    Mutant(
        name="text-beside-reasoning-is-lost",
        broken="Drops the text of a delta that has reasoning too.",
        factory=reading(lambda: _text_beside_reasoning_is_lost),
        trips={"reasoning": "text: expected 'Hi', got ''"},
    ),
    Mutant(
        name="empty-reasoning-opens-a-block",
        broken="Opens a reasoning block for an empty first delta.",
        factory=translating(_EmptyDeltaOpens),
        trips={"reasoning": "outcome: expected failure, got success"},
    ),
    Mutant(
        name="empty-reasoning-leaves-a-block",
        broken="Ends with an empty reasoning block where a delta of reasoning was empty.",
        factory=translating(
            lambda t: _EmptyFieldLeavesABlock(t, "reasoning_content", ReasoningBlock(""))
        ),
        trips={"reasoning": "reasoning: expected no block, got a block with ''"},
    ),
    Mutant(
        name="empty-text-leaves-a-block",
        broken="Ends with an empty text block where reasoning came and the text was empty.",
        factory=translating(lambda t: _EmptyFieldLeavesABlock(t, "content", TextBlock(""))),
        trips={"reasoning": "text: expected no block, got a block with ''"},
    ),
    Mutant(
        name="unknown-keys-fail",
        broken="Fails for a key that it does not know.",
        factory=_refusing(lambda p: "service_tier" in p, "service_tier: no such key"),
        trips={"unknown-fields": "outcome: expected success, got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="nan-fails",
        broken="Fails for numbers that JSON does not have.",
        factory=_refusing(_has_no_number, "NaN is no JSON"),
        trips={"unknown-fields": "outcome: expected success, got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="null-delta-fails",
        broken="Fails for a delta of null.",
        factory=_refusing(
            lambda p: any("delta" in c and c["delta"] is None for c in choices_of(p)),
            "delta: an object",
        ),
        trips={"unknown-fields": "outcome: expected success, got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="null-error-fails",
        broken="Takes an error of null for an error.",
        factory=_refusing(lambda p: "error" in p and p["error"] is None, "an error"),
        trips={"unknown-fields": "outcome: expected success, got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="second-choice-mixes-in",
        broken="Reads every choice as the first one.",
        factory=reading(lambda: _every_choice),
        trips={"unknown-fields": "text: expected 'Hi', got 'HiX'"},
    ),
    Mutant(
        name="first-choice-in-the-list",
        broken="Reads the choice that comes first in place of the one with index 0.",
        factory=reading(lambda: _first_choice_in_the_list),
        trips={"unknown-fields": "text: expected 'Hi', got 'X'"},
    ),
)
