"""The parts of a recording, as they stand in its file.

Source: the project's own format; every value is checked when it is made.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ._wire import Answer, Headers, WireError, read_answer

if TYPE_CHECKING:
    from collections.abc import Iterable

RecordedEnding: TypeAlias = Literal["fin", "rst", "open", "client-close", "client-rst"]
"""What became of the connection: FIN or RST from the server, still open when the recorder
stopped looking, or left by the client, so that the server's own ending is not known."""

Fault: TypeAlias = Literal["eof", "cut", "reset", "hold"]
"""How a derived recording ends, in the words of ``Exchange``. ``eof`` is a clean end of the
chunked body, as a proxy makes it from a broken one."""

Milliseconds: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Read(_Value):
    """What one read from the socket returned.

    Attributes:
        at_ms: Milliseconds since the request was sent.
        text: The bytes where they are UTF-8, else None.
        base64: The bytes where they are not.
    """

    at_ms: Milliseconds
    text: str | None = None
    base64: str | None = None

    @classmethod
    def of(cls, at_ms: float, data: bytes) -> Self:
        """Return the read of ``data``, as text where that loses nothing."""
        try:
            return cls(at_ms=at_ms, text=data.decode())
        except UnicodeDecodeError:  # compressed, or cut inside a character
            return cls(at_ms=at_ms, base64=base64.b64encode(data).decode())

    @functools.cached_property
    def data(self) -> bytes:
        """The exact bytes."""
        if self.base64 is None:
            return (self.text or "").encode()
        return base64.b64decode(self.base64, validate=True)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.text is None) == (self.base64 is None):
            raise ValueError("a read has text or base64, and not both")
        try:
            empty = not self.data
        except (binascii.Error, UnicodeEncodeError) as error:  # no base64; a lone surrogate
            raise ValueError(f"the bytes cannot be decoded: {error}") from error
        if empty:
            raise ValueError("a read without a byte")
        return self


class RecordedRequest(_Value):
    """The request that was answered; credentials are ``***``.

    Attributes:
        body: As text; bytes that are no UTF-8 show as U+FFFD. None where it had none.
    """

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: str | None = None


class Derivation(_Value):
    """What was done to a recording.

    Attributes:
        source: Its name.
        cut_at: How many bytes of the body are left.
        end: What follows them.
    """

    source: str
    cut_at: Annotated[int, Field(ge=0)]
    end: Fault


class Recording(_Value):
    """One exchange.

    Attributes:
        name: Folder and file name, without the suffix; not in the file.
        origin: Where the bytes come from.
        server: What answered, or whose documented answer this is.
        version: Of the server, or of the documentation.
        date: ISO 8601, the day on which it was recorded or written.
        note: What is special, or empty.
        derivation: Of a derived recording, and of no other.
        request: What was asked.
        reads: What came, in order, heads and framing included.
        ending: How the connection ended.
        end_at_ms: When it ended, or when the recorder stopped looking.
        sha256: Of all bytes of the reads, in hexadecimal.
    """

    name: Annotated[str, Field(exclude=True)]
    origin: Literal["recorded", "derived", "synthetic"]
    server: Annotated[str, Field(min_length=1)]
    version: str
    date: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    note: str = ""
    derivation: Derivation | None = None
    request: RecordedRequest
    reads: tuple[Read, ...]
    ending: RecordedEnding
    end_at_ms: Milliseconds
    sha256: str

    @functools.cached_property
    def answer(self) -> Answer:
        """The HTTP answer in the reads."""
        return read_answer(read.data for read in self.reads)

    @property
    def status(self) -> int | None:
        """The status of the answer, or None where no byte came."""
        return None if self.answer.head is None else self.answer.head.status

    @property
    def headers(self) -> Headers:
        """The header lines of the answer, in order, as spelt."""
        return () if self.answer.head is None else self.answer.head.headers

    @property
    def media_type(self) -> str:
        """The answer's media type, lower case, without parameters; may be empty."""
        head = self.answer.head
        content_type = "" if head is None else head.value("content-type")
        return content_type.split(";")[0].strip().lower()

    @property
    def body_reads(self) -> tuple[bytes, ...]:
        """The body without its framing, in the pieces in which it was read; none is empty."""
        return tuple(piece for piece in self.answer.pieces if piece)

    @property
    def body(self) -> bytes:
        """The whole body without its framing; a content coding is still on it."""
        return b"".join(self.answer.pieces)

    @property
    def is_whole(self) -> bool:
        """Whether everything came that the head promised."""
        if self.answer.head is None:
            return False
        if self.answer.framed_by == "until-close":
            return self.ending == "fin"
        return self.answer.is_whole

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.derivation is not None) != (self.origin == "derived"):
            raise ValueError("derivation: stands with the origin derived, and only there")
        if not self.reads and not self.note:
            raise ValueError("reads: none, and no note that says why")
        times = [*(read.at_ms for read in self.reads), self.end_at_ms]
        if times != sorted(times):
            raise ValueError("reads: a time is earlier than the one before it")
        if self.sha256 != sha256_of(self.reads):
            raise ValueError("sha256: the bytes are not those that were recorded")
        try:
            self.answer  # noqa: B018 - why: reads it once, so that damage shows here
        except WireError as error:
            raise ValueError(f"reads: {error}") from error
        return self


def sha256_of(reads: Iterable[Read]) -> str:
    """Return the digest of all bytes of ``reads``, in hexadecimal."""
    return hashlib.sha256(b"".join(read.data for read in reads)).hexdigest()
