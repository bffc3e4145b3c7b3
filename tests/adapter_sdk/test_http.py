"""The HTTP exchange over either client, and what the exceptions of the libraries mean."""

from __future__ import annotations

import contextlib
import inspect
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from types import ModuleType
from typing import Any

import anyio
import httpx
import httpx2
import pytest
import trio

from adapter_sdk._http import (
    HttpExchange,
    ResponseHead,
    WireRequest,
    _tls_context,
    describe_exception,
    new_client,
)
from adapter_sdk.testing import Exchange, Send, scripted_client

both_libraries = pytest.mark.parametrize(
    "library", [pytest.param(httpx, id="httpx"), pytest.param(httpx2, id="httpx2")]
)

REQUEST = WireRequest(
    url="http://api.example/v1/chat",
    headers={"authorization": "Bearer sk-1", "accept-encoding": "identity"},
    body=b'{"a":1}',
    secrets=("sk-1",),
)


def sending(client: Any) -> Callable[[], Awaitable[tuple[WireRequest, Any]]]:
    async def resolve() -> tuple[WireRequest, Any]:
        return REQUEST, client

    return resolve


async def exchanged(
    client: Any, *, connect_timeout: float | None = None
) -> AsyncIterator[WireRequest | ResponseHead | bytes]:
    async with contextlib.aclosing(
        HttpExchange(sending(client), connect_timeout=connect_timeout)
    ) as source:
        async for item in source:
            yield item


CODE_OF_CLIENT_EXCEPTION = {
    "CloseError": "TRANSPORT",
    "ConnectError": "TRANSPORT",
    "ConnectTimeout": "TIMEOUT",
    "CookieConflict": "UNKNOWN",
    "DecodingError": "TRANSPORT",
    "HTTPError": "UNKNOWN",
    "HTTPStatusError": "UNKNOWN",
    "InvalidURL": "UNKNOWN",
    "LocalProtocolError": "TRANSPORT",
    "NetworkError": "TRANSPORT",
    "PoolTimeout": "TIMEOUT",
    "ProtocolError": "TRANSPORT",
    "ProxyError": "TRANSPORT",
    "ReadError": "TRANSPORT",
    "ReadTimeout": "TIMEOUT",
    "RemoteProtocolError": "TRANSPORT",
    "RequestError": "UNKNOWN",
    "RequestNotRead": "TRANSPORT",
    "ResponseNotRead": "TRANSPORT",
    "StreamClosed": "TRANSPORT",
    "StreamConsumed": "TRANSPORT",
    "StreamError": "TRANSPORT",
    "TimeoutException": "TIMEOUT",
    "TooManyRedirects": "TRANSPORT",
    "TransportError": "TRANSPORT",
    "UnsupportedProtocol": "TRANSPORT",
    "WriteError": "TRANSPORT",
    "WriteTimeout": "TIMEOUT",
}


def exceptions_of(library: ModuleType) -> dict[str, type[Exception]]:
    return {
        name: cls
        for name, cls in vars(library).items()
        if inspect.isclass(cls) and issubclass(cls, Exception)
    }


@both_libraries
def test_every_exception_of_the_clients_has_a_code(library: ModuleType) -> None:
    found = {}
    for name, cls in exceptions_of(library).items():
        error = cls.__new__(cls)  # their constructors differ; the class alone decides
        Exception.__init__(error, "said")
        found[name] = describe_exception(error)[0]
    found.pop("SSEError", None)  # raised by httpx2's own decoder, which is not used
    assert found == CODE_OF_CLIENT_EXCEPTION


class OwnReadTimeout(httpx.ReadTimeout):
    pass


class ReadTimeout(Exception):
    pass


