"""An adapter's stream under the limits of one response."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Final, Literal, TypeAlias

import anyio
import anyio.lowlevel

from .. import (
    AbortSignal,
    Adapter,
    BaseAdapter,
    Chunk,
    ChunkStream,
    Deadline,
    IdleWatchdog,
    LlmRequest,
    codes,
)
from .._failure import LlmFailure, printable_message
from .._runtime import normalise
from ._policy import ResponseLimits

Cause: TypeAlias = Literal["aborted", "idle", "elapsed"]

_LIMITS: Final = ("connect_timeout", "header_timeout", "idle_timeout")


def limited(adapter: Adapter, limits: ResponseLimits) -> Adapter:
    """Return ``adapter`` with limits no looser than ``limits``, where it is a ``BaseAdapter``."""
    if not isinstance(adapter, BaseAdapter):
        return adapter
    # The client is made by the adapter that closes it; the copy only borrows it.
    adapter.open()
    own = copy.copy(adapter)
    for name in _LIMITS:
        known = [s for s in (getattr(adapter, name), getattr(limits, name)) if s is not None]
        setattr(own, name, min(known, default=None))
    return own


class Interrupted(Exception):
    """A wait for a chunk was broken off from here; ``failure`` says why."""

    def __init__(self, cause: Cause, failure: LlmFailure) -> None:
        super().__init__(failure.message)
        self.cause: Cause = cause
        self.failure = failure


class ResponseStream:
    """The chunks of one response, from any adapter, ending in one ``Finish``.

    A ``ChunkStream`` keeps its own limits and hears the abort itself. At any other the wait for a
    chunk is broken off here, so that none can hold a call for ever.

    Args:
        remaining_s: Returns the seconds left for the whole call, or None.
    """

    def __init__(
        self,
        adapter: Adapter,
        request: LlmRequest,
        *,
        limits: ResponseLimits,
        abort: AbortSignal,
        remaining_s: Callable[[], float | None],
    ) -> None:
        dispatch, self._foreign = _dispatched(adapter, request, abort, limits)
        self._source: AsyncIterator[Chunk] = normalise(dispatch)
        self._abort = abort
        self._remaining_s = remaining_s
        self._scope: anyio.CancelScope | None = None
        self._interruption: Interrupted | None = None
        self._idle: IdleWatchdog | None = None
        if self._foreign and limits.idle_timeout is not None:
            self._idle = IdleWatchdog(
                idle_timeout=limits.idle_timeout, on_expired=lambda due: self._silent(due.seconds)
            )

    async def next(self) -> Chunk:
        """Return the next chunk.

        Raises:
            Interrupted: The wait was broken off.
            StopAsyncIteration: The finish came before.
        """
        remaining_s = self._remaining_s()
        if not self._foreign and remaining_s is None:
            return await anext(self._source)
        if remaining_s is not None and remaining_s <= 0:
            self._interrupt("elapsed", "the time of the whole call is over")
        return await self._next_within(remaining_s)

    async def aclose(self) -> None:
        """Close the adapter's stream; nothing of the response stays open."""
        if self._idle is not None:
            self._idle.close()
        close = getattr(self._source, "aclose", None)
        if close is not None:
            await close()

    async def _next_within(self, remaining_s: float | None) -> Chunk:
        deadline: Deadline | None = None
        release: Callable[[], None] | None = None
        with anyio.CancelScope() as self._scope:
            try:
                if self._foreign:
                    release = self._abort.on_abort(self._aborted)
                if self._interruption is not None:
                    raise self._interruption
                if remaining_s is not None:
                    deadline = Deadline(remaining_s, on_expired=lambda _: self._out_of_time())
                if self._idle is not None:
                    self._idle.arm()
                chunk = await anext(self._source)
                if self._idle is not None:
                    self._idle.disarm()
                    self._idle.pulse()
                return chunk
            finally:
                self._scope = None
                if deadline is not None:
                    deadline.close()
                if release is not None:
                    release()
        # An abort of the very same instant may still be on its way to us, and wins a tie.
        await anyio.lowlevel.checkpoint()
        if self._abort.aborted:
            self._aborted()
        # Only the scope's own cancellation comes here, and that has a cause.
        assert self._interruption is not None  # noqa: S101 - why: narrows for the type checker
        raise self._interruption

    # ---- who may break a wait off: the first cause wins, and an abort wins a tie ------------

    def _aborted(self) -> None:
        self._interrupt("aborted", self._abort.reason or "the caller aborted the call")

    def _silent(self, seconds: float) -> None:
        self._interrupt("idle", f"no chunk for {seconds:g} s, the idle limit")

    def _out_of_time(self) -> None:
        self._interrupt("elapsed", "the time of the whole call is over")

    def _interrupt(self, cause: Cause, message: str) -> None:
        if self._interruption is None or cause == "aborted":
            code = codes.ABORTED if cause == "aborted" else codes.TIMEOUT
            self._interruption = Interrupted(
                cause, LlmFailure(message=printable_message(message, otherwise=code), code=code)
            )
        if self._scope is not None:
            self._scope.cancel()


def _dispatched(
    adapter: Adapter, request: LlmRequest, abort: AbortSignal, limits: ResponseLimits
) -> tuple[Callable[[], AsyncIterable[Chunk]], bool]:
    """Return what gives the adapter's stream, and whether that is a foreign one."""
    try:
        stream = limited(adapter, limits).stream(request, abort)
    except Exception as error:  # noqa: BLE001 - why: a foreign adapter may raise anything
        raised = error

        def refuse() -> AsyncIterable[Chunk]:
            raise raised  # where it becomes the response's finish

        return refuse, True
    return lambda: stream, not isinstance(stream, ChunkStream)
