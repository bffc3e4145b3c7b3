"""Collect the facts of an error from every envelope that providers and gateways put it in.

``{error: {…}}``, ``{error: "…"}``, ``[{error}]``, ``{detail}``, ``{message}``,
``{object: "error"}``, ``{code, details}``, ``{type: "error", error}``, a flat
``{code, message, type}``, and any of these inside a string (``metadata.raw``, a message).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from json import JSONDecoder
from typing import TYPE_CHECKING, Any, Final

from ._request_id import first_request_id
from ._wire_json import parse_json

if TYPE_CHECKING:
    from ._request_id import ProviderRequestId

# The deepest envelope seen has five layers (a gateway's, its metadata, a string, an envelope).
_DEEPEST: Final = 8
# An error has a handful of objects; a large answer that is taken for one must not cost time.
_MOST_VALUES: Final = 64
# Longer than any name or sentence that decides something.
_LONGEST_NAME: Final = 128
_LONGEST_TEXT: Final = 4096

# Where an object may name its error, the most specific first.
_NAME_KEYS: Final = (
    "code",  # OpenAI, Azure, DeepSeek, Mistral; prose at xAI
    "type",  # OpenAI, Anthropic, llama.cpp
    "error_type",  # Cohere
    "reason",  # Google, in its details
    "status",  # Google: INVALID_ARGUMENT
    "__type",  # Bedrock
)
_STATUS_KEYS: Final = (
    "raw_status_code",  # Mistral
    "status_code",  # Groq, inside a stream
    "statusCode",  # NestJS gateways
    "http_status",
    "status",
    "code",  # Google, OpenRouter, llama.cpp; a string at litellm
)
_MESSAGE_KEYS: Final = (
    "message",
    "error_message",
    "error_description",  # OAuth
    "msg",  # FastAPI, in its detail list
    "detail",  # FastAPI, Mistral 401
    "error",  # Ollama, xAI, Venice
    "details",
    "title",  # problem+json
)
# Where the next layer is. ``response`` is the one of a failed OpenAI response.
_INNER_KEYS: Final = ("error", "errors", "message", "detail", "details", "innererror", "response")

# Outer messages that only say that there is an inner one.
_WRAPPERS: Final = frozenset({"provider returned error", "error", "upstream error"})

_STATUS_TEXT: Final = re.compile(r"[45][0-9]{2}")


@dataclass(frozen=True, slots=True)
class ErrorFacts:
    """What an error says of itself, outer layers first.

    Attributes:
        names: Codes, types and reasons without white space, as spelt.
        texts: Sentences for people, in the order of the layers.
        message: The best of them, or None.
        status: HTTP status that the error names (400 to 599), or None.
        request_id: From ``request_id``, or None.
    """

    names: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    message: str | None = None
    status: int | None = None
    request_id: ProviderRequestId | None = None


def read_error_envelope(value: object) -> ErrorFacts:
    """Return the facts of decoded JSON, or of a text. Any value is read; none raises."""
    reader = _Reader()
    reader.read(value, depth=0)
    spoken = [text for text in reader.texts if text.strip(" .").lower() not in _WRAPPERS]
    return ErrorFacts(
        names=tuple(reader.names),
        texts=tuple(reader.texts),
        message=next(iter(spoken or reader.texts), None),
        status=next(iter(reader.statuses), None),
        request_id=first_request_id(reader.request_ids),
    )


class _Reader:
    def __init__(self) -> None:
        self.names: list[str] = []
        self.texts: list[str] = []
        self.statuses: list[int] = []
        self.request_ids: list[object] = []
        self._room = _MOST_VALUES

    def read(self, value: object, *, depth: int) -> None:
        if depth > _DEEPEST or self._room == 0:
            return
        self._room -= 1
        if isinstance(value, str):
            self._read_text(value, depth)
        elif isinstance(value, list):
            for item in value[:_MOST_VALUES]:
                self.read(item, depth=depth + 1)
        elif isinstance(value, dict):
            self._read_object(value, depth)

    def _read_text(self, text: str, depth: int) -> None:
        text = text.strip()
        inside = _json_inside(text)
        if inside is None:
            self._say(text)
            return
        said = len(self.texts)
        if not text.startswith(("{", "[")):  # a sentence with an envelope behind it
            self._say(text)
        self.read(inside, depth=depth + 1)
        if len(self.texts) == said:
            self._say(text)

    def _read_object(self, node: dict[str, Any], depth: int) -> None:
        self.request_ids.append(node.get("request_id"))
        self.statuses += [
            status for key in _STATUS_KEYS if (status := _status(node.get(key))) is not None
        ]
        prose: list[str] = []
        for key in _NAME_KEYS:
            name = node.get(key)
            if isinstance(name, str) and 0 < len(name := name.strip()) <= _LONGEST_NAME:
                (prose if " " in name else self.names).append(name)
        for key in _MESSAGE_KEYS:
            text = node.get(key)
            if isinstance(text, str) and text.strip():
                self._read_text(_located(text, node.get("loc")), depth)
                if key == "error" and " " not in text.strip():
                    self.names.append(text.strip()[:_LONGEST_NAME])
        for key in _INNER_KEYS:
            if isinstance(inner := node.get(key), (dict, list)):
                self.read(inner, depth=depth + 1)
        metadata = node.get("metadata")
        if isinstance(metadata, dict):  # OpenRouter: the upstream's error, mostly as a string
            self.read(metadata.get("raw"), depth=depth + 1)
        self.texts += prose

    def _say(self, text: str) -> None:
        if text and text not in self.texts:
            self.texts.append(text[:_LONGEST_TEXT])


def _status(value: object) -> int | None:
    if isinstance(value, str) and _STATUS_TEXT.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, int) and 400 <= value <= 599:
        return value
    return None


def _located(text: str, place: object) -> str:
    """Put the place that FastAPI names before its message: ``body.messages: field required``."""
    if not isinstance(place, list):
        return text
    steps = [str(step) for step in place[:_DEEPEST] if isinstance(step, (str, int))]
    return f"{'.'.join(steps)[:_LONGEST_NAME]}: {text}" if steps else text


def _json_inside(text: str) -> object:
    """Return the JSON that a text is, or the error envelope that it quotes, or None."""
    if text.startswith(("{", "[")):
        try:
            value = parse_json(text)
        except ValueError:  # prose in brackets, or JSON with something behind it
            pass
        else:
            return value if isinstance(value, (dict, list)) else None
    start = text.find("{")
    if start < 0:
        return None
    try:
        value, _ = JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):  # braces of another kind; nested without end
        return None
    return value if isinstance(value, dict) and "error" in value else None
