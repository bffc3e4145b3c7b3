"""Variants of the responses wire: what its documentation allows, or servers were recorded to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ._events import Event, between, objects, set_nulls, typed

OPENAI_RESPONSES: Final = "openai-responses"

_OPTIONAL: Final = (
    "completed_at",
    "error",
    "incomplete_details",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "previous_response_id",
    "prompt_cache_key",
    "safety_identifier",
    "usage",
    "user",
)
_OPTIONAL_OF_ITEMS: Final = {"message": ("phase",), "reasoning": ("encrypted_content",)}

_UNKNOWN_EVENT: Final[dict[str, Any]] = {
    "type": "response.x_unknown.delta",
    "output_index": 0,
    "content_index": 0,
    "delta": "x",
}
_ARGUMENTS: Final = "response.function_call_arguments"


def with_nulls(events: list[Event]) -> list[Event]:
    """Return the events with nulls for what they leave out."""
    for payload in objects(events):
        set_nulls(payload, "error")
    for event in events:
        response = event.part("response")
        if response:
            set_nulls(response, *_OPTIONAL)
            if isinstance(response["usage"], dict):
                set_nulls(response["usage"], "input_tokens_details", "output_tokens_details")
        if event.type.endswith(".delta"):
            set_nulls(event.payload, "logprobs", "obfuscation")
        for item in _items(event):
            set_nulls(item, *_OPTIONAL_OF_ITEMS.get(str(item.get("type")), ()))
            for part in item.get("content") or []:
                if isinstance(part, dict) and part.get("type") == "output_text":
                    set_nulls(part, "annotations", "logprobs")
    return events


def _items(event: Event) -> Iterator[dict[str, Any]]:
    output = event.part("response").get("output")
    for item in (event.part("item"), *(output if isinstance(output, list) else ())):
        if isinstance(item, dict):
            yield item


def with_unknown_events(events: list[Event]) -> list[Event]:
    """Return the events with one of an unknown type behind each but the last."""
    return between(events, typed(_UNKNOWN_EVENT))


def with_obfuscation(events: list[Event]) -> list[Event]:
    """Return the events with random characters on every delta, against observers of lengths."""
    for event in events:
        if event.type.endswith(".delta"):
            event.payload["obfuscation"] = "aZ3"
    return events


def with_gaps_in_the_numbers(events: list[Event]) -> list[Event]:
    """Return the events with numbers that grow by more than one."""
    for payload in objects(events):
        if type(payload.get("sequence_number")) is int:
            payload["sequence_number"] = 3 + 7 * payload["sequence_number"]
    return events


def without_numbers(events: list[Event]) -> list[Event]:
    """Return the events without numbers, as llama.cpp and litellm send them."""
    for payload in objects(events):
        payload.pop("sequence_number", None)
    return events


def without_whole_arguments(events: list[Event]) -> list[Event] | None:
    """Return the events without the one that repeats a call's arguments, as llama.cpp does.

    They have come in deltas, and come again with the item.
    """
    in_deltas = {e.payload.get("item_id") for e in events if e.type == f"{_ARGUMENTS}.delta"}
    again = {e.part("item").get("id") for e in events if e.type == "response.output_item.done"}
    whole = [event for event in events if event.type == f"{_ARGUMENTS}.done"]
    if not {event.payload.get("item_id") for event in whole} <= in_deltas & again - {None}:
        return None
    return [event for event in events if event.type != f"{_ARGUMENTS}.done"]
