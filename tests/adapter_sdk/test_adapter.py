"""The base class: what it accepts, what it sends, and whose client it closes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from typing_extensions import override

from adapter_sdk import (
    BaseAdapter,
    Finish,
    ImageBlock,
    LlmError,
    LlmFailure,
    LlmRequest,
    TextBlock,
    Tool,
    ToolResultBlock,
    assistant,
    has_images,
    user,
)
from adapter_sdk._user_agent import sdk_name
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.testing import Exchange, Scripted, Send, scripted_client

REQUEST = LlmRequest(model="m", messages=(user("hi"),))
PIXEL = ImageBlock("image/png", "aGk=")
GOOD = Exchange(
    200,
    (("content-type", "text/event-stream"),),
    steps=(
        Send(b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'),
        Send(b"data: [DONE]\n\n"),
    ),
)


class Example(BaseAdapter):
    dialect = OpenAIChat(terminal="done-sentinel", reasoning_efforts=("low",))
    default_base_url = "http://api.example/v1"
    api_key_env = "EXAMPLE_API_KEY"
    base_url_env = "EXAMPLE_BASE_URL"
    own_headers: ClassVar[dict[str, str]] = {}

    @override
    def request_headers(self, request: LlmRequest) -> Mapping[str, str]:
        return self.own_headers


def adapter_with(*exchanges: Exchange, **options: Any) -> tuple[Example, Scripted]:
    scripted = scripted_client(exchanges or (GOOD,))
    options = {"api_key": "sk-1", **options}
    return Example(http_client=scripted.client, **options), scripted


async def finish_of(adapter: BaseAdapter, request: LlmRequest = REQUEST) -> Finish:
    (finish,) = [chunk async for chunk in adapter.stream(request) if isinstance(chunk, Finish)]
    return finish


# ---- what a configuration may say --------------------------------------------------------

RANGE = "seconds above 0 and at most 2147483.647, got"
ABSOLUTE = "base_url: an absolute address that begins with http:// or https://"
BARE = "base_url: an address without a query, a fragment or a credential"
HOST = "base_url: an address with a host and, where it names one, a port"
PLAIN = "base_url: printable ASCII without spaces"
RESERVED = "headers: {} is set by the adapter itself"
LIMITS = ("idle_timeout", "progress_timeout", "connect_timeout", "header_timeout")


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(0, f"{RANGE} 0.0", id="zero"),
        pytest.param(-0.5, f"{RANGE} -0.5", id="negative"),
        pytest.param(math.nan, f"{RANGE} nan", id="nan"),
        pytest.param(math.inf, f"{RANGE} inf", id="infinite"),
        pytest.param(2_147_483.648, f"{RANGE} 2147483.648", id="above-the-longest"),
        pytest.param(10**400, f"{RANGE} inf", id="far-above-the-longest"),
        pytest.param(True, "a number of seconds, got bool", id="bool"),
        pytest.param("5", "a number of seconds, got str", id="text"),
    ],
)
def test_a_limit_that_cannot_be_is_refused_at_construction(
    name: str, value: Any, message: str
) -> None:
    options = {name: value}
    with pytest.raises(ValueError) as caught:
        Example(**options)
    assert str(caught.value) == f"{name}: {message}"


def test_the_limits_by_default() -> None:
    adapter = Example()
    assert {name: getattr(adapter, name) for name in LIMITS} == {
        "idle_timeout": 300.0,
        "progress_timeout": 900.0,
        "connect_timeout": None,
        "header_timeout": None,
    }
    assert adapter.event_limit_bytes == 16 * 1024 * 1024


def test_only_the_idle_limit_cannot_be_switched_off() -> None:
    adapter = Example(progress_timeout=None, connect_timeout=None, header_timeout=None)
    assert adapter.progress_timeout is None
    options: dict[str, Any] = {"idle_timeout": None}
    with pytest.raises(ValueError, match="idle_timeout: a number of seconds, got NoneType"):
        Example(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(
            pytest.param(
                {"event_limit_bytes": value},
                "event_limit_bytes: a whole number of 1 or more",
                id=f"event-limit-{value!r}",
            )
            for value in (0, -1, 1.5, True, "5", None)
        ),
        *(
            pytest.param({"base_url": value}, ABSOLUTE, id=f"address-{value or 'empty'}")
            for value in ("", "api.example", "ftp://api.example", "//api.example", "http://")
        ),
        *(
            pytest.param({"base_url": value}, BARE, id=f"address-{value}")
            for value in (
                "http://api.example/?a=1",
                "http://api.example#a",
                "http://user:pw@api.example",
                "http://?a",
            )
        ),
        *(
            pytest.param({"base_url": value}, PLAIN, id=f"address-{value!a}")
            for value in ("http://api.example/a b", "http://dömain", "http://api\n.example")
        ),
        *(
            pytest.param({"base_url": value}, HOST, id=f"address-{value}")
            for value in (
                "http://api.example:port",
                "http://api.example:65536",
                "http://api.example:0",
                "http://:80",
                "http://[::1",
            )
        ),
        *(
            pytest.param({"headers": {name: "x"}}, RESERVED.format(name.lower()), id=name)
            for name in (
                "Authorization",
                "accept",
                "ACCEPT-ENCODING",
                "content-type",
                "content-length",
                "host",
                "transfer-encoding",
            )
        ),
        *(
            pytest.param(
                {"headers": {name: "x"}},
                "headers: a name holds a character that no header can carry",
                id=f"header-name-{name!a}",
            )
            for name in ("", "a b", "a:b", "näme", "a\nb", "-")
        ),
        *(
            pytest.param(
                {"headers": {"X-A": value}},
                "headers: the value of x-a is no printable ASCII text",
                id=f"header-value-{value!a}",
            )
            for value in ("wört", "a\nb", "a\x00", 5, None)
        ),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused_by_name(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError) as caught:
        Example(**options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("base_url", "environment", "url"),
    [
        pytest.param(None, None, "http://api.example/v1/chat/completions", id="default"),
        pytest.param(None, "  ", "http://api.example/v1/chat/completions", id="blank-environment"),
        pytest.param(None, "https://env/x/", "https://env/x/chat/completions", id="environment"),
        pytest.param("http://arg:80", "https://env", "http://arg/chat/completions", id="argument"),
        pytest.param(
            " http://a/b// ", None, "http://a/b/chat/completions", id="slashes-and-spaces"
        ),
        pytest.param("HTTP://[::1]:8/", None, "http://[::1]:8/chat/completions", id="ipv6"),
    ],
)
@pytest.mark.anyio
async def test_the_address_is_found(
    base_url: str | None, environment: str | None, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EXAMPLE_BASE_URL", raising=False)
    adapter, scripted = adapter_with(base_url=base_url)
    if environment is not None:
        monkeypatch.setenv("EXAMPLE_BASE_URL", environment)  # read at the call
    assert (await finish_of(adapter)).failure is None
    assert [str(sent.url) for sent in scripted.requests] == [url]
    await scripted.client.aclose()


# ---- what goes out -----------------------------------------------------------------------


@pytest.mark.anyio
async def test_the_same_request_is_the_same_bytes_with_the_same_headers() -> None:
    adapter, scripted = adapter_with(
        GOOD, GOOD, headers={"X-Team": " blue ", "User-Agent": "app/1"}
    )
    for _ in range(2):
        await finish_of(adapter)
    first, second = scripted.requests
    assert first.content == second.content
    assert first.content == (
        b'{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,'
        b'"stream_options":{"include_usage":true}}'
    )
    assert first.headers.raw == second.headers.raw
    assert dict(first.headers) == {
        "host": "api.example",
        "connection": "keep-alive",
        "content-length": str(len(first.content)),
        "x-team": "blue",
        "authorization": "Bearer sk-1",
        "user-agent": f"{sdk_name()} app/1",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "content-type": "application/json",
    }
    await scripted.client.aclose()


@pytest.mark.anyio
async def test_headers_of_one_request_neither_replace_the_sdks_name_nor_its_own_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Example, "own_headers", {"User-Agent": "other", "X-Team": "red"})
    adapter, scripted = adapter_with(headers={"x-team": "blue"})
    await finish_of(adapter)
    (sent,) = scripted.requests
    assert (sent.headers["user-agent"], sent.headers["x-team"]) == (sdk_name(), "red")
    await scripted.client.aclose()


@pytest.mark.anyio
async def test_the_credential_is_resolved_once_a_call_and_trimmed() -> None:
    keys = iter([" sk-1 ", "sk-2"])
    adapter, scripted = adapter_with(GOOD, GOOD, api_key=lambda: next(keys))
    for _ in range(2):
        await finish_of(adapter)
    assert [sent.headers["authorization"] for sent in scripted.requests] == [
        "Bearer sk-1",
        "Bearer sk-2",
    ]
    await scripted.client.aclose()


@pytest.mark.anyio
async def test_address_and_credential_are_those_of_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    adapter, scripted = adapter_with(GOOD, GOOD, api_key=None)
    for name in ("one", "two"):
        monkeypatch.setenv("EXAMPLE_BASE_URL", f"http://{name}.example")
        monkeypatch.setenv("EXAMPLE_API_KEY", f"sk-{name}")
        await finish_of(adapter)
    assert [(sent.url.host, sent.headers["authorization"]) for sent in scripted.requests] == [
        ("one.example", "Bearer sk-one"),
        ("two.example", "Bearer sk-two"),
    ]
    await scripted.client.aclose()


IMAGE_TURN = replace(REQUEST, messages=(user("see", PIXEL),))


@pytest.mark.parametrize(
    ("request_", "options", "own_headers", "failure"),
    [
        pytest.param(
            REQUEST,
            {"api_key": None},
            {},
            LlmFailure(
                message="there is no API key: $EXAMPLE_API_KEY gives none",
                code="MISSING_CREDENTIAL",
            ),
            id="no-key",
        ),
        pytest.param(
            IMAGE_TURN,
            {},
            {},
            LlmFailure(message="images: this adapter takes text only", code="UNSUPPORTED_CONTENT"),
            id="image",
        ),
        pytest.param(
            replace(REQUEST, reasoning_effort="huge"),
            {},
            {},
            LlmFailure(
                message="reasoning effort 'huge' is not one of: low",
                code="UNSUPPORTED_REASONING_EFFORT",
            ),
            id="effort",
        ),
        pytest.param(
            replace(REQUEST, tools=(Tool("t", parameters={"maximum": math.nan}),)),
            {},
            {},
            LlmFailure(
                message="the request holds a value that JSON cannot carry: "
                "Out of range float values are not JSON compliant",
                code="UNSUPPORTED_OPTION",
            ),
            id="nan-in-a-schema",
        ),
        pytest.param(
            REQUEST,
            {},
            {"x-session": "sitzung-ü"},
            LlmFailure(
                message="headers: the value of x-session is no printable ASCII text",
                code="UNSUPPORTED_OPTION",
            ),
            id="a-session-id-that-no-header-can-carry",
        ),
    ],
)
@pytest.mark.anyio
async def test_what_cannot_be_sent_is_refused_before_anything_is(
    request_: LlmRequest,
    options: dict[str, Any],
    own_headers: dict[str, str],
    failure: LlmFailure,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("EXAMPLE_API_KEY", raising=False)
    monkeypatch.setattr(Example, "own_headers", own_headers)
    adapter, scripted = adapter_with(**options)
    found = (await finish_of(adapter, request_)).failure
    assert found is not None
    assert (found.code, found.status, scripted.requests) == (failure.code, None, [])
    assert found.message.startswith(failure.message)
    await scripted.client.aclose()


@pytest.mark.anyio
async def test_an_address_of_the_environment_that_cannot_be_used_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EXAMPLE_BASE_URL", "api.example")
    adapter, scripted = adapter_with()
    assert (await finish_of(adapter)).failure == LlmFailure(
        message=f"$EXAMPLE_BASE_URL: {ABSOLUTE}", code="UNSUPPORTED_OPTION"
    )
    assert scripted.requests == []
    await scripted.client.aclose()


@pytest.mark.parametrize(
    ("request_", "own_headers", "base_url"),
    [
        pytest.param(
            replace(REQUEST, tools=(Tool("t", parameters={"maximum": math.nan}),)),
            {},
            "http://api.example",
            id="a-value-that-json-cannot-carry",
        ),
        pytest.param(REQUEST, {"x-session": "ü"}, "http://api.example", id="a-header"),
        pytest.param(REQUEST, {}, "api.example", id="an-address"),
    ],
)
@pytest.mark.anyio
async def test_a_refusal_carries_what_broke_underneath_as_its_cause(
    request_: LlmRequest,
    own_headers: dict[str, str],
    base_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Example, "own_headers", own_headers)
    monkeypatch.setenv("EXAMPLE_BASE_URL", base_url)
    with pytest.raises(LlmError) as refused:
        await Example(api_key="k").wire_request(request_)
    assert isinstance(refused.value.__cause__, ValueError)
    assert str(refused.value.__cause__) in refused.value.failure.message


class TextOnly(Example):
    capabilities = frozenset()


@pytest.mark.anyio
async def test_tools_are_refused_by_an_adapter_that_does_not_offer_them() -> None:
    scripted = scripted_client([GOOD])
    adapter = TextOnly(http_client=scripted.client, api_key="k")
    found = await finish_of(adapter, replace(REQUEST, tools=(Tool("ls"),)))
    assert found.failure == LlmFailure(
        message="tools: this adapter does not offer them", code="UNSUPPORTED_OPTION"
    )
    await scripted.client.aclose()


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param((user("hi"),), False, id="text"),
        pytest.param((user("hi"), user("see", PIXEL)), True, id="user-turn"),
        pytest.param((assistant("see", PIXEL),), True, id="assistant-turn"),
        pytest.param(
            (user(ToolResultBlock("c", (TextBlock("x"), PIXEL))),), True, id="tool-result"
        ),
        pytest.param((user(ToolResultBlock("c", (TextBlock("x"),))),), False, id="text-result"),
    ],
)
def test_images_are_found_wherever_they_stand(messages: Any, *, expected: bool) -> None:
    assert has_images(replace(REQUEST, messages=messages)) is expected
