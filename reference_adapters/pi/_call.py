"""One call of one route, through the vendor's package.

The package authenticates, addresses and sends; the bytes go over the adapter's own transport,
so that no default of the package stands between the provider and the facts. What it would do
by itself (retry, follow redirects, read error bodies whole, decode, time out, take headers from
the environment) is switched off where it can be, and has nothing to work with where it cannot.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeAlias, Unpack

from typing_extensions import override

from adapter_sdk import (
    AbortSignal,
    AdapterOptions,
    BaseAdapter,
    Capability,
    Chunk,
    ChunkStream,
    Finish,
    Json,
    LlmRequest,
    ResponseHead,
    WireRequest,
    codes,
    has_images,
    local_error,
)

from ._wire import (
    CHAT,
    MESSAGES,
    RESPONSES,
    check_switches,
    dialect_of,
    restorable,
    stamped,
    wire_body,
)

if TYPE_CHECKING:
    import httpx2

    from ._profiles import Model, Route

Send: TypeAlias = Callable[[WireRequest], AsyncGenerator[ResponseHead | bytes, None]]

INSTALL: Final = "pip install 'dsh-adapter-sdk[pi]'"

_PACKAGES: Final = {CHAT: "openai", RESPONSES: "openai", MESSAGES: "anthropic"}

# Of the headers that a package adds only these go out; others can come from the environment
# (OPENAI_CUSTOM_HEADERS, ANTHROPIC_CUSTOM_HEADERS, OPENAI_ORG_ID, OPENAI_PROJECT_ID).
_PACKAGE_HEADERS: Final = "x-stainless-"

# They describe a body that the package does not get, and would make it decode and wait for one.
_OF_THE_BODY: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def load_package(route: Route) -> None:
    """Import the vendor's package of a route: it takes seconds, which no call should pay.

    Raises:
        ModuleNotFoundError: It is missing; the message names the command that installs it.
    """
    for name in ("httpx2", _PACKAGES[route.api]):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:  # installed, and broken by something else
                raise
            raise ModuleNotFoundError(
                f"{route.name}: {route.api} needs the package {name}: {INSTALL}", name=name
            ) from error
    _load_the_rest(route.api)


@functools.cache
def _load_the_rest(api: str) -> None:
    """Make what a first call would make: the packages import most of themselves by then."""
    http = new_http_client(None)
    new_vendor_client(api, base_url="http://unused.invalid", api_key="unused", http=http)
    _relay_class()


# ---- the vendor's package ----------------------------------------------------------------


class VendorClient(Protocol):
    """What a call needs of a vendor's client; both packages offer it."""

    max_retries: int

    async def post(self, path: str, **arguments: Any) -> Any:
        """Send one request."""
        ...


class Relay(Protocol):
    """The transport under a vendor's client, for one call.

    Attributes:
        head: Of the response, once there is one.
        body: The exchange under way.
        error: What the adapter's own transport raised, or None.
    """

    head: ResponseHead | None
    body: AsyncGenerator[ResponseHead | bytes, None] | None
    error: Exception | None


@functools.cache
def _relay_class() -> Any:
    import httpx2

    class OwnTransport(httpx2.AsyncBaseTransport):
        """Carries what the package sends; keeps the answer's body for the call."""

        def __init__(self, wire: WireRequest, send: Send) -> None:
            self.head: ResponseHead | None = None
            self.body: AsyncGenerator[ResponseHead | bytes, None] | None = None
            self.error: Exception | None = None
            self._wire = wire
            self._send = send

        @override
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            if self.body is not None:  # the package asks again, and must not be held back here:
                await self.body.aclose()  # the tests of its retries would see nothing
            self.head = None
            self.body = self._send(
                WireRequest(
                    url=str(request.url),
                    method=request.method,
                    headers=self._headers(request.headers),
                    body=await request.aread(),
                    secrets=self._wire.secrets,
                )
            )
            try:
                head = await anext(self.body)
            except Exception as error:  # why: a transport may raise anything, see ``exchange``
                self.error = error  # the package wraps it, and with that its name is lost
                raise
            assert isinstance(head, ResponseHead)  # noqa: S101 - why: an exchange begins with it
            self.head = head
            # The body stays here: a package reads that of an error whole, without any bound.
            return httpx2.Response(
                head.status,
                headers=[
                    (name.encode("latin-1"), value.encode("latin-1"))
                    for name, value in head.headers
                    if name.lower() not in _OF_THE_BODY
                ],
            )

        def _headers(self, built: Mapping[str, str]) -> dict[str, str]:
            own = {n: v for n, v in built.items() if n.lower().startswith(_PACKAGE_HEADERS)}
            return own | dict(self._wire.headers)

    return OwnTransport


def new_http_client(relay: Any) -> Any:
    """Return the ``httpx2.AsyncClient`` that a vendor's client is given, over the call's relay."""
    import httpx2

    return httpx2.AsyncClient(
        transport=relay,  # so it loads no certificates
        timeout=None,  # the reader's limits cover connect, headers and body
        follow_redirects=False,
        trust_env=False,  # proxies and netrc: those of the adapter's own client hold
    )


