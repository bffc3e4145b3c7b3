"""Events of the messages wire become chunks.

Blocks may overlap, and stop all at the end. Their ends, usage and finish are held back until
``message_stop``.
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
from ..._codes import EMPTY_RESPONSE, MALFORMED_RESPONSE, STREAM_CLOSED, UNKNOWN
from ..._dialect import InBandError, Json, ProtocolFault
from .._held_blocks import HeldBlocks
from .._payload import DONE, event_payload, has_words_of_an_error, object_of, text_or_none
from .._repeated_payload import RepeatedPayload
from .._replay import replay_envelope
from ._tables import BAD_STOPS, DIALECT_NAME, GOOD_STOPS
from ._usage import UsageCounter
from ._wire_blocks import WireBlocks, plain_delta

_CUT: Final = "the stream ended without message_stop"


class MessagesTranslator:
    """See ``Translator``; one instance a call."""

    # A refusing stop reason ends the call at once, a good one waits for ``message_stop``.
    settled: Final = False

    def __init__(self) -> None:
        self._usage = UsageCounter()
        self._held = HeldBlocks()
        self._blocks = WireBlocks(self._held)
        self._repeated = RepeatedPayload(plain_delta)
        self._response_id = ""
        self._stop_word = ""
        self._readers = {
            "content_block_delta": self._blocks.delta,
            "content_block_start": self._blocks.start,
            "content_block_stop": self._blocks.stop,
            "message_start": self._message_start,
            "message_delta": self._message_delta,
            "message_stop": self._message_stop,
        }

    @property
    def usage(self) -> TokenUsage | None:
        """The counts so far, once both sides are known."""
        return self._usage.usage

    # ---- what the wire says --------------------------------------------------------------

    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        """Translate one event. Its kind is the payload's ``type``, else its name."""
        repeated = self._repeated
        if (text := repeated.text_of(name, data)) and (
            block := self._blocks.open_at(repeated.meaning)
        ):
            return block.more(text)
        if data[:1] == b"[" and data.strip() == DONE:
            raise ProtocolFault(STREAM_CLOSED, f"{DONE.decode()} came without message_stop")
        payload = event_payload(name, data)
        if (plain := plain_delta(payload)) and (block := self._blocks.open_at(plain[0])):
            repeated.learn(name, data, *plain)
            return block.more(plain[1])
        if payload is None:
            return ()
        payload = object_of(payload)
        kind = text_or_none(payload.get("type"), where="an event's type")
        if kind == "message":
            return self.document(payload)
        if kind == "error" or payload.get("error") or payload.get("object") == "error":
            raise InBandError(payload)
        read = self._readers.get(kind or name)
        if read is None:
            if not kind and has_words_of_an_error(payload):
                raise InBandError(payload)
            return ()  # ping, and what is yet unknown
        chunks: list[Chunk] = []
        read(payload, chunks)
        return chunks

    def document(self, payload: Json) -> Iterator[Chunk]:
        """Translate a whole message."""
        message = object_of(payload)
        if message.get("type") == "error" or message.get("error"):
            raise InBandError(message)
        content = message.get("content")
        if not isinstance(content, list):
            if has_words_of_an_error(message):
                raise InBandError(message)
            raise ProtocolFault(MALFORMED_RESPONSE, "the answer has no content and no error")
        self._take_message(message)
        for index, block in enumerate(content):
            chunks: list[Chunk] = []
            self._blocks.start({"index": index, "content_block": block}, chunks)
            self._blocks.stop({"index": index}, chunks)
            yield from chunks
        self._take_stop(message.get("stop_reason"))
        yield from self._end("the message has no stop reason")

    def close(self) -> Iterable[Chunk]:
        """The body ended cleanly, and too early."""
        after = f" after stop reason {self._stop_word}" if self._stop_word else ""
        raise ProtocolFault(STREAM_CLOSED, _CUT + after)

    def _message_start(self, payload: dict[str, Json], chunks: list[Chunk]) -> None:
        message = payload.get("message")
        if isinstance(message, dict):
            self._take_message(message)

    def _take_message(self, message: dict[str, Json]) -> None:
        self._usage.take(message.get("usage"))
        if isinstance(message.get("id"), str):
            self._response_id = message["id"]

    def _message_delta(self, payload: dict[str, Json], chunks: list[Chunk]) -> None:
        self._usage.take(payload.get("usage"))
        delta = payload.get("delta")
        if isinstance(delta, dict):
            self._take_stop(delta.get("stop_reason"))

    def _message_stop(self, payload: dict[str, Json], chunks: list[Chunk]) -> None:
        chunks += self._end("message_stop came without a stop reason")

    # ---- the end -------------------------------------------------------------------------

    def _take_stop(self, value: Json) -> None:
        if value is None or value == "" or self._stop_word:
            return  # the first one stays
        word = str(value)
        if word not in GOOD_STOPS:
            raise ProtocolFault(
                BAD_STOPS.get(word, UNKNOWN), f"the provider ended with stop reason {word!r}"
            )
        self._stop_word = word

    def _end(self, without_stop: str) -> list[Chunk]:
        if not self._stop_word:
            raise ProtocolFault(STREAM_CLOSED, without_stop)
        chunks: list[Chunk] = []
        self._blocks.stop_all(chunks)
        reason = self._reason()
        if not self._held and reason is STOP:
            raise ProtocolFault(EMPTY_RESPONSE, "the provider finished without any content")
        self._held.end_all(chunks)
        if self.usage is not None:
            chunks.append(UsageReport(self.usage))
        state = replay_envelope(
            DIALECT_NAME,
            response_id=self._response_id,
            stop_reason=self._stop_word,
            blocks=self._held.replay_entries(),
        )
        chunks.append(Finish(reason, state))
        return chunks

    def _reason(self) -> FinishReason:
        finish = GOOD_STOPS[self._stop_word]
        if finish is MAX_TOKENS:
            return finish  # never promoted; whatever calls there are may be cut
        if not all(call.name for call in self._held.calls):
            raise ProtocolFault(MALFORMED_RESPONSE, "a tool call has no name")
        return TOOL_CALLS if self._held.calls else STOP
