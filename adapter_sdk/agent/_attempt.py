"""One request of a step: every chunk into the log, then a message or a failure."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol, Self, get_args

from .. import BlockAssembler, Chunk, Finish, FinishReason, LlmFailure, Message, codes
from ..session import (
    LosslessError,
    SessionLog,
    chunk_to_json,
    finish_to_json,
    message_to_json,
    usage_to_json,
)
from ..session import vocabulary as words

_CHUNKS: Final = get_args(Chunk)


class Stream(AbstractAsyncContextManager["Stream"], Protocol):
    """A normalised stream: chunks, then exactly one finish."""

    def __aiter__(self) -> Self:
        """Return itself."""
        ...

    async def __anext__(self) -> Chunk:
        """Return the next chunk."""
        ...


class Attempt:
    """One attempt at a step. Run it once, and commit it where ``run`` returned None."""

    def __init__(self, log: SessionLog, place: dict[str, Any], number: int) -> None:
        self._log = log
        self._place = place
        self._number = number
        self._assembler = BlockAssembler()
        self._seqs: list[int] = []

    async def run(self, stream: Stream) -> LlmFailure | None:
        """Write the stream into the log; return its failure, or None for a good end.

        Nothing is committed. What middleware raises goes through, the stream closed first.
        """
        self._log.append(words.REQUEST_HEADER, {**self._place, "attempt": self._number})
        async with stream:
            async for chunk in stream:
                try:
                    self._write(chunk)
                except LosslessError as error:
                    return self._fail(f"the adapter's chunk cannot be stored: {error}")
        reason = self._assembler.finish_reason
        if reason is None:  # middleware has swallowed the finish
            return self._fail("the stream ended without a finish", code=codes.STREAM_CLOSED)
        return reason.failure or self._bad_calls()

    def _write(self, chunk: Chunk) -> None:
        if not isinstance(chunk, _CHUNKS):
            raise LosslessError(f"{type(chunk).__name__} is no chunk")
        event = self._log.append(
            words.ASSISTANT_CHUNK, {**self._place, "chunk": chunk_to_json(chunk)}
        )
        self._seqs.append(event.seq)
        self._assembler.add(chunk)

    def _fail(self, message: str, *, code: str = codes.MALFORMED_RESPONSE) -> LlmFailure:
        failure = LlmFailure(message=message, code=code)
        self._write(Finish(FinishReason("error", failure)))
        return failure

    def _bad_calls(self) -> LlmFailure | None:
        """Refuse calls that no result could be told to belong to; an SDK adapter has none."""
        ids = [block.id for block in self._assembler.blocks() if block.type == "tool-call"]
        if len({*ids, ""}) == len(ids) + 1:
            return None
        message = "two tool calls of the answer have one id, or one has none"
        return LlmFailure(message=message, code=codes.MALFORMED_RESPONSE)

    def commit(self) -> tuple[Message, int]:
        """Write the step's message; return it and its event's number."""
        message = self._assembler.message()
        reason, usage = self._assembler.finish_reason, self._assembler.usage
        data: dict[str, Any] = {**self._place, "message": message_to_json(message)}
        if reason is not None:
            data["finish"] = finish_to_json(reason)
        if usage is not None:
            data["usage"] = usage_to_json(usage)
        event = self._log.append(
            words.ASSISTANT_MESSAGE,
            data,
            # A provider refuses an assistant turn without content, so it is no message.
            surface_op="append" if message.content else None,
            source_event_seqs=self._seqs,
        )
        return message, event.seq
