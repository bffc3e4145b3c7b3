"""From chunks to blocks and a message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._chunks import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    TokenUsage,
    ToolCallDelta,
    UsageReport,
)
from ._content import BlockType, OutputBlock, output_block
from ._growing_text import GrowingText
from ._messages import Message, ReplayState

# After these a call may be half a call, and half a call would be dispatched as a whole one.
_KINDS_WITHOUT_CALLS = frozenset({"max-tokens", "aborted", "error"})

# The list in a replay state that stands beside the blocks, one entry each.
REPLAY_BLOCKS_KEY = "blocks"


@dataclass(slots=True)
class _OpenBlock:
    """A block under way."""

    block_type: BlockType
    written: GrowingText = field(default_factory=GrowingText)
    id: str = ""
    name: str = ""
    final: OutputBlock | None = None

    def block(self) -> OutputBlock:
        if self.final is not None:
            return self.final
        return output_block(self.block_type, self.written.whole(), id=self.id, name=self.name)


class BlockAssembler:
    """Collects the chunks of one stream.

    Tolerant of missing starts and ends; a ``block-end`` wins over the deltas and freezes its
    index; chunks after the finish are ignored. Feeding is linear in the text.

    Source: contract section 2.
    """

    def __init__(self) -> None:
        self._open: dict[int, _OpenBlock] = {}
        self._finish: Finish | None = None
        self.usage: TokenUsage | None = None

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why the stream ended, or None while it runs."""
        return None if self._finish is None else self._finish.reason

    def add(self, chunk: Chunk) -> None:
        """Take the next chunk."""
        if self._finish is not None:
            return
        if type(chunk) is TextDelta:  # first, for nearly all are: a match costs twice as much
            block = self._open.get(chunk.index)
            if block is not None and block.final is None:
                block.written.add(chunk.text)
                return
        match chunk:
            case TextDelta(index=index, text=text):
                self._extend(index, "text", text)
            case ReasoningDelta(index=index, text=text):
                self._extend(index, "reasoning", text)
            case ToolCallDelta(index=index, arguments_delta=arguments):
                block = self._extend(index, "tool-call", arguments)
                block.id = block.id or chunk.id
                block.name += chunk.name or ""
            case BlockStart(index=index, block_type=block_type):
                self._open.setdefault(index, _OpenBlock(block_type))
            case BlockEnd(index=index, block=block_end):
                ended = self._open.setdefault(index, _OpenBlock(block_end.type))
                ended.final = ended.final or block_end
            case UsageReport(usage=usage):
                self.usage = usage
            case Finish():
                self._finish = chunk

    def _extend(self, index: int, block_type: BlockType, text: str) -> _OpenBlock:
        block = self._open.get(index)
        if block is None:
            block = self._open[index] = _OpenBlock(block_type)
        if block.final is None and text:
            block.written.add(text)
        return block

    def blocks(self) -> tuple[OutputBlock, ...]:
        """Return the blocks by index as they stand.

        A finish of ``max-tokens`` or a failure leaves no tool call.
        """
        return tuple(block for _, block in self._kept())

    def _kept(self) -> list[tuple[int, OutputBlock]]:
        reason = self.finish_reason
        no_calls = reason is not None and reason.kind in _KINDS_WITHOUT_CALLS
        pairs = ((index, self._open[index].block()) for index in sorted(self._open))
        return [(i, block) for i, block in pairs if not (no_calls and block.type == "tool-call")]

    def interrupted_blocks(self) -> tuple[OutputBlock, ...]:
        """Return what may be kept of a stream that was broken off: non-blank text and reasoning."""
        return tuple(
            block for _, block in self._kept() if block.type != "tool-call" and block.text.strip()
        )

    def message(self) -> Message:
        """Return the assistant's message: its blocks, and the replay state in step with them."""
        kept = self._kept()
        state = None if self._finish is None else self._finish.replay_state
        return Message(
            "assistant",
            tuple(block for _, block in kept),
            _in_step(state, sorted(self._open), [index for index, _ in kept]),
        )


def _in_step(state: ReplayState | None, seen: list[int], kept: list[int]) -> ReplayState | None:
    """Drop the entries of dropped blocks, or the whole state where entries and blocks differ."""
    if state is None or REPLAY_BLOCKS_KEY not in state:
        return state
    entries: Any = state[REPLAY_BLOCKS_KEY]
    if not isinstance(entries, (list, tuple)) or len(entries) != len(seen):
        return None
    if seen == kept:
        return state
    by_index = dict(zip(seen, entries, strict=True))
    return {**state, REPLAY_BLOCKS_KEY: [by_index[index] for index in kept]}
