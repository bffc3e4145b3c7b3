"""Which event belongs to which output item.

An id that is known beats a position: some servers send no position, others the same one for
all items, and others again a new id with every event.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._chunks import Chunk
from ..._codes import MALFORMED_RESPONSE
from ..._dialect import Json, ProtocolFault
from .._held_blocks import HeldBlocks
from .._payload import text_or_none
from ._item import Item
from ._tables import BLOCK_KINDS, PartEvent


class Output:
    """All items of one response."""

    def __init__(self, blocks: HeldBlocks) -> None:
        self._blocks = blocks
        self._items: list[Item] = []
        self._by_id: dict[str, Item] = {}
        self._by_position: dict[int, Item] = {}

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def added(self, payload: dict[str, Json], chunks: list[Chunk]) -> None:
        """Take ``response.output_item.added``."""
        wire = _item_of(payload)
        if _wire_id(wire) not in self._by_id:
            self._begin(wire, payload.get("output_index"), chunks)

    def part_event(self, row: PartEvent, payload: dict[str, Json], chunks: list[Chunk]) -> None:
        """Take text or arguments."""
        item = self._find(payload)
        if item is not None and not item.kind:
            return  # of an item that becomes nothing
        if item is None or item.kind != row.kind:
            if row.kind == "function_call":
                raise ProtocolFault(MALFORMED_RESPONSE, "arguments belong to no function call")
            wire = {"type": row.kind, "id": payload.get("item_id")}
            item = self._begin(wire, payload.get("output_index"), chunks)
        item.part_event(row, payload, self._blocks, chunks)

    def done(self, payload: dict[str, Json], chunks: list[Chunk]) -> None:
        """Take ``response.output_item.done``."""
        wire = _item_of(payload)
        identity = {"item_id": wire.get("id"), "output_index": payload.get("output_index")}
        item = self._find(identity)
        if item is None or item.kind != _kind(wire):
            item = self._begin(wire, payload.get("output_index"), chunks)
        self._settle(item, wire, chunks)

    def finish(self, whole: Json, chunks: list[Chunk]) -> None:
        """Take ``output`` of the whole response, and deliver what no event has brought.

        Without ids that are known, the n-th item of a type is the n-th of that type.
        """
        counts: dict[str, int] = {}
        for wire in whole if isinstance(whole, list) else ():
            if not isinstance(wire, dict):
                raise ProtocolFault(MALFORMED_RESPONSE, "an output item is no object")
            kind = _kind(wire)
            number = counts[kind] = counts.get(kind, 0) + 1
            same_kind = [item for item in self._items if item.kind == kind]
            item = self._by_id.get(_wire_id(wire))
            if item is None and len(same_kind) >= number:
                item = same_kind[number - 1]
            if item is None:
                item = self._begin(wire, None, chunks)
            self._settle(item, wire, chunks)
        for item in self._items:
            if not item.done:
                item.settle(self._blocks, chunks)

    def _settle(self, item: Item, wire: dict[str, Json], chunks: list[Chunk]) -> None:
        if not item.done:
            item.wire, item.done = {**item.wire, **wire}, True
            item.settle(self._blocks, chunks)

    def _begin(self, wire: dict[str, Json], position: Json, chunks: list[Chunk]) -> Item:
        item = Item(_kind(wire), _wire_id(wire), wire)
        self._items.append(item)
        if item.wire_id:
            self._by_id[item.wire_id] = item
        if type(position) is int:
            self._by_position[position] = item
        if item.kind == "function_call":
            item.open_call(self._blocks, chunks)
        return item

    def _find(self, payload: dict[str, Json]) -> Item | None:
        wire_id, position = payload.get("item_id"), payload.get("output_index")
        if isinstance(wire_id, str) and wire_id in self._by_id:
            return self._by_id[wire_id]
        if type(position) is int:
            return self._by_position.get(position)
        return None if wire_id or not self._items else self._items[-1]


def _item_of(payload: dict[str, Json]) -> dict[str, Json]:
    wire = payload.get("item")
    if not isinstance(wire, dict):
        raise ProtocolFault(MALFORMED_RESPONSE, "an output item is no object")
    return wire


def _kind(wire: dict[str, Json]) -> str:
    kind = text_or_none(wire.get("type"), where="an item's type") or ""
    return kind if kind in BLOCK_KINDS else ""


def _wire_id(wire: dict[str, Json]) -> str:
    return text_or_none(wire.get("id"), where="an item's id") or ""
