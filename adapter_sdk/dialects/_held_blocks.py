"""Blocks under way. Their ends are held back until the answer's own end is proven.

Before it nothing shows that they are whole, and a tool call that has ended is dispatched.
"""

from __future__ import annotations

import uuid
from typing import Final

from .._chunks import BlockEnd, BlockStart, Chunk, ReasoningDelta, TextDelta, ToolCallDelta
from .._content import BlockType, output_block
from .._dialect import Json
from .._growing_text import GrowingText
from .._surrogates import SurrogateJoiner

_TEXTUAL_DELTAS: Final = {"text": TextDelta, "reasoning": ReasoningDelta}


class HeldBlock:
    """One block of the answer.

    Attributes:
        index: Its place among the blocks.
        block_type: What it is.
        id: Of a tool call: non-empty and unique.
        name: Of a tool call; may still be empty.
        replay: What stands beside it in the replay state.
    """

    __slots__ = ("_delta", "_joiner", "_written", "block_type", "id", "index", "name", "replay")

    def __init__(self, index: int, block_type: BlockType, *, id: str = "", name: str = "") -> None:  # noqa: A002 - why: the wire's word
        self.index = index
        self.block_type = block_type
        self.id = id
        self.name = name
        self.replay: dict[str, Json] = {}
        self._written = GrowingText()
        self._joiner = SurrogateJoiner()
        self._delta = _TEXTUAL_DELTAS.get(block_type)

    @property
    def text(self) -> str:
        """All of it so far."""
        return self._written.whole()

    @property
    def is_blank(self) -> bool:
        """Whether it has no character yet."""
        return not self._written

    def add(self, text: str, chunks: list[Chunk]) -> None:
        """Take more text, or more of the arguments."""
        if not text.isascii() or self._joiner.held:
            text = self._joiner.feed(text)
        if not text:
            return
        self._written.add(text)
        if self._delta is None:
            chunks.append(ToolCallDelta(self.index, self.id, text))
        else:
            chunks.append(self._delta(self.index, text))

    def more(self, text: str) -> list[Chunk]:
        """Take more text and return what it becomes: ``add``, without a list that is there."""
        if text and text.isascii() and not self._joiner.held:
            self._written.add(text)
            if self._delta is None:
                return [ToolCallDelta(self.index, self.id, text)]
            return [self._delta(self.index, text)]
        chunks: list[Chunk] = []
        self.add(text, chunks)
        return chunks

    def add_to_call(
        self, name: str, arguments: str, chunks: list[Chunk], *, also_empty: bool
    ) -> None:
        """Take more of a call's name and of its arguments, in one chunk.

        Args:
            name: May be empty.
            arguments: May be empty.
            chunks: Gets the chunk.
            also_empty: Whether there is one where nothing is said.
        """
        self.name += name
        arguments = self._joiner.feed(arguments)
        self._written.add(arguments)
        if name or arguments or also_empty:
            chunks.append(ToolCallDelta(self.index, self.id, arguments, name or None))

    def add_name(self, name: str, chunks: list[Chunk]) -> None:
        """Take the name of a tool call that came without one."""
        self.name += name
        chunks.append(ToolCallDelta(self.index, self.id, name=name))

    def end(self, chunks: list[Chunk]) -> None:
        """Close the block."""
        if held := self._joiner.flush():
            self.add(held, chunks)  # whole by now: it passes the joiner unchanged
        text = self._written.whole()
        block = output_block(self.block_type, text, id=self.id, name=self.name)
        chunks.append(BlockEnd(self.index, block))


class HeldBlocks:
    """All blocks of one answer, in the order in which they began."""

    def __init__(self) -> None:
        self._blocks: list[HeldBlock] = []
        self._ids: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._blocks)

    @property
    def calls(self) -> list[HeldBlock]:
        """The tool calls."""
        return [block for block in self._blocks if block.block_type == "tool-call"]

    def open(self, block_type: BlockType, chunks: list[Chunk]) -> HeldBlock:
        """Begin a text or a reasoning block."""
        block = HeldBlock(len(self._blocks), block_type)
        self._blocks.append(block)
        chunks.append(BlockStart(block.index, block_type))
        return block

    def open_call(self, wire_id: str, name: str, chunks: list[Chunk]) -> HeldBlock:
        """Begin a tool call; a missing id, or one that another call has, is replaced."""
        call_id = wire_id
        if not call_id or call_id in self._ids:
            call_id = f"call_{uuid.uuid4().hex}"
        self._ids.add(call_id)
        block = HeldBlock(len(self._blocks), "tool-call", id=call_id, name=name)
        self._blocks.append(block)
        chunks.append(BlockStart(block.index, "tool-call"))
        chunks.append(ToolCallDelta(block.index, call_id, name=name or None))
        return block

    def end_all(self, chunks: list[Chunk]) -> None:
        """Close every block."""
        for block in self._blocks:
            block.end(chunks)

    def replay_entries(self) -> list[dict[str, Json]]:
        """Return what stands beside each block in the replay state."""
        return [block.replay for block in self._blocks]
