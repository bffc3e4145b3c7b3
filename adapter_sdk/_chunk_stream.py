"""The stream of one call: an async iterator and an async context manager of chunks."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol, Self

import anyio.lowlevel

from ._abort import AbortSignal
from ._chunks import Chunk
from ._clock import Clock, running_clock
from ._codes import TIMEOUT
from ._failure import LlmError
from ._http import ResponseHead, Source, WireRequest, describe_exception, shown_chain
from ._reader import Aborted, Interrupted, Reader
from ._watchdog import Deadline, Expiry

if TYPE_CHECKING:
    from ._request import LlmRequest
    from ._stream_core import StreamCore

_SILENCE: Final = {
    "idle": "no event and no comment for {seconds:g} s, the idle limit",
    "progress": "no text, reasoning or arguments for {seconds:g} s, the progress limit",
    "deadline": "no response within {seconds:g} s, the header limit",
}

# With the evidence complete only usage can follow: providers send it in the same breath.
TRAILER_S: Final = 1.0


class Exchanging(Protocol):
    """What a stream needs of its adapter."""

    idle_timeout: float
    progress_timeout: float | None
    header_timeout: float | None

    def open(self) -> None:
        """Make what the first call needs and what no limit may be charged for."""
        ...

    def core(self) -> StreamCore:
        """Return the state of a new call."""
        ...

    def source(self, request: LlmRequest) -> Source[WireRequest | ResponseHead | bytes]:
        """Return what yields the request that goes out, the response's head, then its bytes."""
        ...


class ChunkStream:
    """One call. Iterate it to its end, or use ``async with`` and leave when you like.

    The last chunk is the one ``Finish``; it carries the failure where the call failed.
    Cancellation of the task and every ``BaseException`` propagate unchanged, after the
    connection was closed. Leaving early reports nothing and closes the connection.

    Attributes:
        cause: The exception of a library that ended the call, for logs; None where there was
            none, or where its text holds the credential.
    """

    def __init__(
        self, adapter: Exchanging, request: LlmRequest, abort: AbortSignal | None = None
    ) -> None:
        self._adapter = adapter
        self._request = request
        self._abort = abort
        self._core = adapter.core()
        self._out = self._core.out
        self._reader: Reader[WireRequest | ResponseHead | bytes] | None = None
        self._clock: Clock
        self._headers_due: Deadline | None = None
        self._trailer_due: Deadline | None = None
        self._left = False
        self._waiting = False
        self.cause: BaseException | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        out, abort = self._out, self._abort
        if out and (abort is None or not abort.aborted):
            return out.popleft()
        if self._waiting:
            raise RuntimeError("another task is already waiting for this stream's next chunk")
        self._waiting = True
        try:
            return await self._next()
        finally:
            self._waiting = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Leave the call: nothing more is delivered, the connection is closed."""
        self._left = True
        self._out.clear()
        await self._close()

    async def _close(self) -> None:
        if self._reader is not None:
            await self._reader.aclose()

    @property
    def _timed_out(self) -> bool:
        """Whether a limit was the first cause: then an abort comes too late."""
        return self._reader is not None and isinstance(self._reader.cause, Expiry)

    # ---- one step ------------------------------------------------------------------------

    async def _next(self) -> Chunk:
        core, out = self._core, self._out
        if self._left or (core.finished and not out):
            raise StopAsyncIteration
        if self._abort is not None and self._abort.aborted and not self._timed_out:
            core.abort(self._abort.reason or "")
        try:
            while not out:
                reader = self._reader or self._start()
                if not self._take_ready(reader):
                    await self._step(reader)
        except BaseException:  # why: cancelled, or left by another task; close, and on it goes
            await self.aclose()
            raise
        if core.finished:
            await self._close()
        return out.popleft()

    def _start(self) -> Reader[WireRequest | ResponseHead | bytes]:
        adapter = self._adapter
        adapter.open()
        self._clock = running_clock()
        self._reader = Reader(
            adapter.source(self._request),
            idle_timeout=adapter.idle_timeout,
            progress_timeout=adapter.progress_timeout,
            abort=self._abort,
            clock=self._clock,
        )
        if adapter.header_timeout is not None:
            self._headers_due = self._reader.deadline(adapter.header_timeout)
        return self._reader

    def _take_ready(self, reader: Reader[WireRequest | ResponseHead | bytes]) -> bool:
        """Take what has arrived already, as if it were one read; return whether anything had."""
        items = reader.ready()
        if not items:
            return False
        data = [item for item in items if isinstance(item, bytes)]
        try:
            for item in items[: len(items) - len(data)]:  # bytes come last
                self._take(item, reader)
            if data:
                self._take(b"".join(data), reader)
        except Exception as error:  # noqa: BLE001 - why: nothing of a library reaches the caller
            self._break(error)
        return True

    async def _step(self, reader: Reader[WireRequest | ResponseHead | bytes]) -> None:
        core = self._core
        try:
            self._take(await reader.next(), reader)
        except StopAsyncIteration:
            if self._left:  # another task has closed the stream
                raise
            core.end()
        except Interrupted as interruption:
            # An abort of the very same instant may still be on its way to us, and wins a tie.
            await anyio.lowlevel.checkpoint()
            self._interrupt(reader.cause or interruption.cause)
        except LlmError as error:  # the adapter refused the call before anything was sent
            self.cause = error.__cause__
            core.refuse(error.failure)
        except Exception as error:  # noqa: BLE001 - why: nothing of a library reaches the caller
            self._break(error)

    def _break(self, error: Exception) -> None:
        if not any(secret in shown_chain(error) for secret in self._core.secrets):
            self.cause = error
        self._core.fault(*describe_exception(error))

    def _take(
        self,
        item: WireRequest | ResponseHead | bytes,
        reader: Reader[WireRequest | ResponseHead | bytes],
    ) -> None:
        core = self._core
        if isinstance(item, bytes):
            activity, progress = core.activity, core.progress
            core.data(item)
            if core.progress != progress:
                reader.progress()
            elif core.activity != activity:
                reader.pulse()
            if self._trailer_due is None and core.settled:
                patience = min(TRAILER_S, self._adapter.idle_timeout / 2)
                self._trailer_due = reader.deadline(patience)
        elif isinstance(item, ResponseHead):
            if self._headers_due is not None:
                self._headers_due.close()
            core.head(item, received_at=self._clock.utc_now())
            reader.pulse()
        else:
            core.secrets = item.secrets

    def _interrupt(self, cause: Expiry | Aborted) -> None:
        core = self._core
        if isinstance(cause, Aborted):
            core.abort(cause.reason)
        elif self._trailer_due is not None and self._trailer_due.expired is not None:
            core.settle()
        else:
            core.fault(TIMEOUT, _SILENCE[cause.limit].format(seconds=cause.seconds))
