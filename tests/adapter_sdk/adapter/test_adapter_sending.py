"""What the base class sends: the same bytes, its headers, the key and the address of the call."""

from __future__ import annotations

import pytest

from adapter_sdk._user_agent import sdk_name

from .example_adapter import GOOD, Example, adapter_with, finish_of


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
