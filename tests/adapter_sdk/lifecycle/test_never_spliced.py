"""Whatever routes do, no two responses are joined: properties over random scripts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    AbortSignal,
    Chunk,
    Finish,
    FinishReason,
    LlmError,
    LlmFailure,
    LlmRequest,
    ReasoningDelta,
    TextDelta,
    Tool,
    codes,
    user,
)
from adapter_sdk.lifecycle import (
    AssistantChunk,
    LifecycleEvent,
    LlmClient,
    Recovery,
    ResponseCommitted,
    ResponseFailed,
    ResponseInterrupted,
    ResponseStart,
    RouteCapabilities,
)
from adapter_sdk.testing import run_virtual

ENDS: Final = (
    "stop",
    "max-tokens",
    "no-finish",
    "raise",
    *sorted(codes.TRANSIENT_CODES | {codes.AUTH, codes.MALFORMED_RESPONSE, "HTTP_409"}),
)


@dataclass(frozen=True)
class Says:
    pieces: int
    thinks: bool
    end: str
    hint_ms: int | None


@dataclass(frozen=True)
class Way:
    model: Literal["m", "mini", "other"]
    tools: bool
    priority: int
    script: tuple[Says, ...]


says = st.builds(
    Says,
    pieces=st.integers(0, 4),
    thinks=st.booleans(),
    end=st.sampled_from(ENDS),
    hint_ms=st.none() | st.integers(1, 10**9),
)
ways = st.lists(
    st.builds(
        Way,
        model=st.sampled_from(["m", "m", "mini", "other"]),
        tools=st.booleans(),
        priority=st.integers(0, 2),
        script=st.lists(says, min_size=1, max_size=4).map(tuple),
    ),
    min_size=1,
    max_size=4,
)


@dataclass
class Adapter:
    """Every piece of text says where it is from, so that a joint would show."""

    name: str
    way: Way
    open_now: int = 0
    said: list[str] = field(default_factory=list)

    async def stream(
        self, request: LlmRequest, abort: AbortSignal | None = None
    ) -> AsyncIterator[Chunk]:
        number = len(self.said)
        script = self.way.script[number % len(self.way.script)]
        self.said.append("")
        self.open_now += 1
        try:
            for piece in range(script.pieces):
                text = f"<{self.name}.{number}.{piece}>"
                if script.thinks and piece == 0:
                    yield ReasoningDelta(0, text)
                else:
                    self.said[number] += text
                    yield TextDelta(1, text)
            match script.end:
                case "stop":
                    yield Finish(STOP)
                case "max-tokens":
                    yield Finish(MAX_TOKENS)
                case "raise":
                    raise LlmError(LlmFailure(message="thrown", code=codes.SERVER))
                case "no-finish":
                    pass
                case code:
                    yield Finish(
                        FinishReason(
                            "error",
                            LlmFailure(
                                message="no", code=code, provider_retry_after_ms=script.hint_ms
                            ),
                        )
                    )
        finally:
            self.open_now -= 1


@settings(max_examples=150, deadline=None)
@given(ways=ways, most=st.integers(1, 12), backend=st.sampled_from(["asyncio", "trio"]))
def test_partial_text_failure_and_success_are_never_spliced(
    ways: list[Way], most: int, backend: Literal["asyncio", "trio"]
) -> None:
    adapters = {f"route-{n}": Adapter(f"route-{n}", way) for n, way in enumerate(ways)}

    async def main() -> list[LifecycleEvent]:
        client = LlmClient(
            recovery=Recovery(max_responses=most), compatible_models={"m": ("mini",)}
        )
        for route_id, adapter in adapters.items():
            client.register_route(
                route_id,
                adapter.way.model,
                adapter=adapter,
                priority=adapter.way.priority,
                capabilities=RouteCapabilities(tools=adapter.way.tools),
            )
        events = []
        request = LlmRequest(model="m", messages=(user("Hi"),), tools=(Tool("f"),))
        async for event in client.stream(request):
            events.append(event)
            if not isinstance(event, (ResponseStart, AssistantChunk)):
                # Closed before anybody hears of its end, and so before any wait.
                assert sum(adapter.open_now for adapter in adapters.values()) == 0
        return events

    check(run_virtual(backend, main), adapters, most)


def check(events: list[LifecycleEvent], adapters: dict[str, Adapter], most: int) -> None:
    *before, outcome = events
    assert isinstance(outcome, (ResponseCommitted, ResponseFailed))
    ids: list[str] = []
    open_id, route_id, texts = None, "", ""
    for event in events:
        match event:
            case ResponseStart():
                assert open_id is None
                assert event.response_index == len(ids)
                open_id, route_id, texts = event.response_id, event.route_id, ""
                ids.append(open_id)
                # Only routes that cover the request, to the model or to its stand-in.
                assert adapters[route_id].way.tools
                assert adapters[route_id].way.model in ("m", "mini")
            case AssistantChunk():
                assert event.response_id == open_id
                if isinstance(event.chunk, TextDelta):
                    texts += event.chunk.text
            case ResponseInterrupted():
                assert event.response_id == open_id
                open_id = None
            case ResponseCommitted():
                assert event.response_id == open_id
                assert event.message.text == texts == adapters[route_id].said[-1]
                assert event.route.route_id == route_id
            case ResponseFailed():
                assert event.response_id == open_id
    assert len(set(ids)) == len(ids) <= most
    assert sum(len(adapter.said) for adapter in adapters.values()) == len(ids)
    assert not any(isinstance(event, (ResponseCommitted, ResponseFailed)) for event in before)
