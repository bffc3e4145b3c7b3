"""Metamorphic variants of a good answer: other bytes that mean the same. Pure.

What a caller is told must not change. Each variant names the requirement that it shows.
"""

from __future__ import annotations

from typing import Final

from . import _chat, _messages, _responses
from ._chat import OPENAI_CHAT
from ._events import EventsEdit, edited
from ._framing import FRAMING_VARIANTS
from ._messages import ANTHROPIC_MESSAGES
from ._responses import OPENAI_RESPONSES
from ._unknown_keys import with_unknown_keys
from ._variant import Variant

__all__ = ["VARIANTS", "Variant"]


def _variant(
    name: str,
    requirement: str,
    *,
    chat: EventsEdit | None = None,
    messages: EventsEdit | None = None,
    responses: EventsEdit | None = None,
) -> Variant:
    edits = {OPENAI_CHAT: chat, ANTHROPIC_MESSAGES: messages, OPENAI_RESPONSES: responses}
    written = {dialect: edited(edit) for dialect, edit in edits.items() if edit is not None}
    return Variant(name, requirement, written)


VARIANTS: Final = (
    *FRAMING_VARIANTS,
    _variant(
        "unknown keys at every depth",
        "unknown-fields",
        chat=with_unknown_keys,
        messages=with_unknown_keys,
        responses=with_unknown_keys,
    ),
    _variant(
        "explicit nulls",
        "unknown-fields",
        chat=_chat.with_nulls,
        messages=_messages.with_nulls,
        responses=_responses.with_nulls,
    ),
    _variant(
        "unknown events between the events",
        "unknown-fields",
        messages=_messages.with_unknown_events,
        responses=_responses.with_unknown_events,
    ),
    _variant("the finish on the last text", "finish-mapping", chat=_chat.with_finish_on_the_text),
    _variant("the finish twice", "finish-mapping", chat=_chat.with_the_finish_twice),
    _variant("usage on the finish", "usage", chat=_chat.with_usage_on_the_finish),
    _variant("blank ids on continuations", "tool-calls", chat=_chat.with_blank_continuations),
    _variant("pings between the events", "unknown-fields", messages=_messages.with_pings),
    _variant(
        "unknown deltas in every block", "unknown-fields", messages=_messages.with_unknown_deltas
    ),
    _variant(
        "all blocks stopped at the end", "chunk-grammar", messages=_messages.with_stops_at_the_end
    ),
    _variant("usage in running totals", "usage", messages=_messages.with_growing_usage),
    _variant("usage at the end alone", "usage", messages=_messages.with_usage_at_the_end),
    _variant("obfuscation on every delta", "unknown-fields", responses=_responses.with_obfuscation),
    _variant(
        "gaps in the sequence numbers",
        "unknown-fields",
        responses=_responses.with_gaps_in_the_numbers,
    ),
    _variant("no sequence numbers", "unknown-fields", responses=_responses.without_numbers),
    _variant(
        "arguments in deltas and items alone",
        "tool-calls",
        responses=_responses.without_whole_arguments,
    ),
)
