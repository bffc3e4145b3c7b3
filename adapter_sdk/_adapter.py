"""The base class of adapters: all that does not depend on the provider.

Transport, time, cancellation, failure facts and the grammar of chunks are here. An author
fills in the dialect, the endpoint, the credential and the names of a few headers.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Final, Self, TypedDict
from urllib.parse import urlsplit

from typing_extensions import override

from ._abort import AbortSignal
from ._chunk_stream import ChunkStream
from ._codes import UNSUPPORTED_CONTENT, UNSUPPORTED_OPTION
from ._credential import Credential, CredentialSource
from ._declaration import Capability, Declaration
from ._dialect import Dialect, Json
from ._failure import LlmFailure, local_error
from ._http import HttpExchange, ResponseHead, Source, WireRequest, closing, new_client
from ._json_bytes import json_bytes
from ._limits import (
    DEFAULT_IDLE_TIMEOUT_S,
    DEFAULT_PROGRESS_TIMEOUT_S,
    checked_limit,
    checked_optional_limit,
)
from ._request import LlmRequest
from ._stream_core import DEFAULT_EVENT_LIMIT_BYTES, StreamCore
from ._user_agent import sdk_name, user_agent
from ._wire_json import load_parser

if TYPE_CHECKING:
    from ._http import HttpClient

# The SDK decides these; a configuration that names one would break the call or its facts.
_RESERVED_HEADERS: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "authorization",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
    }
)


class AdapterOptions(TypedDict, total=False):
    """The options of ``BaseAdapter``, for subclasses that pass them on."""

    base_url: str | None
    api_key: str | CredentialSource | None
    idle_timeout: float
    progress_timeout: float | None
    connect_timeout: float | None
    header_timeout: float | None
    http_client: HttpClient | None
    headers: Mapping[str, str] | None
    event_limit_bytes: int


class BaseAdapter:
    """An adapter to one provider over HTTP. Subclass it and fill in the class attributes.

    One adapter serves many calls, side by side, in one event loop. It makes one request a
    call, never retries, follows no redirect.

    Attributes:
        dialect: How the provider speaks.
        default_base_url: Where it is, without a slash at the end.
        api_key_env: Environment variable of the credential, or None.
        base_url_env: Environment variable that overrides ``default_base_url``, or None.
        request_id_headers: Names of its request id headers, in order of preference.
        capabilities: Tools, reasoning, images: what is not here is refused before sending.
        reference_model: A model id for the conformance kit's conversations.

    Args:
        base_url: Overrides the environment and the default.
        api_key: The credential or a callable that returns it; else ``api_key_env`` is read,
            at each call.
        idle_timeout: Seconds without any event or comment while the caller waits.
        progress_timeout: Seconds without text, reasoning or arguments while the caller waits;
            None switches it off.
        connect_timeout: Seconds until connected; None: the idle limit alone.
        header_timeout: Seconds until the response's head; None: the idle limit alone.
        http_client: An ``httpx.AsyncClient`` or ``httpx2.AsyncClient`` of the caller's, who
            closes it. Without one the adapter makes its own and closes it in ``aclose``.
        headers: More request headers; ``user-agent`` extends the SDK's.
        event_limit_bytes: Most bytes of one event.

    Raises:
        ValueError: A limit, an address or a header that cannot be used; the message begins
            with its name.

    Source: contract sections 1, 4 and 5.
    """

    dialect: ClassVar[Dialect]
    default_base_url: ClassVar[str] = ""
    api_key_env: ClassVar[str | None] = None
    base_url_env: ClassVar[str | None] = None
    request_id_headers: ClassVar[tuple[str, ...]] = ("x-request-id",)
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {Capability.TOOLS, Capability.REASONING}
    )
    reference_model: ClassVar[str] = "reference-model"

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | CredentialSource | None = None,
        idle_timeout: float = DEFAULT_IDLE_TIMEOUT_S,
        progress_timeout: float | None = DEFAULT_PROGRESS_TIMEOUT_S,
        connect_timeout: float | None = None,
        header_timeout: float | None = None,
        http_client: HttpClient | None = None,
        headers: Mapping[str, str] | None = None,
        event_limit_bytes: int = DEFAULT_EVENT_LIMIT_BYTES,
    ) -> None:
        self.idle_timeout = checked_limit("idle_timeout", idle_timeout)
        self.progress_timeout = checked_optional_limit("progress_timeout", progress_timeout)
        self.connect_timeout = checked_optional_limit("connect_timeout", connect_timeout)
        self.header_timeout = checked_optional_limit("header_timeout", header_timeout)
        if type(event_limit_bytes) is not int or event_limit_bytes < 1:
            raise ValueError("event_limit_bytes: a whole number of 1 or more")
        self.event_limit_bytes = event_limit_bytes
        default = self.default_base_url
        self._default = default and checked_base_url(default, name="default_base_url")
        self._base_url = None if base_url is None else checked_base_url(base_url)
        self._credential = Credential(api_key, environment=self.api_key_env)
        self._headers = checked_headers(headers or {})
        self._client = http_client
        self._owns_client = http_client is None

    @override
    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._base_url or self._default}>"

    # ---- what a caller uses --------------------------------------------------------------

    @classmethod
    def declaration(cls) -> Declaration:
        """Return what this adapter promises; the conformance kit reads it."""
        request_id = {Capability.REQUEST_ID} if cls.request_id_headers else set()
        always = {Capability.HTTP_FACTS, Capability.PROGRESS_TIMEOUT}
        return Declaration(
            dialects=(cls.dialect.name,),
            terminal=cls.dialect.terminal,
            request_id_headers=cls.request_id_headers,
            capabilities=cls.capabilities | always | request_id,
            model=cls.reference_model,
        )

    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> ChunkStream:
        """Return the stream of one call. Nothing is sent before its first chunk is awaited.

        Failures of the call arrive as the stream's last chunk; see ``collect`` for a call
        that returns a message or raises.
        """
        return ChunkStream(self, request, abort)

    async def aclose(self) -> None:
        """Close the adapter's own client; one that was passed in stays open."""
        if self._owns_client and self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    # ---- what an author may override -----------------------------------------------------

    def check_request(self, request: LlmRequest) -> None:
        """Refuse what the provider cannot honour, before anything is sent.

        Raises:
            LlmError: A code that begins with UNSUPPORTED, or UNKNOWN_MODEL.
        """
        if request.tools and Capability.TOOLS not in self.capabilities:
            raise local_error(UNSUPPORTED_OPTION, "tools: this adapter does not offer them")
        if Capability.IMAGES not in self.capabilities and has_images(request):
            raise local_error(UNSUPPORTED_CONTENT, "images: this adapter takes text only")

    def body(self, request: LlmRequest) -> Mapping[str, Json]:
        """Return the JSON body; override it for what only this provider takes.

        Raises:
            LlmError: The request cannot be said on this wire.
        """
        return self.dialect.body(request)

    def request_headers(self, request: LlmRequest) -> Mapping[str, str]:
        """Return headers of this one request, beyond the SDK's and the credential's."""
        return {}

    def refine_failure(self, failure: LlmFailure, payload: object) -> LlmFailure:
        """Return the failure, made more precise by what only this provider says.

        Args:
            failure: As the SDK classified it.
            payload: The decoded error body or frame, or None.
        """
        return failure

    # ---- what the stream uses ------------------------------------------------------------

    async def wire_request(self, request: LlmRequest) -> WireRequest:
        """Return the one request of a call; credential and endpoint are resolved here, once.

        Raises:
            LlmError: The call is refused before anything is sent.
        """
        self.check_request(request)
        try:
            encoded = json_bytes(self.body(request))
        except ValueError as error:
            raise local_error(
                UNSUPPORTED_OPTION, f"the request holds a value that JSON cannot carry: {error}"
            ) from error
        own_headers = self._own_headers(request)
        base_url = self._resolve_base_url()
        credential = await self._credential.resolve()
        headers = {
            **self._headers,
            **own_headers,
            **self.dialect.credential_headers(credential),
            "user-agent": user_agent(self._headers.get("user-agent")),
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            "content-type": "application/json",
        }
        return WireRequest(
            url=base_url + self.dialect.path, headers=headers, body=encoded, secrets=(credential,)
        )

    def open(self) -> None:
        """Make the adapter's own client, where it has none.

        Before any limit runs: imports and certificates take longer than some idle limits, and
        are no silence of the provider.
        """
        load_parser()
        sdk_name()
        if self._client is None:
            self._client = new_client()

    def core(self) -> StreamCore:
        """Return the state of a new call."""
        return StreamCore(
            self.dialect.translator(),
            request_id_headers=self.request_id_headers,
            event_limit_bytes=self.event_limit_bytes,
            refine=self.refine_failure,
        )

    def exchange(
        self, request: LlmRequest
    ) -> AsyncGenerator[WireRequest | ResponseHead | bytes, None]:
        """Yield the request that goes out, the response's head, then its bytes."""
        return closing(self._exchange(request))

    def source(self, request: LlmRequest) -> Source[WireRequest | ResponseHead | bytes]:
        """Return what a stream reads and closes: ``exchange``, as it is or as it is overridden."""
        if type(self).exchange is BaseAdapter.exchange:
            return self._exchange(request)  # without a generator around it
        return self.exchange(request)

    def _exchange(self, request: LlmRequest) -> HttpExchange:
        async def resolve() -> tuple[WireRequest, HttpClient]:
            return await self.wire_request(request), self._opened()

        return HttpExchange(resolve, connect_timeout=self.connect_timeout)

    async def send(self, wire: WireRequest) -> AsyncGenerator[ResponseHead | bytes, None]:
        """Send one request as it stands; yield its head, then its undecoded bytes.

        For an ``exchange`` of your own, for example over a vendor's package. Nothing is sent
        before its first item is awaited; close it to close the connection.
        """

        async def resolve() -> tuple[WireRequest, HttpClient]:
            return wire, self._opened()

        sent = HttpExchange(resolve, connect_timeout=self.connect_timeout)
        try:
            async for item in sent:
                if not isinstance(item, WireRequest):
                    yield item
        finally:
            await sent.aclose()

    def _opened(self) -> HttpClient:
        self.open()
        assert self._client is not None  # noqa: S101 - why: open has just made it
        return self._client

    def _own_headers(self, request: LlmRequest) -> dict[str, str]:
        try:
            return checked_headers(self.request_headers(request))
        except ValueError as error:  # a session id or the like that no header can carry
            raise local_error(UNSUPPORTED_OPTION, str(error)) from error

    def _resolve_base_url(self) -> str:
        if self._base_url is not None:
            return self._base_url
        from_environment = os.environ.get(self.base_url_env or "", "").strip()
        if not from_environment:
            if not self._default:
                variable = f", set ${self.base_url_env}" if self.base_url_env else ""
                said = f"base_url: there is none; pass it{variable} or give the class a default"
                raise local_error(UNSUPPORTED_OPTION, said)
            return self._default
        try:
            return checked_base_url(from_environment)
        except ValueError as error:
            raise local_error(UNSUPPORTED_OPTION, f"${self.base_url_env}: {error}") from error


