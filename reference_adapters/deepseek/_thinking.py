"""DeepSeek's two switches for reasoning: ``thinking`` and ``reasoning_effort``."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from adapter_sdk import Json, codes, local_error

Thinking: TypeAlias = Literal["enabled", "disabled"]
Effort: TypeAlias = Literal["off", "low", "high", "max"]

EFFORTS: Final = ("off", "low", "high", "max")
DEFAULT_EFFORT: Final = "high"

# A title needs no thought, and thinking about one costs more than the turn that it names.
_PURPOSES_WITHOUT_THOUGHT: Final = frozenset({"session-title"})


def checked_configuration(thinking: str | None, effort: str | None) -> None:
    """Refuse a configuration that contradicts itself.

    Raises:
        ValueError: An unknown word, or an effort beside ``thinking="disabled"``.
    """
    if thinking not in (None, "enabled", "disabled"):
        raise ValueError(f"thinking: enabled, disabled or None, got {thinking!r}")
    if effort is not None and effort not in EFFORTS:
        raise ValueError(f"reasoning_effort: one of {', '.join(EFFORTS)}, got {effort!r}")
    if thinking == "disabled" and effort not in (None, "off"):
        raise ValueError(f"reasoning_effort: thinking is disabled, so {effort!r} cannot be had")


def thinking_fields(
    *, thinking: str | None, configured: str | None, asked: str | None, purpose: str | None
) -> dict[str, Json]:
    """Return the body's fields; nothing set, nothing sent.

    Args:
        thinking: The adapter's switch.
        configured: The adapter's effort.
        asked: The request's effort, which wins.
        purpose: The request's purpose.

    Raises:
        LlmError: UNSUPPORTED_REASONING_EFFORT.
    """
    if asked is not None and asked not in EFFORTS:
        raise local_error(
            codes.UNSUPPORTED_REASONING_EFFORT,
            f"reasoning effort {asked!r} is not one of: {', '.join(EFFORTS)}",
        )
    if thinking == "disabled" and asked not in (None, "off"):
        raise local_error(
            codes.UNSUPPORTED_REASONING_EFFORT,
            f"reasoning effort {asked!r}: thinking is disabled in this adapter's configuration",
        )
    if purpose in _PURPOSES_WITHOUT_THOUGHT:
        return {"thinking": {"type": "disabled"}}
    effort = asked or configured
    if effort is None:
        if thinking is None:
            return {}
        effort = "off" if thinking == "disabled" else DEFAULT_EFFORT
    if effort == "off":
        return {"thinking": {"type": "disabled"}}
    return {"thinking": {"type": "enabled"}, "reasoning_effort": effort}
