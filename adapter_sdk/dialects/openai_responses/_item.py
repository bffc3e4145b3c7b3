"""One output item under way: what the wire has said of it, once.

The wire says everything up to four times: as deltas, when a part is done, when the item is
done, and in the response that ends the stream. Servers leave out any of these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..._chunks import Chunk
from ..._content import BlockType
from ..._dialect import Json
from .._held_blocks import HeldBlock, HeldBlocks
from .._payload import arguments_text, text_or_none
from ._tables import PartEvent

_BLOCK_TYPES: Final[dict[str, BlockType]] = {"message": "text", "reasoning": "reasoning"}

# Between the paragraphs of a summary.
_PARAGRAPH: Final = "\n\n"

Part = tuple[str, int]


@dataclass(slots=True)
class Item:
    """One item of the output.

    Attributes:
        kind: ``message``, ``reasoning``, ``function_call``; empty for what becomes nothing.
        wire_id: Its id, or empty.
        wire: The last whole form of it that came.
        done: Whether that form was final.
        held: Its block, once it has one.
    """

    kind: str
    wire_id: str
    wire: dict[str, Json]
    done: bool = False
    held: HeldBlock | None = None
    _received: list[str] = field(default_factory=list)
    _parts: set[Part] = field(default_factory=set)
    _field: str = ""

    @property
    def encrypted(self) -> str:
        """The reasoning that only the provider can read, or empty."""
        value = self.wire.get("encrypted_content")
        return value if isinstance(value, str) else ""

    def part_event(
        self, row: PartEvent, payload: dict[str, Json], blocks: HeldBlocks, chunks: list[Chunk]
    ) -> None:
        """Take a delta, or a whole part of which no delta came."""
        value = payload.get(row.key)
        if type(value) is str:
            text = value
        elif row.field == "arguments":
            text = arguments_text(value, where=row.key)
        else:
            text = text_or_none(value, where=row.key) or ""
        number = payload.get(row.place) if row.place else 0
        part = (row.field, number if type(number) is int else 0)
        if text and not (row.is_whole and part in self._parts):
            self._add(part, text, blocks, chunks)

    def settle(self, blocks: HeldBlocks, chunks: list[Chunk]) -> None:
        """Deliver what ``wire`` says beyond what was received."""
        if self.kind == "function_call":
            if self.held is None:
                self.open_call(blocks, chunks)
            name = text_or_none(self.wire.get("name"), where="a call's name")
            if name and self.held is not None and not self.held.name:
                self.held.add_name(name, chunks)
            arguments = arguments_text(self.wire.get("arguments"), where="arguments")
            self._add_rest("arguments", [arguments], blocks, chunks)
        elif self.kind == "message":
            self._add_rest("content", _texts(self.wire.get("content")), blocks, chunks)
        elif self.kind == "reasoning":
            for name in (self._field,) if self._field else ("summary", "content"):
                self._add_rest(name, _texts(self.wire.get(name)), blocks, chunks)
                if self._received:
                    break
            if self.held is None and self.encrypted:
                # Without any text, but it has to go back with the message.
                self.held = blocks.open("reasoning", chunks)

    def open_call(self, blocks: HeldBlocks, chunks: list[Chunk]) -> None:
        """Begin the block of a function call, whose identity is its ``call_id``."""
        call_id = text_or_none(self.wire.get("call_id"), where="call_id") or self.wire_id
        name = text_or_none(self.wire.get("name"), where="a call's name") or ""
        self.held = blocks.open_call(call_id, name, chunks)

    def _add_rest(
        self, name: str, whole: list[str], blocks: HeldBlocks, chunks: list[Chunk]
    ) -> None:
        """Add what ``whole`` says beyond what was received; where they differ the deltas stay."""
        joined = (_PARAGRAPH if name == "summary" else "").join(whole)
        received = _paired("".join(self._received))
        if not received:
            for number, text in enumerate(whole):
                if text:
                    self._add((name, number), text, blocks, chunks)
        elif len(joined) > len(received) and joined.startswith(received):
            self._append(joined[len(received) :], blocks, chunks)

    def _add(self, part: Part, text: str, blocks: HeldBlocks, chunks: list[Chunk]) -> None:
        if self._field and part[0] != self._field:
            return  # the same reasoning in another form
        self._field = part[0]
        if part[0] == "summary" and self._received and part not in self._parts:
            text = _PARAGRAPH + text
        self._parts.add(part)
        self._append(text, blocks, chunks)

    def _append(self, text: str, blocks: HeldBlocks, chunks: list[Chunk]) -> None:
        if self.held is None:
            self.held = blocks.open(_BLOCK_TYPES[self.kind], chunks)
        self._received.append(text)
        self.held.add(text, chunks)


def _texts(parts: Json) -> list[str]:
    """Return the texts of the parts of an item, whatever kind of text they are."""
    if not isinstance(parts, list):
        return []
    texts = (part.get("text") or part.get("refusal") for part in parts if isinstance(part, dict))
    return [text for text in texts if isinstance(text, str)]


def _paired(text: str) -> str:
    """Join surrogate halves that came in two deltas, as the whole text has them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
