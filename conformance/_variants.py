"""Metamorphic variants of a good answer: other bytes that mean the same. Pure.

What a caller is told must not change. Each variant names the requirement that it shows.
"""

from __future__ import annotations

import copy
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

OPENAI_CHAT: Final = "openai-chat"

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to say the same.

    Attributes:
        name: In words, for a report.
        requirement: Id of what it shows.
        apply: From the body's bytes to other ones; None where it does not fit.
        dialect: The only one that it fits, or None.
        headers: Lines that go with it.
    """

    name: str
    requirement: str
    apply: Callable[[bytes], bytes | None]
    dialect: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


# ---- framing: any dialect ----------------------------------------------------------------


def _only_line_feeds(body: bytes) -> bool:
    return b"\r" not in body and body.endswith(b"\n\n")


def _with_line_ends(end: bytes) -> Callable[[bytes], bytes | None]:
    return lambda body: body.replace(b"\n", end) if _only_line_feeds(body) else None


def _between_events(filling: bytes) -> Callable[[bytes], bytes | None]:
    def apply(body: bytes) -> bytes | None:
        if not _only_line_feeds(body) or body.startswith(_BYTE_ORDER_MARK):
            return None
        return filling + body.replace(b"\n\n", b"\n\n" + filling)

    return apply


def _without_spaces(body: bytes) -> bytes | None:
    if not _only_line_feeds(body):
        return None
    return (b"\n" + body).replace(b"\ndata: ", b"\ndata:")[1:]


def _with_byte_order_mark(body: bytes) -> bytes | None:
    return None if body.startswith(_BYTE_ORDER_MARK) else _BYTE_ORDER_MARK + body


def _gzipped(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    return packer.compress(body) + packer.flush()


def _with_an_unknown_key(body: bytes) -> bytes | None:
    return body.replace(b'data: {"', b'data: {"x_unknown":{"list":[1,null,"x"]},"')


# ---- payloads: JSON events ---------------------------------------------------------------


def _edited(edit: Callable[[list[Any]], list[Any] | None]) -> Callable[[bytes], bytes | None]:
    """Return a function that edits the decoded payloads of a body of plain events."""

    def apply(body: bytes) -> bytes | None:
        payloads = _payloads(body)
        if payloads is None:
            return None
        edited = edit(copy.deepcopy(payloads))
        if edited is None or edited == payloads:
            return None
        return b"".join(_event(payload) for payload in edited)

    return apply


def _payloads(body: bytes) -> list[Any] | None:
    """Return the payloads of events of one ``data`` line each, or None for anything else."""
    if not _only_line_feeds(body):
        return None
    payloads: list[Any] = []
    for event in body[:-2].split(b"\n\n"):
        if not event.startswith(b"data: ") or b"\n" in event:
            return None
        try:
            payloads.append(json.loads(event[6:]))
        except ValueError:
            payloads.append(event[6:])
    return payloads


def _event(payload: Any) -> bytes:
    if isinstance(payload, bytes):
        return b"data: " + payload + b"\n\n"
    return b"data: " + json.dumps(payload, separators=(",", ":")).encode() + b"\n\n"


def _choices(payloads: list[Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    for position, payload in enumerate(payloads):
        if isinstance(payload, dict):
            for choice in payload.get("choices") or []:
                if isinstance(choice, dict):
                    yield position, choice


def _objects(payloads: list[Any]) -> Iterator[dict[str, Any]]:
    yield from (payload for payload in payloads if isinstance(payload, dict))


def _with_unknown_keys(payloads: list[Any]) -> list[Any]:
    for payload in _objects(payloads):
        payload["x_unknown"] = {"list": [1, None, "x"], "text": "x"}
    for _, choice in _choices(payloads):
        choice["x_unknown"] = [{}]
        if isinstance(choice.get("delta"), dict):
            choice["delta"]["x_unknown"] = "x"
    return payloads


def _with_nulls(payloads: list[Any]) -> list[Any]:
    for payload in _objects(payloads):
        payload.setdefault("usage", None)
        payload.setdefault("system_fingerprint", None)
        payload.setdefault("error", None)
    for _, choice in _choices(payloads):
        choice.setdefault("logprobs", None)
        choice.setdefault("finish_reason", None)
        if isinstance(choice.get("delta"), dict):
            for key in ("content", "reasoning_content", "tool_calls", "function_call", "refusal"):
                choice["delta"].setdefault(key, None)
    return payloads


def _finish_position(payloads: list[Any]) -> int | None:
    found = [position for position, choice in _choices(payloads) if choice.get("finish_reason")]
    return found[0] if len(found) == 1 else None


def _with_finish_on_the_text(payloads: list[Any]) -> list[Any] | None:
    finish = _finish_position(payloads)
    if not finish or not isinstance(payloads[finish - 1], dict):
        return None
    last, end = payloads[finish - 1]["choices"], payloads[finish]["choices"]
    if len(last) != 1 or len(end) != 1 or not (last[0].get("delta") or {}).get("content"):
        return None
    if end[0].get("delta") or last[0].get("index") != end[0].get("index"):
        return None
    end[0]["delta"] = last[0]["delta"]
    return [*payloads[: finish - 1], *payloads[finish:]]


def _with_the_finish_twice(payloads: list[Any]) -> list[Any] | None:
    finish = _finish_position(payloads)
    if finish is None or (payloads[finish]["choices"][0].get("delta") or {}):
        return None
    return [*payloads[: finish + 1], payloads[finish], *payloads[finish + 1 :]]


def _with_usage_on_the_finish(payloads: list[Any]) -> list[Any] | None:
    finish = _finish_position(payloads)
    for position, payload in enumerate(payloads):
        alone = isinstance(payload, dict) and payload.get("usage") and not payload.get("choices")
        if alone and finish is not None and position > finish:
            payloads[finish]["usage"] = payload["usage"]
            return [*payloads[:position], *payloads[position + 1 :]]
    return None


def _with_blank_continuations(payloads: list[Any]) -> list[Any] | None:
    known: dict[Any, str] = {}
    for _, choice in _choices(payloads):
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
    return payloads


VARIANTS: Final = (
    Variant("CRLF line ends", "sse-framing", _with_line_ends(b"\r\n")),
    Variant("CR line ends", "sse-framing", _with_line_ends(b"\r")),
    Variant("comments between the events", "sse-framing", _between_events(b": ping\n\n")),
    Variant("bare colons between the events", "sse-framing", _between_events(b":\n\n")),
    Variant("empty events between the events", "sse-framing", _between_events(b"data\n\n\n\n")),
    Variant(
        "ids and retries between the events", "sse-framing", _between_events(b"id: 1\nretry: 9\n\n")
    ),
    Variant("no space after data:", "sse-framing", _without_spaces),
    Variant("a byte order mark", "sse-framing", _with_byte_order_mark),
    Variant("gzip", "content-encoding", _gzipped, headers=(("content-encoding", "gzip"),)),
    Variant("an unknown key first", "unknown-fields", _with_an_unknown_key),
    Variant(
        "unknown keys at every depth", "unknown-fields", _edited(_with_unknown_keys), OPENAI_CHAT
    ),
    Variant("explicit nulls", "unknown-fields", _edited(_with_nulls), OPENAI_CHAT),
    Variant(
        "the finish on the last text",
        "finish-mapping",
        _edited(_with_finish_on_the_text),
        OPENAI_CHAT,
    ),
    Variant("the finish twice", "finish-mapping", _edited(_with_the_finish_twice), OPENAI_CHAT),
    Variant("usage on the finish", "usage", _edited(_with_usage_on_the_finish), OPENAI_CHAT),
    Variant(
        "blank ids on continuations", "tool-calls", _edited(_with_blank_continuations), OPENAI_CHAT
    ),
)
