"""The HTTP exchange: one request, its head, its raw bytes. httpx, httpx2, or what acts like them.

Source: contract section 5.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeAlias, TypeVar

import anyio

from ._codes import TIMEOUT, TRANSPORT, UNKNOWN
from ._limits import CLOSING_S

if TYPE_CHECKING:
    import ssl

    import httpx
    import httpx2

    HttpClient: TypeAlias = httpx.AsyncClient | httpx2.AsyncClient


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_ONE_AT_A_TIME: Final = threading.Lock()

# Libraries wrap an exception three or four times; a chain may be a ring.
_LONGEST_CHAIN: Final = 16

# What one read of 64 KiB may still hold for a client that was closed, in chunks of a few bytes; a
# transport that never ends is left alone.
_MOST_READS_AFTER_CLOSE: Final = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """One request as it goes out. Its repr shows neither headers nor body.

    Attributes:
        url: Absolute.
        headers: Names and values, ASCII; the transport adds Host and Content-Length.
        body: The exact bytes.
        secrets: Values that no message may show.
    """

    url: str
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """Status and header lines of a response, in order, as received."""

    status: int
    headers: Sequence[tuple[str, str]]

    def values(self, name: str) -> list[str]:
        """Return the values of every line called ``name``, in order."""
        wanted = name.lower()
        return [value for key, value in self.headers if key.lower() == wanted]


def shared_tls_context() -> ssl.SSLContext:
    """Return the one TLS context of the process: loading the roots costs 55 ms a client."""
    with _ONE_AT_A_TIME:  # or threads that begin together would each load them
        return _tls_context()


@functools.cache
def _tls_context() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()


def new_client() -> httpx.AsyncClient:
    """Return a client whose own limits never fire and that remembers nothing between calls."""
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    import httpx

    return httpx.AsyncClient(
        verify=shared_tls_context(),
        timeout=None,  # noqa: S113 - why: the reader's limits cover connect, headers and body
        follow_redirects=False,
        # 100 connections, the default, would make the 101st stream wait for another one's end.
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


@functools.lru_cache(maxsize=64)
def _parsed_url(url_class: Callable[[str], Any], url: str) -> Any:
    """Return an address as the client's own value: parsing it is two fifths of a request."""
    return url_class(url)


class Source(Protocol[T_co]):
    """What is read to its end or closed: an asynchronous generator, or what acts like one."""

    def __aiter__(self) -> AsyncIterator[T_co]:
        """Return itself."""
        ...

    def __anext__(self) -> Awaitable[T_co]:
        """Return the next item."""
        ...

    async def aclose(self) -> None:
        """End it; again is nothing."""
        ...


class HttpExchange:
    """Yields the request that goes out, the response's head, its undecoded bytes.

    The request is sent once. Redirects are not followed, the client's own limits are switched
    off, its credentials are not used. Close it, also after its end: that closes the response.

    No generator, for one more around the client's own would cost its share of every read:
    ``closing`` makes one of it.
    """

    __slots__ = (
        "_client",
        "_closed",
        "_connect_timeout",
        "_following",
        "_raw",
        "_resolve",
        "_response",
    )

    def __init__(
        self,
        resolve: Callable[[], Awaitable[tuple[WireRequest, HttpClient]]],
        *,
        connect_timeout: float | None,
    ) -> None:
        self._resolve = resolve
        self._connect_timeout = connect_timeout
        self._closed = False
        self._client: Any = None  # two packages, one interface
        self._response: Any = None
        self._raw: AsyncIterator[bytes]
        self._following: Callable[[], Awaitable[WireRequest | ResponseHead | bytes]]
        self._following = self._request

    def __aiter__(self) -> Self:
        return self

    def __anext__(self) -> Awaitable[WireRequest | ResponseHead | bytes]:
        return self._following()

    async def _request(self) -> WireRequest:
        self._following = _nothing_more  # where this fails, nothing is tried again
        request, self._client = await self._resolve()
        if self._closed:
            raise StopAsyncIteration
        self._following = functools.partial(self._head, request)
        return request

    async def _head(self, request: WireRequest) -> ResponseHead:
        self._following = _nothing_more
        url_class: Any = type(getattr(self._client, "base_url", ""))
        sent = self._client.build_request(
            request.method,
            _parsed_url(url_class, request.url),
            headers=dict(request.headers),
            content=request.body,
            timeout=(self._connect_timeout, None, None, None),  # connect, read, write, pool
        )
        response = await self._client.send(sent, stream=True, auth=None, follow_redirects=False)
        # Not through ``aiter_raw``, which costs a tenth more and adds nothing to it here. A
        # mocked transport may answer with a body that is read already: its stream gives it once
        # more.
        self._response, self._raw = response, aiter(response.stream)
        if self._closed:  # meanwhile
            await self.aclose()
            raise StopAsyncIteration
        self._following = self._raw.__anext__
        return ResponseHead(
            response.status_code,
            [(_latin(name), _latin(value)) for name, value in response.headers.raw],
        )

    async def aclose(self) -> None:
        """Close the response; nothing comes any more."""
        self._closed, self._following = True, _nothing_more
        response, self._response = self._response, None
        if response is not None:
            with anyio.move_on_after(CLOSING_S, shield=True):
                await response.aclose()
                await _run_out(self._raw)


