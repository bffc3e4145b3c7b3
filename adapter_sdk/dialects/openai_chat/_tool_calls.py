"""Which fragment belongs to which call.

The wire names a call by id, by index, by both or by neither, and gateways break each of them.
An id beats an index; empty and null fields say nothing; a new id starts a new call.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from ..._chunks import Chunk
from ..._codes import MALFORMED_RESPONSE
from ..._dialect import Json, ProtocolFault
from ..._wire_json import parse_json
from .._held_blocks import HeldBlock
from .._payload import arguments_text, text_or_none
from ._content_parts import Place


@dataclass(slots=True)
class Call:
    """One call under way: its block, and what the wire has said of it."""

    held: HeldBlock
    wire_index: int | None
    wire_id: str
    last: str = ""

    def more(self, arguments: str) -> list[Chunk]:
        """Take more of the arguments and return what it becomes."""
        self.last = arguments
        return self.held.more(arguments)

    @property
    def is_whole(self) -> bool:
        """Whether the arguments so far are a JSON object."""
        if not self.last.rstrip().endswith("}"):
            return False  # without joining them: it is asked at every fragment of some servers
        try:
            return isinstance(parse_json(self.held.text), dict)
        except ValueError:
            return False


class ToolCalls:
    """All calls of one answer, in first-seen order.

    Args:
        places: Gets each call under its index on the wire; the last one where there are several.
    """

    def __init__(self, places: dict[Place, HeldBlock | Call]) -> None:
        self.calls: list[Call] = []
        self._by_wire_id: dict[str, Call] = {}
        self._places = places

    def take(
        self, entry: Json, open_block: Callable[[str], HeldBlock], chunks: list[Chunk]
    ) -> None:
        """Take one entry of ``tool_calls``: it goes on with its call, or begins one.

        Args:
            entry: As it came.
            open_block: Opens the block of a call with this id.
            chunks: Gets what the entry becomes.

        Raises:
            ProtocolFault: The entry has the wrong shape, or continues no known call.
        """
        if not isinstance(entry, dict):
            raise ProtocolFault(MALFORMED_RESPONSE, "an entry of tool_calls is no object")
        function = entry.get("function") or {}
        if not isinstance(function, dict):
            raise ProtocolFault(MALFORMED_RESPONSE, "the function of a tool call is no object")
        wire_id = text_or_none(entry.get("id"), where="a tool call's id") or ""
        name = text_or_none(function.get("name"), where="a tool call's name") or ""
        wire_index = entry.get("index") if type(entry.get("index")) is int else None
        arguments = arguments_text(function.get("arguments"), where="a tool call's arguments")

        call = self._known(wire_id, wire_index, name, arguments)
        is_new = call is None
        if call is None:
            if not wire_id and not name:
                raise ProtocolFault(
                    MALFORMED_RESPONSE, "a tool call fragment continues no known call"
                )
            held = open_block(wire_id or f"call_{uuid.uuid4().hex}")
            call = self._begin(Call(held, wire_index, wire_id))
        elif wire_id and not call.wire_id:
            call.wire_id = wire_id  # handed out under a made-up id, which stays
            self._by_wire_id[wire_id] = call
        added_name = "" if call.held.name.endswith(name) else name
        call.last = arguments or call.last
        call.held.add_to_call(added_name, arguments, chunks, also_empty=is_new)

    def _known(
        self, wire_id: str, wire_index: int | None, name: str, arguments: str
    ) -> Call | None:
        if wire_id in self._by_wire_id:
            return self._by_wire_id[wire_id]
        if wire_index is not None:
            call = self._at(wire_index)
        else:
            call = self.calls[-1] if self.calls else None
        if call is None or (wire_id and call.wire_id):
            return None
        if wire_id or not name:
            return call
        # After whole arguments another name, or where nothing counts the calls the same name
        # with arguments of its own, is the next call.
        is_next = not call.held.name.endswith(name) or (wire_index is None and arguments.strip())
        return None if is_next and call.is_whole else call

    def _begin(self, call: Call) -> Call:
        self.calls.append(call)
        if call.wire_id:
            self._by_wire_id[call.wire_id] = call
        if call.wire_index is not None:
            self._places[call.wire_index] = call
        return call

    def _at(self, wire_index: int) -> Call | None:
        call = self._places.get(wire_index)
        return call if isinstance(call, Call) else None
