"""One response, from its head to its last chunk, without I/O and without a clock.

The shell (``_adapter``) feeds it what the transport delivers and hands out what it yields.
"""

from __future__ import annotations

import re
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from ._chunks import (
    Chunk,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    UsageReport,
    finish_with,
)
from ._classify import ClassifiedError, classify_body, classify_payload
from ._codes import ABORTED, EMPTY_RESPONSE, MALFORMED_RESPONSE, STREAM_CLOSED, TRANSPORT
from ._content_coding import ContentCoding, DamagedBody, Identity, content_coding
from ._dialect import InBandError, ProtocolFault, Translator
from ._failure import LlmFailure, printable_message
from ._http import ResponseHead, describe_exception
from ._request_id import ProviderRequestId, first_request_id
from ._retry_after import provider_retry_after_ms
from ._sse import EventTooLarge, SseDecoder
from ._wire_json import parse_json

# An error body refines a code that status and headers have already given.
ERROR_BODY_LIMIT_BYTES: Final = 64 * 1024

DEFAULT_EVENT_LIMIT_BYTES: Final = 16 * 1024 * 1024

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

_EVENT_STREAM: Final = "text/event-stream"

# What an event stream can begin with: a comment, or the name of a field up to its colon or its
# line end (llama-box writes a field ``error``). The rest is read as one document.
_STREAM_START: Final = re.compile(rb":|(?:data|event|id|retry|error)[:\r\n]")
_STREAM_STARTS: Final = (b"data", b"event", b"id", b"retry", b"error")

_CONTENT_CHUNKS: Final = frozenset({TextDelta, ReasoningDelta, ToolCallDelta})

_IN_PLACE_OF_A_KEY: Final = "[credential]"


