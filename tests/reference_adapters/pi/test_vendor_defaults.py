"""What the vendors' packages do by themselves does not reach the contract."""

from __future__ import annotations

import gzip
from typing import Any, Final, NoReturn

import httpx2
import pytest

from adapter_sdk import BaseAdapter, LlmFailure, ProviderRequestId, WireRequest, codes
from adapter_sdk.testing import Exchange, FaultServer, Flood, Send
from reference_adapters.pi import PiAdapter, PiProfiles, _call
from reference_adapters.pi._wire import MESSAGES_VERSION

from .answers import (
    APIS,
    EVENT_STREAM,
    KEY,
    ROUTES,
    adapter_to,
    events,
    finish_of,
    good,
    request_to,
)

# Every variable that a package reads where it is told nothing, with what it must not do.
ENVIRONMENT: Final = {
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "OPENAI_API_KEY": "sk-other-openai",
    "OPENAI_ADMIN_KEY": "sk-admin",
    "OPENAI_ORG_ID": "org-other",
    "OPENAI_PROJECT_ID": "proj-other",
    "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer sk-other\nx-other: 1",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
    "ANTHROPIC_API_KEY": "sk-other-anthropic",
    "ANTHROPIC_AUTH_TOKEN": "sk-other-token",
    "ANTHROPIC_CUSTOM_HEADERS": "Authorization: Bearer sk-other\nanthropic-version: 1\nx-other: 1",
}

