"""What the words of the wire mean. Sources: contract section 6, the provider's documentation."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from ..._chunks import MAX_TOKENS, STOP, FinishReason
from ..._codes import CONTENT_FILTER

DIALECT_NAME: Final = "openai-responses"

# The status that an event proves, where the response inside it does not say it.
STATUS_OF_TERMINAL: Final[dict[str, str]] = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}

# A response with one of these is not over.
OPEN_STATUSES: Final = frozenset({"queued", "in_progress"})

# ``status``, or ``incomplete_details.reason`` where the status is ``incomplete``.
GOOD_FINISHES: Final[dict[str, FinishReason]] = {
    "completed": STOP,
    "complete": STOP,  # seen in recorded answers
    "max_output_tokens": MAX_TOKENS,
    "max_tokens": MAX_TOKENS,  # servers that took the word over from chat completions
}

BAD_FINISHES: Final[dict[str, str]] = {"content_filter": CONTENT_FILTER}

Kind = Literal["message", "reasoning", "function_call"]
BLOCK_KINDS: Final[frozenset[str]] = frozenset({"message", "reasoning", "function_call"})


class PartEvent(NamedTuple):
    """An event that brings text or arguments.

    Attributes:
        kind: Type of the item that it belongs to.
        field: Where the item keeps the same text once it is done.
        place: Key of the part's number within that field; empty where there are no parts.
        key: Key of the text within the event.
        is_whole: Whether it repeats the whole part.
    """

    kind: Kind
    field: str
    place: str
    key: str
    is_whole: bool


_TEXT: Final = ("message", "content", "content_index")
_SUMMARY: Final = ("reasoning", "summary", "summary_index")
_THOUGHT: Final = ("reasoning", "content", "content_index")
_ARGUMENTS: Final = ("function_call", "arguments", "")

PART_EVENTS: Final[dict[str, PartEvent]] = {
    "response.output_text.delta": PartEvent(*_TEXT, "delta", False),
    "response.output_text.done": PartEvent(*_TEXT, "text", True),
    # A refusal is what the model says to the user.
    "response.refusal.delta": PartEvent(*_TEXT, "delta", False),
    "response.refusal.done": PartEvent(*_TEXT, "refusal", True),
    "response.reasoning_summary_text.delta": PartEvent(*_SUMMARY, "delta", False),
    "response.reasoning_summary_text.done": PartEvent(*_SUMMARY, "text", True),
    "response.reasoning_text.delta": PartEvent(*_THOUGHT, "delta", False),
    "response.reasoning_text.done": PartEvent(*_THOUGHT, "text", True),
    "response.function_call_arguments.delta": PartEvent(*_ARGUMENTS, "delta", False),
    "response.function_call_arguments.done": PartEvent(*_ARGUMENTS, "arguments", True),
}
