"""One call is one request, whatever the vendor's package would do: each guard is proven alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import httpx2
import pytest

from adapter_sdk import codes
from adapter_sdk.testing import Exchange, FaultServer
from conformance.cli import main
from reference_adapters.pi import _call

from .answers import APIS, adapter_to, finish_of, good, request_to

# What the packages take as an invitation to ask again at once.
INVITATION: Final = (("retry-after-ms", "1"), ("x-should-retry", "true"))
TOO_MANY: Final = Exchange(429, INVITATION, body=b'{"error":{"message":"slow down"}}')
BROKEN: Final = Exchange(500, INVITATION, body=b'{"error":{"message":"broken"}}')

# What the packages ship with.
THEIR_RETRIES: Final = 2

new_vendor_client: Final = _call.new_vendor_client
call_options: Final = _call.call_options
new_http_client: Final = _call.new_http_client


def client_without_its_pin(api: str, **arguments: Any) -> Any:
    client = new_vendor_client(api, **arguments)
    client.max_retries = THEIR_RETRIES
    return client


def call_without(*names: str) -> Callable[[], dict[str, Any]]:
    return lambda: {key: value for key, value in call_options().items() if key not in names}


def http_client_that_follows(relay: Any) -> httpx2.AsyncClient:
    client: httpx2.AsyncClient = new_http_client(relay)
    client.follow_redirects = True
    return client


async def requests_of(api: str, *exchanges: Exchange) -> tuple[int, str, int | None]:
    """How many requests one call makes, and the code and status that it ends with."""
    with FaultServer(exchanges) as server:
        async with adapter_to(api, server) as adapter:
            finish = await finish_of(adapter, request_to(api))
        if finish.failure is None:
            return len(server.requests), "", None
        return len(server.requests), finish.failure.code, finish.failure.status


@pytest.mark.parametrize("api", APIS)
def test_the_client_is_made_with_no_retries(api: str) -> None:
    with FaultServer(()) as server:
        client = _call.new_vendor_client(
            api, base_url=server.base_url, api_key="k", http=new_http_client(None)
        )
    assert client.max_retries == 0
    assert type(client.max_retries) is int


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_the_option_passed_with_every_call_is_exactly_0(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[Any] = []

    def watched(api: str, **arguments: Any) -> Any:
        client: Any = new_vendor_client(api, **arguments)
        post = client.post

        async def noted(path: str, **options: Any) -> Any:
            passed.append(options["options"])
            return await post(path, **options)

        client.post = noted
        return client

    monkeypatch.setattr(_call, "new_vendor_client", watched)
    with FaultServer((good(api), good(api))) as server:
        async with adapter_to(api, server) as adapter:
            for _ in range(2):
                assert (await finish_of(adapter, request_to(api))).failure is None
    assert [(o["max_retries"], o["follow_redirects"], o["timeout"]) for o in passed] == [
        (0, False, None)
    ] * 2


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_a_429_that_invites_a_retry_is_one_request(api: str) -> None:
    assert await requests_of(api, TOO_MANY, BROKEN, BROKEN) == (1, codes.RATE_LIMIT, 429)


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_a_refused_key_is_not_sent_again(api: str) -> None:
    refused = Exchange(401, INVITATION, body=b'{"error":{"message":"who are you?"}}')
    assert await requests_of(api, refused, BROKEN, BROKEN) == (1, codes.AUTH, 401)


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_the_pin_of_the_client_holds_alone(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_call, "call_options", call_without("max_retries"))
    assert await requests_of(api, TOO_MANY, BROKEN, BROKEN) == (1, codes.RATE_LIMIT, 429)


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_the_pin_of_the_call_holds_alone(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_call, "new_vendor_client", client_without_its_pin)
    assert await requests_of(api, TOO_MANY, BROKEN, BROKEN) == (1, codes.RATE_LIMIT, 429)


@pytest.fixture
def without_both_pins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_call, "new_vendor_client", client_without_its_pin)
    monkeypatch.setattr(_call, "call_options", call_without("max_retries"))


@pytest.mark.usefixtures("without_both_pins")
@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_without_both_pins_the_package_asks_three_times(api: str) -> None:
    assert await requests_of(api, TOO_MANY, BROKEN, BROKEN) == (3, codes.SERVER, 500)


@pytest.mark.usefixtures("without_both_pins")
@pytest.mark.parametrize("profile", ["openrouter", "openai-responses", "anthropic"])
def test_without_both_pins_the_conformance_kit_fails(
    profile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check = "single_attempt/statuses_that_invite_a_retry"
    with pytest.raises(SystemExit) as left:
        main(["pi", "--profile", profile, check])
    assert left.value.code == 1
    assert "HTTP 429 and retry-after-ms: 1: expected 1" in " ".join(capsys.readouterr().out.split())


# ---- redirects ---------------------------------------------------------------------------


def redirect_to(server: FaultServer) -> Exchange:
    return Exchange(307, (("location", f"{server.base_url}/elsewhere"),), body=b"moved")


async def redirected(api: str) -> tuple[int, int, str, int | None]:
    with FaultServer((good(api),)) as elsewhere:
        told = await requests_of(api, redirect_to(elsewhere))
        return (told[0], len(elsewhere.requests), *told[1:])


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_the_key_follows_no_redirect(api: str) -> None:
    assert await redirected(api) == (1, 0, "HTTP_307", 307)


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_the_http_client_alone_follows_no_redirect(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_call, "call_options", call_without("follow_redirects"))
    assert await redirected(api) == (1, 0, "HTTP_307", 307)


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_the_option_of_the_call_alone_follows_no_redirect(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_call, "new_http_client", http_client_that_follows)
    assert await redirected(api) == (1, 0, "HTTP_307", 307)


@pytest.mark.anyio
@pytest.mark.parametrize("api", APIS)
async def test_without_both_guards_the_redirect_is_followed(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_call, "call_options", call_without("follow_redirects"))
    monkeypatch.setattr(_call, "new_http_client", http_client_that_follows)
    assert (await redirected(api))[:2] == (1, 1)