async def closing(source: Source[T]) -> AsyncGenerator[T, None]:
    """Yield what ``source`` yields, and close it at the end, whichever comes first."""
    try:
        async for item in source:
            yield item
    finally:
        await source.aclose()


async def _nothing_more() -> bytes:
    raise StopAsyncIteration


async def _run_out(raw: AsyncIterator[bytes]) -> None:
    """Bring the generators of a closed response to their end.

    The clients nest them, and closing the outer one leaves the inner ones to the garbage
    collector, which trio reports as a leak. The connection is closed, so they end at once.
    """
    for _ in range(_MOST_READS_AFTER_CLOSE):
        try:
            await anext(raw)
        except StopAsyncIteration:
            return
        except Exception:  # noqa: BLE001 - why: each library says in its own way that it is closed
            return


def _latin(value: bytes) -> str:
    # Header bytes have no charset; Latin-1 maps each to one character and never fails.
    return value.decode("latin-1")


# By class name, along the method resolution order: httpx and httpx2 use the same names.
_CODE_OF_EXCEPTION: Final = {
    "TimeoutException": TIMEOUT,
    "TimeoutError": TIMEOUT,
    "TransportError": TRANSPORT,
    "DecodingError": TRANSPORT,
    "TooManyRedirects": TRANSPORT,
    "StreamError": TRANSPORT,
    "OSError": TRANSPORT,
    "EOFError": TRANSPORT,
    "BrokenResourceError": TRANSPORT,
    "ClosedResourceError": TRANSPORT,
    "EndOfStream": TRANSPORT,
}

_HINT_OF_EXCEPTION: Final = {
    "PoolTimeout": "no connection came free in the client's pool",
    "ConnectTimeout": "no connection within the connect limit",
    "ReadTimeout": "the client's own read limit fired",
    "WriteTimeout": "the client's own write limit fired",
    "ConnectError": "no connection to the provider",
    "ReadError": "the connection broke while the answer was read",
    "WriteError": "the connection broke while the request was sent",
    "RemoteProtocolError": "the answer breaks HTTP or ends too early",
    "DecodingError": "the body is not what its content-encoding says",
}


def describe_exception(error: BaseException) -> tuple[str, str]:
    """Return the code and a sentence for what a library underneath raised."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    names = [cls.__name__ for cls in type(error).__mro__]
    code = next((_CODE_OF_EXCEPTION[name] for name in names if name in _CODE_OF_EXCEPTION), UNKNOWN)
    hint = next((_HINT_OF_EXCEPTION[name] for name in names if name in _HINT_OF_EXCEPTION), "")
    said = f"{type(error).__name__}: {error}" if str(error).strip() else type(error).__name__
    return code, f"{hint} ({said})" if hint else said


def shown_chain(error: BaseException) -> str:
    """Return what a traceback would say of an exception and of those that it came from."""
    shown: list[str] = []
    chain: BaseException | None = error
    while chain is not None and len(shown) < _LONGEST_CHAIN:
        shown.append(f"{chain!r} {chain}")
        chain = chain.__cause__ or chain.__context__
    return "\n".join(shown)
