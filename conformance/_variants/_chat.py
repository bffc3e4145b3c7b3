"""Variants of the chat completions wire."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ._events import Event, objects, set_nulls

OPENAI_CHAT: Final = "openai-chat"


def _choices(events: list[Event]) -> Iterator[tuple[int, dict[str, Any]]]:
    for position, event in enumerate(events):
        if isinstance(event.payload, dict):
            for choice in event.payload.get("choices") or []:
                if isinstance(choice, dict):
                    yield position, choice


def with_nulls(events: list[Event]) -> list[Event]:
    """Return the events with nulls for what they leave out."""
    for payload in objects(events):
        set_nulls(payload, "usage", "system_fingerprint", "error")
    for _, choice in _choices(events):
        set_nulls(choice, "logprobs", "finish_reason")
        if isinstance(choice.get("delta"), dict):
            set_nulls(
                choice["delta"],
                "content", "reasoning_content", "tool_calls", "function_call", "refusal",
            )  # fmt: skip
    return events


def _finish_position(events: list[Event]) -> int | None:
    found = [position for position, choice in _choices(events) if choice.get("finish_reason")]
    return found[0] if len(found) == 1 else None


def with_finish_on_the_text(events: list[Event]) -> list[Event] | None:
    """Return the events with the finish reason beside the last text."""
    finish = _finish_position(events)
    if not finish or not isinstance(events[finish - 1].payload, dict):
        return None
    with_text, with_finish = events[finish - 1].payload, events[finish].payload
    last, end = with_text["choices"], with_finish["choices"]
    if len(last) != 1 or len(end) != 1 or not (last[0].get("delta") or {}).get("content"):
        return None
    if end[0].get("delta") or last[0].get("index") != end[0].get("index"):
        return None
    end[0]["delta"] = last[0]["delta"]
    for key, value in with_text.items():  # usage, for example; what the finish says comes later
        if with_finish.get(key) is None:
            with_finish[key] = value
    return [*events[: finish - 1], *events[finish:]]


def with_the_finish_twice(events: list[Event]) -> list[Event] | None:
    """Return the events with the finish again behind itself."""
    finish = _finish_position(events)
    if finish is None or (events[finish].payload["choices"][0].get("delta") or {}):
        return None
    return [*events[: finish + 1], events[finish], *events[finish + 1 :]]


def with_usage_on_the_finish(events: list[Event]) -> list[Event] | None:
    """Return the events with the usage beside the finish reason, in no event of its own."""
    finish = _finish_position(events)
    for position, event in enumerate(events):
        payload = event.payload
        alone = isinstance(payload, dict) and payload.get("usage") and not payload.get("choices")
        if alone and finish is not None and position > finish:
            events[finish].payload["usage"] = payload["usage"]
            return [*events[:position], *events[position + 1 :]]
    return None


def with_blank_continuations(events: list[Event]) -> list[Event] | None:
    """Return the events with an empty id and name on all but the first delta of a call."""
    known: dict[Any, str] = {}
    for _, choice in _choices(events):
        for call in (choice.get("delta") or {}).get("tool_calls") or []:
            if not isinstance(call, dict) or "index" not in call:
                return None
            own = call.get("id") or ""
            if own and known.get(call["index"], own) != own:
                return None  # a new call at an old index: its id is all that tells it
            if call["index"] in known:
                call["id"] = ""
                call.setdefault("function", {}).setdefault("name", "")
            elif own:
                known[call["index"]] = own
    return events
