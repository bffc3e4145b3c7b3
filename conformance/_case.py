"""One case: an exchange, what the caller does, and what must come of it. Pure values.

The shape of a case file; ``_case_file`` reads them.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag
from typing_extensions import override

Outcome: TypeAlias = Literal["success", "failure", "cancelled", "left"]
RequestName: TypeAlias = Literal["text", "tools", "reasoning", "images"]


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _base64(value: object) -> object:
    if isinstance(value, str):
        try:
            return base64.b64decode(value, validate=True)
        except binascii.Error as error:
            raise ValueError(f"no base64: {error}") from error
    return value


Base64: TypeAlias = Annotated[bytes, BeforeValidator(_base64)]
Idles: TypeAlias = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]
Times: TypeAlias = Annotated[int, Field(ge=0, le=1 << 31)]


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


# ---- the exchange ------------------------------------------------------------------------


class RawText(_Value):
    """Exactly this text in UTF-8."""

    raw: str


class RawBytes(_Value):
    """Exactly these bytes."""

    b64: Base64


class RepeatText(_Value):
    """The text so many times, streamed."""

    repeat_text: str
    times: Times


class PauseStep(_Value):
    """Nothing, for that share of the idle limit."""

    pause_idles: Idles


class RepeatSteps(_Value):
    """The steps again and again until the peer leaves."""

    repeat: Annotated[tuple[Step, ...], BeforeValidator(_tuple), Field(min_length=1)]
    every_idles: Idles


class GzipSteps(_Value):
    """The steps' bytes as one gzip member, the last bytes dropped."""

    gzip: Annotated[tuple[Step, ...], BeforeValidator(_tuple)]
    drop_last: Times = 0


class ZstdSteps(_Value):
    """The steps' bytes as one zstd frame, the last bytes dropped."""

    zstd: Annotated[tuple[Step, ...], BeforeValidator(_tuple)]
    drop_last: Times = 0


_KINDS = {
    "raw": RawText,
    "b64": RawBytes,
    "repeat_text": RepeatText,
    "pause_idles": PauseStep,
    "repeat": RepeatSteps,
    "gzip": GzipSteps,
    "zstd": ZstdSteps,
}


def _kind(value: object) -> str | None:
    if isinstance(value, str):
        return "event"
    if isinstance(value, dict):
        return next((kind for kind in _KINDS if kind in value), None)
    return next((kind for kind, cls in _KINDS.items() if isinstance(value, cls)), None)


Step: TypeAlias = Annotated[
    Annotated[str, Tag("event")]
    | Annotated[RawText, Tag("raw")]
    | Annotated[RawBytes, Tag("b64")]
    | Annotated[RepeatText, Tag("repeat_text")]
    | Annotated[PauseStep, Tag("pause_idles")]
    | Annotated[RepeatSteps, Tag("repeat")]
    | Annotated[GzipSteps, Tag("gzip")]
    | Annotated[ZstdSteps, Tag("zstd")],
    Discriminator(
        _kind,
        custom_error_type="step",
        custom_error_message=f"a step is a string or one of: {', '.join(_KINDS)}",
    ),
]


class DateValue(_Value):
    """An HTTP date, so many seconds from the moment of the run."""

    date: Literal["imf-fixdate", "rfc-850", "asctime"]
    plus_s: int


class RepeatedValue(_Value):
    """The text so many times."""

    repeat_text: str
    times: Times


class BytesValue(_Value):
    """Exactly these bytes."""

    b64: Base64


HeaderValue: TypeAlias = str | DateValue | RepeatedValue | BytesValue
Header: TypeAlias = Annotated[tuple[str, HeaderValue], BeforeValidator(_tuple)]
Headers: TypeAlias = Annotated[tuple[Header, ...], BeforeValidator(_tuple)]


class InterimResponse(_Value):
    """An informational response."""

    status: Annotated[int, Field(ge=100, le=199)]
    headers: Headers = ()


CaseEnding: TypeAlias = Literal[
    "eof",
    "cut",
    "reset",
    "short",
    "hold",
    "hold-before-headers",
    "close-before-headers",
    "refuse",
]


