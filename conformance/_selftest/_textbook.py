"""A good adapter on asyncio and httpx, as one would write it, without the SDK's machinery.

It does not derive from ``BaseAdapter``. Request, credential, client, limits, aborts and closing
are its own. What a response means it leaves to the SDK's pure core, which ``BaseAdapter.core``
hands out: the decoder of events, the translator of the dialect and the one classifier. asyncio
only.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, Self

import anyio
import httpx

from adapter_sdk import (
    AbortSignal,
    Chunk,
    Declaration,
    LlmError,
    LlmRequest,
    ResponseHead,
    codes,
    local_error,
)

from .._lanes import client_of
from ._good import Good

# Behind a complete answer only usage can follow, in the same breath.
_TRAILER_S: Final = 0.5

# A socket closes in less; what takes longer goes on behind the caller's back.
_CLOSING_S: Final = 0.1

_PRODUCT: Final = "dsh-adapter-sdk"

_CODE_OF_ERROR: Final = {
    httpx.TimeoutException: codes.TIMEOUT,
    httpx.TransportError: codes.TRANSPORT,
    httpx.DecodingError: codes.TRANSPORT,
    httpx.TooManyRedirects: codes.TRANSPORT,
    httpx.StreamError: codes.TRANSPORT,
}


def _user_agent() -> str:
    try:
        return f"{_PRODUCT}/{version(_PRODUCT)}"
    except PackageNotFoundError:  # run from a source tree that was never installed
        return f"{_PRODUCT}/0"


def _checked(key: object) -> str:
    if key is None or (isinstance(key, str) and not key.strip()):
        raise local_error(codes.MISSING_CREDENTIAL, "there is no API key")
    trimmed = key.strip(" \t") if isinstance(key, str) else ""
    if not (trimmed and trimmed.isascii() and trimmed.isprintable()):
        raise local_error(codes.INVALID_CREDENTIAL, "the API key cannot be sent in a header")
    return trimmed


class Textbook:
    """See the module."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | None,
        idle_timeout: float,
        progress_timeout: float,
        http_client: Any = None,
    ) -> None:
        self.base_url, self.idle_s, self.progress_s = base_url, idle_timeout, progress_timeout
        self._key = api_key
        self._client = http_client or client_of(httpx)
        self._owns_client = http_client is None

    @staticmethod
    def declaration() -> Declaration:
        """Return what it promises: what the good twin does."""
        return Good.declaration()

    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        """Return the stream of one call."""
        return _Call(self, request, abort)

    async def aclose(self) -> None:
        """Close the client, where it is its own."""
        if self._owns_client:
            await self._client.aclose()

    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        """Yield the secret of the request, the response's head, then its bytes."""
        dialect = Good.dialect
        body = json.dumps(dict(dialect.body(request)), ensure_ascii=False).encode()
        key = _checked(self._key)
        yield key
        headers = {
            **dialect.credential_headers(key),
            "user-agent": _user_agent(),
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            "content-type": "application/json",
        }
        url = self.base_url + dialect.path
        sent = self._client.build_request("POST", url, headers=headers, content=body, timeout=None)
        response = await self._client.send(sent, stream=True, auth=None, follow_redirects=False)
        raw = aiter(response.aiter_raw())
        try:
            lines = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in response.headers.raw]
            yield ResponseHead(response.status_code, lines)
            async for data in raw:
                yield data
        finally:
            await raw.aclose()
            await response.aclose()


