"""A whole call as one value, for callers who do not need the stream."""

from __future__ import annotations

from collections.abc import AsyncIterable
from dataclasses import dataclass

from ._assembler import BlockAssembler
from ._chunk_stream import ChunkStream
from ._chunks import Chunk, FinishReason, TokenUsage
from ._codes import STREAM_CLOSED
from ._failure import LlmError, LlmFailure
from ._messages import Message


@dataclass(frozen=True, slots=True)
class Completion:
    """A call that succeeded.

    Attributes:
        message: The assistant's turn; append it to the conversation as it is.
        finish: ``stop``, ``tool-calls`` or ``max-tokens``.
        usage: Token counts, or None where the provider reported none.
    """

    message: Message
    finish: FinishReason
    usage: TokenUsage | None


async def collect(stream: AsyncIterable[Chunk]) -> Completion:
    """Read ``stream`` to its end and return the whole answer.

    Raises:
        LlmError: The call failed; ``error.failure`` has the facts, ``error.__cause__`` what a
            library raised, where one did.
    """
    assembler = BlockAssembler()
    async for chunk in stream:
        assembler.add(chunk)
    reason = assembler.finish_reason
    if reason is None:
        raise LlmError(LlmFailure(message="the stream ended without a finish", code=STREAM_CLOSED))
    if reason.failure is not None:
        cause = stream.cause if isinstance(stream, ChunkStream) else None
        raise LlmError(reason.failure) from cause
    return Completion(assembler.message(), reason, assembler.usage)
