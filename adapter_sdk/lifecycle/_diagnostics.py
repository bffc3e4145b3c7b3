"""Why a call went on as it did: one note for each failed response, for logs and tests."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from .. import FailureClass, LlmFailure
from ..retry import DelaySource
from ._failover import FailoverScope

_log: Final = logging.getLogger("adapter_sdk.lifecycle")

Action: TypeAlias = Literal["retry", "failover", "give-up"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """What was decided after one response failed.

    Attributes:
        response_id: The response.
        response_index: From 0.
        route_id: The route that failed.
        failure: What went wrong.
        failure_class: Its class.
        scope: How far recovery may lead.
        action: ``retry``: the same route again; ``failover``: another one; ``give-up``.
        next_route_id: Where the next response is asked of; None where there is none.
        wait_ms: The wait before it; 0: at once.
        rest_ms: How long the failed route rests; None where the call ended.
        rest_source: Whose delay that is; None with it.
        hint_ms: What the provider asked for, uncut, or None.
        reason: For people: why.
    """

    response_id: str
    response_index: int
    route_id: str
    failure: LlmFailure
    failure_class: FailureClass
    scope: FailoverScope
    action: Action
    next_route_id: str | None = None
    wait_ms: int = 0
    rest_ms: int | None = None
    rest_source: DelaySource | None = None
    hint_ms: int | None = None
    reason: str


Listener: TypeAlias = Callable[[Diagnostic], None]


class Listeners:
    """Who is told. A listener that raises is logged, and neither the call nor others notice."""

    def __init__(self) -> None:
        self._listeners: dict[object, Listener] = {}

    def add(self, listener: Listener) -> Callable[[], None]:
        """Tell ``listener`` from now on; return what takes it off again."""
        key = object()
        self._listeners[key] = listener

        def dispose() -> None:
            self._listeners.pop(key, None)

        return dispose

    def tell(self, diagnostic: Diagnostic) -> None:
        """Tell everybody."""
        for listener in tuple(self._listeners.values()):
            try:
                listener(diagnostic)
            except Exception:  # noqa: BLE001 - why: a listener looks on, and may raise anything
                _log.exception("a listener of diagnostics raised")