def has_images(request: LlmRequest) -> bool:
    """Whether any turn holds an image, tool results included."""
    return any(
        block.type == "image"
        or (block.type == "tool-result" and any(part.type == "image" for part in block.content))
        for message in request.messages
        for block in message.content
    )


def checked_base_url(value: str, *, name: str = "base_url") -> str:
    """Return an absolute http or https address without a slash at its end.

    Raises:
        ValueError: Anything else; the message begins with ``name``.
    """
    text = value.strip().rstrip("/")
    scheme, separator, rest = text.partition("://")
    if scheme.lower() not in ("http", "https") or not separator or not rest.split("/")[0]:
        raise ValueError(f"{name}: an absolute address that begins with http:// or https://")
    if "?" in rest or "#" in rest or "@" in rest.split("/")[0]:
        raise ValueError(f"{name}: an address without a query, a fragment or a credential")
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError(f"{name}: printable ASCII without spaces")
    try:
        parts = urlsplit(text)
        has_host = parts.hostname is not None and parts.port != 0
    except ValueError:  # a port that is no number below 65,536, half an IPv6 address
        has_host = False
    if not has_host:
        raise ValueError(f"{name}: an address with a host and, where it names one, a port")
    return text


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return ``headers`` with names in lower case and values without the spaces around them.

    Raises:
        ValueError: A name that the SDK decides, or characters that no header can carry.
    """
    checked: dict[str, str] = {}
    for name, value in headers.items():
        lower = name.lower()
        if lower in _RESERVED_HEADERS:
            raise ValueError(f"headers: {lower} is set by the adapter itself")
        if not lower.isascii() or not lower.replace("-", "").replace("_", "").isalnum():
            raise ValueError("headers: a name holds a character that no header can carry")
        if not isinstance(value, str) or not (value.isascii() and value.isprintable()):
            raise ValueError(f"headers: the value of {lower} is no printable ASCII text")
        checked[lower] = value.strip()
    return checked
