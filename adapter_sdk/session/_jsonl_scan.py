"""The bytes of a JSON lines log: which are events, which are torn, which are damage. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from ._errors import LogDamagedError, LogVersionError
from ._event import Event
from .vocabulary import TURN_END

FORMAT: Final = "dsh-session-log"
VERSION: Final = 1
HEADER: Final = json.dumps({"format": FORMAT, "version": VERSION}, separators=(",", ":")).encode()
FIRST_LINE: Final = HEADER + b"\n"


@dataclass(frozen=True, slots=True)
class Scan:
    """What a file holds.

    Attributes:
        events: Its whole events, of lines 2, 3, ….
        end: How many bytes are good; 0 where not even the header is whole.
        torn: The bytes after those.
    """

    events: tuple[Event, ...]
    end: int
    torn: bytes


def scan(data: bytes, name: str) -> Scan:
    """Return what is good of ``data`` and what a crash has left half written behind it.

    Torn is what follows the last good line, where no turn ended after it.

    Raises:
        LogVersionError: Another program's file, or another version of this format.
        LogDamagedError: An unreadable line before the last ``turn/end``.
    """
    if FIRST_LINE.startswith(data) and data != FIRST_LINE:
        return Scan((), 0, data)
    if not data.strip(b"\0"):  # the length came to the disk, the header did not
        return Scan((), 0, data)
    first, *lines = data.split(b"\n")
    _check_header(first, name)
    rest = lines.pop() if lines else b""
    events: list[Event] = []
    end = len(first) + 1
    for line in lines:
        try:
            event = Event.from_line(line)
        except ValueError as error:
            reason = str(error)
            break
        events.append(event)
        end += len(line) + 1
    else:
        return Scan(tuple(events), end, rest)
    # What stands behind an unreadable line can be given up only while its turn is open.
    if any(map(_ends_turn, lines[len(events) + 1 :])):
        raise LogDamagedError(
            f"{name}, line {len(events) + 2}: {reason}, and a turn ended after it"
        )
    return Scan(tuple(events), end, data[end:])


def _check_header(line: bytes, name: str) -> None:
    if line == HEADER:
        return
    try:
        header = json.loads(line)
    except ValueError:  # not JSON, not UTF-8
        header = None
    if isinstance(header, dict) and header.get("format") == FORMAT:
        version = header.get("version")
        raise LogVersionError(f"{name}, line 1: version {version!r}; this program reads {VERSION}")
    raise LogVersionError(f"{name}, line 1: no log of this format")


def _ends_turn(line: bytes) -> bool:
    try:
        return Event.from_line(line).type == TURN_END
    except ValueError:  # as unreadable as the one before it
        return False
