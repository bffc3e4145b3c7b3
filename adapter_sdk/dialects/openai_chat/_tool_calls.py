"""Which fragment belongs to which call.

The wire names a call by id, by index, by both or by neither, and gateways break each of them.
An id beats an index; empty and null fields say nothing; a new id starts a new call.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from ..._codes import MALFORMED_RESPONSE
from ..._dialect import Json, ProtocolFault
from ..._growing_text import GrowingText
from ..._surrogates import SurrogateJoiner
from ..._wire_json import parse_json
from .._payload import arguments_text, text_or_none


@dataclass(slots=True)
class Call:
    """One call under way."""

    block_index: int
    wire_index: int | None
    wire_id: str
    id: str
    name: str = ""
    written: GrowingText = field(default_factory=GrowingText)
    last: str = ""
    joiner: SurrogateJoiner = field(default_factory=SurrogateJoiner)

    @property
    def arguments(self) -> str:
        """The provider's characters so far."""
        return self.written.whole()

    def add(self, arguments: str) -> None:
        """Take more of the arguments."""
        self.written.add(arguments)
        self.last = arguments

    @property
    def is_whole(self) -> bool:
        """Whether the arguments so far are a JSON object."""
        if not self.last.rstrip().endswith("}"):
            return False  # without joining them: it is asked at every fragment of some servers
        try:
            return isinstance(parse_json(self.arguments), dict)
        except ValueError:
            return False


@dataclass(frozen=True, slots=True)
class Fragment:
    """What one entry of ``tool_calls`` adds to a call."""

    call: Call
    is_new: bool
    name: str
    arguments: str


class ToolCalls:
    """All calls of one answer, in first-seen order."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._by_wire_id: dict[str, Call] = {}
        self._by_wire_index: dict[int, Call] = {}

    def take(self, entry: Json, *, next_block_index: int) -> Fragment:
        """Assign one entry of ``tool_calls`` to its call.

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
            call = self._begin(wire_id, wire_index, next_block_index)
        elif wire_id and not call.wire_id:
            call.wire_id = wire_id  # handed out under a made-up id, which stays
            self._by_wire_id[wire_id] = call
        added_name = "" if call.name.endswith(name) else name
        call.name += added_name
        arguments = call.joiner.feed(arguments)
        if arguments:
            call.add(arguments)
        return Fragment(call, is_new, added_name, arguments)

    def _known(
        self, wire_id: str, wire_index: int | None, name: str, arguments: str
    ) -> Call | None:
        if wire_id in self._by_wire_id:
            return self._by_wire_id[wire_id]
        if wire_index is not None:
            call = self._by_wire_index.get(wire_index)
        else:
            call = self.calls[-1] if self.calls else None
        if call is None or (wire_id and call.wire_id):
            return None
        if wire_id or not name:
            return call
        # After whole arguments another name, or where nothing counts the calls the same name
        # with arguments of its own, is the next call.
        is_next = not call.name.endswith(name) or (wire_index is None and arguments.strip())
        return None if is_next and call.is_whole else call

    def _begin(self, wire_id: str, wire_index: int | None, block_index: int) -> Call:
        call = Call(
            block_index=block_index,
            wire_index=wire_index,
            wire_id=wire_id,
            id=wire_id or f"call_{uuid.uuid4().hex}",
        )
        self.calls.append(call)
        if wire_id:
            self._by_wire_id[wire_id] = call
        if wire_index is not None:
            self._by_wire_index[wire_index] = call
        return call
