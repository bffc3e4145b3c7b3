"""The chain that is asked when a request of a step has failed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .. import AbortSignal, LlmFailure

Decision: TypeAlias = Literal["retry"] | None
"""``retry``: run the same open step again over its history. None: nobody recovers."""


@dataclass(frozen=True, slots=True)
class RequestError:
    """One failed request of an open step.

    Attributes:
        turn: The open turn.
        step: The open step of it.
        provider: The name under which the failed adapter is registered.
        failure: What the adapter reported.
        retry_policy: The policy of the provider's profile, as the loop was given it, or None.
        signal: The caller's way to stop the turn, or None.

    Source: section D of the systems.
    """

    turn: int
    step: int
    provider: str
    failure: LlmFailure
    retry_policy: Any
    signal: AbortSignal | None


CallNext: TypeAlias = Callable[[RequestError], Awaitable[Decision]]
Listener: TypeAlias = Callable[[RequestError, CallNext], Awaitable[Decision]]
"""Answers, or asks those behind it with ``await call_next(payload)``. What it raises ends the
turn."""


class RequestErrorChain:
    """Listeners in the order in which they were registered, the first outermost."""

    def __init__(self) -> None:
        self._listeners: dict[object, Listener] = {}

    def register(self, listener: Listener) -> Callable[[], None]:
        """Put ``listener`` at the end; the function that is returned takes it out again."""
        key = object()
        self._listeners[key] = listener

        def dispose() -> None:
            self._listeners.pop(key, None)

        return dispose

    async def ask(self, payload: RequestError) -> Decision:
        """Return what those that are registered now decide.

        Raises:
            TypeError: A listener answered neither ``retry`` nor None.
        """
        listeners = tuple(self._listeners.values())

        async def ask_from(place: int, payload: RequestError) -> Decision:
            if place == len(listeners):
                return None
            decision = await listeners[place](
                payload, lambda following: ask_from(place + 1, following)
            )
            if decision not in ("retry", None):
                raise TypeError(f"request_error: 'retry' or None, got {decision!r}")
            return decision

        return await ask_from(0, payload)