class CaseExchange(_Value):
    """The answer to one HTTP request."""

    status: Annotated[int, Field(ge=200, le=999)] | None = None
    headers: Headers = ()
    interim: Annotated[tuple[InterimResponse, ...], BeforeValidator(_tuple)] = ()
    body: str | None = None
    send: Annotated[tuple[Step, ...], BeforeValidator(_tuple)] = ()
    end: CaseEnding = "eof"


# ---- the call ----------------------------------------------------------------------------


class Moment(_Value):
    """When the caller does something.

    Attributes:
        after_chunks: After so many content chunks (text, reasoning, arguments).
        at_idles: So many idle limits later.
        before: Before the call begins.
    """

    after_chunks: Annotated[int, Field(ge=0)] | None = None
    at_idles: Annotated[float, Field(ge=0, le=100)] = 0.0
    before: bool = False


class Pause(_Value):
    """The consumer sleeps so many idle limits after so many content chunks."""

    after_chunks: Annotated[int, Field(ge=0)]
    idles: Idles


class Call(_Value):
    """What the caller asks and does."""

    request: RequestName = "text"
    abort: Moment | None = None
    cancel: Moment | None = None
    leave: Moment | None = None
    think: Pause | None = None


# ---- what must come of it ----------------------------------------------------------------

Absent: TypeAlias = Literal["absent"]
ABSENT: Final = "absent"


class RepeatedText(_Value):
    """A long text, told briefly."""

    repeat: str
    times: Times

    @override
    def __str__(self) -> str:
        return self.repeat * self.times


Text: TypeAlias = str | RepeatedText


class ExpectedUsage(_Value):
    """Counts that are compared where they are stated."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | Absent | None = None
    cache_write_tokens: int | Absent | None = None
    reasoning_tokens: int | Absent | None = None


class ExpectedFailure(_Value):
    """Facts that are compared where they are stated."""

    code: str | None = None
    status: int | Absent | None = None
    provider_retry_after_ms: int | Absent | None = None
    request_id: str | None = None
    message: str | None = None
    usage: ExpectedUsage | None = None


class ExpectedMessage(_Value):
    """Parts that are compared where they are stated.

    Attributes:
        finish: Kind of the finish.
        text: Of all text blocks, joined: an empty one too where there are none, or none but
            blank ones. ``absent`` says that there is no text block at all.
        reasoning: The same for reasoning.
        tools: All calls in order, each with id, name and arguments; the id ``*`` is any that is
            non-empty and unique. An empty list says that there is no call.
        usage: The token counts.
    """

    finish: str | None = None
    text: Text | None = None
    reasoning: Text | None = None
    tools: (
        Annotated[
            tuple[Annotated[tuple[str, str, str], BeforeValidator(_tuple)], ...],
            BeforeValidator(_tuple),
        ]
        | None
    ) = None
    usage: ExpectedUsage | None = None


class Expectation(_Value):
    """What must come of the call."""

    requests: Annotated[int, Field(ge=0)] = 1
    outcome: Outcome
    partial_text: Text | None = None
    partial_reasoning: Text | None = None
    failure: ExpectedFailure | None = None
    message: ExpectedMessage | None = None


class Case(_Value):
    """One case file."""

    id: str
    requirement: str
    dialect: str
    title: Annotated[str, Field(min_length=1)]
    sources: Annotated[tuple[str, ...], BeforeValidator(_tuple)] = ()
    needs: Annotated[tuple[str, ...], BeforeValidator(_tuple)] = ()
    call: Call = Call()
    exchange: Annotated[tuple[CaseExchange, ...], BeforeValidator(_tuple), Field(min_length=1)]
    expect: Expectation

    @property
    def is_timed(self) -> bool:
        """Whether its verdict depends on the idle limit."""
        return "idles" in str(self.model_dump(exclude_none=True)) or any(
            "hold" in exchange.end for exchange in self.exchange
        )

    @property
    def is_flood(self) -> bool:
        """Whether it sends more than a limit in time could judge: megabytes and more."""
        return any(isinstance(step, RepeatText) for e in self.exchange for step in e.send)

    @property
    def is_tie(self) -> bool:
        """Whether two causes fall on the same instant, which only a virtual clock can show."""
        return self.call.abort is not None and self.call.abort.at_idles == 1.0


for _model in (RepeatSteps, GzipSteps, ZstdSteps, CaseExchange, Case):
    _model.model_rebuild()
