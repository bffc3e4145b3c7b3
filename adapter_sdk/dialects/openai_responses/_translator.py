"""Events of the responses wire become chunks.

One block an item. Block ends, usage and finish are held back until the event that carries the
whole response.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ..._chunks import (
    MAX_TOKENS,
    STOP,
    TOOL_CALLS,
    Chunk,
    Finish,
    FinishReason,
    TokenUsage,
    UsageReport,
)
from ..._codes import EMPTY_RESPONSE, MALFORMED_RESPONSE, SERVER, STREAM_CLOSED, UNKNOWN
from ..._dialect import InBandError, Json, ProtocolFault
from .._held_blocks import HeldBlocks
from .._payload import DONE, event_payload, has_words_of_an_error, object_of, text_or_none
from .._replay import replay_envelope
from ._output import Output
from ._replay import add_replay_entries
from ._tables import (
    BAD_FINISHES,
    DIALECT_NAME,
    GOOD_FINISHES,
    OPEN_STATUSES,
    PART_EVENTS,
    STATUS_OF_TERMINAL,
)
from ._usage import read_usage


class ResponsesTranslator:
    """See ``Translator``; one instance a call."""

    settled: Final = False

    def __init__(self) -> None:
        self.usage: TokenUsage | None = None
        self._held = HeldBlocks()
        self._output = Output(self._held)

    # ---- what the wire says --------------------------------------------------------------

    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        """Translate one event. Its kind is the payload's ``type``, else its name."""
        if data[:1] == b"[" and data.strip() == DONE:
            raise ProtocolFault(STREAM_CLOSED, f"{DONE.decode()} came without response.completed")
        payload = event_payload(name, data)
        if payload is None:
            return ()
        payload = object_of(payload)
        kind = text_or_none(payload.get("type"), where="an event's type")
        if kind == "error" or payload.get("error") or payload.get("object") == "error":
            raise InBandError(payload)
        chunks: list[Chunk] = []
        row = PART_EVENTS.get(kind or name)
        if row is not None:
            self._output.part_event(row, payload, chunks)
            return chunks
        return self._other_event(kind or name, payload, chunks)

    def _other_event(
        self, kind: str, payload: dict[str, Json], chunks: list[Chunk]
    ) -> Iterable[Chunk]:
        match kind:
            case "response.output_item.added":
                self._output.added(payload, chunks)
            case "response.output_item.done":
                self._output.done(payload, chunks)
            case _ if kind in STATUS_OF_TERMINAL:
                response = payload.get("response")
                whole = response if isinstance(response, dict) else {}
                return self._finish(whole, otherwise=STATUS_OF_TERMINAL[kind])
            case _ if "type" not in payload and has_words_of_an_error(payload):
                raise InBandError(payload)
        return chunks  # empty too for what repeats other events, and for what is yet unknown

    def document(self, payload: Json) -> Iterator[Chunk]:
        """Translate a whole response."""
        response = object_of(payload)
        if response.get("error"):
            raise InBandError({"error": response["error"]})
        if not isinstance(response.get("output"), list):
            if has_words_of_an_error(response):
                raise InBandError(response)
            raise ProtocolFault(MALFORMED_RESPONSE, "the answer has no output and no error")
        return self._finish(response, otherwise="")

    def close(self) -> Iterable[Chunk]:
        """The body ended cleanly, and too early."""
        raise ProtocolFault(STREAM_CLOSED, "the stream ended without response.completed")

    # ---- the end -------------------------------------------------------------------------

    def _finish(self, response: dict[str, Json], *, otherwise: str) -> Iterator[Chunk]:
        """Yield what is left to say, and the finish.

        Args:
            response: The whole response.
            otherwise: The status that its event proves; empty where there is no event.
        """
        self.usage = read_usage(response.get("usage"))
        if response.get("error"):
            raise InBandError({"error": response["error"]})
        chunks: list[Chunk] = []
        self._output.finish(response.get("output"), chunks)
        yield from chunks
        word = _finish_word(response, otherwise)
        reason = self._reason(word)
        if not self._held and reason is STOP:
            raise ProtocolFault(EMPTY_RESPONSE, "the provider finished without any content")
        ends: list[Chunk] = []
        self._held.end_all(ends)
        if self.usage is not None:
            ends.append(UsageReport(self.usage))
        add_replay_entries(self._output)
        response_id = response.get("id")
        state = replay_envelope(
            DIALECT_NAME,
            response_id=response_id if isinstance(response_id, str) else "",
            stop_reason=word,
            blocks=self._held.replay_entries(),
        )
        ends.append(Finish(reason, state))
        yield from ends

    def _reason(self, word: str) -> FinishReason:
        reason = GOOD_FINISHES.get(word)
        if reason is MAX_TOKENS:
            return reason  # whatever calls there are may be cut
        if reason is None:
            if word == "failed":
                raise ProtocolFault(SERVER, "the response failed, and no error says why")
            raise ProtocolFault(BAD_FINISHES.get(word, UNKNOWN), f"the response ended as {word!r}")
        if not all(call.name for call in self._held.calls):
            raise ProtocolFault(MALFORMED_RESPONSE, "a function call has no name")
        return TOOL_CALLS if self._held.calls else STOP


def _finish_word(response: dict[str, Json], otherwise: str) -> str:
    """Return the status, or the reason of an incomplete response."""
    status = text_or_none(response.get("status"), where="status") or ""
    if not status or status in OPEN_STATUSES:
        if not otherwise:
            raise ProtocolFault(STREAM_CLOSED, f"the response is {status or 'without status'}")
        status = otherwise  # some servers copy the status of the first event into the last
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    return reason if status == "incomplete" and isinstance(reason, str) and reason else status
