"""What the words of the wire mean. Sources: contract section 6, the provider's documentation."""

from __future__ import annotations

from typing import Final

from ..._chunks import MAX_TOKENS, STOP, TOOL_CALLS, FinishReason
from ..._codes import CONTENT_FILTER

DIALECT_NAME: Final = "anthropic-messages"

GOOD_STOPS: Final[dict[str, FinishReason]] = {
    "end_turn": STOP,
    "stop_sequence": STOP,
    # A long turn with tools of the provider's own: sent back as it is, it goes on. The word
    # stays in the replay state.
    "pause_turn": STOP,
    "tool_use": TOOL_CALLS,
    "max_tokens": MAX_TOKENS,
    # The answer was cut because prompt and answer fill the window; the prompt was accepted.
    "model_context_window_exceeded": MAX_TOKENS,
}

BAD_STOPS: Final[dict[str, str]] = {"refusal": CONTENT_FILTER}

# Field of ``TokenUsage`` to its paths in ``usage``; ``input_tokens`` leaves the cached ones out.
USAGE_PATHS: Final[dict[str, tuple[str, ...]]] = {
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "cache_read_tokens": ("cache_read_input_tokens",),
    "cache_write_tokens": ("cache_creation_input_tokens",),
    "reasoning_tokens": ("output_tokens_details", "thinking_tokens"),
}
