"""Events as JSON: camelCase, nothing lost on the way there and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    TOOL_CALLS,
    BlockEnd,
    BlockStart,
    Finish,
    LlmFailure,
    Message,
    ProviderRequestId,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    TokenUsage,
    ToolCallBlock,
    ToolCallDelta,
    UsageReport,
    codes,
)
from adapter_sdk.lifecycle import (
    AssistantChunk,
    LifecycleEvent,
    ResponseCommitted,
    ResponseFailed,
    ResponseInterrupted,
    ResponseStart,
    RouteInfo,
    event_from_json,
)

FAILURE = LlmFailure(
    message="slow down",
    code=codes.RATE_LIMIT,
    status=429,
    provider_retry_after_ms=7000,
    request_id=ProviderRequestId("req-1"),
)
FAILURE_JSON = {
    "message": "slow down",
    "code": "RATE_LIMIT",
    "status": 429,
    "providerRetryAfterMs": 7000,
    "requestId": "req-1",
}
ROUTE = RouteInfo(route_id="eu", model="m", wire_model="vendor/m", provider="acme")


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        pytest.param(
            ResponseStart(response_id="r0", response_index=0, route_id="eu"),
            {"type": "response/start", "responseId": "r0", "responseIndex": 0, "routeId": "eu"},
            id="start",
        ),
        pytest.param(
            AssistantChunk(response_id="r0", chunk=TextDelta(0, "Hel")),
            {
                "type": "assistant/chunk",
                "responseId": "r0",
                "commitment": "uncommitted",
                "chunk": {"type": "text-delta", "index": 0, "text": "Hel"},
            },
            id="chunk",
        ),
        pytest.param(
            ResponseInterrupted(
                response_id="r0",
                failure=FAILURE,
                scheduled_retry_ms=7000,
                delay_source="provider",
            ),
            {
                "type": "response/interrupted",
                "responseId": "r0",
                "failure": FAILURE_JSON,
                "scheduledRetryMs": 7000,
                "delaySource": "provider",
            },
            id="interrupted",
        ),
        pytest.param(
            ResponseInterrupted(response_id="r0", failure=FAILURE),
            {"type": "response/interrupted", "responseId": "r0", "failure": FAILURE_JSON},
            id="interrupted-and-at-once",
        ),
        pytest.param(
            ResponseFailed(failure=FAILURE),
            {"type": "response/failed", "failure": FAILURE_JSON},
            id="failed-before-any-response",
        ),
        pytest.param(
            ResponseCommitted(
                response_id="r1",
                message=Message("assistant", (TextBlock("Hello"),), {"ids": ["a"], "n": None}),
                finish=STOP,
                usage=TokenUsage(3, 2, cache_read_tokens=1),
                route=ROUTE,
            ),
            {
                "type": "response/committed",
                "responseId": "r1",
                "message": {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Hello"}],
                    "replayState": {"ids": ["a"], "n": None},
                },
                "finish": {"kind": "stop"},
                "usage": {"inputTokens": 3, "outputTokens": 2, "cacheReadTokens": 1},
                "route": {
                    "routeId": "eu",
                    "model": "m",
                    "wireModel": "vendor/m",
                    "provider": "acme",
                },
            },
            id="committed",
        ),
    ],
)
def test_an_event_has_this_stored_form(event: LifecycleEvent, expected: dict[str, Any]) -> None:
    assert event.to_json() == expected
    assert event_from_json(json.loads(json.dumps(event.to_json()))) == event


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
indices = st.integers(0, 9)
blocks = st.one_of(
    st.builds(TextBlock, texts),
    st.builds(ReasoningBlock, texts),
    st.builds(ToolCallBlock, texts, texts, texts),
)
usages = st.builds(
    TokenUsage, indices, indices, st.none() | indices, st.none() | indices, st.none() | indices
)
failures = st.builds(
    LlmFailure,
    message=st.just("no"),
    code=st.sampled_from(sorted(codes.CODES)),
    status=st.none() | st.integers(100, 999),
    provider_retry_after_ms=st.none() | st.integers(1, 10**12),
    request_id=st.none() | st.just(ProviderRequestId("req-1")),
)
chunks = st.one_of(
    st.builds(BlockStart, indices, st.sampled_from(["text", "reasoning", "tool-call"])),
    st.builds(TextDelta, indices, texts),
    st.builds(ReasoningDelta, indices, texts),
    st.builds(ToolCallDelta, indices, texts, texts, st.none() | texts),
    st.builds(BlockEnd, indices, blocks),
    st.builds(UsageReport, usages),
)


def made(event: Any, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Build an event; left to itself hypothesis would fill in its aliases as well."""
    return st.fixed_dictionaries(fields).map(lambda chosen: event(**chosen))


events = st.one_of(
    made(ResponseStart, response_id=texts, response_index=indices, route_id=texts),
    made(AssistantChunk, response_id=texts, chunk=chunks),
    made(
        ResponseInterrupted,
        response_id=texts,
        failure=failures,
        scheduled_retry_ms=st.none() | indices,
        delay_source=st.sampled_from([None, "provider", "provider-capped", "backoff"]),
    ),
    made(ResponseFailed, response_id=st.none() | texts, failure=failures),
    made(
        ResponseCommitted,
        response_id=texts,
        message=st.builds(
            Message, st.just("assistant"), st.lists(blocks, max_size=3).map(tuple), st.none()
        ),
        finish=st.sampled_from([STOP, TOOL_CALLS, MAX_TOKENS]),
        usage=st.none() | usages,
        route=st.just(ROUTE),
    ),
)


@settings(deadline=None)
@given(events)
def test_every_event_comes_back_as_it_was(event: LifecycleEvent) -> None:
    assert event_from_json(json.loads(json.dumps(event.to_json()))) == event


@pytest.mark.parametrize(
    ("value", "names"),
    [
        pytest.param([], "type", id="no-object"),
        pytest.param({"type": "response/ended"}, "response/ended", id="unknown-type"),
        pytest.param(
            {"type": "response/failed", "failure": FAILURE_JSON, "text": "x"},
            "text",
            id="unknown-key",
        ),
        pytest.param({"type": "response/failed"}, "failure", id="missing-key"),
        pytest.param(
            {"type": "response/failed", "failure": {"message": "x", "code": "NO"}},
            "LlmFailure.code",
            id="no-failure",
        ),
        pytest.param(
            {
                "type": "assistant/chunk",
                "responseId": "r0",
                "chunk": {"type": "text-delta", "index": 0},
            },
            "chunk.text",
            id="half-a-chunk",
        ),
        pytest.param(
            {
                "type": "assistant/chunk",
                "responseId": "r0",
                "chunk": {"type": "finish", "reason": {"kind": "stop"}},
            },
            "a finish is an event of its own",
            id="a-finish",
        ),
        pytest.param(
            {
                "type": "assistant/chunk",
                "responseId": "r0",
                "commitment": "committed",
                "chunk": {"type": "text-delta", "index": 0, "text": ""},
            },
            "commitment",
            id="a-committed-chunk",
        ),
    ],
)
def test_anything_else_is_refused_by_name(value: object, names: str) -> None:
    with pytest.raises(ValidationError) as caught:
        event_from_json(value)
    assert names in str(caught.value)


def test_a_finish_is_no_chunk_of_an_event() -> None:
    with pytest.raises(ValidationError):
        AssistantChunk(response_id="r0", chunk=Finish(STOP))  # type: ignore[arg-type]


def test_an_event_cannot_be_changed() -> None:
    event = ResponseFailed(failure=FAILURE)
    with pytest.raises(ValidationError):
        event.failure = FAILURE
