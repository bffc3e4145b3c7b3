"""Messages become the items of the input. System turns are not here: they are instructions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..._content import ImageBlock, TextBlock, ToolResultBlock
from ..._dialect import Json
from ..._messages import Message
from .._replay import entry_text, replay_entries
from .._said import NO_OUTPUT, data_url, misplaced
from ._tables import DIALECT_NAME


def input_items(messages: Iterable[Message]) -> list[Json]:
    """Return the items without the system's; blank texts are left out.

    Raises:
        LlmError: UNSUPPORTED_CONTENT for a block in a turn that cannot carry it.
    """
    items: list[Json] = []
    for message in messages:
        if message.role == "user":
            items += _user(message)
        elif message.role == "assistant":
            items += _assistant(message)
    return items


def _user(message: Message) -> list[Json]:
    """Return the tool results, which answer the calls before them, then the user's own words."""
    items: list[Json] = []
    own: list[TextBlock | ImageBlock] = []
    for block in message.content:
        match block.type:
            case "text" | "image":
                own.append(block)
            case "tool-result":
                items.append(_result(block))
            case "reasoning":
                misplaced("reasoning", message)
            case "tool-call":
                misplaced("a tool call", message)
    content = _content(own)
    if content:
        items.append({"type": "message", "role": "user", "content": content})
    return items


def _result(result: ToolResultBlock) -> Json:
    content = _content(result.content)
    if not any(part["type"] == "input_image" for part in content):
        content = "".join(part["text"] for part in content) or NO_OUTPUT
    return {
        "type": "function_call_output",
        "call_id": result.tool_call_id,
        "output": content,
    }


def _content(blocks: Sequence[TextBlock | ImageBlock]) -> Json:
    return [
        # Without its detail an image is refused by servers that check what the schema demands.
        {"type": "input_image", "image_url": data_url(block), "detail": "auto"}
        if isinstance(block, ImageBlock)
        else {"type": "input_text", "text": block.text}
        for block in blocks
        if isinstance(block, ImageBlock) or block.text
    ]


def _assistant(message: Message) -> list[Json]:
    items: list[Json] = []
    entries = replay_entries(message, dialect=DIALECT_NAME)
    for block, entry in zip(message.content, entries, strict=True):
        match block.type:
            case "text":
                if block.text:
                    items.append(_said(block.text, entry))
            case "reasoning":
                items += _reasoning(block.text, entry)
            case "tool-call":
                call = {"type": "function_call", **_identity(entry), "call_id": block.id}
                items.append({**call, "name": block.name, "arguments": block.arguments})
            case "image":
                misplaced("an image", message)
            case "tool-result":
                misplaced("a tool result", message)
    return items


def _said(text: str, entry: Mapping[str, Json]) -> Json:
    """Return an assistant's text, whole where its id goes with it, else in the short form."""
    phase = entry_text(entry, "phase")
    with_phase = {"phase": phase} if phase else {}
    identity = _identity(entry)
    if not identity:
        return {"type": "message", "role": "assistant", "content": text, **with_phase}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"type": "message", **identity, "role": "assistant", "status": "completed"}
    return {**message, "content": content, **with_phase}


def _reasoning(text: str, entry: Mapping[str, Json]) -> list[Json]:
    """Return the reasoning as it came; what nobody but its provider can read, or nothing."""
    encrypted = entry_text(entry, "encrypted_content")
    identity = _identity(entry)
    if not encrypted or not identity:
        return []
    summary = [{"type": "summary_text", "text": text}] if text else []
    reasoning = {"type": "reasoning", **identity, "summary": summary}
    return [{**reasoning, "encrypted_content": encrypted}]


def _identity(entry: Mapping[str, Json]) -> dict[str, Json]:
    wire_id = entry_text(entry, "id")
    return {"id": wire_id} if wire_id else {}
