"""What one delta says, whichever fields say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ..._codes import MALFORMED_RESPONSE
from ..._dialect import Json, ProtocolFault
from .._payload import text_or_none

# Where characters belong: the text, the reasoning, or the call that the wire counts so.
Place: TypeAlias = Literal["text", "reasoning"] | int


@dataclass(slots=True)
class Delta:
    """One delta; not frozen, for it is made once an event and never kept."""

    text: str
    reasoning: str
    tool_calls: Sequence[Json]


# In order of preference: gateways send the same reasoning under two names.
_REASONING_FIELDS: Final = ("reasoning_content", "reasoning")


def plain_delta(payload: Json) -> tuple[Place, str] | None:
    """Return what a payload adds that says one piece of something and no more, else None.

    The short way, as of nearly all payloads: it takes none that the long way would read as
    anything else.
    """
    try:
        (choice,) = payload["choices"]
        delta = choice["delta"]
        if type(delta) is not dict:
            return None
        place, text = _only_part(delta)
    except (AttributeError, KeyError, TypeError, ValueError):  # something else than one delta
        return None
    if type(text) is not str or not text:
        return None
    finish = choice.get("finish_reason")
    if (finish is not None and finish != "") or choice.get("index"):
        return None
    if "error" in payload or "x_groq" in payload or payload.get("usage") is not None:
        return None
    return place, text


def _only_part(delta: dict[str, Json]) -> tuple[Place, Json]:
    fields = len(delta) - ("role" in delta)
    content = delta.get("content")
    if fields == 1 and content is not None:
        return "text", content
    if fields != 1 + ("content" in delta) or (content is not None and content != ""):
        return "text", None
    if "tool_calls" in delta:
        return _only_arguments(delta["tool_calls"])
    field = "reasoning_content" if "reasoning_content" in delta else "reasoning"
    return "reasoning", delta[field]


def _only_arguments(entries: Json) -> tuple[Place, Json]:
    (entry,) = entries
    index, function = entry["index"], entry["function"]
    said = entry.get("id"), function.get("name")
    if type(index) is not int or any(value is not None and value != "" for value in said):
        return 0, None
    return index, function["arguments"]


def read_delta(delta: dict[str, Json]) -> Delta:
    """Return what ``delta`` adds.

    Raises:
        ProtocolFault: A field has a type that it never has.
    """
    content = delta.get("content")
    text, thinking = (content, "") if type(content) is str else _read_content(content)
    if len(delta) <= 2 and "role" in delta and "content" in delta:
        return Delta(text, thinking, ())
    reasoning = thinking
    for field in _REASONING_FIELDS:
        if not reasoning and delta.get(field):
            reasoning = text_or_none(delta[field], where=field) or ""
    if not reasoning and delta.get("reasoning_details"):
        reasoning = _read_details(delta["reasoning_details"])
    refusal = text_or_none(delta.get("refusal"), where="refusal")
    return Delta(text + (refusal or ""), reasoning, _read_tool_calls(delta))


def _read_content(content: Json) -> tuple[str, str]:
    """Return text and thinking of null, or of a list of parts (Mistral, gateways)."""
    if content is None:
        return "", ""
    if not isinstance(content, list):
        raise ProtocolFault(
            MALFORMED_RESPONSE, f"content is {type(content).__name__} where a string belongs"
        )
    text, thinking = [], []
    for part in content:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            text.append(part["text"])
        elif isinstance(part, dict) and "thinking" in part:
            inner = part["thinking"]
            thinking.append(inner if isinstance(inner, str) else _read_content(inner)[0])
    return "".join(text), "".join(thinking)


def _read_details(details: Json) -> str:
    if not isinstance(details, list):
        return ""
    texts = (
        detail.get("text") or detail.get("summary")
        for detail in details
        if isinstance(detail, dict)
    )
    return "".join(text for text in texts if isinstance(text, str))


def _read_tool_calls(delta: dict[str, Json]) -> Sequence[Json]:
    calls = delta.get("tool_calls")
    if calls is None:
        legacy = delta.get("function_call")
        return () if not legacy else ({"index": 0, "function": legacy},)
    if not isinstance(calls, list):
        raise ProtocolFault(MALFORMED_RESPONSE, "tool_calls is no array")
    return calls