PATHS: Final = {
    "openai-completions": "/chat/completions",
    "openai-responses": "/responses",
    "anthropic-messages": "/v1/messages",
}


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_the_environment_changes_neither_address_nor_headers(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with FaultServer((good(api),)) as server:
        async with adapter_to(api, server) as adapter:
            assert (await finish_of(adapter, request_to(api))).failure is None
        (seen,) = server.requests
    headers = {name.lower(): value for name, value in seen.headers}
    package = {name for name in headers if name.startswith("x-stainless-")}
    own = {name: value for name, value in headers.items() if name not in package}
    assert seen.target == PATHS[api]
    assert own.pop("host") == f"127.0.0.1:{server.port}"
    assert own.pop("content-length") == str(len(seen.body))
    assert own.pop("user-agent").startswith("dsh-adapter-sdk/")
    version = {"anthropic-version": MESSAGES_VERSION} if api == "anthropic-messages" else {}
    assert own == version | {
        "connection": "keep-alive",
        "authorization": f"Bearer {KEY}",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "content-type": "application/json",
    }
    assert headers["x-stainless-retry-count"] == "0"
    assert "x-stainless-read-timeout" not in headers


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_a_key_of_the_environment_is_no_substitute_for_the_named_one(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    profile = ROUTES[api][0]
    with FaultServer(()) as server:
        row = {"api_key_env": "PI_TEST_KEY", "base_url": server.base_url}
        async with PiAdapter(profile=profile, profiles=PiProfiles({profile: row})) as adapter:
            finish = await finish_of(adapter, request_to(api))
        assert server.requests == []
    assert finish.failure == LlmFailure(
        code=codes.MISSING_CREDENTIAL, message="there is no API key: $PI_TEST_KEY gives none"
    )


@pytest.mark.parametrize("api", APIS)
def test_the_package_has_no_timeout_of_its_own(api: str) -> None:
    http = _call.new_http_client(None)
    client: Any = _call.new_vendor_client(api, base_url="http://x.invalid", api_key="k", http=http)
    assert client.timeout is None
    assert _call.call_options()["timeout"] is None
    assert http.timeout == httpx2.Timeout(None)


@pytest.mark.parametrize("api", APIS)
def test_the_package_takes_nothing_from_proxies_or_netrc(api: str) -> None:
    http = _call.new_http_client(None)
    assert (http.trust_env, http.follow_redirects) == (False, False)


def test_messages_are_asked_for_in_the_version_of_the_package() -> None:
    client: Any = _call.new_vendor_client(
        "anthropic-messages",
        base_url="http://x.invalid",
        api_key="k",
        http=_call.new_http_client(None),
    )
    assert client.default_headers["anthropic-version"] == MESSAGES_VERSION


def test_the_package_traces_no_content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE", "content")
    client: Any = _call.new_vendor_client(
        "anthropic-messages",
        base_url="http://x.invalid",
        api_key="k",
        http=_call.new_http_client(None),
    )
    assert client.open_telemetry["traces"]["enabled"] is False


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_the_package_opens_no_connection_and_loads_no_certificates(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> NoReturn:
        raise AssertionError("the package made a transport of its own")

    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "__init__", refuse)
    monkeypatch.setattr(httpx2.HTTPTransport, "__init__", refuse)
    with FaultServer((good(api),)) as server:
        async with adapter_to(api, server) as adapter:
            assert (await finish_of(adapter, request_to(api))).failure is None


RETRY_AFTER: Final = (("retry-after", "7"), ("x-request-id", "req_1"), ("request-id", "req_1"))
STALLED: Final = Exchange(429, RETRY_AFTER, steps=(Send(b'{"error":'),), ending="hold")
ENDLESS: Final = Exchange(
    429, RETRY_AFTER, steps=(Send(b'{"error":{"message":"'), Flood(b"x" * 1024, 4096))
)
FALSE_GZIP: Final = Exchange(429, (*RETRY_AFTER, ("content-encoding", "gzip")), body=b"slow down")
SHORT: Final = Exchange(429, RETRY_AFTER, body=b'{"error":{"mess', ending="short")


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(STALLED, id="a-body-that-stalls"),
        pytest.param(ENDLESS, id="a-body-of-4-MiB"),
        pytest.param(FALSE_GZIP, id="a-body-that-is-no-gzip"),
        pytest.param(SHORT, id="a-body-that-breaks-off"),
    ],
)
async def test_an_error_body_hides_none_of_the_facts(api: str, answer: Exchange) -> None:
    # Only the one that stalls has to wait for its limit.
    idle_timeout = 2.0 if answer is STALLED else 20.0
    with FaultServer((answer,)) as server:
        async with adapter_to(api, server, idle_timeout=idle_timeout) as adapter:
            failure = (await finish_of(adapter, request_to(api))).failure
    assert failure is not None
    assert (failure.code, failure.status) == (codes.RATE_LIMIT, 429)
    assert failure.provider_retry_after_ms == 7000
    assert failure.request_id == ProviderRequestId("req_1")


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_the_package_sees_status_and_headers_and_no_body(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[httpx2.Response] = []
    original = _call.new_http_client

    def watched(relay: Any) -> Any:
        handle = relay.handle_async_request

        async def noted(request: httpx2.Request) -> httpx2.Response:
            given.append(await handle(request))
            return given[-1]

        relay.handle_async_request = noted
        return original(relay)

    whole = gzip.compress(b'{"error":{"message":"slow down"}}')
    headers = (("content-encoding", "gzip"), ("x-a", "1"), ("x-a", "2"))
    with FaultServer((Exchange(429, headers, body=whole),)) as server:
        async with adapter_to(api, server) as adapter:
            monkeypatch.setattr(_call, "new_http_client", watched)
            failure = (await finish_of(adapter, request_to(api))).failure
    assert failure == LlmFailure(code=codes.RATE_LIMIT, message="slow down", status=429)
    (response,) = given
    assert (response.status_code, response.content) == (429, b"")
    assert response.headers.get_list("x-a") == ["1", "2"]
    assert not {"content-encoding", "content-length"} & set(response.headers)


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_leaving_in_mid_stream_closes_the_connection(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Held here, so that closing is the adapter's doing and not the garbage collector's.
    held: list[Any] = []
    send = BaseAdapter.send

    def kept(adapter: BaseAdapter, wire: WireRequest) -> Any:
        held.append(send(adapter, wire))
        return held[-1]

    monkeypatch.setattr(BaseAdapter, "send", kept)
    answer = Exchange(200, EVENT_STREAM, steps=good(api).steps[:-1], ending="hold")
    with FaultServer((answer,)) as server:
        async with adapter_to(api, server) as adapter:
            async with adapter.stream(request_to(api)) as stream:
                await anext(stream)
            assert server.wait_until_released(5.0) == []
            assert len(held) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_a_compressed_answer_is_decoded_by_the_core(api: str) -> None:
    plain = b"".join(step.data for step in good(api).steps if isinstance(step, Send))
    whole = gzip.compress(plain)
    answers = [
        Exchange(200, (*EVENT_STREAM, ("content-encoding", "gzip")), body=body)
        for body in (whole, whole[: len(whole) // 2])
    ]
    with FaultServer(answers) as server:
        async with adapter_to(api, server) as adapter:
            told = [(await finish_of(adapter, request_to(api))).failure for _ in answers]
    assert told[0] is None
    assert told[1] is not None
    assert told[1].code == codes.STREAM_CLOSED


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_facts_of_the_head_survive_a_stream_that_breaks_off(api: str) -> None:
    steps = good(api).steps[:1]
    headers = (*EVENT_STREAM, ("x-request-id", "req_9"), ("request-id", "req_9"))
    with FaultServer((Exchange(200, headers, steps=steps, ending="cut"),)) as server:
        async with adapter_to(api, server) as adapter:
            failure = (await finish_of(adapter, request_to(api))).failure
    assert failure is not None
    assert (failure.code, failure.status) == (codes.TRANSPORT, 200)
    assert failure.request_id == ProviderRequestId("req_9")


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_an_error_inside_the_stream_has_its_code(api: str) -> None:
    error = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    with FaultServer((Exchange(200, EVENT_STREAM, steps=events(error)),)) as server:
        async with adapter_to(api, server) as adapter:
            failure = (await finish_of(adapter, request_to(api))).failure
    assert failure == LlmFailure(code=codes.RATE_LIMIT, message="slow down", status=200)


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_a_refused_connection_is_told_as_by_the_direct_adapter(api: str) -> None:
    with FaultServer(()) as server:
        base_url = server.base_url
    async with PiAdapter(profile=ROUTES[api][0], base_url=base_url, api_key=KEY) as adapter:
        failure = (await finish_of(adapter, request_to(api))).failure
    assert failure is not None
    assert failure.code == codes.TRANSPORT
    assert failure.message.startswith("no connection to the provider (ConnectError: ")
