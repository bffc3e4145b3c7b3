"""The normalising boundary between a product and any adapter, its own or a foreign one.

Selection, dispatch and iteration failures become the stream's one terminal finish. Errors of
middleware, of the consumer and of clean-up stay exceptions: they are bugs, not answers.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeAlias

from ._abort import AbortSignal
from ._chunks import Chunk, Finish, finish_with
from ._codes import (
    DUPLICATE_ADAPTER,
    INVALID_ADAPTER,
    INVALID_PREPARED_CALL,
    NO_ADAPTER,
    REGISTRATION_DISPOSED,
    STREAM_CLOSED,
)
from ._failure import LlmError, LlmFailure, local_error, printable_message
from ._http import describe_exception
from ._request import LlmRequest


class Adapter(Protocol):
    """Anything whose ``stream`` returns chunks; it may raise where it ought to report."""

    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> AsyncIterable[Chunk]:
        """Return the stream of one call."""
        ...


Next: TypeAlias = Callable[[LlmRequest], AsyncIterator[Chunk]]
Middleware: TypeAlias = Callable[[LlmRequest, Next], AsyncIterator[Chunk]]
"""Sees a request and its chunks on the way; calls ``next`` once."""


class Registration:
    """An adapter under its name, until ``dispose``. Calls in flight go on."""

    __slots__ = ("_registry", "adapter", "disposed", "provider")

    def __init__(self, registry: dict[str, Registration], provider: str, adapter: Adapter) -> None:
        self._registry = registry
        self.provider = provider
        self.adapter = adapter
        self.disposed = False

    def dispose(self) -> None:
        """Take the adapter out; a second time does nothing."""
        if not self.disposed:
            self.disposed = True
            del self._registry[self.provider]


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A request with the adapter that will serve it, chosen once. Made by ``prepare`` only."""

    request: LlmRequest
    registration: Registration = field(repr=False)
    runtime: LlmRuntime = field(repr=False)


class LlmRuntime:
    """Adapters by name, and one way to call any of them.

    Args:
        middleware: Outermost first. What it raises reaches the caller as it is.
    """

    def __init__(self, *, middleware: Sequence[Middleware] = ()) -> None:
        self._registrations: dict[str, Registration] = {}
        self._middleware = tuple(middleware)

    def register(self, provider: str, adapter: Adapter) -> Registration:
        """Put ``adapter`` under ``provider``.

        Raises:
            LlmError: DUPLICATE_ADAPTER for a name that is taken, INVALID_ADAPTER for an object
                without a ``stream`` method or a blank name.
        """
        if not isinstance(provider, str) or not provider.strip():
            raise local_error(INVALID_ADAPTER, "an adapter needs a name that is not blank")
        if not callable(getattr(adapter, "stream", None)):
            raise local_error(
                INVALID_ADAPTER, f"{provider}: {type(adapter).__name__} has no stream method"
            )
        if provider in self._registrations:
            raise local_error(
                DUPLICATE_ADAPTER, f"{provider}: an adapter has this name; dispose of it first"
            )
        registration = Registration(self._registrations, provider, adapter)
        self._registrations[provider] = registration
        return registration

    def prepare(self, provider: str, request: LlmRequest) -> PreparedCall:
        """Choose the adapter now; ``stream`` may come later.

        Raises:
            LlmError: NO_ADAPTER where nothing has this name.
        """
        registration = self._registrations.get(provider)
        if registration is None:
            known = ", ".join(sorted(self._registrations)) or "none"
            raise local_error(NO_ADAPTER, f"no adapter is called {provider!r}; there are: {known}")
        return PreparedCall(request, registration, self)

    def stream(
        self,
        call: PreparedCall | str,
        request: LlmRequest | None = None,
        *,
        abort: AbortSignal | None = None,
    ) -> RuntimeStream:
        """Return the stream of a prepared call, or of ``request`` to the provider ``call``.

        Never raises for a call that cannot be made: its stream then holds one finish.
        """
        return RuntimeStream(self._chunks(call, request, abort))

    async def _chunks(
        self, call: PreparedCall | str, request: LlmRequest | None, abort: AbortSignal | None
    ) -> AsyncIterator[Chunk]:
        try:
            prepared = self._prepared(call, request)
        except LlmError as error:
            yield finish_with(error.failure)
            return
        adapter = prepared.registration.adapter
        # A loop that is left does not close its source, so every layer's stream is closed here.
        async with AsyncExitStack() as opened:
            following: Next = _kept(
                lambda asked: normalise(lambda: adapter.stream(asked, abort)), opened
            )
            for layer in reversed(self._middleware):
                following = _kept(_bound(layer, following), opened)
            async for chunk in following(prepared.request):
                yield chunk

    def _prepared(self, call: PreparedCall | str, request: LlmRequest | None) -> PreparedCall:
        if isinstance(call, str):
            if request is None:
                raise local_error(
                    INVALID_PREPARED_CALL, f"{call}: a name needs a request beside it"
                )
            return self.prepare(call, request)
        if not isinstance(call, PreparedCall) or call.runtime is not self or request is not None:
            raise local_error(
                INVALID_PREPARED_CALL, "a call is what this runtime's prepare returned, alone"
            )
        if call.registration.disposed:
            raise local_error(
                REGISTRATION_DISPOSED,
                f"{call.registration.provider}: the adapter was taken out after prepare",
            )
        return call


class RuntimeStream:
    """A normalised stream; leave it early with ``async with`` or ``aclose``."""

    def __init__(self, source: AsyncIterator[Chunk]) -> None:
        self._source = source

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        return await self._source.__anext__()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Leave the call and close what is underneath."""
        await _close(self._source)


def _bound(layer: Middleware, following: Next) -> Next:
    return lambda request: layer(request, following)


def _kept(following: Next, opened: AsyncExitStack) -> Next:
    def stream(request: LlmRequest) -> AsyncIterator[Chunk]:
        source = following(request)
        opened.push_async_callback(_close, source)
        return source

    return stream


async def normalise(dispatch: Callable[[], AsyncIterable[Chunk]]) -> AsyncIterator[Chunk]:
    """Yield the chunks of what ``dispatch`` returns, then exactly one finish.

    What the adapter raises, at dispatch or in between, becomes the finish; chunks after a
    finish are not delivered. An error while it is closed stays an exception.
    """
    source: AsyncIterator[Chunk] | None = None
    try:
        try:
            source = aiter(dispatch())
            while True:
                chunk = await anext(source)
                yield chunk
                if isinstance(chunk, Finish):
                    return
        except StopAsyncIteration:
            failure = LlmFailure(
                message="the adapter's stream ended without a finish", code=STREAM_CLOSED
            )
        except LlmError as error:
            failure = error.failure
        except Exception as error:  # noqa: BLE001 - why: a foreign adapter may raise anything
            code, message = describe_exception(error)
            failure = LlmFailure(message=printable_message(message, otherwise=code), code=code)
        else:
            return
        yield finish_with(failure)
    finally:
        if source is not None:
            await _close(source)


async def _close(source: object) -> None:
    close = getattr(source, "aclose", None)
    if close is not None:
        await close()