def group(*errors: Exception) -> ExceptionGroup[Exception]:
    return ExceptionGroup("unhandled errors in a TaskGroup", errors)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        pytest.param(
            httpx.PoolTimeout("waited"),
            "TIMEOUT",
            "no connection came free in the client's pool (PoolTimeout: waited)",
            id="pool-timeout-names-the-pool",
        ),
        pytest.param(
            httpx2.PoolTimeout(""),
            "TIMEOUT",
            "no connection came free in the client's pool (PoolTimeout)",
            id="without-a-message-of-its-own",
        ),
        pytest.param(
            httpx.ConnectTimeout(""),
            "TIMEOUT",
            "no connection within the connect limit (ConnectTimeout)",
            id="connect-timeout",
        ),
        pytest.param(
            httpx.ReadTimeout(" \n"),
            "TIMEOUT",
            "the client's own read limit fired (ReadTimeout)",
            id="blank-message",
        ),
        pytest.param(
            httpx.WriteTimeout("w"),
            "TIMEOUT",
            "the client's own write limit fired (WriteTimeout: w)",
            id="write-timeout",
        ),
        pytest.param(
            httpx.ConnectError("refused"),
            "TRANSPORT",
            "no connection to the provider (ConnectError: refused)",
            id="connect-error",
        ),
        pytest.param(
            httpx.ReadError(""),
            "TRANSPORT",
            "the connection broke while the answer was read (ReadError)",
            id="read-error",
        ),
        pytest.param(
            httpx2.WriteError(""),
            "TRANSPORT",
            "the connection broke while the request was sent (WriteError)",
            id="write-error",
        ),
        pytest.param(
            httpx.RemoteProtocolError("incomplete"),
            "TRANSPORT",
            "the answer breaks HTTP or ends too early (RemoteProtocolError: incomplete)",
            id="remote-protocol-error",
        ),
        pytest.param(
            httpx.DecodingError("gzip"),
            "TRANSPORT",
            "the body is not what its content-encoding says (DecodingError: gzip)",
            id="decoding-error",
        ),
        pytest.param(
            httpx.UnsupportedProtocol("ftp"),
            "TRANSPORT",
            "UnsupportedProtocol: ftp",
            id="no-hint-for-this-one",
        ),
        pytest.param(
            OwnReadTimeout("x"),
            "TIMEOUT",
            "the client's own read limit fired (OwnReadTimeout: x)",
            id="subclass",
        ),
        pytest.param(TimeoutError(), "TIMEOUT", "TimeoutError", id="builtin-timeout"),
        pytest.param(
            ConnectionResetError(104, "reset"),
            "TRANSPORT",
            "ConnectionResetError: [Errno 104] reset",
            id="os-error",
        ),
        pytest.param(ssl.SSLError("bad"), "TRANSPORT", "SSLError: ('bad',)", id="tls"),
        pytest.param(EOFError(), "TRANSPORT", "EOFError", id="end-of-file"),
        pytest.param(anyio.EndOfStream(), "TRANSPORT", "EndOfStream", id="anyio-end-of-stream"),
        pytest.param(
            anyio.BrokenResourceError(), "TRANSPORT", "BrokenResourceError", id="anyio-broken"
        ),
        pytest.param(
            trio.ClosedResourceError("gone"),
            "TRANSPORT",
            "ClosedResourceError: gone",
            id="trio-closed",
        ),
        pytest.param(KeyError("x"), "UNKNOWN", "KeyError: 'x'", id="a-bug-of-somebodys"),
        pytest.param(RuntimeError(), "UNKNOWN", "RuntimeError", id="nothing-said"),
        pytest.param(
            group(group(httpx.PoolTimeout("p"))),
            "TIMEOUT",
            "no connection came free in the client's pool (PoolTimeout: p)",
            id="one-error-in-groups",
        ),
        pytest.param(
            group(OSError(1, "a"), ValueError("b")),
            "UNKNOWN",
            "ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)",
            id="two-errors-in-a-group",
        ),
    ],
)
def test_an_exception_is_described(error: BaseException, code: str, message: str) -> None:
    assert describe_exception(error) == (code, message)


