"""The adapter of one route, the set of profiles behind it, and the models that there are."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, Unpack

from typing_extensions import override

from adapter_sdk import (
    STOP,
    AbortSignal,
    AdapterOptions,
    BaseAdapter,
    Chunk,
    ChunkStream,
    CredentialSource,
    Declaration,
    Finish,
    InBandError,
    Json,
    LlmError,
    LlmFailure,
    LlmRequest,
    ProtocolFault,
    TokenUsage,
    WireRequest,
    codes,
    local_error,
)

from ._call import GoneAdapter, RouteAdapter, adapter_class, load_package
from ._profiles import ProfileError, Route, catalogue, read_profiles, resolve
from ._wire import APIS, CHAT, MESSAGES

_log: Final = logging.getLogger("adapter_sdk.pi")

DEFAULT_PROFILE: Final = "openai"


class PiProfiles:
    """A set of profiles that can be replaced while it serves.

    Args:
        profiles: Route to profile; None stands for the catalogue alone. Routes of the
            catalogue that the set does not name are served as they are in the catalogue.

    Raises:
        ProfileError: The set cannot be used.
    """

    def __init__(self, profiles: Mapping[str, object] | None = None) -> None:
        self._routes = _with_catalogue({} if profiles is None else profiles)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return the set that a TOML file holds, one table a route.

        Raises:
            ProfileError: It is no TOML, or the set cannot be used.
            OSError: It cannot be read.
        """
        return cls(read_profiles(path))

    @property
    def routes(self) -> Mapping[str, Route]:
        """The routes as they are served now."""
        return self._routes

    def replace(self, profiles: Mapping[str, object]) -> None:
        """Serve another set from the next call on; calls in flight keep what they began with.

        Raises:
            ProfileError: The set cannot be used; the old one goes on serving.
        """
        self._routes = _with_catalogue(profiles)


def _with_catalogue(profiles: object) -> Mapping[str, Route]:
    named = resolve(profiles)
    others: dict[str, object] = {name: {} for name in catalogue() if name not in named}
    return {**resolve(others), **named}


def _warn(said: str) -> None:
    _log.warning("%s", said)


class PiAdapter:
    """One route, over its vendor's package.

    Each call takes the profile as it is when ``stream`` is called, and keeps it.

    Args:
        profile: The route.
        profiles: The set that it is in; None stands for the catalogue alone.
        tell: Gets one sentence where a message's replay state cannot be used; None logs it.
        options: See ``BaseAdapter``. ``base_url``, ``idle_timeout`` and ``headers`` go before
            the profile's; without ``api_key`` the variable that the profile names is read at
            each call, and no other. The vendor's package sends over ``http_client``.

    Raises:
        ProfileError: There is no such profile.
        ValueError: An option or a profile's address or header that cannot be used.
        ModuleNotFoundError: The vendor's package is missing; the message says how to get it.
    """

    def __init__(
        self,
        *,
        profile: str = DEFAULT_PROFILE,
        profiles: PiProfiles | None = None,
        tell: Callable[[str], None] | None = None,
        **options: Unpack[AdapterOptions],
    ) -> None:
        self._profile = profile
        self._profiles = PiProfiles() if profiles is None else profiles
        self._instance = uuid.uuid4().hex
        self._tell = tell or _warn
        self._options = options
        self._retired: list[RouteAdapter] = []
        self._bound = self._bind(self._route())

    @override
    def __repr__(self) -> str:
        return f"<PiAdapter {self._profile} {self._bound!r}>"

    @classmethod
    def declaration(cls, profile: str = DEFAULT_PROFILE) -> Declaration:
        """Return what the route of the catalogue promises; the conformance kit reads it."""
        route = _with_catalogue({})[profile]
        declared = adapter_class(route).declaration()
        return Declaration(
            dialects=declared.dialects,
            terminal=declared.terminal,
            request_id_headers=declared.request_id_headers,
            capabilities=declared.capabilities,
            model=declared.model,
            profiles=tuple(catalogue()),
        )

    @property
    def route(self) -> Route:
        """The route as the next call will take it."""
        return self._route()

    @property
    def idle_timeout(self) -> float:
        """Seconds without any event or comment that the next call bears."""
        return self._current().idle_timeout

    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> ChunkStream:
        """Return the stream of one call, on the profile of this moment. See ``BaseAdapter``."""
        return self._current().stream(request, abort)

    async def aclose(self) -> None:
        """Close the adapter's own clients; one that was passed in stays open."""
        for adapter in (*self._retired, self._bound):
            await adapter.aclose()
        self._retired.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _route(self) -> Route:
        routes = self._profiles.routes
        if self._profile not in routes:
            known = ", ".join(routes)
            raise ProfileError([f"profile {self._profile!r}: there is none; there are {known}"])
        return routes[self._profile]

    def _current(self) -> RouteAdapter:
        route = self._profiles.routes.get(self._profile)
        is_gone = route is None
        if is_gone != isinstance(self._bound, GoneAdapter) or (route or self._bound.route) != (
            self._bound.route
        ):
            self._retired.append(self._bound)
            kind = GoneAdapter if is_gone else RouteAdapter
            self._bound = self._bind(route or self._bound.route, kind)
        return self._bound

    def _bind(self, route: Route, kind: type[RouteAdapter] = RouteAdapter) -> RouteAdapter:
        load_package(route)
        options: AdapterOptions = {**self._options}
        if route.idle_timeout is not None:
            options.setdefault("idle_timeout", route.idle_timeout)
        options["headers"] = {**route.headers, **(options.get("headers") or {})}
        return adapter_class(route, kind)(instance=self._instance, tell=self._tell, **options)


