"""Whose client is closed, what its own limits and redirects come to, and what is shown of a key."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from types import ModuleType
from typing import Any, Literal

import httpx
import httpx2
import pytest
from typing_extensions import override

from adapter_sdk import BaseAdapter, Capability, Declaration, Finish, LlmFailure, LlmRequest, user
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.testing import Exchange, FaultServer, Send, scripted_client

both_libraries = pytest.mark.parametrize(
    "library", [pytest.param(httpx, id="httpx"), pytest.param(httpx2, id="httpx2")]
)
pytestmark = pytest.mark.anyio

SECRET = "sk-very-secret"
REQUEST = LlmRequest(model="m", messages=(user("hi"),))
HI = Send(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n')
FINISHED = Send(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n')
DONE = Send(b"data: [DONE]\n\n")
END = Send(FINISHED.data + DONE.data)
LONGEST = len(FINISHED.data.rstrip())
EVENTS = (("content-type", "text/event-stream"),)


class Example(BaseAdapter):
    dialect = OpenAIChat(terminal="done-sentinel")
    default_base_url = "http://api.example/v1"


async def failure_of(adapter: BaseAdapter) -> LlmFailure | None:
    finish = [chunk async for chunk in adapter.stream(REQUEST)][-1]
    assert isinstance(finish, Finish)
    return finish.failure


class Listening(Example):
    """Looks at what its exchange yields, and leaves the rest to it."""

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        async for item in super().exchange(request):
            yield item


class Sending(Example):
    """Makes its own exchange of what ``send`` yields."""

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        wire = await self.wire_request(request)
        yield wire
        async for item in self.send(wire):
            yield item


@both_libraries
@pytest.mark.parametrize("adapter_class", [Example, Listening, Sending])
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Exchange(200, EVENTS, steps=(HI, END)), id="good"),
        pytest.param(Exchange(503, body=b"no"), id="refused"),
    ],
)
async def test_an_answer_that_was_read_gives_its_connection_back(
    library: ModuleType, adapter_class: type[Example], answer: Exchange
) -> None:
    limits = library.Limits(max_connections=1)
    with FaultServer([answer] * 3) as server:
        async with library.AsyncClient(timeout=None, limits=limits) as client:
            adapter = adapter_class(
                base_url=server.base_url, api_key=SECRET, http_client=client, idle_timeout=5
            )
            failures = [await failure_of(adapter) for _ in range(3)]

    # Where it did not, the second call waits for the pool's one connection.
    statuses = [failure.status if failure else 200 for failure in failures]
    assert statuses == [answer.status] * 3


@both_libraries
async def test_an_injected_client_stays_open(library: ModuleType) -> None:
    scripted = scripted_client([Exchange(200, EVENTS, steps=(HI, END))] * 2, library=library)
    async with Example(http_client=scripted.client, api_key=SECRET) as adapter:
        assert await failure_of(adapter) is None
    assert not scripted.client.is_closed
    assert await failure_of(adapter) is None
    await scripted.client.aclose()


async def test_the_adapters_own_client_is_made_once_and_closed_by_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []

    def new_client() -> Any:
        made.append(scripted_client([Exchange(200, EVENTS, steps=(HI, END))] * 2).client)
        return made[-1]

    monkeypatch.setattr("adapter_sdk._adapter.new_client", new_client)
    adapter = Example(api_key=SECRET)
    assert made == []
    async with adapter as same:
        assert same is adapter
        for _ in range(2):
            assert await failure_of(adapter) is None
        assert [client.is_closed for client in made] == [False]
    assert [client.is_closed for client in made] == [True]
    await adapter.aclose()
    assert await failure_of(adapter) is None  # a new client for a new call
    assert [client.is_closed for client in made] == [True, False]
    await adapter.aclose()


async def test_an_adapter_that_never_called_has_nothing_to_close() -> None:
    await Example(api_key=SECRET).aclose()


class Foreign(Exception):
    """Of a library that nobody knows."""


@both_libraries
@pytest.mark.parametrize("when", ["before-the-head", "in-the-body"])
@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        pytest.param(
            "PoolTimeout",
            "TIMEOUT",
            "no connection came free in the client's pool (PoolTimeout: x)",
            id="pool-timeout",
        ),
        pytest.param(
            "ConnectTimeout",
            "TIMEOUT",
            "no connection within the connect limit (ConnectTimeout: x)",
            id="connect-timeout",
        ),
        pytest.param(
            "ReadTimeout",
            "TIMEOUT",
            "the client's own read limit fired (ReadTimeout: x)",
            id="read-timeout",
        ),
        pytest.param(
            "RemoteProtocolError",
            "TRANSPORT",
            "the answer breaks HTTP or ends too early (RemoteProtocolError: x)",
            id="remote-protocol-error",
        ),
        pytest.param(
            "DecodingError",
            "TRANSPORT",
            "the body is not what its content-encoding says (DecodingError: x)",
            id="decoding-error",
        ),
        pytest.param(
            "TooManyRedirects", "TRANSPORT", "TooManyRedirects: x", id="too-many-redirects"
        ),
        pytest.param("Foreign", "UNKNOWN", "Foreign: x", id="unknown"),
    ],
)
async def test_an_exception_of_the_client_is_a_failure_of_the_call(
    library: ModuleType, when: str, name: str, code: str, message: str
) -> None:
    error = Foreign("x") if name == "Foreign" else getattr(library, name)("x")

    class Body(library.AsyncByteStream):  # type: ignore[misc,name-defined]  # why: two libraries
        async def __aiter__(self) -> Any:
            yield HI.data
            raise error

    class Transport(library.AsyncBaseTransport):  # type: ignore[misc,name-defined]  # why: the same
        async def handle_async_request(self, request: Any) -> Any:
            if when == "before-the-head":
                raise error
            return library.Response(200, headers=dict(EVENTS), stream=Body())

    async with library.AsyncClient(transport=Transport()) as client:
        found = await failure_of(Example(http_client=client, api_key=SECRET))
    status = None if when == "before-the-head" else 200
    assert found == LlmFailure(message=message, code=code, status=status)


@both_libraries
async def test_limits_of_an_injected_client_never_fire_first(library: ModuleType) -> None:
    scripted = scripted_client([Exchange(200, EVENTS, steps=(HI, END))], library=library)
    scripted.client.timeout = 0.001
    assert await failure_of(Example(http_client=scripted.client, api_key=SECRET)) is None
    (sent,) = scripted.requests
    assert set(sent.extensions["timeout"].values()) == {None}
    await scripted.client.aclose()


@both_libraries
async def test_a_connect_limit_is_the_clients_to_keep(library: ModuleType) -> None:
    scripted = scripted_client([Exchange(200, EVENTS, steps=(HI, END))], library=library)
    adapter = Example(http_client=scripted.client, api_key=SECRET, connect_timeout=2.5)
    assert await failure_of(adapter) is None
    (sent,) = scripted.requests
    assert sent.extensions["timeout"]["connect"] == 2.5
    await scripted.client.aclose()


@both_libraries
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(library: ModuleType, status: int) -> None:
    redirect = Exchange(status, (("location", "http://elsewhere.example/"),), body=b"")
    scripted = scripted_client([redirect, redirect], library=library)
    scripted.client.follow_redirects = True
    found = await failure_of(Example(http_client=scripted.client, api_key=SECRET))
    assert found is not None
    assert (found.code, found.status, len(scripted.requests)) == (f"HTTP_{status}", status, 1)
    await scripted.client.aclose()


@both_libraries
@pytest.mark.parametrize("ending", ["refuse", "reset", "close-before-headers"])
async def test_a_connection_that_breaks_is_not_tried_again(
    library: ModuleType, ending: Literal["refuse", "reset", "close-before-headers"]
) -> None:
    good = Exchange(200, EVENTS, steps=(HI, END))
    scripted = scripted_client([Exchange(None, ending=ending), good], library=library)
    found = await failure_of(Example(http_client=scripted.client, api_key=SECRET))
    assert found is not None
    assert (found.code, found.status, len(scripted.requests)) == ("TRANSPORT", None, 1)
    await scripted.client.aclose()


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_an_error_that_invites_another_attempt_gets_none(status: int) -> None:
    refused = Exchange(status, (("retry-after-ms", "1"),), body=b"")
    scripted = scripted_client([refused, Exchange(200, EVENTS, steps=(HI, END))])
    found = await failure_of(Example(http_client=scripted.client, api_key=SECRET))
    assert found is not None
    assert (found.status, found.provider_retry_after_ms) == (status, 1)
    assert len(scripted.requests) == 1
    await scripted.client.aclose()


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        pytest.param(LONGEST, None, id="as-long-as-it"),
        pytest.param(
            LONGEST - 1, "an event of the stream exceeds the limit of {} bytes", id="longer"
        ),
    ],
)
async def test_the_limit_of_an_event_is_the_adapters(limit: int, message: str | None) -> None:
    scripted = scripted_client([Exchange(200, EVENTS, steps=(HI, FINISHED, DONE))])
    adapter = Example(http_client=scripted.client, api_key=SECRET, event_limit_bytes=limit)
    found = await failure_of(adapter)
    expected = message and LlmFailure(
        message=message.format(limit), code="MALFORMED_RESPONSE", status=200
    )
    assert found == expected
    await scripted.client.aclose()


async def test_nothing_of_the_key_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = json.dumps({"error": {"message": f"the key {SECRET} is wrong"}}).encode()
    scripted = scripted_client([Exchange(401, (), body=echo)])
    adapter = Example(http_client=scripted.client, api_key=SECRET, base_url="http://api.example/v2")
    stream = adapter.stream(REQUEST)
    shown = [repr(adapter), repr(stream), repr(vars(adapter))]
    chunks = [chunk async for chunk in stream]
    shown += [repr(chunks), repr(stream), caplog.text]
    assert [text for text in shown if SECRET in text] == []
    assert shown[0] == "<Example http://api.example/v2>"
    (sent,) = scripted.requests
    assert sent.headers["authorization"] == f"Bearer {SECRET}"
    await scripted.client.aclose()


class Painter(Example):
    request_id_headers = ()
    capabilities = frozenset({Capability.IMAGES})
    reference_model = "painter-1"


async def test_a_declaration_says_what_an_adapter_promises() -> None:
    always = {Capability.HTTP_FACTS, Capability.PROGRESS_TIMEOUT}
    assert Example.declaration() == Declaration(
        dialects=("openai-chat",),
        terminal="done-sentinel",
        request_id_headers=("x-request-id",),
        capabilities=frozenset(
            {Capability.TOOLS, Capability.REASONING, Capability.REQUEST_ID, *always}
        ),
        model="reference-model",
    )
    assert Painter.declaration() == Declaration(
        dialects=("openai-chat",),
        terminal="done-sentinel",
        capabilities=frozenset({Capability.IMAGES, *always}),
        model="painter-1",
    )


class Quota(Example):
    @override
    def refine_failure(self, failure: LlmFailure, payload: object) -> LlmFailure:
        assert payload == {"error": {"message": "odd", "code": "x1"}}
        return LlmFailure(message=failure.message, code="QUOTA", status=failure.status)


async def test_an_adapter_may_refine_a_failure() -> None:
    body = b'{"error":{"message":"odd","code":"x1"}}'
    scripted = scripted_client([Exchange(400, (), body=body)])
    found = await failure_of(Quota(http_client=scripted.client, api_key=SECRET))
    assert found == LlmFailure(message="odd", code="QUOTA", status=400)
    await scripted.client.aclose()
