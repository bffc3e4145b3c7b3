"""Messages in their stored form: camelCase, absent fields left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .._content import (
    ContentBlock,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from .._messages import Message
from ._stored import Fields, StoredFormError

_ROLES: Final = frozenset({"system", "user", "assistant"})


def message_to_json(message: Message) -> dict[str, Any]:
    """Return ``{role, content, replayState?}``."""
    stored: dict[str, Any] = {
        "role": message.role,
        "content": [block_to_json(block) for block in message.content],
    }
    if message.replay_state is not None:
        stored["replayState"] = dict(message.replay_state)
    return stored


def message_from_json(stored: object) -> Message:
    """Read what ``message_to_json`` wrote.

    Raises:
        ValueError: Anything else; the message names the field.
    """
    fields = Fields(stored, "message")
    role = fields.text("role")
    if role not in _ROLES:
        raise StoredFormError("message.role: system, user or assistant")
    state: Mapping[str, Any] | None = fields.optional_object("replayState")
    content = tuple(block_from_json(block) for block in fields.array("content"))
    fields.end()
    return Message(role, content, state)  # type: ignore[arg-type]  # why: checked above


def block_to_json(block: ContentBlock) -> dict[str, Any]:
    """Return the block with its ``type`` first."""
    match block:
        case TextBlock(text=text) | ReasoningBlock(text=text):
            return {"type": block.type, "text": text}
        case ToolCallBlock():
            call = {"type": block.type, "id": block.id, "name": block.name}
            return {**call, "arguments": block.arguments}
        case ImageBlock():
            return {"type": block.type, "mediaType": block.media_type, "data": block.data}
        case ToolResultBlock():
            content = [block_to_json(part) for part in block.content]
            stored = {"type": block.type, "toolCallId": block.tool_call_id, "content": content}
            return {**stored, "isError": True} if block.is_error else stored


def block_from_json(stored: object) -> ContentBlock:
    """Read what ``block_to_json`` wrote.

    Raises:
        ValueError: Anything else; the message names the field.
    """
    fields = Fields(stored, "block")
    read = _BLOCKS.get(fields.text("type"))
    if read is None:
        raise StoredFormError("block.type: text, reasoning, tool-call, image or tool-result")
    block = read(fields)
    fields.end()
    return block


def _tool_result(fields: Fields) -> ToolResultBlock:
    parts: list[TextBlock | ImageBlock] = []
    for part in fields.array("content"):
        block = block_from_json(part)
        if not isinstance(block, (TextBlock, ImageBlock)):
            raise StoredFormError("block.content: a tool result holds texts and images")
        parts.append(block)
    is_error = fields.optional_flag("isError")
    return ToolResultBlock(fields.text("toolCallId"), tuple(parts), is_error)


_BLOCKS: Final[dict[str, Callable[[Fields], ContentBlock]]] = {
    "text": lambda fields: TextBlock(fields.text("text")),
    "reasoning": lambda fields: ReasoningBlock(fields.text("text")),
    "tool-call": lambda fields: ToolCallBlock(
        fields.text("id"), fields.text("name"), fields.text("arguments")
    ),
    "image": lambda fields: ImageBlock(fields.text("mediaType"), fields.text("data")),
    "tool-result": _tool_result,
}
