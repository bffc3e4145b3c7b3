"""One event of a log, and the one line of JSON that it is stored as."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, get_args

from pydantic_core import from_json, to_json

from .._dialect import Json
from ._lossless import frozen, frozen_read
from .vocabulary import SurfaceOp

_TYPE: Final = re.compile(r"[a-z][a-z0-9-]*(?:/[a-z][a-z0-9-]*)+\Z")
# An event's type is a word of a program; a whole sentence is a mistake.
_TYPE_LIMIT_CHARACTERS: Final = 128
_SURFACE_OPS: Final = frozenset(get_args(SurfaceOp))
_KEYS: Final = ("type", "seq", "time", "data")
_KEY_ORDERS: Final = frozenset(
    {
        _KEYS,
        (*_KEYS, "surfaceOp"),
        (*_KEYS, "sourceEventSeqs"),
        (*_KEYS, "surfaceOp", "sourceEventSeqs"),
    }
)

# Made once: ``json.dumps`` with options makes a new encoder for each value.
_text_of: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, once and for all.

    Attributes:
        type: Words in lower case, parted by ``/``: for example ``turn/start``.
        seq: Its place in the log, from 0 without a gap.
        time_ms: The wall clock when it was appended, milliseconds since 1970 UTC.
        data: A JSON object, frozen to its depth.
        surface_op: ``append`` or ``replace`` where it changes the messages, else None.
        source_event_seqs: The earlier events that it was made from, ascending, or None.

    Source: section E of the systems: ``{type, seq, time, data, surfaceOp?, sourceEventSeqs?}``.
    """

    type: str
    seq: int
    time_ms: int
    data: Mapping[str, Json]
    surface_op: str | None = None
    source_event_seqs: tuple[int, ...] | None = None

    def line(self) -> str:
        """Return the event as one line of JSON without its line feed.

        Keys in camelCase, absent ones left out. The same event always gives the same characters.
        """
        # The type is ASCII without anything that JSON escapes, the operation one of two words.
        parts = [f'{{"type":"{self.type}","seq":{self.seq},"time":{self.time_ms},"data":']
        parts.append(_text_of(self.data))
        if self.surface_op is not None:
            parts.append(f',"surfaceOp":"{self.surface_op}"')
        if self.source_event_seqs is not None:
            parts.append(f',"sourceEventSeqs":{_text_of(self.source_event_seqs)}')
        parts.append("}")
        return "".join(parts)

    @classmethod
    def from_line(cls, line: bytes) -> Event:
        """Read what ``line`` wrote, in UTF-8, and nothing else.

        Raises:
            ValueError: Not one event in exactly that form; the message says what is wrong.
        """
        try:
            value = from_json(line, allow_inf_nan=False)
        except ValueError as error:
            raise ValueError("no JSON") from error
        # Whatever JSON says in two ways (a key twice, 1e0, an escape, a space) would come back
        # from one backend as it was and from another one changed. The quick way to see that a
        # line says things in one way only writes floats a little differently.
        quick = to_json(value) == line
        event, is_plain = _event(value)
        if not (quick and is_plain) and event.line().encode() != line:
            raise ValueError("not written in the form of this log")
        return event


def new_event(
    type_: str,
    data: Mapping[str, Json],
    *,
    seq: int,
    time_ms: int,
    surface_op: str | None = None,
    source_event_seqs: tuple[int, ...] | None = None,
) -> Event:
    """Return a checked and frozen event.

    Raises:
        LosslessError: The data would not come back as they are; the message has the path.
        ValueError: A field breaks its rule.
    """
    event = Event(type_, seq, time_ms, frozen(data), surface_op, source_event_seqs)
    _check(event)
    return event


def _event(value: Any) -> tuple[Event, bool]:
    """Return the event, and whether its data hold texts, flags and whole numbers alone."""
    if type(value) is not dict:
        raise ValueError("no JSON object")
    if tuple(value) not in _KEY_ORDERS:
        raise ValueError("the keys of an event are type, seq, time, data and two optional ones")
    cited = value.get("sourceEventSeqs")
    if cited is not None and type(cited) is not list:
        raise ValueError("sourceEventSeqs: a list")
    data = value["data"]
    plain = frozen_read(data)
    event = Event(
        value["type"],
        value["seq"],
        value["time"],
        frozen(data) if plain is None else plain,
        value.get("surfaceOp"),
        None if cited is None else tuple(cited),
    )
    _check(event)
    return event, plain is not None


def _check(event: Event) -> None:
    if type(event.type) is not str or not _is_type(event.type):
        raise ValueError("type: words in lower case, parted by a slash")
    if type(event.seq) is not int or event.seq < 0:
        raise ValueError("seq: a whole number of 0 or more")
    if type(event.time_ms) is not int or event.time_ms < 0:
        raise ValueError("time: a whole number of 0 or more")
    if event.surface_op is not None and event.surface_op not in _SURFACE_OPS:
        raise ValueError("surfaceOp: append or replace")
    if event.source_event_seqs is not None:
        _check_cited(event.source_event_seqs, event.seq)


@lru_cache(maxsize=256)
def _is_type(word: str) -> bool:
    return len(word) <= _TYPE_LIMIT_CHARACTERS and _TYPE.match(word) is not None


def _check_cited(cited: tuple[int, ...], seq: int) -> None:
    last = -1
    for number in cited:
        if type(number) is not int or not last < number < seq:
            raise ValueError("sourceEventSeqs: numbers of earlier events, ascending")
        last = number
    if not cited:
        raise ValueError("sourceEventSeqs: at least one number, or left out")
