"""What the words of the wire mean. Sources: contract section 6, providers' documentation."""

from __future__ import annotations

from typing import Final

from ..._chunks import MAX_TOKENS, STOP, TOOL_CALLS, FinishReason
from ..._codes import CONTENT_FILTER, SERVER, TRANSPORT

GOOD_FINISHES: Final[dict[str, FinishReason]] = {
    "stop": STOP,
    "eos": STOP,  # Together
    "end_turn": STOP,  # gateways in front of another dialect
    "stop_sequence": STOP,  # the same
    "tool_calls": TOOL_CALLS,
    "function_call": TOOL_CALLS,  # before tools had ids
    "tool_use": TOOL_CALLS,  # gateways in front of another dialect
    "length": MAX_TOKENS,
    "model_length": MAX_TOKENS,  # Mistral: the context is full
    "max_tokens": MAX_TOKENS,  # gateways in front of another dialect
}

BAD_FINISHES: Final[dict[str, str]] = {
    "content_filter": CONTENT_FILTER,
    "sensitive": CONTENT_FILTER,  # z.ai
    "insufficient_system_resource": SERVER,  # DeepSeek
    "error": SERVER,  # OpenRouter
    "network_error": TRANSPORT,  # z.ai
}

# In order; the first that is a whole number of 0 or more counts.
CACHE_READ_PATHS: Final = (
    ("prompt_tokens_details", "cached_tokens"),
    ("prompt_cache_hit_tokens",),  # DeepSeek
    ("cached_tokens",),  # Together
    ("num_cached_tokens",),  # Mistral
)
CACHE_WRITE_PATHS: Final = (("prompt_tokens_details", "cache_write_tokens"),)
REASONING_PATHS: Final = (("completion_tokens_details", "reasoning_tokens"),)
