"""What the fault server plays, as plain values: exchanges, steps, endings.

Nothing here opens a socket or reads a clock. Times are seconds: whoever loads a
case turns shares of an idle limit into them.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Final, Literal, TypeAlias

Ending: TypeAlias = Literal[
    "eof",
    "cut",
    "reset",
    "short",
    "hold",
    "hold-before-headers",
    "close-before-headers",
    "refuse",
]
"""How an exchange ends.

- ``eof``: the body ends as its framing says. The connection stays open for the
  next request, unless a header, the request or a wrong length forbids it.
- ``cut``: FIN without the last chunk.
- ``reset``: RST (``SO_LINGER`` 0), after the bytes before it have arrived.
- ``short``: FIN after fewer bytes than Content-Length promised.
- ``hold``: the socket stays open and silent until the peer leaves.
- ``hold-before-headers``, ``close-before-headers``: the same two, before the head.
- ``refuse``: nothing listens at the port.
"""

Headers: TypeAlias = tuple[tuple[str, bytes | str], ...]

# A client repeats this to its caller, who must not take it for a fault of the server.
BEYOND_THE_SCRIPT: Final = b"one request more than this test expects"

# A head cannot be left out and followed by something: only these endings need none.
_WITHOUT_HEAD: Final = frozenset({"hold-before-headers", "close-before-headers", "refuse", "reset"})
_BEFORE_HEADERS: Final = frozenset({"hold-before-headers", "close-before-headers"})


@dataclass(frozen=True, slots=True)
class Send:
    """One write, and one HTTP chunk where the body is chunked. No bytes, no write."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing for ``seconds``; it ends early when the peer leaves or the server stops."""

    seconds: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.seconds) and self.seconds >= 0):
            msg = f"a pause is finite and not negative, in seconds: {self.seconds!r}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Flood:
    """``data`` so many times, in large writes; never held in memory as a whole."""

    data: bytes
    times: int

    def __post_init__(self) -> None:
        if self.times < 0:
            msg = f"a flood repeats its data 0 times or more: {self.times!r}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Repeat:
    """The steps, a pause of ``every_seconds``, the steps again, until the peer leaves."""

    steps: tuple[Step, ...]
    every_seconds: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.every_seconds) and self.every_seconds > 0):
            msg = f"rounds are a positive, finite time apart: {self.every_seconds!r}"
            raise ValueError(msg)
        if not self.steps or any(isinstance(step, Repeat) for step in self.steps):
            msg = "a Repeat holds at least one step, and no Repeat: the inner one would never end"
            raise ValueError(msg)


Step: TypeAlias = Send | Pause | Flood | Repeat


@dataclass(frozen=True, slots=True)
class Interim:
    """An informational response (1xx) before the final one."""

    status: int
    headers: Headers = ()

    def __post_init__(self) -> None:
        if not 100 <= self.status <= 199:
            msg = f"an interim status is 100 to 199: {self.status!r}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Exchange:
    """The answer to one HTTP request.

    Args:
        status: 200 to 999; None where the ending comes before the head.
        headers: Names and values in order. Bytes go out exactly, text as UTF-8.
            Nothing is added but the header that frames the body.
        interim: Informational responses before the head.
        body: A whole body, sent in one write behind its Content-Length.
        steps: A body in steps, chunked unless the headers name a Content-Length or
            ``connection: close``. At most one of ``body`` and ``steps`` is given.
        ending: See ``Ending``.

    Raises:
        ValueError: The parts contradict each other; the message names them.

    """

    status: int | None
    headers: Headers = ()
    _: KW_ONLY
    interim: tuple[Interim, ...] = ()
    body: bytes | None = None
    steps: tuple[Step, ...] = ()
    ending: Ending = "eof"

    def __post_init__(self) -> None:
        if self.body is not None and self.steps:
            raise ValueError("an exchange has a body or steps, not both")
        if any(isinstance(step, Repeat) for step in self.steps[:-1]):
            raise ValueError("no step behind a Repeat is ever reached")
        if self.status is None:
            self._check_headless()
        elif not 200 <= self.status <= 999:
            msg = f"a final status is 200 to 999: {self.status!r}"
            raise ValueError(msg)
        elif self.ending in _BEFORE_HEADERS:
            msg = f"ending {self.ending} comes before the head: leave the status out"
            raise ValueError(msg)
        elif self.ending == "short" and not self.names("content-length"):
            steps_size(self.steps)  # raises where there is no end to be short of

    def _check_headless(self) -> None:
        if self.ending not in _WITHOUT_HEAD:
            msg = f"ending {self.ending} needs a status"
            raise ValueError(msg)
        if self.body is not None or self.steps:
            raise ValueError("a body needs a status before it")

    def names(self, name: str) -> bool:
        """Whether the headers name ``name`` (lower case)."""
        return any(own.lower() == name for own, _ in self.headers)

    def value(self, name: str) -> str:
        """Return the first value of ``name`` (lower case), trimmed and lower; ``""`` if absent."""
        for own, value in self.headers:
            if own.lower() == name:
                text = value if isinstance(value, str) else value.decode("latin-1")
                return text.strip().lower()
        return ""


def steps_size(steps: tuple[Step, ...]) -> int:
    """Count the body bytes of ``steps``.

    Raises:
        ValueError: A Repeat is among them, so there is no last byte.

    """
    size = 0
    for step in steps:
        match step:
            case Send(data):
                size += len(data)
            case Flood(data, times):
                size += len(data) * times
            case Repeat():
                raise ValueError("endless steps cannot fall short of a length: name one")
            case Pause():
                pass
    return size
