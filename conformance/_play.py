"""From a case to bytes on the wire: what the fault server plays. Pure but for the nonces."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from adapter_sdk.testing import Exchange, Flood, Interim, Pause, Repeat, Send
from adapter_sdk.testing import Step as WireStep

from ._case import (
    BytesValue,
    Case,
    CaseExchange,
    DateValue,
    GzipSteps,
    HeaderValue,
    PauseStep,
    RawBytes,
    RawText,
    RepeatedValue,
    RepeatSteps,
    RepeatText,
    Step,
    ZstdSteps,
)
from ._http_dates import http_date

_OTHER_ORIGIN = "@other-origin"
_REQUEST_ID = "@request-id:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a case leaves open until it is played.

    Attributes:
        idle_s: The adapter's idle limit in seconds.
        now: The moment of the run, in UTC.
        request_id_headers: The names that the adapter declares.
        other_origin: Address of the listener that must see no request.
        nonce: Makes ids and model names of this run unlike those of any other.
    """

    idle_s: float
    now: datetime
    request_id_headers: Sequence[str]
    other_origin: str
    nonce: str


def speaks_of_elsewhere(case: Case) -> bool:
    """Return whether the script names the other origin, which must see no request."""
    values = (value for exchange in case.exchange for _, value in exchange.headers)
    return any(isinstance(value, str) and _OTHER_ORIGIN in value for value in values)


def request_id_names_needed(case: Case) -> int:
    """Return how many request id headers an adapter must declare for this case."""
    names = [name for exchange in case.exchange for name, _ in exchange.headers]
    numbers = (name.removeprefix(_REQUEST_ID) for name in names if name.startswith(_REQUEST_ID))
    return max((int(number) for number in numbers), default=0)


def exchanges(case: Case, setting: Setting) -> tuple[Exchange, ...]:
    """Return what the server plays for ``case``."""
    return tuple(_exchange(exchange, setting) for exchange in case.exchange)


def _exchange(exchange: CaseExchange, setting: Setting) -> Exchange:
    return Exchange(
        None if exchange.end == "refuse" else exchange.status,
        headers(exchange.headers, setting),
        interim=tuple(
            Interim(interim.status, headers(interim.headers, setting))
            for interim in exchange.interim
        ),
        body=None if exchange.body is None else exchange.body.encode(),
        steps=steps(exchange.send, setting),
        ending=exchange.end,
    )


def headers(
    lines: Iterable[tuple[str, HeaderValue]], setting: Setting
) -> tuple[tuple[str, bytes | str], ...]:
    """Return header lines as they go out."""
    return tuple((_header_name(name, setting), _header_value(v, setting)) for name, v in lines)


def _header_name(name: str, setting: Setting) -> str:
    if not name.startswith(_REQUEST_ID):
        return name
    return setting.request_id_headers[int(name.removeprefix(_REQUEST_ID)) - 1]


def _header_value(value: HeaderValue, setting: Setting) -> bytes | str:
    match value:
        case DateValue():
            return http_date(setting.now + timedelta(seconds=value.plus_s), value.date)
        case RepeatedValue():
            return value.repeat_text * value.times
        case BytesValue():
            return value.b64
        case str():
            return value.replace(_OTHER_ORIGIN, setting.other_origin)


def steps(script: Iterable[Step], setting: Setting) -> tuple[WireStep, ...]:
    """Return steps as the server plays them."""
    return tuple(_step(step, setting) for step in script)


def _step(step: Step, setting: Setting) -> WireStep:
    match step:
        case PauseStep():
            return Pause(step.pause_idles * setting.idle_s)
        case RepeatSteps():
            return Repeat(steps(step.repeat, setting), step.every_idles * setting.idle_s)
        case RepeatText():
            return Flood(step.repeat_text.encode(), step.times)
        case _:
            return Send(_bytes(step, setting))


def _bytes(step: Step, setting: Setting) -> bytes:
    match step:
        case str():
            return b"data: " + _as_sent_by_a_server(step, setting).encode() + b"\n\n"
        case RawText():
            return step.raw.encode()
        case RawBytes():
            return step.b64
        case RepeatText():
            return step.repeat_text.encode() * step.times
        case GzipSteps():
            packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
            inner = b"".join(_bytes(part, setting) for part in step.gzip)
            return _without_last(packer.compress(inner) + packer.flush(), step.drop_last)
        case ZstdSteps():
            import zstandard

            inner = b"".join(_bytes(part, setting) for part in step.zstd)
            return _without_last(zstandard.compress(inner), step.drop_last)
        case PauseStep() | RepeatSteps():
            raise ValueError("a compressed member holds bytes, no pauses and no repetitions")


def _without_last(data: bytes, count: int) -> bytes:
    return data[: len(data) - count]


def _as_sent_by_a_server(payload: str, setting: Setting) -> str:
    """Put ``id``, ``object``, ``created`` and ``model`` before the choices that lack them.

    The payload's own characters stay as they are: they are what the case is about.
    """
    if not payload.startswith("{"):
        return payload
    try:
        value = json.loads(payload)
    except ValueError:
        return payload
    if "choices" not in value:
        return payload
    usual = {
        "id": f"chatcmpl-{setting.nonce}",
        "object": "chat.completion.chunk",
        "created": int(setting.now.timestamp()),
        "model": f"m-{setting.nonce}",
    }
    added = {key: item for key, item in usual.items() if key not in value}
    if not added:
        return payload
    return json.dumps(added, separators=(",", ":"))[:-1] + "," + payload[1:].lstrip()