def new_vendor_client(api: str, *, base_url: str, api_key: str, http: Any) -> VendorClient:
    """Return a client of the vendor's package with nothing left to its defaults.

    Args:
        api: The protocol.
        base_url: Always given: without it OPENAI_BASE_URL or ANTHROPIC_BASE_URL would decide.
        api_key: Always given: without it the package looks for one by itself.
        http: An ``httpx2.AsyncClient`` over the call's relay.
    """
    client: Any
    if api == MESSAGES:
        import anthropic

        client = anthropic.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url,
            http_client=http,
            max_retries=0,
            timeout=None,  # the reader's limits cover connect, headers and body
            open_telemetry=False,
        )
    else:
        import openai

        client = openai.AsyncOpenAI(
            api_key=api_key,
            base_url=base_url,
            http_client=http,
            max_retries=0,
            timeout=None,
        )
    # It would ask a thread for the name of the operating system at every client's first call.
    # The attribute is the package's own: where it goes by another name a call is only slower.
    client._platform = "Unknown"
    return client  # type: ignore[no-any-return]  # why: two packages, one interface


def call_options() -> dict[str, Any]:
    """Return the options of every single call, pinned beside those of the client."""
    return {"max_retries": 0, "follow_redirects": False, "timeout": None}


async def send_by_vendor(
    api: str, *, base_url: str, path: str, wire: WireRequest, relay: Relay
) -> None:
    """Let the vendor's package send ``wire`` over ``relay``; the answer is with the relay.

    Raises:
        Exception: What the adapter's own transport raised, unchanged.
    """
    import httpx2

    http = new_http_client(relay)
    client = new_vendor_client(api, base_url=base_url, api_key=wire.secrets[0], http=http)
    try:
        await client.post(
            path,
            cast_to=httpx2.Response,
            content=wire.body,  # these very bytes: a mapping would be transformed
            options=call_options(),
            stream=True,
            stream_cls=None,
        )
    except Exception:  # why: two packages, three families of errors, without a fact of their own
        if relay.error is not None:
            raise relay.error from None
        if relay.head is None:
            raise


# ---- the call ----------------------------------------------------------------------------


class RouteAdapter(BaseAdapter):
    """One route as it is configured now; made by ``adapter_of`` and never changed."""

    route: ClassVar[Route]

    def __init__(
        self,
        *,
        instance: str,
        tell: Callable[[str], None],
        **options: Unpack[AdapterOptions],
    ) -> None:
        super().__init__(**options)
        self._instance = instance
        self._tell = tell

    @override
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> ChunkStream:
        """See ``BaseAdapter``; the answer is marked as this adapter's."""
        return _MarkedStream(self, request, abort, instance=self._instance)

    def model(self, request: LlmRequest) -> Model:
        """Return the model that a request names.

        Raises:
            LlmError: UNKNOWN_MODEL.
        """
        known = self.route.models.get(request.model)
        if known is None:
            raise local_error(
                codes.UNKNOWN_MODEL,
                f"{self.route.name} has no model {request.model!r}; "
                f"it has {', '.join(self.route.models)}",
            )
        return known

    @override
    def check_request(self, request: LlmRequest) -> None:
        """See ``BaseAdapter``."""
        model = self.model(request)
        if has_images(request) and "image" not in model.input:
            raise local_error(
                codes.UNSUPPORTED_CONTENT,
                f"images: the model {model.id} of {self.route.name} takes text only",
            )
        check_switches(request, self.route, model)

    @override
    def body(self, request: LlmRequest) -> Mapping[str, Json]:
        """See ``BaseAdapter``."""
        messages = restorable(
            request.messages,
            instance=self._instance,
            model=request.model,
            dialect=self.dialect.name,
            tell=self._tell,
        )
        own = dataclasses.replace(request, messages=messages)
        return wire_body(own, self.route, self.model(request))

    @override
    async def exchange(
        self, request: LlmRequest
    ) -> AsyncGenerator[WireRequest | ResponseHead | bytes, None]:
        """See ``BaseAdapter``; the vendor's package sends the request."""
        wire = await self.wire_request(request)
        yield wire
        relay = _relay_class()(wire, self.send)
        path = self.dialect.path
        try:
            await send_by_vendor(
                self.route.api,
                base_url=wire.url.removesuffix(path),
                path=path,
                wire=wire,
                relay=relay,
            )
            yield relay.head
            async for data in relay.body:
                yield data
        finally:
            if relay.body is not None:
                await relay.body.aclose()


class GoneAdapter(RouteAdapter):
    """What is left of a route that was taken out of the set: it refuses its calls."""

    @override
    def check_request(self, request: LlmRequest) -> None:
        """See ``BaseAdapter``."""
        name = self.route.name
        raise local_error(codes.NO_ADAPTER, f"the profile {name!r} was taken out of the set")


class _MarkedStream(ChunkStream):
    """A stream whose finish says which adapter and model its replay state is of."""

    def __init__(
        self,
        adapter: RouteAdapter,
        request: LlmRequest,
        abort: AbortSignal | None,
        *,
        instance: str,
    ) -> None:
        super().__init__(adapter, request, abort)
        self._mark = {"instance": instance, "model": request.model}

    @override
    async def __anext__(self) -> Chunk:
        chunk = await super().__anext__()
        return stamped(chunk, **self._mark) if isinstance(chunk, Finish) else chunk


def adapter_class(route: Route, kind: type[RouteAdapter] = RouteAdapter) -> type[RouteAdapter]:
    """Return the class of a route: ``BaseAdapter`` reads what a provider is from its class."""
    models = route.models.values()
    reference = max(
        models, key=lambda model: ("image" in model.input, bool(model.reasoning_efforts))
    )
    capabilities = {Capability.TOOLS, Capability.REASONING}
    if "image" in reference.input:
        capabilities.add(Capability.IMAGES)
    facts = {
        "__module__": __name__,
        "route": route,
        "dialect": dialect_of(route),
        "default_base_url": route.base_url,
        "api_key_env": route.api_key_env,
        "request_id_headers": route.request_id_headers,
        "capabilities": frozenset(capabilities),
        "reference_model": reference.id,
    }
    return type(kind.__name__, (kind,), facts)
