"""The grammar of chunks, checked on every stream that the kit sees."""

from __future__ import annotations

from collections.abc import Iterable

from adapter_sdk import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    UsageReport,
)

from ._block_ends import contradicted_deltas

_TYPE_OF_DELTA = {TextDelta: "text", ReasoningDelta: "reasoning", ToolCallDelta: "tool-call"}


def grammar_errors(chunks: Iterable[Chunk], *, ended: bool) -> list[str]:
    """Return what breaks the grammar, in words; empty where nothing does.

    Args:
        chunks: In the order of delivery.
        ended: Whether the stream was read to its end, so that a finish is due.
    """
    chunks = list(chunks)
    reader = _GrammarReader()
    for number, chunk in enumerate(chunks):
        reader.read(number, chunk)
    if ended and reader.finish is None:
        reader.errors.append("there is no finish")
    failed = reader.finish is not None and reader.finish.reason.failure is not None
    if reader.finish is not None and not failed and reader.open:
        reader.errors.append(f"blocks {sorted(reader.open)} are left open by a good finish")
    return [*reader.errors, *contradicted_deltas(chunks)]


class _GrammarReader:
    def __init__(self) -> None:
        self.errors: list[str] = []
        self.open: dict[int, str] = {}
        self.seen = 0
        self.usages = 0
        self.finish: Finish | None = None

    def read(self, number: int, chunk: Chunk) -> None:
        if self.finish is not None:
            self.errors.append(f"chunk {number}: {chunk.type} after the finish")
        match chunk:
            case BlockStart(index=index, block_type=block_type):
                if index != self.seen:
                    self.errors.append(f"chunk {number}: block {index} opens, {self.seen} is next")
                self.seen = max(self.seen, index + 1)
                self.open[index] = block_type
            case TextDelta(index=index) | ReasoningDelta(index=index) | ToolCallDelta(index=index):
                kind = _TYPE_OF_DELTA[type(chunk)]
                if self.open.get(index) != kind:
                    self.errors.append(
                        f"chunk {number}: a {chunk.type} for block {index}, "
                        f"which is {self.open.get(index, 'not open')}"
                    )
            case BlockEnd(index=index, block=block):
                if self.open.pop(index, None) != block.type:
                    self.errors.append(
                        f"chunk {number}: block {index} ends as {block.type}, but is not open so"
                    )
            case UsageReport():
                self.usages += 1
                if self.usages > 1:
                    self.errors.append(f"chunk {number}: a second usage")
            case Finish():
                self.finish = self.finish or chunk
