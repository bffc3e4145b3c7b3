"""Payloads of the chat completions wire become chunks.

One text and one reasoning block, one block a tool call. Block ends, usage and finish are held
back until the terminal marker: before it nothing proves that they are whole.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..._chunks import (
    MAX_TOKENS,
    STOP,
    TOOL_CALLS,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    TokenUsage,
    UsageReport,
)
from ..._codes import EMPTY_RESPONSE, MALFORMED_RESPONSE, STREAM_CLOSED, UNKNOWN
from ..._content import BlockType
from ..._dialect import InBandError, Json, ProtocolFault
from .._held_blocks import HeldBlock
from .._payload import DONE, event_payload, has_words_of_an_error, object_of
from .._repeated_payload import RepeatedPayload
from ._content_parts import Delta, Place, plain_delta, read_delta
from ._tables import BAD_FINISHES, GOOD_FINISHES
from ._tool_calls import Call, ToolCalls
from ._usage import read_usage

Terminal: TypeAlias = Literal["done-sentinel", "finish-reason"]


class ChatTranslator:
    """See ``Translator``; one instance a call.

    Args:
        terminal: What proves a good end: the ``[DONE]`` sentinel after a finish reason, or
            the finish reason alone.
    """

    def __init__(self, *, terminal: Terminal) -> None:
        self.usage: TokenUsage | None = None
        # Whether only usage can follow: a refusing finish, or the declared terminal.
        self.settled = False
        self._terminal = terminal
        self._finish: FinishReason | None = None
        self._refusal: ProtocolFault | None = None
        # What goes on where the wire says no more than where, and nothing is taken away again.
        self._places: dict[Place, HeldBlock | Call] = {}
        self._calls = ToolCalls(self._places)
        self._blocks: list[HeldBlock] = []
        self._repeated = RepeatedPayload(plain_delta)

    # ---- what the wire says --------------------------------------------------------------

    def event(self, name: str, data: bytes) -> list[Chunk]:
        """Translate one event."""
        repeated = self._repeated
        if text := repeated.text_of(name, data):
            return self._places[repeated.meaning].more(text)
        if data[:1] == b"[" and data.strip() == DONE:
            return self._end(f"{DONE.decode()} came without a finish reason")
        payload = event_payload(name, data)
        if payload is None:
            return []
        if (plain := plain_delta(payload)) and (block := self._places.get(plain[0])):
            repeated.learn(name, data, *plain)
            return block.more(plain[1])
        return self._payload(payload)

    def document(self, payload: Json) -> list[Chunk]:
        """Translate a whole completion."""
        if not isinstance(payload, (dict, list)) or not payload:
            raise ProtocolFault(MALFORMED_RESPONSE, "the answer is JSON without meaning")
        chunks = self._payload(payload)
        if not isinstance(payload, dict) or not payload.get("choices"):
            raise ProtocolFault(MALFORMED_RESPONSE, "the answer has no choices and no error")
        return chunks + self._end("the completion has no finish reason")

    def close(self) -> list[Chunk]:
        """The body ended cleanly."""
        if self._terminal == "finish-reason" or self._refusal is not None:
            return self._end("the stream ended without a finish reason")
        raise ProtocolFault(
            STREAM_CLOSED,
            f"the stream ended without {DONE.decode()}"
            + ("" if self._finish is None else f" after finish reason {self._finish.kind}"),
        )

    def _payload(self, payload: Json) -> list[Chunk]:
        payload = object_of(payload)
        reported = payload.get("usage")
        if reported is None and isinstance(groq := payload.get("x_groq"), dict):
            reported = groq.get("usage")
        if reported is not None:
            self.usage = read_usage(reported) or self.usage
        choices = payload.get("choices")
        if "error" in payload or choices is None:
            _raise_error(payload)
        if choices is None:
            return []
        if not isinstance(choices, list):
            raise ProtocolFault(MALFORMED_RESPONSE, "choices is no array")
        chunks: list[Chunk] = []
        for choice in choices:
            if not isinstance(choice, dict):
                raise ProtocolFault(MALFORMED_RESPONSE, "a choice is no object")
            if not choice.get("index"):
                self._choice(choice, chunks)
        return chunks

    def _choice(self, choice: dict[str, Json], chunks: list[Chunk]) -> None:
        delta = choice.get("delta")
        if delta is None:
            delta = choice.get("message")
        if delta is not None:
            if not isinstance(delta, dict):
                raise ProtocolFault(MALFORMED_RESPONSE, "a delta is no object")
            if delta:
                self._delta(read_delta(delta), chunks)
        word = choice.get("finish_reason")
        if word is not None and word != "":
            self._take_finish(str(word))

    def _add(self, kind: Literal["text", "reasoning"], text: str, chunks: list[Chunk]) -> None:
        block = self._places.get(kind)
        if block is None:
            block = self._places[kind] = self._open(kind, "", chunks)
        chunks += block.more(text)

    def _delta(self, delta: Delta, chunks: list[Chunk]) -> None:
        if delta.reasoning:
            self._add("reasoning", delta.reasoning, chunks)
        if delta.text:
            self._add("text", delta.text, chunks)
        for entry in delta.tool_calls:
            self._calls.take(entry, lambda id_: self._open("tool-call", id_, chunks), chunks)

    def _open(self, block_type: BlockType, call_id: str, chunks: list[Chunk]) -> HeldBlock:
        block = HeldBlock(len(self._blocks), block_type, id=call_id)
        self._blocks.append(block)
        chunks.append(BlockStart(block.index, block_type))
        return block

    # ---- the end -------------------------------------------------------------------------

    def _take_finish(self, word: str) -> None:
        if word in GOOD_FINISHES:
            self._finish = self._finish or GOOD_FINISHES[word]  # the first one stays
        elif self._refusal is None:
            code = BAD_FINISHES.get(word, UNKNOWN)
            self._refusal = ProtocolFault(code, f"the provider ended with finish reason {word!r}")
        self.settled = self._refusal is not None or self._terminal == "finish-reason"

    def _end(self, without_finish: str) -> list[Chunk]:
        if self._refusal is not None:
            raise self._refusal
        if self._finish is None:
            raise ProtocolFault(STREAM_CLOSED, without_finish)
        reason = self._reason(self._finish)
        if not self._blocks and reason is STOP:
            raise ProtocolFault(EMPTY_RESPONSE, "the provider finished without any content")
        chunks: list[Chunk] = []
        for block in self._blocks:
            block.end(chunks)
        if self.usage is not None:
            chunks.append(UsageReport(self.usage))
        chunks.append(Finish(reason))
        return chunks

    def _reason(self, finish: FinishReason) -> FinishReason:
        if finish is MAX_TOKENS:
            return finish  # never promoted; whatever calls there are may be cut
        for call in self._calls.calls:
            if not call.held.name:
                raise ProtocolFault(MALFORMED_RESPONSE, "a tool call never got a name")
        return TOOL_CALLS if self._calls.calls else STOP


def _raise_error(payload: dict[str, Json]) -> None:
    """Raise the error that a payload carries, beside choices or in place of them."""
    if payload.get("error") or payload.get("type") == "error" or payload.get("object") == "error":
        raise InBandError(payload)
    if payload.get("choices") is not None:
        return
    if payload.get("error") is not None:
        raise InBandError(payload)
    # Without choices and usage a payload is metadata, unless it has the words of an error.
    if "usage" not in payload and has_words_of_an_error(payload):
        raise InBandError(payload)