class _Call:
    """One call: a task for each read, so that the caller's wait ends whatever the read does."""

    def __init__(self, adapter: Textbook, request: LlmRequest, abort: AbortSignal | None) -> None:
        self.adapter, self.abort = adapter, abort
        self.core = Good().core()
        self.source = adapter.exchange(request)
        self.read: asyncio.Task[Any] | None = None
        self.scope = anyio.CancelScope()
        self.idle_s = self.progress_s = 0.0
        self.begun = self.closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        core = self.core
        aborted = self.abort is not None and self.abort.aborted
        if (core.finished and not core.out) or (self.closed and not core.out):
            raise StopAsyncIteration
        if aborted and not self.closed:
            self._abort()
        try:
            while not core.out:
                await self._step()
        except BaseException:  # why: whatever ends the wait, cancellation too; it goes on
            await self.aclose()
            raise
        if core.finished:
            await self._close()
        return core.out.popleft()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Leave the call."""
        self.core.out.clear()
        await self._close()

    async def _close(self) -> None:
        if not self.closed:
            self.closed = True
            self.scope.cancel()
            closing = asyncio.get_running_loop().create_task(self._closing())
            # Waiting for a task does not cancel it: a second cancellation ends the wait alone.
            await asyncio.wait({closing}, timeout=_CLOSING_S)

    async def _closing(self) -> None:
        if self.read is not None:
            await asyncio.wait({self.read})
            if not self.read.cancelled():
                self.read.exception()  # seen: nobody else asks
        await self.source.aclose()

    # ---- one read ------------------------------------------------------------------------

    async def _next(self) -> Any:
        with self.scope:
            try:
                return await anext(self.source)
            except StopAsyncIteration:  # a task cannot carry it
                return None
        return None  # stopped by ``_close``, which asks for nothing

    async def _step(self) -> None:
        core = self.core
        if self.read is None:
            self.read = asyncio.get_running_loop().create_task(self._next())
        limits = {
            self.adapter.idle_s - self.idle_s: "idle",
            self.adapter.progress_s - self.progress_s: "progress",
        }
        if core.settled:
            limits[min(_TRAILER_S, self.adapter.idle_s / 2)] = "trailer"
        limit_s = min(limits)
        if not await self._has_read(limit_s):
            if self.abort is not None and self.abort.aborted:
                self._abort()
            elif limits[limit_s] == "trailer":
                core.settle()
            else:
                core.fault(codes.TIMEOUT, f"the {limits[limit_s]} limit ran out")
            return
        read, self.read = self.read, None
        try:
            self._take(read.result())
        except LlmError as error:  # refused before anything was sent
            core.refuse(error.failure)
        except Exception as error:  # noqa: BLE001 - why: nothing of a library reaches the caller
            core.fault(*_described(error))

    async def _has_read(self, limit_s: float) -> bool:
        """Wait for the read, the limit or the signal; return whether the read came first."""
        assert self.read is not None  # noqa: S101 - why: ``_step`` has just made it
        loop = asyncio.get_running_loop()
        stopped = loop.create_future()
        begun = loop.time()
        forget = None
        if self.abort is not None:
            forget = self.abort.on_abort(lambda: None if stopped.done() else stopped.set_result(0))
        try:
            await asyncio.wait(
                {self.read, stopped},
                timeout=max(0.0, limit_s),
                return_when=asyncio.FIRST_COMPLETED,
            )
            # An abort of the very same instant may be on its way, and wins a tie.
            if not self.read.done():
                await asyncio.sleep(0)
        finally:
            if forget is not None:
                forget()
            stopped.cancel()
        waited_s = loop.time() - begun
        self.idle_s += waited_s
        self.progress_s += waited_s
        aborted = self.abort is not None and self.abort.aborted
        return self.read.done() and not aborted

    def _take(self, item: Any) -> None:
        core, activity, progress = self.core, self.core.activity, self.core.progress
        if isinstance(item, str):
            core.secrets = (item,)
        elif isinstance(item, ResponseHead):
            core.head(item, received_at=_now())
        elif item is None:
            core.end()
        else:
            core.data(item)
        if core.activity != activity:
            self.idle_s = 0.0
        if core.progress != progress:
            self.idle_s = self.progress_s = 0.0

    def _abort(self) -> None:
        assert self.abort is not None  # noqa: S101 - why: only called where it was set
        self.core.abort(self.abort.reason or "")


def _now() -> datetime:
    return datetime.now(UTC)


def _described(error: Exception) -> tuple[str, str]:
    """Return the code of an exception and a sentence that is never empty."""
    kinds = [cls.__name__ for cls in type(error).__mro__]
    code = next((c for e, c in _CODE_OF_ERROR.items() if e.__name__ in kinds), codes.UNKNOWN)
    return code, f"{type(error).__name__}: {error}".rstrip(": ")
