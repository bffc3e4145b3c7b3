"""What a route sends: caps, efforts and switches of each protocol, and what it refuses."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from adapter_sdk import ImageBlock, LlmFailure, LlmRequest, Tool, codes, system, user
from adapter_sdk.testing import Exchange, FaultServer, run_virtual, scripted_client
from reference_adapters.pi import PiAdapter, PiProfiles

from .answers import finish_of

TURNS: Final = (system("Be brief."), user("Hi"))
ANSWER: Final = Exchange(500, body=b"{}")
URL: Final = "https://gateway.invalid/v1"
PIXEL: Final = ImageBlock("image/png", "aGk=")


def chat(compat: dict[str, Any] | None = None, **model: Any) -> dict[str, Any]:
    return _route("openai-completions", compat, model)


def responses(compat: dict[str, Any] | None = None, **model: Any) -> dict[str, Any]:
    return _route("openai-responses", compat, model)


def messages(compat: dict[str, Any] | None = None, **model: Any) -> dict[str, Any]:
    return _route("anthropic-messages", compat, model)


def _route(api: str, compat: dict[str, Any] | None, model: dict[str, Any]) -> dict[str, Any]:
    return {
        "api": api,
        "base_url": URL,
        "compat": compat or {},
        "models": [{"id": "m", **model}],
    }


async def played(
    profile: dict[str, Any], request: dict[str, Any]
) -> tuple[dict[str, Any] | None, LlmFailure | None]:
    """The body that goes out, or the refusal."""
    scripted = scripted_client([ANSWER])
    adapter = PiAdapter(
        profile="mine",
        profiles=PiProfiles({"mine": profile}),
        api_key="k",
        http_client=scripted.client,
    )
    asked = LlmRequest(**{"model": "m", "messages": TURNS, **request})
    finish = await finish_of(adapter, asked)
    await scripted.client.aclose()
    body = json.loads(scripted.requests[0].content) if scripted.requests else None
    return body, finish.failure


def body_of(profile: dict[str, Any], **request: Any) -> dict[str, Any]:
    body, failure = run_virtual("asyncio", lambda: played(profile, request))
    assert body is not None, failure
    return body


def refusal_of(profile: dict[str, Any], **request: Any) -> LlmFailure:
    body, failure = run_virtual("asyncio", lambda: played(profile, request))
    assert body is None
    assert failure is not None
    return failure


STREAM: Final = {"stream": True, "stream_options": {"include_usage": True}}
CHAT_TURNS: Final = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
]
EFFORTS: Final = {"off": "", "low": "low", "high": "HIGH"}


@pytest.mark.parametrize(
    ("profile", "request_", "extra"),
    [
        pytest.param(chat(), {}, {}, id="nothing-set-nothing-sent"),
        pytest.param(chat(max_tokens=9), {}, {"max_tokens": 9}, id="a-configured-cap"),
        pytest.param(
            chat(max_tokens=9), {"max_tokens": 4}, {"max_tokens": 4}, id="the-request-wins"
        ),
        pytest.param(
            chat({"max_tokens_field": "max_completion_tokens"}, max_tokens=9),
            {},
            {"max_completion_tokens": 9},
            id="the-cap-under-another-name",
        ),
        pytest.param(
            chat(reasoning_efforts=EFFORTS),
            {"reasoning_effort": "high"},
            {"reasoning_effort": "HIGH"},
            id="an-effort-in-the-provider's-word",
        ),
        pytest.param(
            chat(reasoning_efforts=EFFORTS), {"reasoning_effort": "off"}, {}, id="off-without-word"
        ),
        pytest.param(
            chat(reasoning_efforts={**EFFORTS, "off": "none"}),
            {"reasoning_effort": "off"},
            {"reasoning_effort": "none"},
            id="off-with-a-word",
        ),
        pytest.param(
            {**chat(reasoning_efforts=EFFORTS), "reasoning": "low"},
            {},
            {"reasoning_effort": "low"},
            id="the-route's-default-effort",
        ),
        pytest.param(
            chat({"thinking_format": "openrouter"}, reasoning_efforts=EFFORTS),
            {"reasoning_effort": "high"},
            {"reasoning": {"effort": "HIGH"}},
            id="openrouter-effort",
        ),
        pytest.param(
            chat({"thinking_format": "openrouter"}, reasoning_efforts=EFFORTS),
            {"reasoning_effort": "off"},
            {"reasoning": {"enabled": False}},
            id="openrouter-off",
        ),
        pytest.param(
            chat({"thinking_format": "deepseek"}, reasoning_efforts=EFFORTS),
            {"reasoning_effort": "high"},
            {"thinking": {"type": "enabled"}, "reasoning_effort": "HIGH"},
            id="deepseek-effort",
        ),
        pytest.param(
            chat({"thinking_format": "deepseek"}, reasoning_efforts=EFFORTS),
            {"reasoning_effort": "off"},
            {"thinking": {"type": "disabled"}},
            id="deepseek-off",
        ),
        pytest.param(
            chat({"thinking_format": "qwen"}, reasoning_efforts=EFFORTS),
            {"reasoning_effort": "low"},
            {"enable_thinking": True},
            id="qwen",
        ),
        pytest.param(
            chat({"thinking_format": "chat-template"}, reasoning_efforts=EFFORTS),
            {"reasoning_effort": "off"},
            {"chat_template_kwargs": {"enable_thinking": False}},
            id="chat-template-off",
        ),
        pytest.param(chat(), {"temperature": 0.5}, {"temperature": 0.5}, id="temperature"),
    ],
)
def test_a_chat_body(
    profile: dict[str, Any], request_: dict[str, Any], extra: dict[str, Any]
) -> None:
    whole = {"model": "m", "messages": CHAT_TURNS, **STREAM, **extra}
    assert body_of(profile, **request_) == whole


def test_a_gateway_that_takes_no_stream_options_gets_none() -> None:
    body = body_of(chat({"usage_in_stream": False}))
    assert body == {"model": "m", "messages": CHAT_TURNS, "stream": True}


def test_the_role_of_the_system_prompt_is_a_switch() -> None:
    body = body_of(chat({"system_role": "developer"}))
    assert body["messages"][0] == {"role": "developer", "content": "Be brief."}


@pytest.mark.parametrize(
    ("compat", "sent"), [({}, {"strict": False}), ({"strict": False}, {})], ids=["strict", "not"]
)
def test_strict_mode_is_left_out_where_the_gateway_has_none(
    compat: dict[str, Any], sent: dict[str, Any]
) -> None:
    tool = Tool("ls", parameters={"type": "object"}, strict=False)
    body = body_of(chat(compat), tools=(tool,))
    assert body["tools"] == [
        {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}, **sent}}
    ]


RESPONSES_BODY: Final = {
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    ],
    "stream": True,
    "store": False,
}
ENCRYPTED: Final = {"include": ["reasoning.encrypted_content"]}


@pytest.mark.parametrize(
    ("profile", "request_", "extra"),
    [
        pytest.param(responses(), {}, {}, id="nothing-set-nothing-sent"),
        pytest.param(responses(max_tokens=9), {}, {"max_output_tokens": 9}, id="a-configured-cap"),
        pytest.param(
            responses({"reasoning_summary": "auto"}), {}, {}, id="no-summary-without-reasoning"
        ),
        pytest.param(
            responses({"reasoning_summary": "auto"}, reasoning_efforts=EFFORTS),
            {"reasoning_effort": "high"},
            {"reasoning": {"effort": "HIGH", "summary": "auto"}, **ENCRYPTED},
            id="an-effort-and-a-summary",
        ),
        pytest.param(
            responses(reasoning_efforts=EFFORTS),
            {"reasoning_effort": "off"},
            ENCRYPTED,
            id="off-without-word",
        ),
    ],
)
def test_a_responses_body(
    profile: dict[str, Any], request_: dict[str, Any], extra: dict[str, Any]
) -> None:
    assert body_of(profile, **request_) == {**RESPONSES_BODY, **extra}


MESSAGES_BODY: Final = {
    "model": "m",
    "max_tokens": 32_768,
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    "stream": True,
}
MARK: Final = {"cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize(
    ("profile", "request_", "extra"),
    [
        pytest.param(messages(), {}, {}, id="the-capability-where-a-cap-is-demanded"),
        pytest.param(messages(max_tokens=9), {}, {"max_tokens": 9}, id="a-configured-cap"),
        pytest.param(
            messages(reasoning_efforts=EFFORTS),
            {"reasoning_effort": "low"},
            {"thinking": {"type": "enabled", "budget_tokens": 2048}},
            id="a-default-budget",
        ),
        pytest.param(
            {**messages(reasoning_efforts=EFFORTS), "thinking_budgets": {"low": 5000}},
            {"reasoning_effort": "low"},
            {"thinking": {"type": "enabled", "budget_tokens": 5000}},
            id="a-configured-budget",
        ),
        pytest.param(
            messages(reasoning_efforts=EFFORTS),
            {"reasoning_effort": "off"},
            {"thinking": {"type": "disabled"}},
            id="off",
        ),
        pytest.param(
            messages({"thinking_format": "adaptive"}, reasoning_efforts=EFFORTS),
            {"reasoning_effort": "high"},
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "HIGH"}},
            id="adaptive",
        ),
        pytest.param(
            messages({"thinking_format": "adaptive"}, reasoning_efforts=EFFORTS),
            {"reasoning_effort": "off"},
            {"thinking": {"type": "disabled"}},
            id="adaptive-off",
        ),
        pytest.param(
            messages({"cache": "5m"}),
            {},
            {
                "system": [{"type": "text", "text": "Be brief.", **MARK}],
                "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", **MARK}]}],
            },
            id="cache-marks",
        ),
    ],
)
def test_a_messages_body(
    profile: dict[str, Any], request_: dict[str, Any], extra: dict[str, Any]
) -> None:
    assert body_of(profile, **request_) == {**MESSAGES_BODY, **extra}


# ---- what is refused ---------------------------------------------------------------------

ALL: Final = {"chat": chat, "responses": responses, "messages": messages}


@pytest.mark.parametrize("protocol", ALL.values(), ids=ALL)
@pytest.mark.parametrize(
    ("route", "model", "request_", "code", "message"),
    [
        pytest.param(
            *({}, {}, {"model": "n"}, codes.UNKNOWN_MODEL, "mine has no model 'n'; it has m"),
            id="unknown-model",
        ),
        pytest.param(
            *({}, {}, {"messages": (user("What?", PIXEL),)}, codes.UNSUPPORTED_CONTENT),
            "images: the model m of mine takes text only",
            id="image-to-a-text-model",
        ),
        pytest.param(
            *({}, {}, {"reasoning_effort": "low"}, codes.UNSUPPORTED_REASONING_EFFORT),
            "reasoning effort 'low': the model m of mine offers none at all",
            id="effort-of-a-model-without-any",
        ),
        pytest.param(
            *({}, {"reasoning_efforts": EFFORTS}, {"reasoning_effort": "max"}),
            codes.UNSUPPORTED_REASONING_EFFORT,
            "reasoning effort 'max': the model m of mine offers off, low, high",
            id="effort-that-is-not-offered",
        ),
        pytest.param(
            *({"reasoning": "low"}, {}, {}, codes.UNSUPPORTED_REASONING_EFFORT),
            "reasoning effort 'low': the model m of mine offers none at all",
            id="the-route's-effort-fails-the-request-and-not-the-route",
        ),
        pytest.param(
            *({"compat": {"temperature": False}}, {}, {"temperature": 1.0}),
            codes.UNSUPPORTED_OPTION,
            "temperature: the model m of mine takes none",
            id="temperature",
        ),
        pytest.param(
            *({"compat": {"strict": False}}, {}, {"tools": (Tool("ls", strict=True),)}),
            codes.UNSUPPORTED_OPTION,
            "strict tools: the model m of mine has no strict mode",
            id="strict-tool",
        ),
    ],
)
def test_what_cannot_be_honoured_is_refused_unsent(
    protocol: Any,
    route: dict[str, Any],
    model: dict[str, Any],
    request_: dict[str, Any],
    code: str,
    message: str,
) -> None:
    failure = refusal_of({**protocol(**model), **route}, **request_)
    assert failure == LlmFailure(code=code, message=message)


def test_stop_is_refused_where_the_protocol_has_none() -> None:
    assert refusal_of(responses(), stop=("X",)) == LlmFailure(
        code=codes.UNSUPPORTED_OPTION, message="stop: openai-responses has no such option"
    )


@pytest.mark.parametrize("effort", ["low", "high"])
def test_the_same_request_is_the_same_bytes(effort: str) -> None:
    async def twice() -> list[bytes]:
        scripted = scripted_client([ANSWER, ANSWER])
        for _ in range(2):
            adapter = PiAdapter(
                profile="mine",
                profiles=PiProfiles({"mine": chat(reasoning_efforts=EFFORTS)}),
                api_key="k",
                http_client=scripted.client,
            )
            asked = LlmRequest(model="m", messages=TURNS, reasoning_effort=effort)
            await finish_of(adapter, asked)
        await scripted.client.aclose()
        return [request.content for request in scripted.requests]

    first, second = run_virtual("asyncio", twice)
    assert first == second


@pytest.mark.anyio
async def test_headers_of_the_profile_go_out_and_those_of_the_caller_go_before_them() -> None:
    profile = {**chat(), "headers": {"X-Team": "profile", "X-Only": "profile"}}
    with FaultServer((ANSWER,)) as server:
        async with PiAdapter(
            profile="mine",
            profiles=PiProfiles({"mine": {**profile, "base_url": server.base_url}}),
            api_key="k",
            headers={"x-team": "caller", "user-agent": "product/1"},
        ) as adapter:
            await finish_of(adapter, LlmRequest(model="m", messages=TURNS))
        headers = {name.lower(): value for name, value in server.requests[0].headers}
    assert (headers["x-team"], headers["x-only"]) == ("caller", "profile")
    assert headers["user-agent"].endswith(" product/1")
