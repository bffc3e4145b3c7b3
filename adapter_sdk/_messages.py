"""Messages: one turn of a conversation. Pure values, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ._content import ContentBlock, ImageBlock, TextBlock, ToolResultBlock

Role: TypeAlias = Literal["system", "user", "assistant"]

ReplayState: TypeAlias = Mapping[str, Any]
"""What an adapter needs to replay its own answer: JSON, opaque to everybody else."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn.

    Attributes:
        role: ``system``, ``user`` or ``assistant``. Tool results are blocks of a user turn.
        content: Its blocks in order.
        replay_state: Set on answers by the adapter that produced them, or None.
    """

    role: Role
    content: tuple[ContentBlock, ...]
    replay_state: ReplayState | None = None

    @property
    def text(self) -> str:
        """The text blocks joined; reasoning is no text."""
        return "".join(block.text for block in self.content if block.type == "text")


def system(text: str) -> Message:
    """Return a system turn of one text block."""
    return Message("system", (TextBlock(text),))


def user(*content: str | TextBlock | ImageBlock | ToolResultBlock) -> Message:
    """Return a user turn; a string stands for a text block."""
    return Message("user", tuple(TextBlock(c) if isinstance(c, str) else c for c in content))


def assistant(*content: str | ContentBlock) -> Message:
    """Return an assistant turn; a string stands for a text block."""
    return Message("assistant", tuple(TextBlock(c) if isinstance(c, str) else c for c in content))