def test_the_name_counts_and_not_the_package() -> None:
    # The clients share their names and not their classes; httpx's own base has to be there.
    assert describe_exception(ReadTimeout())[0] == "UNKNOWN"


def test_a_request_shows_neither_headers_nor_body_nor_secrets() -> None:
    assert repr(REQUEST) == "WireRequest(url='http://api.example/v1/chat', method='POST')"


def test_header_lines_are_found_in_any_case_and_in_order() -> None:
    head = ResponseHead(200, [("X-Id", "a"), ("date", "now"), ("x-id", "b")])
    assert (head.values("x-ID"), head.values("absent")) == (["a", "b"], [])


@both_libraries
@pytest.mark.anyio
async def test_one_request_goes_out_as_it_is(library: ModuleType) -> None:
    scripted = scripted_client([Exchange(200, body=b"hello")], library=library)
    items = [item async for item in exchanged(scripted.client, connect_timeout=7.0)]
    (sent,) = scripted.requests
    assert (sent.method, str(sent.url), sent.content) == ("POST", REQUEST.url, b'{"a":1}')
    assert {name: sent.headers[name] for name in REQUEST.headers} == REQUEST.headers
    assert sent.extensions["timeout"] == {
        "connect": 7.0,
        "read": None,
        "write": None,
        "pool": None,
    }
    assert items == [REQUEST, ResponseHead(200, []), b"hello"]
    assert scripted.open_responses == 0
    await scripted.client.aclose()


@both_libraries
@pytest.mark.anyio
async def test_the_head_keeps_every_line_and_the_body_its_bytes(library: ModuleType) -> None:
    answer = Exchange(
        200,
        (
            ("Retry-After", "1"),
            ("retry-after", "2"),
            ("x-id", b"r\xe9\x85"),
            ("content-encoding", "gzip"),
        ),
        steps=(Send(b"not "), Send(b"gzip")),
    )
    scripted = scripted_client([answer], library=library)
    items = [item async for item in exchanged(scripted.client)]
    sent, head, *body = items
    assert sent == REQUEST
    assert isinstance(head, ResponseHead)
    assert [(name.lower(), value) for name, value in head.headers] == [
        ("retry-after", "1"),
        ("retry-after", "2"),
        ("x-id", "r\u00e9\u0085"),
        ("content-encoding", "gzip"),
    ]
    assert body == [b"not ", b"gzip"]
    await scripted.client.aclose()


@both_libraries
@pytest.mark.anyio
async def test_what_an_injected_client_would_do_by_itself_is_off(library: ModuleType) -> None:
    seen: list[Any] = []

    def answer(request: Any) -> Any:
        seen.append(request)
        return library.Response(307, headers={"location": "http://elsewhere.example/"})

    async with library.AsyncClient(
        transport=library.MockTransport(answer),
        follow_redirects=True,
        auth=("user", "password"),
        timeout=0.001,
    ) as client:
        items = [item async for item in exchanged(client)]
    assert [getattr(item, "status", item) for item in items if item] == [REQUEST, 307]
    (sent,) = seen
    assert sent.headers["authorization"] == "Bearer sk-1"
    assert set(sent.extensions["timeout"].values()) == {None}


@both_libraries
@pytest.mark.anyio
async def test_leaving_the_exchange_closes_the_response(library: ModuleType) -> None:
    scripted = scripted_client([Exchange(200, steps=(Send(b"a"),), ending="hold")], library=library)
    source = HttpExchange(sending(scripted.client), connect_timeout=None)
    assert [await anext(source), await anext(source)] == [REQUEST, ResponseHead(200, [])]
    opened = scripted.open_responses
    await source.aclose()
    assert (opened, scripted.open_responses) == (1, 0)
    await source.aclose()
    assert [item async for item in source] == []
    await scripted.client.aclose()


