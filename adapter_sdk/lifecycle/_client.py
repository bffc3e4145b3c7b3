"""A client that goes on until one response is whole: routes, failover, waits, one outcome."""

from __future__ import annotations

import random as _random
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from .. import AbortSignal, Adapter, LlmRequest
from ..retry import Random
from ._call import Call
from ._capabilities import RouteCapabilities
from ._diagnostics import Listener, Listeners
from ._events import LifecycleEvent, Outcome, ResponseCommitted, ResponseFailed
from ._policy import Recovery, RecoveryPolicy
from ._routes import Route, RouteRegistry

_TEXT_ONLY: Final = RouteCapabilities()


class LlmClient:
    """Calls models over routes, and recovers before anything is committed.

    It makes its calls in the loop of whoever asks, keeps no task of its own, and has nothing to
    close: adapters stay their owner's.

    Args:
        recovery: When to go on; the default goes on until the caller aborts.
        compatible_models: For a model, those that may stand in for it, best first. Without an
            entry nothing but the model itself answers.
        random: For jitter; tests pass their own.
        new_id: Returns a fresh response id.

    Source: design note 000.
    """

    def __init__(
        self,
        *,
        recovery: RecoveryPolicy | None = None,
        compatible_models: Mapping[str, Sequence[str]] | None = None,
        random: Random = _random.random,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self._recovery: RecoveryPolicy = Recovery() if recovery is None else recovery
        self._compatible = {
            model: tuple(others) for model, others in (compatible_models or {}).items()
        }
        self._random = random
        self._new_id = new_id
        self._routes = RouteRegistry()
        self._listeners = Listeners()

    def register_route(
        self,
        route_id: str,
        model: str,
        *,
        adapter: Adapter,
        wire_model: str | None = None,
        provider: str | None = None,
        priority: int = 0,
        capabilities: RouteCapabilities = _TEXT_ONLY,
    ) -> Callable[[], None]:
        """Add a way to ``model``; return what takes it away again.

        Once disposed of, no new response is asked of it; one under way goes on.

        Args:
            route_id: Its name, unique.
            model: What callers ask for; many routes may lead to one model.
            adapter: Makes the calls; the caller closes it.
            wire_model: What the provider calls the model; defaults to ``model``.
            provider: Who serves it, for people; defaults to ``route_id``.
            priority: Higher ones are asked first, equal ones in the order of registration.
            capabilities: What it can do; a request that needs more is never sent to it.

        Raises:
            LlmError: DUPLICATE_ADAPTER, INVALID_ADAPTER.
        """
        return self._routes.add(
            Route(
                route_id=route_id,
                model=model,
                wire_model=model if wire_model is None else wire_model,
                provider=route_id if provider is None else provider,
                adapter=adapter,
                priority=priority,
                capabilities=capabilities,
            )
        )

    def on_diagnostic(self, listener: Listener) -> Callable[[], None]:
        """Tell ``listener`` what is decided after each failed response; it may raise, unheard.

        Returns:
            What takes the listener off again.
        """
        return self._listeners.add(listener)

    def stream(self, request: LlmRequest, *, abort: AbortSignal | None = None) -> LifecycleStream:
        """Return the events of one call; its last one is committed or failed.

        Nothing is sent before its first event is awaited. A failure of the call never raises;
        what an adapter raises while it is closed, or a policy while it decides, is a bug and does.

        Args:
            request: ``model`` is that of the routes.
            abort: Stops the call, waits included.
        """
        return LifecycleStream(
            Call(
                request,
                routes=self._routes,
                recovery=self._recovery,
                models=(request.model, *self._compatible.get(request.model, ())),
                listeners=self._listeners,
                random=self._random,
                new_id=self._new_id,
                abort=abort or AbortSignal(),
            ).events()
        )

    async def complete(self, request: LlmRequest, *, abort: AbortSignal | None = None) -> Outcome:
        """Return how the call ended: the last event of ``stream``. A failure does not raise."""
        outcome: Outcome | None = None
        async with self.stream(request, abort=abort) as events:
            async for event in events:
                if isinstance(event, (ResponseCommitted, ResponseFailed)):
                    outcome = event
        assert outcome is not None  # noqa: S101 - why: every stream ends in one of the two
        return outcome


class LifecycleStream:
    """The events of one call. Iterate it to its end, or leave early with ``async with``.

    One task iterates and closes it; any other stops the call through its ``AbortSignal``.
    """

    def __init__(self, source: AsyncIterator[LifecycleEvent]) -> None:
        self._source = source

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> LifecycleEvent:
        return await anext(self._source)

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
        """Leave the call: the response under way is closed, no other begins."""
        close = getattr(self._source, "aclose", None)
        if close is not None:
            await close()
