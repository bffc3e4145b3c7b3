"""Which route comes next: each failed one rests for its own delay, and the first rested answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..retry import Delay
from ._routes import Route


@dataclass(frozen=True, slots=True)
class Rest:
    """How long a failed route rests.

    Attributes:
        failures: How often it has failed in this call.
        ready_at_s: When it may be asked again, on the loop's clock.
        delay: The delay, and whose it is.
    """

    failures: int
    ready_at_s: float
    delay: Delay


@dataclass(frozen=True, slots=True)
class Choice:
    """The route that is asked next, after ``wait_ms``; ``rest``: its own, or None if fresh."""

    route: Route
    wait_ms: int
    rest: Rest | None


class Rests:
    """The rests of one call."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._rests: dict[str, Rest] = {}

    def failures(self, route: Route) -> int:
        """Return how often ``route`` has failed in this call."""
        rest = self._rests.get(route.route_id)
        return 0 if rest is None else rest.failures

    def begin(self, route: Route, delay: Delay) -> None:
        """Note that ``route`` has failed and rests for ``delay``."""
        ready_at_s = self._now_s() + delay.ms / 1000
        self._rests[route.route_id] = Rest(self.failures(route) + 1, ready_at_s, delay)

    def choose(self, routes: Iterable[Route]) -> Choice | None:
        """Return the route that has rested first, of equals the first one; None: no route."""
        now_s = self._now_s()
        choice: Choice | None = None
        for route in routes:
            rest = self._rests.get(route.route_id)
            wait_s = 0.0 if rest is None else max(0.0, rest.ready_at_s - now_s)
            wait_ms = math.ceil(round(wait_s * 1000, 3))  # the last digit of a float is no delay
            if choice is None or wait_ms < choice.wait_ms:
                choice = Choice(route, wait_ms, rest)
        return choice
