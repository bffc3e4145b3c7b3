"""Faults of adapters that read a payload by what the payloads before it looked like."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from typing_extensions import override

from adapter_sdk import Chunk

from .._altering import Altered, reading, translating
from .._mutant import Mutant

# After so many in a row it believes to know what the next one looks like.
_ENOUGH: Final = 3


class _Reads(Altered):
    """Knows what stood around the value of ``key`` in the last payloads, once they are alike."""

    key = b'"content":"'

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.around = (b"", b"")
        self.times = 0

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        before, found, rest = data.partition(self.key)
        value, _, behind = rest.partition(b'"')
        if found and self.times >= _ENOUGH:
            data = self.believed(data, before + found, value, b'"' + behind)
        elif found:
            self.times = self.times + 1 if (before, behind) == self.around else 0
            self.around = (before, behind)
        return self.inner.event(name, data)

    def believed(self, data: bytes, before: bytes, value: bytes, behind: bytes) -> bytes:
        """Return the payload as it is taken to be."""
        return data


class _NothingElseBehind(_Reads):
    """Does not look behind a text."""

    @override
    def believed(self, data: bytes, before: bytes, value: bytes, behind: bytes) -> bytes:
        known_before, known_behind = self.around
        if before != known_before + self.key or value.endswith(b"\\"):
            return data
        return before + value + b'"' + known_behind


class _NothingElseBefore(_Reads):
    """Does not look before a text."""

    @override
    def believed(self, data: bytes, before: bytes, value: bytes, behind: bytes) -> bytes:
        known_before, known_behind = self.around
        if behind != b'"' + known_behind:
            return data
        return known_before + self.key + value + behind


class _NothingElseBeforeArguments(_NothingElseBefore):
    """The same, of the arguments of a call."""

    key = b'"arguments":"'


class _NoEscapes(_Reads):
    """Takes the bytes between the known ones for the text."""

    @override
    def believed(self, data: bytes, before: bytes, value: bytes, behind: bytes) -> bytes:
        known_before, known_behind = self.around
        end = b'"' + known_behind
        if before != known_before + self.key or not data.endswith(end):
            return data
        text = data[len(before) : len(data) - len(end)]
        return before + text.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + end


def _thinks_on() -> Any:
    thoughts = 0

    def edit(payload: Any) -> Iterable[Any]:
        nonlocal thoughts
        for choice in payload.get("choices") or ():
            delta = choice.get("delta") if isinstance(choice, dict) else None
            if isinstance(delta, dict) and isinstance(delta.get("reasoning_content"), str):
                thoughts += 1
            elif isinstance(delta, dict) and thoughts > _ENOUGH and delta.get("content"):
                delta["reasoning_content"] = delta.pop("content")
        return (payload,)

    return edit


MUTANTS: Final[tuple[Mutant, ...]] = (
    Mutant(
        name="nothing-is-read-behind-a-text",
        broken="Reads of a payload that begins like many before it the text alone.",
        factory=translating(_NothingElseBehind),
        trips={
            "finish_mapping/finish_behind_the_last_of_many_alike": "got failure STREAM_CLOSED",
            "in_band_error/error_beside_the_text_after_many_alike": "got success",
            "sse_malformed/cut_behind_the_text_after_many_alike": "got success",
            "usage/usage_behind_the_last_of_many_alike": "usage",
        },
    ),
    Mutant(
        name="nothing-is-read-before-a-text",
        broken="Takes a payload that ends like many before it for one of them.",
        factory=translating(_NothingElseBefore),
        trips={"unknown_fields/second_choice_among_many_alike": "Uno"},
    ),
    Mutant(
        name="nothing-is-read-before-arguments",
        broken="Gives arguments that come like many before them to the same call.",
        factory=translating(_NothingElseBeforeArguments),
        trips={"tool_calls/fragments_in_turn_after_many_alike": "tool calls: expected"},
    ),
    Mutant(
        name="escapes-stay-after-many-texts",
        broken="Takes the bytes of a text for its characters, once it has seen many alike.",
        factory=translating(_NoEscapes),
        trips={"sse_utf8/escapes_after_many_alike": "five"},
    ),
    Mutant(
        name="text-after-many-thoughts-is-thought",
        broken="Goes on thinking once it has thought four times in a row.",
        factory=reading(_thinks_on),
        trips={"reasoning/text_after_many_alike_thoughts": "reasoning"},
    ),
)