# ---- which models there are --------------------------------------------------------------

# A list of models; the largest public one has some 400 rows and 700 KiB.
MOST_BYTES: Final = 4 * 1024 * 1024

# Without any: a request of which only the address and the credential go out.
_NOTHING_ASKED: Final = LlmRequest(model="models", messages=())

# What a server answers that has no such list.
_NO_SUCH_PLACE: Final = frozenset({404, 405, 501})

_KEPT_CODES: Final = {
    codes.ABORTED: codes.ABORTED,
    codes.AUTH: codes.INVALID_CREDENTIAL,
    codes.INVALID_CREDENTIAL: codes.INVALID_CREDENTIAL,
    codes.MISSING_CREDENTIAL: codes.MISSING_CREDENTIAL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveredModel:
    """One model that a provider lists.

    Attributes:
        id: As the provider knows it.
        name: For people; the id where the list has no name.
        context_window: Tokens, or None where the list does not say.
    """

    id: str
    name: str
    context_window: int | None = None


async def discover_models(
    route: str | None = None,
    *,
    base_url: str | None = None,
    api: str = CHAT,
    key: str | CredentialSource | None = None,
    abort: AbortSignal | None = None,
    idle_timeout: float = 30.0,
    http_client: Any = None,
) -> tuple[DiscoveredModel, ...]:
    """Return the models of a route of the catalogue, offline, or those that a server lists.

    Args:
        route: A route of the catalogue.
        base_url: In place of a route: ``GET {base_url}/models`` is asked.
        api: The protocol behind ``base_url``.
        key: The credential for ``base_url``, sent as a bearer token.
        abort: Ends the wait.
        idle_timeout: Seconds without a byte.
        http_client: See ``BaseAdapter``.

    Raises:
        LlmError: DISCOVERY_UNSUPPORTED where there is no such list, INVALID_CREDENTIAL or
            MISSING_CREDENTIAL, ABORTED, else DISCOVERY_FAILED; with status and request id
            where there was an answer.
        ValueError: Neither or both of ``route`` and ``base_url``, or an option that cannot be
            used.
    """
    if (route is None) == (base_url is None):
        raise ValueError("discover_models: either a route or a base_url")
    if route is not None:
        return _from_catalogue(route)
    if api not in APIS:
        raise ValueError(f"api: one of {', '.join(APIS)}")
    if api == MESSAGES:
        raise local_error(
            codes.DISCOVERY_UNSUPPORTED, f"{api} has no list of models that a bearer key opens"
        )
    listing = _Listing(
        base_url=base_url,
        api_key=key,
        idle_timeout=idle_timeout,
        http_client=http_client,
        event_limit_bytes=MOST_BYTES,
    )
    async with listing, listing.stream(_NOTHING_ASKED, abort) as stream:
        finishes = [chunk async for chunk in stream if isinstance(chunk, Finish)]
    failure, state = finishes[-1].failure, finishes[-1].replay_state
    if failure is not None:
        raise LlmError(_told(failure))
    return tuple(_model(row) for row in (state or {})["models"])


def _from_catalogue(route: str) -> tuple[DiscoveredModel, ...]:
    if route not in catalogue():
        known = ", ".join(catalogue())
        raise local_error(
            codes.DISCOVERY_UNSUPPORTED, f"the catalogue has no route {route!r}; it has {known}"
        )
    models = resolve({route: {}})[route].models.values()
    return tuple(
        DiscoveredModel(id=m.id, name=m.name, context_window=m.context_window) for m in models
    )


def _told(failure: LlmFailure) -> LlmFailure:
    if failure.status in _NO_SUCH_PLACE:
        return replace(failure, code=codes.DISCOVERY_UNSUPPORTED)
    return replace(failure, code=_KEPT_CODES.get(failure.code, codes.DISCOVERY_FAILED))


class _List:
    """The answer as a dialect: a document that lists models, and nothing else."""

    name: Final = "models"
    path: Final = "/models"
    terminal: Final = "document"

    def body(self, request: LlmRequest) -> Mapping[str, Json]:
        """See ``Dialect``; it is not sent."""
        return {}

    def credential_headers(self, credential: str) -> Mapping[str, str]:
        """See ``Dialect``."""
        return {"authorization": f"Bearer {credential}"}

    def translator(self) -> _ListReader:
        """See ``Dialect``."""
        return _ListReader()


class _ListReader:
    """See ``Translator``; the finish carries the rows."""

    usage: TokenUsage | None = None
    settled: Final = False

    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        """A list is no stream."""
        raise ProtocolFault(codes.MALFORMED_RESPONSE, "an event stream in place of a list")

    def document(self, payload: Json) -> Iterable[Chunk]:
        """Take the rows; those without an id are skipped."""
        if isinstance(payload, dict) and payload.get("error"):
            raise InBandError(payload)
        rows = payload.get("data") if isinstance(payload, dict) else payload
        if not isinstance(rows, list):
            raise ProtocolFault(codes.MALFORMED_RESPONSE, "the answer holds no list of models")
        named = [row for row in rows if isinstance(row, dict) and _text(row.get("id"))]
        return (Finish(STOP, {"models": named}),)

    def close(self) -> Iterable[Chunk]:
        """Never reached: an event has refused the stream."""
        raise ProtocolFault(codes.STREAM_CLOSED, "the list is cut")


class _Listing(BaseAdapter):
    """Asks for the list over the transport, the limits and the facts of every adapter."""

    dialect = _List()

    @override
    async def wire_request(self, request: LlmRequest) -> WireRequest:
        """See ``BaseAdapter``."""
        wire = await super().wire_request(request)
        headers = {n: v for n, v in wire.headers.items() if n != "content-type"}
        return replace(
            wire, method="GET", headers={**headers, "accept": "application/json"}, body=b""
        )


def _text(value: Json) -> str:
    return value if isinstance(value, str) and value.strip() else ""


def _model(row: dict[str, Json]) -> DiscoveredModel:
    windows = (row.get("context_length"), row.get("context_window"), row.get("max_model_len"))
    return DiscoveredModel(
        id=row["id"],
        name=_text(row.get("name")) or _text(row.get("display_name")) or row["id"],
        context_window=next((w for w in windows if type(w) is int and w > 0), None),
    )
