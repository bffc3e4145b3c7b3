"""What a caller asks of an adapter. Pure values, frozen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._messages import Message


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call.

    Attributes:
        name: Its name on the wire.
        description: For the model; may be empty.
        parameters: A JSON schema of type object. Its key order is kept on the wire.
        strict: Ask the provider to hold the arguments to the schema; None leaves it out.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
    strict: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRequest:
    """One request to one model. What is None or empty is left out on the wire.

    Attributes:
        model: The model's id as the provider knows it.
        messages: The conversation, oldest first; system turns may stand anywhere.
        tools: Functions that the model may call.
        tool_choice: ``auto``, ``none``, ``required`` or a tool's name.
        max_tokens: Most tokens of the answer, 1 or more.
        temperature: Finite.
        top_p: Finite.
        stop: Texts that end the answer.
        reasoning_effort: A word that the adapter knows, ``off`` included.
        session_id: Groups requests of one conversation for the provider's cache.
        purpose: Why the request is made, for example ``session-title``.

    Raises:
        ValueError: A value breaks its rule.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str | None = None
    session_id: str | None = None
    purpose: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) or not self.model:
            raise ValueError("LlmRequest.model: a non-empty string")
        if self.max_tokens is not None and (
            type(self.max_tokens) is not int or self.max_tokens < 1
        ):
            raise ValueError("LlmRequest.max_tokens: a whole number of 1 or more")
        for name in ("temperature", "top_p"):
            value = getattr(self, name)
            if value is not None and not _is_finite_number(value):
                raise ValueError(f"LlmRequest.{name}: a finite number")
        for name in ("messages", "tools", "stop"):
            value = getattr(self, name)
            if not isinstance(value, tuple):
                raise ValueError(f"LlmRequest.{name}: a tuple, got {type(value).__name__}")


def _is_finite_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return -math.inf < value < math.inf