@both_libraries
@pytest.mark.anyio
async def test_an_exchange_that_is_closed_before_it_began_sends_nothing(
    library: ModuleType,
) -> None:
    scripted = scripted_client([Exchange(200)], library=library)
    source = HttpExchange(sending(scripted.client), connect_timeout=None)
    await source.aclose()
    assert [item async for item in source] == []
    assert scripted.requests == []
    await scripted.client.aclose()


@both_libraries
@pytest.mark.anyio
async def test_what_has_failed_is_not_tried_again(library: ModuleType) -> None:
    asked: list[str] = []

    def refuse(request: Any) -> Any:
        asked.append("the server")
        raise library.ConnectError("no")

    async def refuse_credential() -> tuple[WireRequest, Any]:
        asked.append("the credential")
        raise LookupError

    async with library.AsyncClient(transport=library.MockTransport(refuse)) as client:
        source = HttpExchange(sending(client), connect_timeout=None)
        assert await anext(source) == REQUEST
        with pytest.raises(library.ConnectError):
            await anext(source)
        assert [item async for item in source] == []
        source = HttpExchange(refuse_credential, connect_timeout=None)
        with pytest.raises(LookupError):
            await anext(source)
        assert [item async for item in source] == []

    assert asked == ["the server", "the credential"]


@both_libraries
@pytest.mark.anyio
async def test_a_head_that_comes_after_the_close_is_closed(library: ModuleType) -> None:
    scripted = scripted_client([Exchange(200, steps=(Send(b"a"),))], library=library)
    source = HttpExchange(sending(scripted.client), connect_timeout=None)
    await anext(source)
    head = source.__anext__()
    await source.aclose()
    with pytest.raises(StopAsyncIteration):
        await head
    assert (len(scripted.requests), scripted.open_responses) == (1, 0)
    assert [item async for item in source] == []
    await scripted.client.aclose()


@both_libraries
@pytest.mark.anyio
async def test_a_credential_that_comes_after_the_close_sends_nothing(library: ModuleType) -> None:
    scripted = scripted_client([Exchange(200)], library=library)
    source = HttpExchange(sending(scripted.client), connect_timeout=None)
    request = source.__anext__()
    await source.aclose()
    with pytest.raises(StopAsyncIteration):
        await request
    assert [item async for item in source] == []
    assert scripted.requests == []
    await scripted.client.aclose()


@both_libraries
@pytest.mark.anyio
async def test_a_mocked_answer_that_is_read_already_is_read_again(library: ModuleType) -> None:
    async with library.AsyncClient(
        transport=library.MockTransport(lambda _: library.Response(200, content=b"hello"))
    ) as client:
        items = [item async for item in exchanged(client)]
    assert [getattr(item, "status", item) for item in items] == [REQUEST, 200, b"hello"]


@pytest.mark.anyio
async def test_the_adapters_own_clients_share_a_tls_context_and_have_no_limits_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[ssl.SSLContext] = []

    def counted() -> ssl.SSLContext:
        made.append(ssl.create_default_context())
        return made[-1]

    _tls_context.cache_clear()
    monkeypatch.setattr(httpx, "create_ssl_context", counted)
    try:
        async with new_client() as first, new_client() as second:
            assert (len(made), first is second) == (1, False)
            assert (first.timeout, first.follow_redirects) == (httpx.Timeout(None), False)
            pool = vars(first)["_transport"]._pool
            assert (pool._max_connections, pool._ssl_context) == (2**63 - 1, made[0])
    finally:
        _tls_context.cache_clear()


@pytest.mark.anyio
async def test_the_adapters_own_client_remembers_no_cookies() -> None:
    seen: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("cookie"))
        return httpx.Response(200, headers={"set-cookie": "session=1; Path=/"})

    async with new_client() as client:
        vars(client)["_transport"] = httpx.MockTransport(answer)
        vars(client)["_mounts"] = {}
        for _ in range(2):
            async for _item in exchanged(client):
                pass
    assert seen == [None, None]
