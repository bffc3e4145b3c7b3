"""The HTTP exchange over either client: what goes out, what comes, what is closed."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest

from adapter_sdk._http import (
    HttpExchange,
    ResponseHead,
    WireRequest,
    _tls_context,
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
