"""Limits of one response, on adapters of the SDK's own kind and over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final, Literal

import anyio
import httpx
import pytest

from adapter_sdk import AbortSignal, BaseAdapter, Chunk, ChunkStream, LlmRequest, codes, user
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.lifecycle import (
    LlmClient,
    Recovery,
    ResponseCommitted,
    ResponseFailed,
    ResponseInterrupted,
    ResponseLimits,
)
from adapter_sdk.lifecycle._limited import limited
from adapter_sdk.retry import Backoff
from adapter_sdk.testing import (
    Exchange,
    FaultServer,
    Pause,
    Repeat,
    Send,
    run_virtual,
    scripted_client,
)

Backend = Literal["asyncio", "trio"]
lanes = pytest.mark.parametrize("backend", ["asyncio", "trio"])

REQUEST: Final = LlmRequest(model="m", messages=(user("Hi"),))
QUICK: Final = Backoff(initial_delay_ms=30, max_delay_ms=30, jitter_ratio=0)
STREAM: Final = (("content-type", "text/event-stream"),)
HEL: Final = Send(b'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n')
HELLO: Final = Exchange(
    200,
    STREAM,
    body=b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n",
)
OVERLOADED: Final = Send(b'data: {"error":{"message":"overloaded","code":503}}\n\n')


class Acme(BaseAdapter):
    dialect = OpenAIChat(terminal="done-sentinel")
    default_base_url = "http://acme.invalid"


# ---- the tighter limit wins -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "policy", "expected"),
    [
        pytest.param({}, {}, (15.0, 60.0, 300.0), id="defaults"),
        pytest.param(
            {"connect_timeout": 1, "header_timeout": 2, "idle_timeout": 3}, {}, (1, 2, 3),
            id="the-adapter-is-tighter",
        ),
        pytest.param(
            {"connect_timeout": 90, "header_timeout": 91, "idle_timeout": 900},
            {"connect_timeout": 1, "header_timeout": 2, "idle_timeout": 3}, (1, 2, 3),
            id="the-policy-is-tighter",
        ),
        pytest.param(
            {"header_timeout": 7},
            {"connect_timeout": None, "header_timeout": None, "idle_timeout": None},
            (None, 7, 300), id="the-policy-has-none",
        ),
    ],
)  # fmt: skip
def test_the_tighter_limit_wins(
    own: dict[str, Any], policy: dict[str, Any], expected: tuple[float | None, ...]
) -> None:
    adapter = Acme(api_key="k", http_client=httpx.AsyncClient(), **own)
    view = limited(adapter, ResponseLimits(**policy))
    assert isinstance(view, Acme)
    assert (view.connect_timeout, view.header_timeout, view.idle_timeout) == expected
    # The adapter itself stays as it was made.
    assert adapter.idle_timeout == own.get("idle_timeout", 300.0)
    assert adapter.connect_timeout == own.get("connect_timeout")


@pytest.mark.anyio
async def test_the_view_borrows_the_client_of_the_adapter_that_closes_it() -> None:
    with FaultServer([HELLO, HELLO]) as server:
        async with Acme(base_url=server.base_url, api_key="k") as adapter:
            client = LlmClient()
            client.register_route("a", "m", adapter=adapter)
            for _ in range(2):
                assert (await client.complete(REQUEST)).type == "response/committed"
            assert len(server.connections) == 1  # one client, so one connection for both
        assert server.wait_until_closed(2) == []


def test_a_foreign_adapter_is_taken_as_it_is() -> None:
    class Foreign:
        def stream(
            self, request: LlmRequest, abort: AbortSignal | None = None
        ) -> AsyncIterator[Chunk]:
            raise AssertionError("it is only looked at")

    foreign = Foreign()
    assert limited(foreign, ResponseLimits()) is foreign


class Front:
    """No ``BaseAdapter``, but one makes its streams."""

    def __init__(self, adapter: Acme) -> None:
        self._adapter = adapter

    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> ChunkStream:
        return self._adapter.stream(request, abort)


class Refusing:
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> ChunkStream:
        raise LookupError("no way out")


@pytest.mark.anyio
async def test_what_is_raised_before_there_is_a_stream_is_a_failure_too() -> None:
    client = LlmClient(recovery=Recovery(max_responses=1))
    client.register_route("a", "m", adapter=Refusing())
    outcome = await client.complete(REQUEST)
    assert isinstance(outcome, ResponseFailed)
    assert outcome.failure.code == codes.UNKNOWN
    assert "no way out" in outcome.failure.message


@lanes
@pytest.mark.parametrize(
    ("exchange", "ended_s", "message"),
    [
        pytest.param(
            Exchange(None, ending="hold-before-headers"),
            60.0,
            "no response within 60 s, the header limit",
            id="no-head",
        ),
        pytest.param(
            Exchange(200, STREAM, steps=(HEL,), ending="hold"),
            300.0,
            "no event and no comment for 300 s, the idle limit",
            id="silence-in-the-body",
        ),
    ],
)
def test_each_limit_interrupts_and_another_response_answers(
    backend: Backend, exchange: Exchange, ended_s: float, message: str
) -> None:
    async def main() -> tuple[list[Any], list[float]]:
        scripted = scripted_client([exchange, HELLO])
        adapter = Acme(api_key="k", http_client=scripted.client)
        client = LlmClient(recovery=Recovery(backoff=QUICK))
        client.register_route("a", "m", adapter=adapter)
        events, times = [], []
        async for event in client.stream(REQUEST):
            if isinstance(event, (ResponseInterrupted, ResponseCommitted)):
                events.append(event)
                times.append(anyio.current_time())
        assert scripted.open_responses == 0
        await scripted.client.aclose()
        return events, times

    (interrupted, committed), times = run_virtual(backend, main)
    assert (interrupted.failure.code, interrupted.failure.message) == (codes.TIMEOUT, message)
    assert committed.message.text == "Hello"
    assert times == pytest.approx([ended_s, ended_s + 0.03])


@lanes
@pytest.mark.parametrize("front", [False, True], ids=["own", "behind-a-front"])
def test_comments_keep_a_queued_response_alive_beyond_the_limits(
    backend: Backend, front: bool
) -> None:
    """Ten minutes of keep-alive comments are no silence; only the adapter can see them."""
    queued = Repeat((Send(b": keep-alive\n\n"),), every_seconds=10.0)

    async def main() -> tuple[str, float]:
        scripted = scripted_client([Exchange(200, STREAM, steps=(queued,), ending="hold")])
        client = LlmClient(recovery=Recovery(max_elapsed=600))
        adapter = Acme(api_key="k", http_client=scripted.client)
        client.register_route("a", "m", adapter=Front(adapter) if front else adapter)
        outcome = await client.complete(REQUEST)
        await scripted.client.aclose()
        assert isinstance(outcome, ResponseFailed)
        return outcome.failure.message, anyio.current_time()

    message, ended_s = run_virtual(backend, main)
    assert (message, ended_s) == ("the time of the whole call is over", 600.0)


# ---- over real sockets ------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize(
    "first",
    [
        pytest.param(Exchange(200, STREAM, steps=(HEL, OVERLOADED), ending="hold"), id="in-band"),
        pytest.param(Exchange(200, STREAM, steps=(HEL,), ending="reset"), id="reset"),
        pytest.param(Exchange(503, body=b'{"error":"busy"}'), id="refused"),
    ],
)
async def test_every_response_is_closed_before_its_wait_begins(first: Exchange) -> None:
    with FaultServer([first, HELLO]) as server:
        async with Acme(base_url=server.base_url, api_key="k") as adapter:
            client = LlmClient(recovery=Recovery(backoff=QUICK))
            client.register_route("a", "m", adapter=adapter)
            text = ""
            async for event in client.stream(REQUEST):
                if isinstance(event, ResponseInterrupted):
                    # The caller holds the event, so the wait has not begun: the server sees
                    # nothing of the response any more.
                    assert event.scheduled_retry_ms == 30
                    assert server.wait_until_released(2) == []
                    assert len(server.requests) == 1
                if isinstance(event, ResponseCommitted):
                    text = event.message.text
        assert text == "Hello"
        assert len(server.requests) == 2


@pytest.mark.anyio
async def test_failover_leaves_nothing_open_at_the_first_server() -> None:
    cut = Exchange(200, STREAM, steps=(HEL, OVERLOADED), ending="hold")
    with FaultServer([cut]) as first, FaultServer([HELLO]) as second:
        async with (
            Acme(base_url=first.base_url, api_key="k") as one,
            Acme(base_url=second.base_url, api_key="k") as two,
        ):
            client = LlmClient()
            client.register_route("one", "m", adapter=one, priority=1)
            client.register_route("two", "m", adapter=two)
            seen = [event.type async for event in client.stream(REQUEST)]
            assert first.wait_until_released(2) == []
    assert [word for word in seen if word != "assistant/chunk"] == [
        "response/start",
        "response/interrupted",
        "response/start",
        "response/committed",
    ]


@pytest.mark.anyio
async def test_an_abort_in_the_wait_sends_nothing_more() -> None:
    slow = Exchange(429, (("retry-after", "3600"),), body=b'{"error":"slow down"}')
    abort = AbortSignal()
    with FaultServer([slow, HELLO]) as server:
        async with Acme(base_url=server.base_url, api_key="k") as adapter:
            client = LlmClient()
            client.register_route("a", "m", adapter=adapter)
            events = []
            async with anyio.create_task_group() as tasks:
                async for event in client.stream(REQUEST, abort=abort):
                    events.append(event)
                    if isinstance(event, ResponseInterrupted):
                        tasks.start_soon(abort_soon, abort)
            assert server.wait_until_released(2) == []
    last = events[-1]
    assert isinstance(last, ResponseFailed)
    assert (last.failure.code, len(server.requests)) == (codes.ABORTED, 1)


async def abort_soon(abort: AbortSignal) -> None:
    await anyio.wait_all_tasks_blocked()  # the call stands in its wait
    abort.abort()


@lanes
@pytest.mark.parametrize("when", ["in-the-head", "in-the-body"])
def test_an_abort_of_an_own_adapter_is_the_adapters_word(backend: Backend, when: str) -> None:
    hang = Exchange(None, ending="hold-before-headers")
    if when == "in-the-body":
        hang = Exchange(200, STREAM, steps=(HEL, Pause(50)), ending="hold")

    async def main() -> Any:
        scripted, abort = scripted_client([hang]), AbortSignal()
        client = LlmClient()
        adapter = Acme(api_key="k", http_client=scripted.client)
        client.register_route("a", "m", adapter=adapter)
        outcomes = []

        async def call() -> None:
            outcomes.append(await client.complete(REQUEST, abort=abort))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            abort.abort("stop it")
        assert scripted.open_responses == 0
        await scripted.client.aclose()
        return outcomes[0]

    outcome = run_virtual(backend, main)
    assert (outcome.failure.code, outcome.failure.message) == (codes.ABORTED, "stop it")
