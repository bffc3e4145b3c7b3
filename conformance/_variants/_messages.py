"""Variants of the messages wire: what its documentation allows, or servers were recorded to do."""

from __future__ import annotations

from typing import Any, Final

from ._events import Event, between, objects, set_nulls, typed

ANTHROPIC_MESSAGES: Final = "anthropic-messages"

_COUNTS_OF_CACHES: Final = ("cache_creation_input_tokens", "cache_read_input_tokens")
_OTHER_COUNTS: Final = ("cache_creation", "server_tool_use", "service_tier")

_UNKNOWN_EVENT: Final[dict[str, Any]] = {
    "type": "x_unknown",
    "index": 0,
    "delta": {"type": "text_delta", "text": "x"},
}
_UNKNOWN_DELTA: Final[dict[str, Any]] = {"type": "x_unknown_delta", "text": "x"}


def with_nulls(events: list[Event]) -> list[Event]:
    """Return the events with nulls for what they leave out."""
    for payload in objects(events):
        set_nulls(payload, "error")
    for event in events:
        match event.type:
            case "message_start":
                set_nulls(event.part("message"), "stop_reason", "stop_sequence", "container")
                usage = event.part("message").get("usage")
                if isinstance(usage, dict):
                    set_nulls(usage, *_COUNTS_OF_CACHES, *_OTHER_COUNTS)
            case "content_block_start" if event.part("content_block").get("type") == "text":
                set_nulls(event.part("content_block"), "citations")
            case "message_delta":
                set_nulls(event.payload, "context_management")
                set_nulls(event.part("delta"), "stop_reason", "stop_sequence", "container")
                set_nulls(event.part("usage"), "input_tokens", *_COUNTS_OF_CACHES, *_OTHER_COUNTS)
    return events


def with_pings(events: list[Event]) -> list[Event]:
    """Return the events with a ping behind each but the last."""
    return between(events, typed({"type": "ping"}))


def with_unknown_events(events: list[Event]) -> list[Event]:
    """Return the events with one of an unknown type behind each but the last."""
    return between(events, typed(_UNKNOWN_EVENT))


def with_unknown_deltas(events: list[Event]) -> list[Event]:
    """Return the events with a delta of an unknown type first in every block."""
    longer: list[Event] = []
    for event in events:
        longer.append(event)
        if event.type == "content_block_start" and "index" in event.payload:
            place = {"type": "content_block_delta", "index": event.payload["index"]}
            longer.append(typed({**place, "delta": dict(_UNKNOWN_DELTA)}))
    return longer


def with_stops_at_the_end(events: list[Event]) -> list[Event] | None:
    """Return the events with all blocks stopped behind the last of them, as llama.cpp does."""
    ends = [number for number, event in enumerate(events) if event.type == "message_delta"]
    if not ends:
        return None
    before, after = events[: ends[0]], events[ends[0] :]
    stops = [event for event in before if event.type == "content_block_stop"]
    opened = [e.payload.get("index") for e in before if e.type == "content_block_start"]
    if any(e.payload.get("index") is None for e in stops) or len({*opened}) != len(opened):
        return None  # without an index of its own a block ends where it is stopped
    others = [event for event in before if event.type != "content_block_stop"]
    return [*others, *stops, *after]


def with_growing_usage(events: list[Event]) -> list[Event] | None:
    """Return the events with a running total before the last: totals replace each other."""
    position, usage = _reported(events)
    total = usage.get("output_tokens")
    if type(total) is not int:
        return None
    delta = {"stop_reason": None, "stop_sequence": None}
    running = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": total // 2}}
    return [*events[:position], typed(running), *events[position:]]


def with_usage_at_the_end(events: list[Event]) -> list[Event] | None:
    """Return the events with zeros at the start and all counts at the end, as litellm does."""
    start = next((event for event in events if event.type == "message_start"), None)
    first = None if start is None else start.part("message").get("usage")
    position, last = _reported(events)
    if start is None or not isinstance(first, dict) or "output_tokens" not in last:
        return None
    known = {key: count for key, count in last.items() if count is not None}
    events[position].payload["usage"] = {**first, **known}
    start.part("message")["usage"] = {"input_tokens": 0, "output_tokens": 0}
    return events


def _reported(events: list[Event]) -> tuple[int, dict[str, Any]]:
    """Return the place and the counts of the only report behind the start, or no counts."""
    found = [number for number, event in enumerate(events) if event.part("usage")]
    only = len(found) == 1 and events[found[0]].type == "message_delta"
    return (found[0], events[found[0]].part("usage")) if only else (0, {})
