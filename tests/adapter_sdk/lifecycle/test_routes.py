"""Routes and capabilities: what fits a request, and what is said where nothing does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapter_sdk import (
    STOP,
    AbortSignal,
    Chunk,
    Finish,
    ImageBlock,
    LlmError,
    LlmRequest,
    TextDelta,
    Tool,
    assistant,
    codes,
    user,
)
from adapter_sdk.lifecycle import LlmClient, ResponseFailed, ResponseStart, RouteCapabilities

HI = (user("Hi"),)


class Echo:
    """Answers with its own name and the model that it was asked for."""

    def __init__(self, name: str = "echo") -> None:
        self.name = name
        self.asked: list[LlmRequest] = []

    async def stream(
        self, request: LlmRequest, abort: AbortSignal | None = None
    ) -> AsyncIterator[Chunk]:
        self.asked.append(request)
        yield TextDelta(0, f"{self.name} speaks for {request.model}")
        yield Finish(STOP)


def request(**fields: Any) -> LlmRequest:
    return LlmRequest(**{"model": "m", "messages": HI, **fields})


@pytest.mark.parametrize(
    ("asked", "needs"),
    [
        pytest.param(request(), (), id="text"),
        pytest.param(request(tools=(Tool("f"),)), ("tools",), id="tools"),
        pytest.param(
            request(tools=(Tool("f", strict=True),)), ("tools", "strict_tools"), id="strict-tools"
        ),
        pytest.param(request(tools=(Tool("f", strict=False),)), ("tools",), id="not-strict"),
        pytest.param(request(reasoning_effort="low"), ("reasoning",), id="an-effort"),
        pytest.param(request(reasoning_effort="off"), (), id="effort-off"),
        pytest.param(
            request(messages=(user(ImageBlock("image/png", "AA==")),)), ("images",), id="an-image"
        ),
        pytest.param(request(messages=(*HI, assistant("He"))), ("prefill",), id="prefill"),
        pytest.param(request(messages=(*HI, assistant("He"), *HI)), (), id="an-answer-before"),
        pytest.param(request(messages=()), (), id="no-messages"),
        pytest.param(request(stop=("\n",)), ("stop",), id="stop"),
        pytest.param(
            request(stop=("\n",), tools=(Tool("f"),)), ("tools", "stop"), id="more-than-one"
        ),
    ],
)
def test_a_request_needs_these_capabilities(asked: LlmRequest, needs: tuple[str, ...]) -> None:
    assert RouteCapabilities().missing_for(asked) == needs
    assert RouteCapabilities(**dict.fromkeys(needs, True)).missing_for(asked) == ()


def test_capabilities_are_flags() -> None:
    with pytest.raises(ValueError) as caught:
        RouteCapabilities(tools=1)  # type: ignore[arg-type]
    assert str(caught.value) == "tools: True or False, got int"


@pytest.mark.parametrize(
    ("route_id", "fields", "code", "message"),
    [
        pytest.param(
            "a", {}, codes.DUPLICATE_ADAPTER, "route 'a' is there already; dispose of it first",
            id="duplicate",
        ),
        pytest.param(
            " ", {}, codes.INVALID_ADAPTER, "route_id: a text that is not blank", id="blank-id"
        ),
        pytest.param(
            "b", {"wire_model": ""}, codes.INVALID_ADAPTER, "wire_model: a text that is not blank",
            id="blank-wire-model",
        ),
        pytest.param(
            "b", {"provider": 7}, codes.INVALID_ADAPTER, "provider: a text that is not blank",
            id="provider-a-number",
        ),
        pytest.param(
            "b", {"adapter": object()}, codes.INVALID_ADAPTER,
            "route 'b': object has no stream method", id="no-adapter",
        ),
        pytest.param(
            "b", {"priority": 1.5}, codes.INVALID_ADAPTER, "route 'b': priority: a whole number",
            id="half-a-priority",
        ),
        pytest.param(
            "b", {"capabilities": {"tools"}}, codes.INVALID_ADAPTER,
            "route 'b': capabilities: a RouteCapabilities", id="capabilities-a-set",
        ),
    ],
)  # fmt: skip
def test_a_route_that_cannot_be_used_is_refused(
    route_id: str, fields: dict[str, Any], code: str, message: str
) -> None:
    client = LlmClient()
    client.register_route("a", "m", adapter=Echo())
    with pytest.raises(LlmError) as caught:
        client.register_route(route_id, "m", **{"adapter": Echo(), **fields})
    assert (caught.value.code, caught.value.failure.message) == (code, message)


@pytest.mark.anyio
async def test_the_wire_model_is_what_the_provider_is_asked_for() -> None:
    echo, client = Echo(), LlmClient()
    client.register_route(
        "eu", "m", adapter=echo, wire_model="vendor/m-2026", provider="acme", priority=3
    )
    outcome = await client.complete(request())
    assert outcome.type == "response/committed"
    assert outcome.message.text == "echo speaks for vendor/m-2026"
    assert outcome.route.to_json() == {
        "routeId": "eu",
        "model": "m",
        "wireModel": "vendor/m-2026",
        "provider": "acme",
    }


@pytest.mark.anyio
async def test_what_is_not_said_of_a_route_has_defaults() -> None:
    client = LlmClient()
    client.register_route("eu", "m", adapter=Echo())
    outcome = await client.complete(request())
    assert outcome.type == "response/committed"
    assert (outcome.route.wire_model, outcome.route.provider) == ("m", "eu")


async def asked_first(client: LlmClient, asked: LlmRequest) -> str:
    async with client.stream(asked) as events:
        start = await anext(events)
    assert isinstance(start, ResponseStart)
    return start.route_id


@pytest.mark.anyio
async def test_higher_priority_first_then_the_order_of_registration() -> None:
    client = LlmClient()
    for route_id, priority in (("a", 0), ("b", 5), ("c", 5), ("d", -1)):
        client.register_route(route_id, "m", adapter=Echo(), priority=priority)
    assert await asked_first(client, request()) == "b"


@pytest.mark.anyio
async def test_a_route_that_lacks_something_is_passed_over_whatever_its_priority() -> None:
    client = LlmClient()
    client.register_route("text", "m", adapter=Echo(), priority=9)
    client.register_route("tools", "m", adapter=Echo(), capabilities=RouteCapabilities(tools=True))
    assert await asked_first(client, request(tools=(Tool("f"),))) == "tools"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        pytest.param(
            request(model="x"),
            codes.UNKNOWN_MODEL,
            "no route to the model 'x'; there are: m, n",
            id="unknown-model",
        ),
        pytest.param(
            request(tools=(Tool("f", strict=True),), stop=("\n",)),
            codes.UNSUPPORTED_OPTION,
            "no route to the model 'm' fits this request: "
            "a lacks tools, stop, strict_tools; b lacks stop, strict_tools",
            id="capability-by-capability",
        ),
    ],
)
async def test_where_nothing_fits_one_event_says_why(
    asked: LlmRequest, code: str, message: str
) -> None:
    client = LlmClient(compatible_models={"x": ("m",), "m": ("n",)})
    client.register_route("a", "m", adapter=Echo())
    client.register_route("b", "m", adapter=Echo(), capabilities=RouteCapabilities(tools=True))
    client.register_route("c", "n", adapter=Echo())
    (event,) = [event async for event in client.stream(asked)]
    assert isinstance(event, ResponseFailed)
    assert event.response_id is None
    assert (event.failure.code, event.failure.message) == (code, message)


@pytest.mark.anyio
async def test_without_any_route_the_model_is_unknown() -> None:
    outcome = await LlmClient().complete(request())
    assert outcome.type == "response/failed"
    assert outcome.failure.message == "no route to the model 'm'; there are: none"


@pytest.mark.anyio
async def test_disposal_removes_a_route_at_once_and_only_once() -> None:
    client = LlmClient()
    dispose = client.register_route("a", "m", adapter=Echo("old"))
    dispose()
    assert (await client.complete(request())).type == "response/failed"
    client.register_route("a", "m", adapter=Echo("new"))
    dispose()  # it is another route that has the name now
    outcome = await client.complete(request())
    assert outcome.type == "response/committed"
    assert outcome.message.text == "new speaks for m"
