"""Routes: ways to a model, by name, until they are disposed of."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .. import Adapter, LlmError, LlmRequest, codes, local_error
from ._capabilities import RouteCapabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One way to one model.

    Attributes:
        route_id: Its name, unique among the routes.
        model: The model that callers ask for.
        wire_model: What the provider calls it.
        provider: Who serves it, for people and events.
        adapter: What makes the calls; it stays the caller's, who closes it.
        priority: Higher ones are asked first; equal ones in the order of registration.
        capabilities: What it can do.
    """

    route_id: str
    model: str
    wire_model: str
    provider: str
    adapter: Adapter = field(repr=False)
    priority: int
    capabilities: RouteCapabilities

    def wire_request(self, request: LlmRequest) -> LlmRequest:
        """Return ``request`` with the model's name as the provider knows it."""
        return dataclasses.replace(request, model=self.wire_model)


class RouteRegistry:
    """The routes of one client."""

    def __init__(self) -> None:
        self._routes: dict[str, Route] = {}

    def add(self, route: Route) -> Callable[[], None]:
        """Put a route in, and return what takes it out again; a second time that does nothing.

        Raises:
            LlmError: DUPLICATE_ADAPTER for an id that is taken, INVALID_ADAPTER for a route that
                cannot be used.
        """
        for name in ("route_id", "model", "wire_model", "provider"):
            value = getattr(route, name)
            if not isinstance(value, str) or not value.strip():
                raise local_error(codes.INVALID_ADAPTER, f"{name}: a text that is not blank")
        where = f"route {route.route_id!r}"
        if not callable(getattr(route.adapter, "stream", None)):
            raise local_error(
                codes.INVALID_ADAPTER,
                f"{where}: {type(route.adapter).__name__} has no stream method",
            )
        if type(route.priority) is not int:
            raise local_error(codes.INVALID_ADAPTER, f"{where}: priority: a whole number")
        if not isinstance(route.capabilities, RouteCapabilities):
            raise local_error(codes.INVALID_ADAPTER, f"{where}: capabilities: a RouteCapabilities")
        if route.route_id in self._routes:
            raise local_error(
                codes.DUPLICATE_ADAPTER, f"{where} is there already; dispose of it first"
            )
        self._routes[route.route_id] = route

        def dispose() -> None:
            if self._routes.get(route.route_id) is route:
                del self._routes[route.route_id]

        return dispose

    def fitting(self, request: LlmRequest, models: Iterable[str]) -> list[Route]:
        """Return the routes to ``models`` that cover ``request``: model by model, best first."""
        return [
            route
            for model in models
            for route in sorted(self._routes.values(), key=lambda own: -own.priority)
            if route.model == model and not route.capabilities.missing_for(request)
        ]

    def refusal(self, request: LlmRequest) -> LlmError:
        """Return the error that says why no route fits, route by route."""
        own = [route for route in self._routes.values() if route.model == request.model]
        if not own:
            known = ", ".join(sorted({route.model for route in self._routes.values()})) or "none"
            return local_error(
                codes.UNKNOWN_MODEL, f"no route to the model {request.model!r}; there are: {known}"
            )
        lacking = "; ".join(
            f"{route.route_id} lacks {', '.join(route.capabilities.missing_for(request))}"
            for route in own
        )
        return local_error(
            codes.UNSUPPORTED_OPTION,
            f"no route to the model {request.model!r} fits this request: {lacking}",
        )
