"""Decode an event stream (WHATWG server-sent events) from bytes to events, at any split.

Pure. The data of an event stays bytes: no line end other than LF, CR and CRLF can
cut it, whatever characters it holds, and a JSON parser takes bytes as they are.

The short way is for a block of one ``data: `` line, with or without an ``event: `` line
before it, as nearly all are. Everything else goes line by line.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import Final, TypeAlias

# Larger than any event seen (images as base64 take some megabytes), small enough that
# a line without an end cannot take the process down. Contract section 6: event limit.
MAX_EVENT_BYTES: Final = 16 * 1024 * 1024

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_EVENT: Final = b"event: "
_DATA: Final = b"data: "
_MOST_NAMES: Final = 64  # the richest dialect (OpenAI responses) has some fifty event names

# From this size the value of an unfinished ``data`` line is gathered by itself. As a line it
# would be copied three times more, into new pages: joined with the read, cut out, parted from
# its field.
_LONG_LINE_BYTES: Final = 64 * 1024

# As numbers: ``10 in data`` costs an eighth of ``b"\n" in data``.
_LF: Final = 10
_CR: Final = 13
_COLON: Final = 58


@dataclass(slots=True)
class SseEvent:
    """One dispatched event.

    Not frozen: on this path a frozen one costs three times as much to make.

    Attributes:
        event: Value of the last ``event`` field, ``"message"`` where there is none or it is empty.
        data: Bytes of the ``data`` fields as received, joined by LF; may be empty.
    """

    event: str
    data: bytes


Decoded: TypeAlias = tuple[str, bytes]
"""The name and the data of one event."""


class EventTooLarge(ValueError):
    """A line or an event exceeds the limit; the decoder is closed.

    Attributes:
        decoded: What the same read had completed before it, to be delivered first.
    """

    def __init__(self, limit: int, decoded: list[Decoded]) -> None:
        super().__init__(f"an event of the stream exceeds the limit of {limit} bytes")
        self.decoded = decoded

    @property
    def events(self) -> list[SseEvent]:
        """The same as events."""
        return [SseEvent(name, data) for name, data in self.decoded]


class SseDecoder:
    """Incremental decoder of one event stream.

    The ``id`` and ``retry`` fields are ignored: a call never reconnects.

    Attributes:
        activity: Grows by one with each comment line and each block that held at least one
            field, dispatched or not; bytes of an unfinished line and bare blank lines do
            not count. Compare it before and after ``feed``.

    Args:
        max_event_bytes: Limit of one event, counted as the bytes of its field lines without
            their line ends, and of one comment line. Exactly that many are allowed.
    """

    __slots__ = (
        "_at_start",
        "_closed",
        "_data",
        "_in_block",
        "_limit",
        "_long",
        "_name",
        "_names",
        "_size",
        "_skip_lf",
        "_tail",
        "activity",
    )

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        if max_event_bytes < 1:
            raise ValueError(f"max_event_bytes: above zero, got {max_event_bytes}")
        self.activity = 0
        self._limit = max_event_bytes
        self._tail = bytearray()  # bytes of the unfinished line
        self._long: BytesIO | None = None  # in its place: the value of a long ``data`` line
        self._at_start = True  # a byte order mark may still come
        self._skip_lf = False  # the last read ended in CR: an LF belongs to it
        self._closed = False
        self._in_block = False  # the block in progress has a field line already
        self._size = 0  # bytes of its field lines
        self._name = ""
        self._data: bytes | bytearray | None = None
        # What may stand before the one data line of a block, and the name that it gives.
        self._names = {b"": "message"}

    def feed(self, data: bytes) -> list[SseEvent]:
        """Return the events that these bytes complete, in order; none once closed.

        Raises:
            EventTooLarge: A line or event exceeds the limit. Nothing more is buffered.
        """
        return [SseEvent(name, value) for name, value in self.decode(data)]

    def decode(self, data: bytes) -> list[Decoded]:
        """Like ``feed``, but name and data of each event as they are.

        An object for each costs as much as finding it.
        """
        if self._closed or not data:
            return []
        if self._skip_lf or self._at_start:
            data = self._without_lead(data)
            if not data:
                return []
        if _CR in data:
            data = self._with_lf(data)
        events: list[Decoded] = []
        if _LF not in data:
            self._hold(data, events)
            return events
        if self._tail or self._long is not None:
            data = self._end_line(data, events)
        blocks = data.split(b"\n\n")
        rest = blocks.pop()
        names = self._names
        small = len(data) <= self._limit
        short_way = small and not self._in_block
        for block in blocks:
            head, found, payload = block.partition(_DATA)
            name = names.get(head)
            if short_way and name is not None and found and _LF not in payload:
                events.append((name, payload))
            else:
                self._take_lines(block.split(b"\n"), events)
                self._end_block(events)
                short_way = small
                if found and head:
                    self._remember(head)
        if _LF in rest:
            *lines, rest = rest.split(b"\n")
            self._take_lines(lines, events)
        if rest:
            self._hold(rest, events)
        self.activity += len(events)
        return events

    def close(self) -> None:
        """Drop what is unfinished: an event without its blank line is never dispatched."""
        self._closed = True
        self._tail = bytearray()
        self._long = None
        self._data = None

    def _without_lead(self, data: bytes) -> bytes:
        """Take away an LF whose CR ended the last read, or a byte order mark at the start."""
        if self._skip_lf:
            self._skip_lf = False
            return data.removeprefix(b"\n")
        data = bytes(self._tail) + data
        self._tail = bytearray()
        if len(data) < len(_BYTE_ORDER_MARK) and _BYTE_ORDER_MARK.startswith(data):
            self._tail += data  # undecided
            return b""
        self._at_start = False
        return data.removeprefix(_BYTE_ORDER_MARK)

    def _with_lf(self, data: bytes) -> bytes:
        """Turn every line end into LF. A CR at the end of a read ends its line at once."""
        self._skip_lf = data.endswith(b"\r")
        data = data.replace(b"\r\n", b"\n")
        return data.replace(b"\r", b"\n") if _CR in data else data

    def _hold(self, data: bytes, events: list[Decoded]) -> None:
        """Keep the beginning of a line, or more of it."""
        if self._long is not None:
            self._size += len(data)
            if self._size > self._limit:
                self._refuse(events)
            self._long.write(data)
            return
        tail = self._tail
        held = 0 if (tail or data).startswith(b":") else self._size
        if held + len(tail) + len(data) > self._limit:
            self._refuse(events)
        tail += data
        if len(tail) >= _LONG_LINE_BYTES and tail.startswith(b"data:"):
            self._in_block = True
            self._size += len(tail)
            self._long = BytesIO()
            self._long.write(tail.removeprefix(b"data:").removeprefix(b" "))
            self._tail = bytearray()

    def _end_line(self, data: bytes, events: list[Decoded]) -> bytes:
        """End what is held with this read; return what is to be read now."""
        if self._long is None:
            data = b"".join((self._tail, data))
            self._tail = bytearray()
            return data
        end = data.index(b"\n")
        self._hold(data[:end], events)
        self._add_data([self._long.getvalue()])  # the very bytes that were written, not a copy
        self._long = None
        return data[end + 1 :]

    def _take_lines(self, lines: list[bytes], events: list[Decoded]) -> None:
        limit, size = self._limit, self._size
        values: list[bytes] = []  # of ``data`` lines in a row
        for line in lines:
            if not line:
                self._add_data(values)
                self._end_block(events)
                size = 0
                continue
            if line[0] == _COLON:
                if len(line) > limit:
                    self._refuse(events)
                self.activity += 1
                continue
            self._in_block = True
            size += len(line)
            if size > limit:
                self._refuse(events)
            if line.startswith(_DATA):
                values.append(line[6:])
                continue
            field, _, value = line.partition(b":")
            if field == b"data":
                values.append(value)  # nothing follows the colon, or no space does
            elif field == b"event":
                self._name = value.removeprefix(b" ").decode("utf-8", "replace")
        self._size = size
        self._add_data(values)

    def _add_data(self, values: list[bytes]) -> None:
        """Add lines to the data of this event, and empty ``values``."""
        if not values:
            return
        if self._data is None:
            self._data = values[0] if len(values) == 1 else bytearray(b"\n".join(values))
        else:
            if type(self._data) is bytes:
                self._data = bytearray(self._data)
            self._data += b"\n"
            self._data += b"\n".join(values)
        values.clear()

    def _end_block(self, events: list[Decoded]) -> None:
        if not self._in_block:
            return
        if self._data is None:
            self.activity += 1  # ``feed`` counts those that were dispatched
        else:
            events.append((self._name or "message", bytes(self._data)))
        self._in_block = False
        self._size = 0
        self._name = ""
        self._data = None

    def _remember(self, head: bytes) -> None:
        """Let the next block that begins with this ``event`` line take the short way."""
        name = head[len(_EVENT) : -1]
        if (
            len(self._names) < _MOST_NAMES
            and head.startswith(_EVENT)
            and head.endswith(b"\n")
            and _LF not in name
        ):
            self._names[head] = name.decode("utf-8", "replace") or "message"

    def _refuse(self, events: list[Decoded]) -> None:
        self.activity += len(events)
        self.close()
        raise EventTooLarge(self._limit, events)
