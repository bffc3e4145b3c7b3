"""From the bytes of an event to an object, the same way for every dialect."""

from __future__ import annotations

from typing import Final

from .._codes import MALFORMED_RESPONSE
from .._dialect import InBandError, Json, ProtocolFault
from .._json_bytes import json_text
from .._wire_json import parse_json

DONE: Final = b"[DONE]"

# Keys of the flat error envelopes that no good payload has on its top level.
_WORDS_OF_AN_ERROR: Final = ("message", "detail", "details", "code")


def event_payload(name: str, data: bytes) -> Json | None:
    """Return the decoded payload of one event, or None where it is blank or null.

    Raises:
        InBandError: The event is named ``error``, whatever it holds.
        ProtocolFault: It is no JSON.
    """
    try:
        payload = parse_json(data)
    except ValueError as error:
        if not data.strip():
            return None
        said = data[:200].decode("utf-8", "replace")
        if name == "error":
            raise InBandError({"error": said}) from error
        raise ProtocolFault(MALFORMED_RESPONSE, f"an event is no JSON: {said}") from error
    if payload is not None and name == "error":
        raise InBandError(payload)
    return payload


def object_of(payload: Json) -> dict[str, Json]:
    """Return ``payload`` if it is an object.

    Raises:
        InBandError: It is an array of errors, as some gateways wrap them.
        ProtocolFault: It is anything else.
    """
    if isinstance(payload, dict):
        return payload
    if isinstance(payload, list) and any(
        isinstance(item, dict) and item.get("error") for item in payload
    ):
        raise InBandError(payload)
    raise ProtocolFault(MALFORMED_RESPONSE, f"a payload is {type(payload).__name__}, not an object")


def has_words_of_an_error(payload: dict[str, Json]) -> bool:
    """Whether a payload that is nothing else has the keys of a flat error envelope."""
    return any(payload.get(key) for key in _WORDS_OF_AN_ERROR)


def text_or_none(value: Json, *, where: str) -> str | None:
    """Return a string, or None for null or absent.

    Raises:
        ProtocolFault: Any other type.
    """
    if value is None or isinstance(value, str):
        return value
    raise ProtocolFault(
        MALFORMED_RESPONSE, f"{where} is {type(value).__name__} where a string belongs"
    )


def arguments_text(value: Json, *, where: str) -> str:
    """Return the characters of a call's arguments; some servers send the object itself.

    Raises:
        ProtocolFault: They cannot be JSON.
    """
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json_text(value)
    except ValueError as error:  # NaN or infinite
        raise ProtocolFault(MALFORMED_RESPONSE, f"{where}: no JSON: {error}") from error
