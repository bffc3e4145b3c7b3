"""The content blocks as the wire counts them, and what each becomes.

Blocks of tools that run at the provider, and of kinds yet unknown, have an index like all
others but become nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from ..._chunks import Chunk
from ..._codes import MALFORMED_RESPONSE
from ..._dialect import Json, ProtocolFault
from .._held_blocks import HeldBlock, HeldBlocks
from .._payload import arguments_text, text_or_none


class _Delta(NamedTuple):
    kind: str
    field: str


_DELTAS: Final = {
    "text_delta": _Delta("text", "text"),
    "thinking_delta": _Delta("thinking", "thinking"),
    "signature_delta": _Delta("thinking", "signature"),
    "input_json_delta": _Delta("tool_use", "partial_json"),
}
_KINDS: Final = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})


class Place(NamedTuple):
    """Where a delta belongs: the block's index on the wire, and the type of the delta."""

    index: Json
    delta_type: str


def plain_delta(payload: Json) -> tuple[Place, str] | None:
    """Return place and text of a payload that is a delta of characters and no more, else None.

    The short way, as of nearly all payloads: what it takes the long way reads as the same.
    """
    if type(payload) is not dict or len(payload) != 3:
        return None
    try:
        index, delta, kind = payload["index"], payload["delta"], payload["type"]
        delta_type = delta["type"]
        text = delta[_DELTAS[delta_type].field]
    except (KeyError, TypeError):  # something else than a delta
        return None
    if kind != "content_block_delta" or delta_type == "signature_delta":
        return None
    return (Place(index, delta_type), text) if type(text) is str and text else None


@dataclass(slots=True)
class _WireBlock:
    kind: str
    wire_id: str = ""
    whole_input: Json = None
    held: HeldBlock | None = None
    stopped: bool = False

    @property
    def identity(self) -> tuple[str, str]:
        return self.kind, self.wire_id


class WireBlocks:
    """All content blocks of one answer.

    A text or thinking block opens with its first character or its signature: a bare start
    says nothing. Redacted thinking has no text at all and becomes an empty reasoning block, so
    that its data has a place in step with the blocks.
    """

    def __init__(self, held: HeldBlocks) -> None:
        self._held = held
        self._blocks: list[_WireBlock] = []
        self._by_index: dict[int, _WireBlock] = {}

    def start(self, payload: dict[str, Json], chunks: list[Chunk]) -> None:
        """Take ``content_block_start``, or a block of a whole message."""
        content = payload.get("content_block")
        if not isinstance(content, dict):
            raise ProtocolFault(MALFORMED_RESPONSE, "a content block is no object")
        kind = text_or_none(content.get("type"), where="a block's type") or ""
        wire_id = text_or_none(content.get("id"), where="a block's id") or ""
        index = payload.get("index")
        known = self._by_index.get(index) if type(index) is int else None
        block = _WireBlock(kind if kind in _KINDS else "", wire_id)
        if known is not None and not known.stopped and known.identity == block.identity:
            return  # the same start again
        if type(index) is int:
            self._by_index[index] = block
        self._blocks.append(block)
        if block.kind == "tool_use":
            name = text_or_none(content.get("name"), where="a tool's name") or ""
            block.whole_input = content.get("input")
            block.held = self._held.open_call(wire_id, name, chunks)
        elif block.kind == "redacted_thinking":
            data = text_or_none(content.get("data"), where="redacted thinking")
            if data:
                self._open(block, chunks).replay["redacted"] = data
        elif block.kind:
            self._add(block, block.kind, content.get(block.kind), chunks)
            if block.kind == "thinking":
                self._sign(block, content.get("signature"), chunks)

    def delta(self, payload: dict[str, Json], chunks: list[Chunk]) -> None:
        """Take ``content_block_delta``."""
        block = self._at(payload)
        if block is None:
            raise ProtocolFault(MALFORMED_RESPONSE, "a delta belongs to no content block")
        delta = payload.get("delta")
        if not isinstance(delta, dict):
            raise ProtocolFault(MALFORMED_RESPONSE, "a delta is no object")
        row = _DELTAS.get(text_or_none(delta.get("type"), where="a delta's type") or "")
        if row is None or not block.kind:
            return  # citations, and what is yet unknown
        kind, field = row
        if block.kind != kind:
            raise ProtocolFault(
                MALFORMED_RESPONSE, f"{delta['type']} inside a block of type {block.kind}"
            )
        if field == "signature":
            self._sign(block, delta.get(field), chunks)
        else:
            self._add(block, field, delta.get(field), chunks)

    def open_at(self, place: Place) -> HeldBlock | None:
        """Return the block at ``place`` that such deltas go on with, or None."""
        index, delta_type = place
        block = self._by_index.get(index) if type(index) is int else None
        if block is None or block.kind != _DELTAS[delta_type].kind:
            return None
        return block.held

    def stop(self, payload: dict[str, Json], chunks: list[Chunk]) -> None:
        """Take ``content_block_stop``; the block's end is still held back."""
        block = self._at(payload)
        if block is not None:
            self._finish_input(block, chunks)
            block.stopped = True

    def stop_all(self, chunks: list[Chunk]) -> None:
        """Stop the blocks that nothing has stopped."""
        for block in self._blocks:
            self._finish_input(block, chunks)

    def _at(self, payload: dict[str, Json]) -> _WireBlock | None:
        index = payload.get("index")
        if index is None:
            return self._blocks[-1] if self._blocks else None
        return self._by_index.get(index) if type(index) is int else None

    def _open(self, block: _WireBlock, chunks: list[Chunk]) -> HeldBlock:
        if block.held is None:
            block.held = self._held.open("text" if block.kind == "text" else "reasoning", chunks)
        return block.held

    def _add(self, block: _WireBlock, field: str, value: Json, chunks: list[Chunk]) -> None:
        text = value if type(value) is str else text_or_none(value, where=field)
        if text:
            self._open(block, chunks).add(text, chunks)

    def _sign(self, block: _WireBlock, value: Json, chunks: list[Chunk]) -> None:
        signature = text_or_none(value, where="a signature")
        if signature:
            self._open(block, chunks).replay["signature"] = signature

    def _finish_input(self, block: _WireBlock, chunks: list[Chunk]) -> None:
        """Deliver an input that came whole in the start, where no delta has brought it."""
        whole, block.whole_input = block.whole_input, None
        if block.held is None or whole is None or not block.held.is_blank:
            return
        block.held.add(arguments_text(whole, where="a tool's input"), chunks)
