"""Messages become the turns of the wire.

Blank texts are left out, for the provider refuses them, and so are turns of which nothing is
left. User turns in a row become one, with the tool results first: they have to follow their
calls at once.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..._content import ImageBlock, TextBlock
from ..._dialect import Json
from ..._messages import Message
from .._replay import entry_text, replay_entries
from .._said import NO_OUTPUT, misplaced
from ._tables import DIALECT_NAME
from ._tool_input import tool_input, wire_call_id


def wire_turns(messages: Iterable[Message]) -> list[Json]:
    """Return the turns without the system's.

    Raises:
        LlmError: UNSUPPORTED_CONTENT for a block in a turn that cannot carry it.
    """
    turns: list[Json] = []
    results: list[Json] = []
    own: list[Json] = []

    def flush() -> None:
        if results or own:
            turns.append({"role": "user", "content": [*results, *own]})
            results.clear()
            own.clear()

    for message in messages:
        if message.role == "user":
            _read_user(message, results, own)
        elif message.role == "assistant":
            content = _assistant(message)
            if content:
                flush()
                turns.append({"role": "assistant", "content": content})
    flush()
    return turns


def _read_user(message: Message, results: list[Json], own: list[Json]) -> None:
    for block in message.content:
        match block.type:
            case "text" | "image":
                own += _parts([block])
            case "tool-result":
                result: dict[str, Json] = {
                    "type": "tool_result",
                    "tool_use_id": wire_call_id(block.tool_call_id),
                    "content": _parts(block.content) or [{"type": "text", "text": NO_OUTPUT}],
                }
                if block.is_error:
                    result["is_error"] = True
                results.append(result)
            case "reasoning":
                misplaced("reasoning", message)
            case "tool-call":
                misplaced("a tool call", message)


def _parts(blocks: Iterable[TextBlock | ImageBlock]) -> list[Json]:
    return [
        _image(block) if isinstance(block, ImageBlock) else _text(block.text)
        for block in blocks
        if isinstance(block, ImageBlock) or block.text.strip()
    ]


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _image(image: ImageBlock) -> Json:
    source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    return {"type": "image", "source": source}


def _assistant(message: Message) -> list[Json]:
    wire: list[Json] = []
    entries = replay_entries(message, dialect=DIALECT_NAME)
    for block, entry in zip(message.content, entries, strict=True):
        match block.type:
            case "text":
                wire += _parts([block])
            case "reasoning":
                # Unsigned reasoning is refused, and no other block may carry it.
                if data := entry_text(entry, "redacted"):
                    wire.append({"type": "redacted_thinking", "data": data})
                elif signature := entry_text(entry, "signature"):
                    thinking = {"type": "thinking", "thinking": block.text}
                    wire.append({**thinking, "signature": signature})
            case "tool-call":
                call = {"type": "tool_use", "id": wire_call_id(block.id), "name": block.name}
                wire.append({**call, "input": tool_input(block.arguments)})
            case "image":
                misplaced("an image", message)
            case "tool-result":
                misplaced("a tool result", message)
    return wire
