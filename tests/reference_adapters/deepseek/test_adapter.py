"""What is DeepSeek's own: configuration, headers, the wire of its variants, its declaration."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

import pytest
from syrupy.assertion import SnapshotAssertion

from adapter_sdk import (
    AbortSignal,
    Capability,
    Declaration,
    Finish,
    ImageBlock,
    LlmFailure,
    LlmRequest,
    Message,
    ReasoningBlock,
    TextBlock,
    Tool,
    ToolCallBlock,
    ToolResultBlock,
    assistant,
    system,
    user,
)
from adapter_sdk.testing import Exchange, Scripted, Send, run_virtual, scripted_client
from reference_adapters.deepseek import DeepSeekAdapter

VISION: Final = "deepseek-v4-flash-vision-exp"
PIXEL: Final = ImageBlock("image/png", "aGk=")
HI: Final = LlmRequest(model="deepseek-v4-flash", messages=(user("hi"),))
HEADERS: Final = (("content-type", "text/event-stream"),)
GOOD: Final = Exchange(
    200,
    HEADERS,
    steps=(
        Send(b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'),
        Send(b"data: [DONE]\n\n"),
    ),
)


def adapter_with(*exchanges: Exchange, **options: Any) -> tuple[DeepSeekAdapter, Scripted]:
    scripted = scripted_client(exchanges or (GOOD,))
    return DeepSeekAdapter(
        **{"api_key": "sk-1", "http_client": scripted.client, **options}
    ), scripted


async def finish_of(adapter: DeepSeekAdapter, request: LlmRequest = HI) -> Finish:
    chunks = [chunk async for chunk in adapter.stream(request, AbortSignal())]
    assert isinstance(chunks[-1], Finish)
    return chunks[-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(
            {"thinking": "on"}, "thinking: enabled, disabled or None, got 'on'", id="thinking-word"
        ),
        pytest.param(
            {"thinking": True}, "thinking: enabled, disabled or None, got True", id="thinking-bool"
        ),
        pytest.param(
            {"reasoning_effort": "medium"},
            "reasoning_effort: one of off, low, high, max, got 'medium'",
            id="effort-word",
        ),
        *(
            pytest.param(
                {"thinking": "disabled", "reasoning_effort": effort},
                f"reasoning_effort: thinking is disabled, so {effort!r} cannot be had",
                id=f"the-lock-and-{effort}",
            )
            for effort in ("low", "high", "max")
        ),
        *(
            pytest.param(
                {name: value}, f"{name}: a whole number of tokens, 1 or more", id=f"{name}-{value}"
            )
            for name in ("max_tokens", "default_context_window")
            for value in (0, -1, 1.5, True, "5")
        ),
        pytest.param(
            {"default_context_window": None},
            "default_context_window: a whole number of tokens, 1 or more",
            id="no-context-window",
        ),
        pytest.param(
            {"idle_timeout": 0},
            "idle_timeout: seconds above 0 and at most 2147483.647, got 0.0",
            id="options-of-every-adapter",
        ),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError) as caught:
        DeepSeekAdapter(**options)
    assert str(caught.value) == message


def test_what_is_not_configured_is_the_default() -> None:
    adapter = DeepSeekAdapter()
    assert (
        adapter.route,
        adapter.thinking,
        adapter.reasoning_effort,
        adapter.max_tokens,
        adapter.default_context_window,
        adapter.idle_timeout,
        repr(adapter),
    ) == (
        "deepseek-official",
        None,
        None,
        256_000,
        1_000_000,
        300.0,
        "<DeepSeekAdapter https://api.deepseek.com>",
    )


def test_the_lock_and_no_effort_agree() -> None:
    assert DeepSeekAdapter(thinking="disabled", reasoning_effort="off").thinking == "disabled"


@pytest.mark.parametrize(
    ("options", "asked", "expected"),
    [
        pytest.param({}, None, 256_000, id="default"),
        pytest.param({"max_tokens": 9}, None, 9, id="configured"),
        pytest.param({"max_tokens": 9}, 5, 5, id="the-request-wins"),
        pytest.param({"max_tokens": None}, None, None, id="switched-off"),
        pytest.param({"max_tokens": None}, 5, 5, id="switched-off-and-asked"),
    ],
)
def test_the_cap_on_tokens(
    options: dict[str, Any], asked: int | None, expected: int | None
) -> None:
    body = DeepSeekAdapter(**options).body(replace(HI, max_tokens=asked))
    assert body.get("max_tokens") == expected
    assert ("max_tokens" in body) is (expected is not None)


@pytest.mark.parametrize("effort", [None, "off"])
@pytest.mark.parametrize("purpose", [None, "session-title", "summary"])
def test_the_lock_always_says_so(effort: str | None, purpose: str | None) -> None:
    request = replace(HI, reasoning_effort=effort, purpose=purpose)
    body = DeepSeekAdapter(thinking="disabled").body(request)
    assert (body["thinking"], "reasoning_effort" in body) == ({"type": "disabled"}, False)


@pytest.mark.parametrize(
    ("options", "request_", "failure"),
    [
        pytest.param(
            {},
            replace(HI, messages=(user("see", PIXEL),)),
            LlmFailure(
                message="images: the model deepseek-v4-flash takes text only",
                code="UNSUPPORTED_CONTENT",
            ),
            id="image-to-a-text-model",
        ),
        pytest.param(
            {},
            replace(HI, model="unlisted-9", messages=(user(ToolResultBlock("c", (PIXEL,))),)),
            LlmFailure(
                message="images: the model unlisted-9 takes text only", code="UNSUPPORTED_CONTENT"
            ),
            id="image-to-an-unlisted-model",
        ),
        pytest.param(
            {},
            replace(HI, model=VISION, messages=(Message("system", (PIXEL,)), user("hi"))),
            LlmFailure(
                message="an image in a system turn has no place on this wire",
                code="UNSUPPORTED_CONTENT",
            ),
            id="image-in-a-system-turn",
        ),
        pytest.param(
            {},
            replace(HI, model=VISION, messages=(assistant(PIXEL),)),
            LlmFailure(
                message="an image in an assistant turn has no place on this wire",
                code="UNSUPPORTED_CONTENT",
            ),
            id="image-in-an-assistant-turn",
        ),
        pytest.param(
            {},
            replace(HI, reasoning_effort="medium"),
            LlmFailure(
                message="reasoning effort 'medium' is not one of: off, low, high, max",
                code="UNSUPPORTED_REASONING_EFFORT",
            ),
            id="unknown-effort",
        ),
        pytest.param(
            {"thinking": "disabled"},
            replace(HI, reasoning_effort="max", purpose="session-title"),
            LlmFailure(
                message="reasoning effort 'max': "
                "thinking is disabled in this adapter's configuration",
                code="UNSUPPORTED_REASONING_EFFORT",
            ),
            id="the-lock",
        ),
        pytest.param(
            {},
            replace(HI, session_id="sitzung-ü"),
            LlmFailure(
                message="headers: the value of x-dsh-session-id is no printable ASCII text",
                code="UNSUPPORTED_OPTION",
            ),
            id="a-session-id-that-no-header-can-carry",
        ),
        pytest.param(
            {"api_key": None},
            HI,
            LlmFailure(
                message="there is no API key: $DEEPSEEK_API_KEY gives none",
                code="MISSING_CREDENTIAL",
            ),
            id="no-key",
        ),
    ],
)
@pytest.mark.anyio
async def test_what_cannot_be_had_is_refused_before_anything_is_sent(
    options: dict[str, Any],
    request_: LlmRequest,
    failure: LlmFailure,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    adapter, scripted = adapter_with(**options)
    assert (await finish_of(adapter, request_)).failure == failure
    assert scripted.requests == []
    await scripted.client.aclose()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, {}, id="nothing-given-nothing-sent"),
        pytest.param({"session_id": "s-1"}, {"x-dsh-session-id": "s-1"}, id="session"),
        pytest.param(
            {"session_id": "s-1", "purpose": "session-title"},
            {"x-dsh-session-id": "s-1", "x-dsh-purpose": "session-title"},
            id="session-and-purpose",
        ),
    ],
)
@pytest.mark.anyio
async def test_headers_and_address(
    fields: dict[str, Any], expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEEPSEEK_BASE_URL", raising=False)
    adapter, scripted = adapter_with()
    assert (await finish_of(adapter, replace(HI, **fields))).failure is None
    (sent,) = scripted.requests
    assert str(sent.url) == "https://api.deepseek.com/chat/completions"
    assert sent.headers["authorization"] == "Bearer sk-1"
    assert sent.headers["accept"] == "text/event-stream"
    assert sent.headers["user-agent"].startswith("dsh-adapter-sdk/")
    own = {name: value for name, value in sent.headers.items() if name.startswith("x-")}
    assert own == expected
    await scripted.client.aclose()


@pytest.mark.anyio
async def test_the_environment_names_address_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPSEEK_BASE_URL", "http://proxy.example/ds/")
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-env")
    adapter, scripted = adapter_with(api_key=None)
    await finish_of(adapter)
    (sent,) = scripted.requests
    assert (str(sent.url), sent.headers["authorization"]) == (
        "http://proxy.example/ds/chat/completions",
        "Bearer sk-env",
    )
    await scripted.client.aclose()


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param({"x-request-id": "a", "x-ds-trace-id": "b"}, "a", id="first"),
        pytest.param({"x-request-id": "", "x-ds-trace-id": "b"}, "b", id="second"),
        pytest.param({"x-deepseek-request-id": "c", "cf-ray": "edge"}, "c", id="third"),
        pytest.param({"cf-ray": "edge", "x-amz-cf-id": "edge"}, None, id="an-edge-id-is-none"),
    ],
)
@pytest.mark.anyio
async def test_the_request_id_is_one_of_its_headers(
    headers: dict[str, str], expected: str | None
) -> None:
    adapter, scripted = adapter_with(Exchange(503, tuple(headers.items()), body=b""))
    failure = (await finish_of(adapter)).failure
    assert failure is not None
    assert (failure.code, failure.request_id) == ("SERVER", expected)
    await scripted.client.aclose()


@pytest.mark.anyio
async def test_a_stream_without_its_marker_was_cut() -> None:
    cut = Exchange(200, HEADERS, steps=GOOD.steps[:1])
    adapter, scripted = adapter_with(cut)
    failure = (await finish_of(adapter)).failure
    assert failure is not None
    assert (failure.code, failure.status) == ("STREAM_CLOSED", 200)
    await scripted.client.aclose()


VARIANTS: Final[dict[str, tuple[dict[str, Any], LlmRequest]]] = {
    "images": (
        {},
        replace(
            HI,
            model=VISION,
            messages=(
                system("Look."),
                user("What is this?", PIXEL),
                assistant(ReasoningBlock("a dot"), ToolCallBlock("c1", "zoom", '{"x": 2}')),
                user(ToolResultBlock("c1", (TextBlock("closer"), PIXEL)), ToolResultBlock("c2")),
                user("And now?"),
            ),
            tools=(Tool("zoom", "Zooms.", {"type": "object"}, strict=True),),
            tool_choice="required",
        ),
    ),
    "thinking": ({"thinking": "enabled", "reasoning_effort": "low"}, HI),
    "thinking-locked": ({"thinking": "disabled"}, HI),
    "every-option": (
        {"max_tokens": None},
        replace(
            HI,
            max_tokens=7,
            temperature=0.5,
            top_p=0.9,
            stop=("END",),
            reasoning_effort="max",
            tools=(Tool("ls"),),
            tool_choice="ls",
        ),
    ),
}


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_the_bytes_of_each_variant(name: str, snapshot: SnapshotAssertion) -> None:
    options, request = VARIANTS[name]

    async def send_twice() -> list[bytes]:
        adapter, scripted = adapter_with(GOOD, GOOD, **options)
        for _ in range(2):
            await finish_of(adapter, request)
        await scripted.client.aclose()
        return [sent.content for sent in scripted.requests]

    first, second = run_virtual("asyncio", send_twice)
    assert first == second
    assert b"null" not in first
    assert json.dumps(json.loads(first), indent=1) == snapshot


def test_the_declaration() -> None:
    assert DeepSeekAdapter.declaration() == Declaration(
        dialects=("openai-chat",),
        terminal="done-sentinel",
        request_id_headers=("x-request-id", "x-ds-trace-id", "x-deepseek-request-id"),
        capabilities=frozenset(Capability),
        model=VISION,
    )
