"""Which models there are: offline from the catalogue, else from the provider's own list."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from adapter_sdk import AbortSignal, LlmError, LlmFailure, ProviderRequestId, codes
from adapter_sdk.testing import Exchange, FaultServer, Flood, Send
from reference_adapters.pi import DiscoveredModel, discover_models

from .answers import KEY

pytestmark = pytest.mark.anyio

JSON: Final = (("content-type", "application/json"), ("x-request-id", "req_1"))


def listing(value: Any, status: int = 200) -> Exchange:
    return Exchange(status, JSON, body=json.dumps(value).encode())


async def test_a_route_of_the_catalogue_answers_offline() -> None:
    assert await discover_models("xai") == (
        DiscoveredModel(id="grok-4", name="grok-4", context_window=262_144),
        DiscoveredModel(id="grok-3-mini", name="grok-3-mini", context_window=131_072),
    )


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(lambda rows: {"object": "list", "data": rows}, id="in-data"),
        pytest.param(lambda rows: rows, id="as-an-array"),
    ],
)
async def test_a_server_s_list_is_asked_for_with_a_bearer_key(rows: Any) -> None:
    answer = listing(
        rows(
            [
                {"id": "a", "name": "A", "context_length": 10},
                {"id": "", "name": "without id"},
                {"name": "without id"},
                {"id": 7},
                "text",
                {"id": "b", "max_model_len": 20, "context_length": None},
                {"id": "c", "context_window": True},
            ]
        )
    )
    with FaultServer((answer,)) as server:
        found = await discover_models(base_url=server.base_url, key="sk-1")
        (seen,) = server.requests
    assert found == (
        DiscoveredModel(id="a", name="A", context_window=10),
        DiscoveredModel(id="b", name="b", context_window=20),
        DiscoveredModel(id="c", name="c", context_window=None),
    )
    headers = {name.lower(): value for name, value in seen.headers}
    assert (seen.method, seen.target, seen.body) == ("GET", "/models", b"")
    assert (headers["authorization"], headers["accept"]) == ("Bearer sk-1", "application/json")


async def test_an_empty_list_is_an_answer() -> None:
    with FaultServer((listing({"data": []}),)) as server:
        assert await discover_models(base_url=server.base_url, key=KEY) == ()


TOO_LARGE: Final = Exchange(200, JSON, steps=(Send(b'{"data":['), Flood(b" " * 65_536, 80)))

# The answer, then code, message and status of the failure.
NO_LIST: Final = {
    "401": (
        listing({"error": {"message": "no such key"}}, 401),
        *(codes.INVALID_CREDENTIAL, "no such key", 401),
    ),
    "404": (
        listing({"error": {"message": "not here"}}, 404),
        *(codes.DISCOVERY_UNSUPPORTED, "not here", 404),
    ),
    "503": (
        listing({"error": {"message": "busy"}}, 503),
        *(codes.DISCOVERY_FAILED, "busy", 503),
    ),
    "no-list": (
        listing({"models": 1}),
        *(codes.DISCOVERY_FAILED, "the answer holds no list of models", 200),
    ),
    "an-error-with-200": (
        listing({"error": {"message": "broken"}}),
        *(codes.DISCOVERY_FAILED, "broken", 200),
    ),
    "a-page": (
        Exchange(200, JSON, body=b"<html></html>"),
        *(codes.DISCOVERY_FAILED, "HTTP 200 with an HTML page: <html></html>", 200),
    ),
    "more-than-4-MiB": (
        TOO_LARGE,
        *(codes.DISCOVERY_FAILED, "the answer is larger than the limit of 4194304 bytes", 200),
    ),
}


@pytest.mark.parametrize(("answer", "code", "message", "status"), NO_LIST.values(), ids=NO_LIST)
async def test_a_list_that_cannot_be_had_says_why(
    answer: Exchange, code: str, message: str, status: int
) -> None:
    with FaultServer((answer,)) as server:
        with pytest.raises(LlmError) as caught:
            await discover_models(base_url=server.base_url, key=KEY)
        assert len(server.requests) == 1
    assert caught.value.failure == LlmFailure(
        code=code, message=message, status=status, request_id=ProviderRequestId("req_1")
    )


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    with FaultServer((listing({"data": []}),)) as elsewhere:
        answer = Exchange(302, (("location", f"{elsewhere.base_url}/models"),), body=b"")
        with FaultServer((answer,)) as server, pytest.raises(LlmError) as caught:
            await discover_models(base_url=server.base_url, key=KEY)
        assert elsewhere.requests == []
    assert (caught.value.code, caught.value.failure.status) == (codes.DISCOVERY_FAILED, 302)


async def test_an_abort_ends_the_wait() -> None:
    signal = AbortSignal()
    signal.abort("the dialog was closed")
    answer = Exchange(200, JSON, ending="hold")
    with FaultServer((answer,)) as server, pytest.raises(LlmError) as caught:
        await discover_models(base_url=server.base_url, key=KEY, abort=signal)
    assert caught.value.failure == LlmFailure(code=codes.ABORTED, message="the dialog was closed")


async def test_a_list_that_stalls_ends_at_the_idle_limit() -> None:
    answer = Exchange(200, JSON, ending="hold")
    with FaultServer((answer,)) as server, pytest.raises(LlmError) as caught:
        await discover_models(base_url=server.base_url, key=KEY, idle_timeout=0.2)
    assert caught.value.code == codes.DISCOVERY_FAILED


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(
            {"base_url": "http://127.0.0.1:9", "api": "anthropic-messages", "key": KEY},
            codes.DISCOVERY_UNSUPPORTED,
            "anthropic-messages has no list of models that a bearer key opens",
            id="a-protocol-without-a-list",
        ),
        pytest.param(
            {"base_url": "http://127.0.0.1:9"},
            codes.MISSING_CREDENTIAL,
            "there is no API key: an argument gives none",
            id="no-key",
        ),
        pytest.param(
            {"base_url": "http://127.0.0.1:9", "key": "k\u2011k"},
            codes.INVALID_CREDENTIAL,
            "the API key from an argument holds a character that no header can carry, such as a "
            "line break or a dash that only looks like one: copy it again",
            id="a-key-that-no-header-can-carry",
        ),
    ],
)
async def test_what_cannot_be_asked_is_refused_unsent(
    arguments: dict[str, Any], code: str, message: str
) -> None:
    with pytest.raises(LlmError) as caught:
        await discover_models(**arguments)
    assert caught.value.failure == LlmFailure(code=code, message=message)


async def test_an_unknown_route_is_told_with_the_known_ones() -> None:
    with pytest.raises(LlmError, match=r"DISCOVERY_UNSUPPORTED: the catalogue has no route 'x'; "):
        await discover_models("x")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "discover_models: either a route or a base_url"),
        (
            {"route": "xai", "base_url": "http://x.invalid"},
            "discover_models: either a route or a base_url",
        ),
        (
            {"base_url": "http://x.invalid", "api": "x"},
            "api: one of openai-completions, openai-responses, anthropic-messages",
        ),
        (
            {"base_url": "x"},
            "base_url: an absolute address that begins with http:// or https://",
        ),
    ],
    ids=["neither", "both", "an-unknown-protocol", "no-address"],
)
async def test_arguments_that_cannot_be_used_are_refused(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError) as caught:
        await discover_models(**arguments)
    assert str(caught.value) == message
