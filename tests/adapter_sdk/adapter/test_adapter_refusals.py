"""What the base class refuses before it sends anything, and how it says why."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from adapter_sdk import (
    BaseAdapter,
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
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.testing import scripted_client

from .example_adapter import ABSOLUTE, GOOD, PIXEL, REQUEST, Example, adapter_with, finish_of

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
@pytest.mark.parametrize(
    ("variable", "hint"), [(None, ""), ("NOWHERE_BASE_URL", ", set $NOWHERE_BASE_URL")]
)
async def test_an_adapter_without_an_address_says_how_to_give_it_one(
    variable: str | None, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Nowhere(BaseAdapter):
        dialect = OpenAIChat()
        base_url_env = variable

    monkeypatch.delenv("NOWHERE_BASE_URL", raising=False)
    finish = await finish_of(Nowhere(api_key="sk-1"))
    assert finish.reason.failure == LlmFailure(
        message=f"base_url: there is none; pass it{hint} or give the class a default",
        code="UNSUPPORTED_OPTION",
    )


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
