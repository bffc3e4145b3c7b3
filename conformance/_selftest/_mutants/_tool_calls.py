"""Tool calls that are merged, split, renamed, repaired or handed out although they must not be."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from typing_extensions import override

from adapter_sdk import (
    TOOL_CALLS,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    InBandError,
    ToolCallBlock,
    ToolCallDelta,
    Translator,
)

from .._altering import (
    Altered,
    ChunkEdit,
    calls_of,
    decoded,
    emitting,
    reading,
    translating,
)
from .._good import Good
from .._mutant import Mutant, in_every_call

_GRAMMAR: Final = in_every_call("chunk-grammar")


def _whole_calls(edit: Callable[[ToolCallBlock], ToolCallBlock]) -> type[Good]:
    """Return an adapter that edits each call as it ends."""

    def edited(chunk: Chunk) -> Iterable[Chunk]:
        if isinstance(chunk, BlockEnd) and isinstance(chunk.block, ToolCallBlock):
            return (BlockEnd(chunk.index, edit(chunk.block)),)
        return (chunk,)

    return emitting(lambda: edited)


def _entries(new_edit: Callable[[], Callable[[dict[str, Any]], None]]) -> type[Good]:
    """Return an adapter that edits each entry of ``tool_calls`` before it reads it."""

    def new_payload_edit() -> Callable[[Any], Iterable[Any]]:
        edit = new_edit()

        def edited(payload: Any) -> Iterable[Any]:
            for call in calls_of(payload):
                edit(call)
            return (payload,)

        return edited

    return reading(new_payload_edit)


def _index_beats_id() -> Callable[[dict[str, Any]], None]:
    seen: set[int] = set()

    def edit(call: dict[str, Any]) -> None:
        index = call.get("index")
        if isinstance(index, int):
            if index in seen:
                call.pop("id", None)
            seen.add(index)

    return edit


def _new_id_for(blank: object) -> Callable[[], Callable[[dict[str, Any]], None]]:
    """Take an id that is ``blank`` on a continuation for a new one."""

    def new_edit() -> Callable[[dict[str, Any]], None]:
        seen: set[object] = set()

        def edit(call: dict[str, Any]) -> None:
            index = call.get("index")
            if index in seen and "id" in call and call["id"] == blank:
                call["id"] = "another"
                call.setdefault("function", {})["name"] = "another"
            seen.add(index)

        return edit

    return new_edit


def _name_only_at_once() -> Callable[[dict[str, Any]], None]:
    seen: set[object] = set()

    def edit(call: dict[str, Any]) -> None:
        function = call.get("function")
        if call.get("index") in seen and isinstance(function, dict):
            function.pop("name", None)
        seen.add(call.get("index"))

    return edit


def _only_text_arguments() -> Callable[[dict[str, Any]], None]:
    def edit(call: dict[str, Any]) -> None:
        function = call.get("function")
        if isinstance(function, dict) and isinstance(function.get("arguments"), dict):
            function["arguments"] = ""

    return edit


def _index_needed() -> Callable[[dict[str, Any]], None]:
    def edit(call: dict[str, Any]) -> None:
        if "index" not in call:
            call["index"] = 0
            call.pop("id", None)

    return edit


class _NamesAddUp(Altered):
    """Appends each name to the one before it, whole names too."""

    def __init__(self, inner: Translator) -> None:
        super().__init__(inner)
        self.names: dict[object, str] = {}

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        for call in calls_of(decoded(data)):
            said = (call.get("function") or {}).get("name") or ""
            key = call.get("index")
            self.names[key] = self.names.get(key, "") + said
        return [self._renamed(chunk) for chunk in self.inner.event(name, data)]

    def _renamed(self, chunk: Chunk) -> Chunk:
        if not isinstance(chunk, BlockEnd) or not isinstance(chunk.block, ToolCallBlock):
            return chunk
        doubled = chunk.block.name * 2
        if doubled not in self.names.values():
            return chunk
        return BlockEnd(chunk.index, dataclasses.replace(chunk.block, name=doubled))


def _written_again(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments))
    except ValueError:  # no JSON: it stays
        return arguments


def _empty_where_broken(arguments: str) -> str:
    try:
        json.loads(arguments)
    except ValueError:
        return "{}" if arguments else arguments
    return arguments


def _closed_where_open(arguments: str) -> str:
    return arguments + "}" if arguments.count("{") > arguments.count("}") else arguments


def _one_made_up_id(block: ToolCallBlock) -> ToolCallBlock:
    made_up = block.id.startswith("call_") and len(block.id) > 30
    return dataclasses.replace(block, id="") if made_up else block


def _edited_arguments(edit: Callable[[str], str]) -> type[Good]:
    return _whole_calls(lambda b: dataclasses.replace(b, arguments=edit(b.arguments)))


class _NamelessCallsAreCalls(Altered):
    """Hands out a call that never got a name."""

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        payload = decoded(data)
        for call in calls_of(payload):
            function = call.get("function")
            if call.get("id") and isinstance(function, dict) and function.get("arguments"):
                function.setdefault("name", "unnamed")
                data = json.dumps(payload).encode()
        return self.inner.event(name, data)


class _StrayFragmentsAreDropped(Altered):
    """Skips arguments that continue no known call."""

    def __init__(self, inner: Translator) -> None:
        super().__init__(inner)
        self.known: set[object] = set()

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        for call in calls_of(decoded(data)):
            named = call.get("id") or (call.get("function") or {}).get("name")
            if not named and "index" in call and call["index"] not in self.known:
                return ()
            self.known.add(call.get("index"))
        return self.inner.event(name, data)


# ---- calls of a call that failed -----------------------------------------------------------


class _CallsEndEarly(Altered):
    """Ends a tool call at once where an error follows it."""

    def __init__(self, inner: Translator) -> None:
        super().__init__(inner)
        self.open: dict[int, list[ToolCallDelta]] = {}

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        try:
            chunks = list(self.inner.event(name, data))
        except InBandError:
            yield from self._ends()
            raise
        for chunk in chunks:
            if isinstance(chunk, ToolCallDelta):
                self.open.setdefault(chunk.index, []).append(chunk)
            yield chunk

    def _ends(self) -> Iterator[Chunk]:
        for index, deltas in self.open.items():
            name = "".join(delta.name or "" for delta in deltas)
            arguments = "".join(delta.arguments_delta for delta in deltas)
            yield BlockEnd(index, ToolCallBlock(deltas[0].id, name, arguments))


def _prefix_is_a_call() -> ChunkEdit:
    """Take a call whose stream breaks off for a good one, with what there is of its arguments."""
    deltas: list[ToolCallDelta] = []
    others: list[Chunk] = []

    def edit(chunk: Chunk) -> Iterable[Chunk]:
        if isinstance(chunk, ToolCallDelta):
            deltas.append(chunk)
        if isinstance(chunk, BlockStart) and chunk.block_type != "tool-call":
            others.append(chunk)
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if (
            failure is None
            or failure.code not in ("TRANSPORT", "STREAM_CLOSED")
            or not deltas
            or others
        ):
            return (chunk,)
        name = "".join(delta.name or "" for delta in deltas)
        arguments = "".join(delta.arguments_delta for delta in deltas)
        block = ToolCallBlock(deltas[0].id, name, arguments + "}")
        return (BlockEnd(deltas[0].index, block), Finish(TOOL_CALLS))

    return edit


MUTANTS: Final = (
    Mutant(
        name="an-index-beats-an-id",
        broken="Takes calls with one index for one call, whatever their ids.",
        factory=_entries(_index_beats_id),
        trips={"tool-calls": "tool calls: expected [('c1', 't'"},
    ),
    Mutant(
        name="an-index-is-needed",
        broken="Takes all calls without an index for one.",
        factory=_entries(_index_needed),
        trips={"tool-calls": "tool calls"},
    ),
    Mutant(
        name="an-empty-id-starts-a-call",
        broken="Takes an empty id for a new one.",
        factory=_entries(_new_id_for("")),
        trips={"tool-calls": "tool calls: expected [('c1', 'calc', '{"},
    ),
    Mutant(
        name="a-null-id-starts-a-call",
        broken="Takes an id of null for a new one.",
        factory=_entries(_new_id_for(None)),
        trips={"tool-calls": "tool calls: expected [('c1', 'calc', '{"},
    ),
    Mutant(
        name="names-add-up",
        broken="Appends a name that is repeated on each delta.",
        factory=translating(_NamesAddUp),
        trips={"tool-calls": "read_fileread_file", _GRAMMAR: "ends with the name"},
    ),
    Mutant(
        name="names-come-at-once",
        broken="Reads a name on the first delta of a call only.",
        factory=_entries(_name_only_at_once),
        trips={"tool-calls": "tool calls: expected [('c1', 'read_file', '{}')], got"},
    ),
    Mutant(
        name="arguments-are-written-again",
        broken="Parses arguments and writes them again.",
        factory=_edited_arguments(_written_again),
        trips={
            "tool-calls": "tool calls: expected [('c1', 'ls', '{ ",
            _GRAMMAR: "ends with the arguments",
        },
    ),
    Mutant(
        name="broken-arguments-are-empty",
        broken="Replaces arguments that are no JSON with an empty object.",
        factory=_edited_arguments(_empty_where_broken),
        trips={
            "tool-calls": "got [('c1', 'ls', '{}')]",
            _GRAMMAR: "ends with the arguments '{}'",
        },
    ),
    Mutant(
        name="arguments-are-repaired",
        broken="Adds the brace that arguments lack.",
        factory=_edited_arguments(_closed_where_open),
        trips={
            "tool-calls": "got [('c1', 'ls', '{\"a\":1}')]",
            _GRAMMAR: "ends with the arguments",
        },
    ),
    Mutant(
        name="missing-arguments-are-an-object",
        broken="Replaces arguments that are empty with an empty object.",
        factory=_edited_arguments(lambda arguments: arguments or "{}"),
        trips={"tool-calls": "tool calls: expected [('c1', 'snap', '')]"},
    ),
    Mutant(
        name="arguments-of-an-object-are-lost",
        broken="Reads arguments that are a string only.",
        factory=_entries(_only_text_arguments),
        trips={"tool-calls": "tool calls: expected [('c1', 'ls', '{\"p\":\"a\"}')]"},
    ),
    Mutant(
        name="missing-ids-stay-missing",
        broken="Hands out a call without an id.",
        factory=_whole_calls(_one_made_up_id),
        trips={
            "tool-calls": "tool call ids: expected non-empty and unique",
            _GRAMMAR: "ends with the id ''",
        },
    ),
    Mutant(
        name="nameless-calls-are-calls",
        broken="Makes up a name for a call that never got one.",
        factory=translating(_NamelessCallsAreCalls),
        trips={"tool-calls": "outcome: expected failure, got success"},
    ),
    Mutant(
        name="stray-arguments-are-dropped",
        broken="Skips arguments that continue no known call.",
        factory=translating(_StrayFragmentsAreDropped),
        trips={"tool-calls": "outcome: expected failure, got success"},
    ),
    Mutant(
        name="calls-end-before-an-error",
        broken="Ends a tool call as whole before it reports an error.",
        factory=translating(_CallsEndEarly),
        trips={
            in_every_call("tool-calls-not-dispatchable"): "tool calls that a failed call completes",
        },
    ),
    Mutant(
        name="a-prefix-of-arguments-is-a-call",
        broken="Takes a tool call that is cut off for a whole one.",
        factory=emitting(_prefix_is_a_call),
        trips={
            "tool-calls-not-dispatchable": "outcome: expected failure, got success",
            "terminal-evidence": "outcome: expected failure, got success",
            _GRAMMAR: "ends with the arguments",
        },
    ),
)