class StreamCore:
    """The state of one call after it was sent.

    Args:
        translator: Of the adapter's dialect.
        request_id_headers: Names in the order in which they are tried.
        event_limit_bytes: Most bytes of one event, or of a whole answer that is no stream.
        refine: Last word on a failure, given the decoded error body or payload (or None).

    Attributes:
        out: Chunks that wait to be handed out.
        secrets: Never shown in a message; set once the credential is known.
        finished: Whether the last of them is the call's ``Finish``.
        activity: Grows with every event, comment or read that re-arms the idle limit.
        progress: Grows with every text, reasoning or argument chunk.
    """

    def __init__(
        self,
        translator: Translator,
        *,
        request_id_headers: Sequence[str],
        event_limit_bytes: int = DEFAULT_EVENT_LIMIT_BYTES,
        refine: Callable[[LlmFailure, object], LlmFailure] | None = None,
    ) -> None:
        self.out: deque[Chunk] = deque()
        self.finished = False
        self.activity = 0
        self.progress = 0
        self._translator = translator
        self._request_id_headers = request_id_headers
        self._event_limit_bytes = event_limit_bytes
        self.secrets: Sequence[str] = ()
        self._refine = refine
        self._usage_reported = False
        self._status: int | None = None
        self._request_id: ProviderRequestId | None = None
        self._retry_after_ms: int | None = None
        self._media_type = ""
        self._coding: ContentCoding | None = None
        self._coding_name = ""
        self._as_sent = False  # a good answer without a content coding
        self._streaming = False
        self._take: Callable[[bytes], None] = self._take_undecided
        self._decoder = SseDecoder(max_event_bytes=event_limit_bytes)
        self._document: list[bytes] = []
        self._document_bytes = 0

    @property
    def settled(self) -> bool:
        """Whether the call has all the evidence of a good end although more may follow."""
        return self._translator.settled and not self.finished and self._whole

    @property
    def _refused(self) -> bool:
        return self._status is not None and not 200 <= self._status <= 299

    @property
    def _whole(self) -> bool:
        return self._coding is None or self._coding.complete

    # ---- what the transport delivers -----------------------------------------------------

    def head(self, head: ResponseHead, *, received_at: datetime) -> None:
        """Take the response's status and header lines."""
        self.activity += 1
        self._status = head.status
        self._request_id = first_request_id(
            value for name in self._request_id_headers for value in head.values(name)
        )
        self._media_type = next(iter(head.values("content-type")), "").split(";")[0].strip().lower()
        self._coding_name = ", ".join(head.values("content-encoding"))
        self._coding = content_coding(head.values("content-encoding"))
        self._as_sent = not self._refused and isinstance(self._coding, Identity)
        if not 200 <= head.status <= 299:
            self._retry_after_ms = provider_retry_after_ms(head.headers, received_at=received_at)
        elif self._coding is None:
            self._fail(
                MALFORMED_RESPONSE,
                f"the body has content-encoding {self._coding_name}, which was not asked for",
                None,
            )

    def data(self, data: bytes) -> None:
        """Take the next bytes of the body."""
        if self.finished:
            return
        if self._as_sent:
            self._take(data)
            return
        if self._refused or self._coding is None:
            self._take_error_body(data)
            return
        try:
            for piece in self._coding.decode(data):
                self._take(piece)
                if self.finished:
                    return
        except DamagedBody as error:
            self._fail(TRANSPORT, f"the {self._coding_name} body is damaged: {error}", None)

    def end(self) -> None:
        """The body ended cleanly."""
        if self.finished:
            return
        if self._refused:
            self._fail_with_status(complete=True)
        elif self._streaming:
            self._end_events()
        elif self._document_bytes:
            self._end_document()
        elif self._media_type == _EVENT_STREAM:
            self._fail(STREAM_CLOSED, "the stream ended before its first event", None)
        else:
            self._fail(EMPTY_RESPONSE, f"HTTP {self._status} without any content", None)

    def fault(self, code: str, message: str) -> None:
        """The call ends here for a reason outside the payload: the transport or a limit."""
        if self.finished:
            return
        if self._refused:
            self._fail_with_status(complete=False)
        elif self.settled:
            self._close_translator()
        else:
            self._fail(code, message, None)

    def abort(self, reason: str) -> None:
        """The caller's signal ends the call; what was not handed out yet is dropped."""
        if any(isinstance(chunk, UsageReport) for chunk in self.out):
            self._usage_reported = False
        self.out.clear()
        self._fail(ABORTED, reason or "the caller aborted the call", None)

    def refuse(self, failure: LlmFailure) -> None:
        """The adapter refused the call before anything was sent."""
        self.finished = True
        self.out.append(finish_with(failure))

    def settle(self) -> None:
        """Nothing more came after the evidence was complete: the call ends well."""
        if not self.finished:
            self._close_translator()

    # ---- an error status -----------------------------------------------------------------

    def _take_error_body(self, data: bytes) -> None:
        room = ERROR_BODY_LIMIT_BYTES - self._document_bytes
        self._document.append(data[:room])
        self._document_bytes += min(room, len(data))
        if self._document_bytes >= ERROR_BODY_LIMIT_BYTES:
            self._fail_with_status(complete=False)

    def _error_body(self) -> bytes:
        raw = b"".join(self._document)
        if self._coding is None:
            return raw
        decoded = bytearray()
        try:
            for piece in self._coding.decode(raw):
                decoded += piece
                if len(decoded) >= ERROR_BODY_LIMIT_BYTES:
                    break
        except DamagedBody:
            # A false content-encoding is common on error pages; read what is there.
            return bytes(decoded) or raw
        return bytes(decoded[:ERROR_BODY_LIMIT_BYTES])

    def _fail_with_status(self, *, complete: bool) -> None:
        body = self._error_body()
        assert self._status is not None  # noqa: S101 - why: only called for a status
        error = classify_body(
            status=self._status, media_type=self._media_type, body=body, complete=complete
        )
        self._fail_classified(error, status=self._status)

    def _fail_classified(self, error: ClassifiedError, *, status: int | None) -> None:
        if self._request_id is None:
            self._request_id = error.request_id
        self._fail(error.code, error.message, error.payload, status=status)

    # ---- a good status -------------------------------------------------------------------

    def _take_undecided(self, data: bytes) -> None:
        """Look at the first bytes: an event stream, whatever its media type, or a document."""
        self.activity += 1
        self._document.append(data)
        self._document_bytes += len(data)
        start = b"".join(self._document)
        text = start.removeprefix(_BYTE_ORDER_MARK).lstrip()
        if not text or _BYTE_ORDER_MARK.startswith(text):
            self._document = [start] if len(start) < ERROR_BODY_LIMIT_BYTES else []
            return
        declared = self._media_type == _EVENT_STREAM and text[:1] not in b"{[<"
        if not declared and not _STREAM_START.match(text):
            if not any(prefix.startswith(text) for prefix in _STREAM_STARTS):
                self._take = self._take_document
                self._bound_document()
            return
        self._take = self._take_events
        self._streaming = True
        self._document, self._document_bytes = [], 0
        self._take_events(start)

    def _take_events(self, data: bytes) -> None:
        decoder, translate = self._decoder, self._translator.event
        too_large: EventTooLarge | None = None
        before = decoder.activity
        try:
            events = decoder.decode(data)
        except EventTooLarge as error:
            events, too_large = error.decoded, error
        self.activity += decoder.activity - before
        append = self.out.append
        try:
            for name, payload in events:
                chunks = translate(name, payload)
                # One delta, as of nearly all events, without a call and a loop for it.
                if type(chunks) is list and len(chunks) == 1 and type(chunks[0]) in _CONTENT_CHUNKS:
                    append(chunks[0])
                    self.progress += 1
                    continue
                self._hand_out(chunks)
                if self.finished:
                    return
        except InBandError as error:
            self._fail_in_band(error)
        except ProtocolFault as fault:
            self._fail(fault.code, fault.message, None)
        if too_large is not None and not self.finished:
            self._fail(MALFORMED_RESPONSE, str(too_large), None)

    def _take_document(self, data: bytes) -> None:
        self.activity += 1
        self._document.append(data)
        self._document_bytes += len(data)
        self._bound_document()

    def _bound_document(self) -> None:
        if self._document_bytes > self._event_limit_bytes:
            self._fail(
                MALFORMED_RESPONSE,
                f"the answer is larger than the limit of {self._event_limit_bytes} bytes",
                None,
            )

    def _end_events(self) -> None:
        if not self._whole:
            self._fail(STREAM_CLOSED, f"the {self._coding_name} body ended before its end", None)
        else:
            self._close_translator()

    def _end_document(self) -> None:
        body, self._document = b"".join(self._document), []
        text = body.removeprefix(_BYTE_ORDER_MARK).strip()
        if not self._whole:
            self._fail(STREAM_CLOSED, f"the {self._coding_name} body ended before its end", None)
        elif not text and self._media_type != _EVENT_STREAM:
            self._fail(EMPTY_RESPONSE, f"HTTP {self._status} with blank lines only", None)
        elif not text or any(prefix.startswith(text) for prefix in _STREAM_STARTS):
            self._fail(STREAM_CLOSED, "the stream ended before its first event", None)
        else:
            self._translate_document(text)

    def _translate_document(self, text: bytes) -> None:
        try:
            payload = parse_json(text)
        except ValueError:
            kind = "an HTML page" if text[:1] == b"<" else "no JSON and no event stream"
            said = printable_message(text[:200].decode("utf-8", "replace"), otherwise="nothing")
            self._fail(MALFORMED_RESPONSE, f"HTTP {self._status} with {kind}: {said}", None)
            return
        try:
            self._hand_out(self._translator.document(payload))
        except InBandError as error:
            # The whole body is the error, so the status stays what HTTP says.
            self._fail_classified(classify_payload(error.payload), status=self._status)
        except ProtocolFault as fault:
            self._fail(fault.code, fault.message, None)
        except Exception as error:  # noqa: BLE001 - why: a bug of the dialect stays a failure
            self._fail(*describe_exception(error), None)
        if not self.finished:  # a dialect that says nothing must not leave its caller waiting
            self._fail(MALFORMED_RESPONSE, "the answer is JSON, and its dialect finds no end", None)

    def _close_translator(self) -> None:
        try:
            self._hand_out(self._translator.close())
        except InBandError as error:
            self._fail_in_band(error)
        except ProtocolFault as fault:
            self._fail(fault.code, fault.message, None)
        except Exception as error:  # noqa: BLE001 - why: a bug of the dialect stays a failure
            self._fail(*describe_exception(error), None)
        if not self.finished:
            self._fail(STREAM_CLOSED, "the stream ended, and its dialect finds no end in it", None)

    def _fail_in_band(self, error: InBandError) -> None:
        classified = classify_payload(error.payload)
        self._fail_classified(classified, status=classified.status or self._status)

    def _hand_out(self, chunks: Iterable[Chunk]) -> None:
        for chunk in chunks:
            self.out.append(chunk)
            if type(chunk) in _CONTENT_CHUNKS:
                self.progress += 1
            elif isinstance(chunk, UsageReport):
                self._usage_reported = True
            elif isinstance(chunk, Finish):
                self.finished = True
                return  # nothing comes after it

    # ---- the end -------------------------------------------------------------------------

    def _fail(self, code: str, message: str, payload: object, *, status: int | None = None) -> None:
        usage = self._translator.usage
        if usage is not None and not self._usage_reported:
            self._usage_reported = True
            self.out.append(UsageReport(usage))
        failure = LlmFailure(
            message=self._shown(message, code),
            code=code,
            status=status if status is not None else self._status,
            provider_retry_after_ms=self._retry_after_ms,
            request_id=self._request_id,
        )
        self.finished = True
        self.out.append(finish_with(self._refined(failure, payload)))

    def _shown(self, message: str, code: str) -> str:
        if any(secret in message for secret in self.secrets):
            # At once, so that no secret is looked for in what stands for another one.
            secrets = sorted(self.secrets, key=len, reverse=True)
            message = re.sub("|".join(map(re.escape, secrets)), _IN_PLACE_OF_A_KEY, message)
        return printable_message(message, otherwise=f"{code} without a message")

    def _refined(self, failure: LlmFailure, payload: object) -> LlmFailure:
        if self._refine is None:
            return failure
        try:
            refined = self._refine(failure, payload)
            if refined.message == failure.message:
                return refined
            return replace(refined, message=self._shown(refined.message, refined.code))
        except Exception as error:  # noqa: BLE001 - why: a bug there must not cost the facts
            warnings.warn(f"refine_failure raised {error!r}", RuntimeWarning, stacklevel=2)
            return failure
