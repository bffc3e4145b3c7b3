"""What passes between the kit and a subject, as JSON: declaration, request, chunks. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, TypeAlias

from adapter_sdk import (
    BlockEnd,
    BlockStart,
    Capability,
    Chunk,
    Declaration,
    Finish,
    FinishReason,
    LlmFailure,
    LlmRequest,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    TokenUsage,
    ToolCallBlock,
    ToolCallDelta,
    UsageReport,
)

from .._judge import shown
from ._process import SubjectError

Json: TypeAlias = Any


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


# ---- to the subject ----------------------------------------------------------------------


def request_json(request: LlmRequest) -> dict[str, Json]:
    """Return a request: the names of ``LlmRequest`` in camelCase, what is not set left out."""
    return _object(request, but=("messages", "tools")) | {
        "messages": [
            {"role": message.role, "content": [_block(block) for block in message.content]}
            for message in request.messages
        ],
        "tools": [
            {**_object(tool, but=("parameters",)), "parameters": dict(tool.parameters)}
            for tool in request.tools
        ],
    }


def _block(block: Any) -> dict[str, Json]:
    if block.type != "tool-result":
        return _object(block)
    return {**_object(block, but=("content",)), "content": [_block(b) for b in block.content]}


def _object(value: Any, *, but: tuple[str, ...] = ()) -> dict[str, Json]:
    found = {
        field.name: getattr(value, field.name) for field in fields(value) if field.name not in but
    }
    return {
        _camel(name): list(item) if isinstance(item, tuple) else item
        for name, item in found.items()
        if item is not None
    }


# ---- from the subject --------------------------------------------------------------------


class _Reader:
    """Takes the fields of one JSON object, each of its type; none is left over."""

    def __init__(self, value: Json, of: str) -> None:
        if not isinstance(value, dict):
            raise SubjectError(f"{of}: an object, got {shown(str(value))}")
        self.value, self.of = dict(value), of

    def take(self, name: str, kind: type, default: Any = ...) -> Any:
        value = self.value.pop(name, default)
        if value is ...:
            raise SubjectError(f"{self.of}: {name} is missing")
        if value is default or (value is None and default is None):
            return default
        if type(value) is not kind:
            raise SubjectError(
                f"{self.of}: {name}: a {_NAMES[kind]}, got {type(value).__name__} {shown(value)}"
            )
        return value

    def over(self) -> None:
        if self.value:
            raise SubjectError(f"{self.of}: unknown keys: {', '.join(sorted(self.value))}")


_NAMES: Final = {
    str: "string",
    int: "whole number",
    dict: "JSON object",
    list: "list",
}


def declaration_of(value: Json) -> Declaration:
    """Return the declaration in a subject's greeting.

    Raises:
        SubjectError: A key is missing, unknown or of another type.
    """
    reader = _Reader(value, "declaration")
    words = {
        name: reader.take(name, list, default)
        for name, default in (
            ("dialects", ...),
            ("requestIdHeaders", []),
            ("capabilities", []),
            ("profiles", []),
        )
    }
    for name, items in words.items():
        if not all(isinstance(item, str) for item in items):
            raise SubjectError(f"declaration: {name}: a list of strings, got {shown(str(items))}")
    unknown = sorted(set(words["capabilities"]) - {str(c) for c in Capability})
    if unknown:
        known = ", ".join(Capability)
        raise SubjectError(f"declaration: no capability {', '.join(unknown)}; known are: {known}")
    terminal = reader.take("terminal", str)
    model = reader.take("model", str, Declaration.__dataclass_fields__["model"].default)
    reader.over()
    return Declaration(
        dialects=tuple(words["dialects"]),
        terminal=terminal,
        request_id_headers=tuple(words["requestIdHeaders"]),
        capabilities=frozenset(Capability(name) for name in words["capabilities"]),
        model=model,
        profiles=tuple(words["profiles"]),
    )


def chunk_of(value: Json) -> Chunk:
    """Return the chunk that a subject sent.

    Raises:
        SubjectError: It is none; the text says where.
    """
    reader = _Reader(value, "chunk")
    kind = reader.take("type", str)
    if kind not in _CHUNKS:
        known = ", ".join(_CHUNKS)
        raise SubjectError(f"chunk: there is no type {shown(kind)}; known are: {known}")
    reader.of = f"chunk {kind}"
    try:
        chunk = _CHUNKS[kind](reader)
    except ValueError as error:  # a value that breaks the rule of its field
        raise SubjectError(f"chunk {kind}: {error}") from error
    reader.over()
    return chunk


def _block_start(reader: _Reader) -> Chunk:
    kind = reader.take("blockType", str)
    if kind not in _BLOCKS:
        raise SubjectError(
            f"{reader.of}: blockType: one of {', '.join(_BLOCKS)}, got {shown(kind)}"
        )
    return BlockStart(reader.take("index", int), kind)


def _block_end(reader: _Reader) -> Chunk:
    index = reader.take("index", int)
    inner = _Reader(reader.take("block", dict), f"the block of {reader.of}")
    kind = inner.take("type", str)
    if kind not in _BLOCKS:
        raise SubjectError(f"{inner.of}: type: one of {', '.join(_BLOCKS)}, got {shown(kind)}")
    block = _BLOCKS[kind](*(inner.take(name, str) for name in _BLOCK_FIELDS[kind]))
    inner.over()
    return BlockEnd(index, block)


def _usage(reader: _Reader) -> Chunk:
    inner = _Reader(reader.take("usage", dict), f"the counts of {reader.of}")
    counts = {field.name: inner.take(_camel(field.name), int, None) for field in fields(TokenUsage)}
    inner.over()
    for name in ("input_tokens", "output_tokens"):
        if counts[name] is None:
            raise SubjectError(f"{inner.of}: {_camel(name)} is missing")
    return UsageReport(TokenUsage(**counts))


def _finish(reader: _Reader) -> Chunk:
    inner = _Reader(reader.take("reason", dict), f"the reason of {reader.of}")
    failure = inner.take("failure", dict, None)
    reason = FinishReason(
        inner.take("kind", str), None if failure is None else LlmFailure.from_json(failure)
    )
    inner.over()
    return Finish(reason, reader.take("replayState", dict, None))


_BLOCKS: Final[Mapping[str, Callable[..., Any]]] = {
    "text": TextBlock,
    "reasoning": ReasoningBlock,
    "tool-call": ToolCallBlock,
}
_BLOCK_FIELDS: Final = {
    "text": ("text",),
    "reasoning": ("text",),
    "tool-call": ("id", "name", "arguments"),
}
_CHUNKS: Final[Mapping[str, Callable[[_Reader], Chunk]]] = {
    "block-start": _block_start,
    "text-delta": lambda r: TextDelta(r.take("index", int), r.take("text", str)),
    "reasoning-delta": lambda r: ReasoningDelta(r.take("index", int), r.take("text", str)),
    "tool-call-delta": lambda r: ToolCallDelta(
        r.take("index", int),
        r.take("id", str),
        r.take("argumentsDelta", str, ""),
        r.take("name", str, None),
    ),
    "block-end": _block_end,
    "usage": _usage,
    "finish": _finish,
}
