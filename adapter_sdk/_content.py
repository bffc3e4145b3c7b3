"""Blocks: the parts that messages are made of. Pure values, frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text for people. ``text`` may be blank but is never a lone surrogate."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ReasoningBlock:
    """The model's reasoning, kept apart from its text."""

    text: str
    type: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True, slots=True)
class ToolCallBlock:
    """One call that the model asks for.

    Attributes:
        id: Non-empty and unique within its message.
        name: The tool's name.
        arguments: The provider's own characters; usually JSON, never repaired.
    """

    id: str
    name: str
    arguments: str
    type: Literal["tool-call"] = "tool-call"


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """One image.

    Attributes:
        media_type: For example ``image/png``.
        data: Base64 (RFC 4648 section 4) of the file, without line breaks.
    """

    media_type: str
    data: str
    type: Literal["image"] = "image"


@dataclass(frozen=True, slots=True)
class ToolResultBlock:
    """What a tool answered to the call ``tool_call_id``; stands in user messages."""

    tool_call_id: str
    content: tuple[TextBlock | ImageBlock, ...] = ()
    is_error: bool = False
    type: Literal["tool-result"] = "tool-result"


OutputBlock: TypeAlias = TextBlock | ReasoningBlock | ToolCallBlock
"""A block that a model can produce."""

ContentBlock: TypeAlias = OutputBlock | ImageBlock | ToolResultBlock
"""A block that a message can hold."""

BlockType: TypeAlias = Literal["text", "reasoning", "tool-call"]


def output_block(block_type: BlockType, text: str, *, id: str = "", name: str = "") -> OutputBlock:  # noqa: A002 - why: the field's name
    """Return a block of the given type; ``text`` is the arguments of a tool call."""
    match block_type:
        case "text":
            return TextBlock(text)
        case "reasoning":
            return ReasoningBlock(text)
        case "tool-call":
            return ToolCallBlock(id, name, text)
