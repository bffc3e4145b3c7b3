"""Time: which limit ends a call, when, and as what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import anyio
import httpx
import pytest
from typing_extensions import override

from adapter_sdk import STOP, BlockEnd, BlockStart, Chunk, Finish, TextBlock, TextDelta
from adapter_sdk.testing import Exchange, Pause, Repeat, Send, run_virtual

from .chat_answer import (
    COUNTS,
    DONE,
    GOOD_CHUNKS,
    HEADERS,
    HI,
    OPEN,
    REQUEST,
    STOPPED,
    USAGE,
    Example,
)
from .lanes import Backend, both_backends, lanes
from .timed_call import (
    COLON,
    COMMENT,
    EMPTY,
    END,
    HELD_BEFORE,
    IDLE,
    IDLE_S,
    PROGRESS,
    Call,
    answer,
    ended,
)
from .waiting import until

# ---- the limits --------------------------------------------------------------------------


@lanes
@pytest.mark.parametrize(
    ("exchange", "options", "at", "expected"),
    [
        pytest.param(HELD_BEFORE, {}, 10.0, [ended("TIMEOUT", IDLE, status=None)], id="no-head"),
        pytest.param(answer(), {}, 10.0, [ended("TIMEOUT", IDLE)], id="no-event"),
        pytest.param(
            answer(Pause(4.0), HI), {}, 14.0, [*OPEN, ended("TIMEOUT", IDLE)], id="after-text"
        ),
        pytest.param(
            answer(HI, STOPPED, USAGE),
            {},
            10.0,
            [*OPEN, COUNTS, ended("TIMEOUT", IDLE)],
            id="after-the-finish-and-before-its-sentinel",
        ),
        pytest.param(
            answer(*(Pause(8.0), COMMENT) * 3, HI, *END),
            {"progress_timeout": None},
            24.0,
            GOOD_CHUNKS,
            id="comments-re-arm",
        ),
        pytest.param(
            answer(*(Pause(8.0), COLON) * 3, HI, *END),
            {"progress_timeout": None},
            24.0,
            GOOD_CHUNKS,
            id="bare-colons-re-arm",
        ),
        pytest.param(
            answer(*(Pause(8.0), EMPTY) * 3, HI, *END),
            {},
            24.0,
            GOOD_CHUNKS,
            id="events-without-content-re-arm",
        ),
        pytest.param(
            answer(COMMENT, *(Pause(8.0), Send(b"data: {")) * 3),
            {},
            10.0,
            [ended("TIMEOUT", IDLE)],
            id="bytes-of-an-unfinished-event-do-not",
        ),
        pytest.param(
            answer(HI, *(Pause(4.0), EMPTY) * 7, *END),
            {},
            25.0,
            [*OPEN, ended("TIMEOUT", PROGRESS)],
            id="the-progress-limit-comes-before-a-good-end",
        ),
        pytest.param(
            answer(Repeat((COMMENT,), every_seconds=4.0)),
            {},
            25.0,
            [ended("TIMEOUT", PROGRESS)],
            id="comments-are-no-progress",
        ),
        pytest.param(
            answer(HI, Repeat((EMPTY,), every_seconds=4.0)),
            {},
            25.0,
            [*OPEN, ended("TIMEOUT", PROGRESS)],
            id="events-without-content-are-no-progress",
        ),
        pytest.param(
            answer(Repeat((COMMENT,), every_seconds=4.0)),
            {"progress_timeout": None, "idle_timeout": 3.0},
            3.0,
            [ended("TIMEOUT", "no event and no comment for 3 s, the idle limit")],
            id="without-a-progress-limit-idle-is-left",
        ),
        pytest.param(
            answer(*(Pause(8.0), COMMENT) * 125, HI, *END),
            {"progress_timeout": None},
            1000.0,
            GOOD_CHUNKS,
            id="without-a-progress-limit-comments-keep-a-call-alive-past-the-default",
        ),
        pytest.param(
            answer(*(HI, Pause(9.0)) * 6, *END),
            {},
            54.0,
            [
                BlockStart(0, "text"),
                *[TextDelta(0, "Hi")] * 6,
                BlockEnd(0, TextBlock("Hi" * 6)),
                COUNTS,
                Finish(STOP),
            ],
            id="a-slow-healthy-stream-lives",
        ),
        pytest.param(
            HELD_BEFORE,
            {"header_timeout": 2.5},
            2.5,
            [ended("TIMEOUT", "no response within 2.5 s, the header limit", status=None)],
            id="header-limit",
        ),
        pytest.param(
            answer(Pause(9.0), HI, *END),
            {"header_timeout": 2.5},
            9.0,
            GOOD_CHUNKS,
            id="the-header-limit-ends-with-the-head",
        ),
    ],
)
def test_a_limit_ends_the_call_at_its_instant(
    backend: Backend,
    library: ModuleType,
    exchange: Exchange,
    options: dict[str, Any],
    at: float,
    expected: list[Chunk],
) -> None:
    call = Call(exchange, backend, library, options=options)
    assert call.run() == (at, expected, 1)


class SlowHead(httpx.AsyncBaseTransport):
    """Its head comes after 6 s, its first event 8 s later."""

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await until(6.0)

        async def body() -> AsyncIterator[bytes]:
            await until(14.0)
            yield b"".join(step.data for step in (HI, *END))

        return httpx.Response(200, headers=HEADERS, content=body())


@both_backends
def test_the_head_re_arms_the_idle_limit(backend: Backend) -> None:
    async def run() -> tuple[float, list[Chunk]]:
        async with httpx.AsyncClient(transport=SlowHead()) as client:
            adapter = Example(http_client=client, api_key="k", idle_timeout=IDLE_S)
            chunks = [chunk async for chunk in adapter.stream(REQUEST)]
            return anyio.current_time(), chunks

    assert run_virtual(backend, run) == (14.0, GOOD_CHUNKS)


@both_backends
@pytest.mark.parametrize(
    ("exchange", "pauses", "at", "expected"),
    [
        pytest.param(
            answer(HI, Pause(9.0), *END), {1: 500.0}, 500.0, GOOD_CHUNKS, id="at-the-first-chunk"
        ),
        pytest.param(
            answer(HI, Pause(9.0), *END), {2: 500.0}, 500.0, GOOD_CHUNKS, id="between-two-reads"
        ),
        pytest.param(
            answer(HI), {2: 500.0}, 510.0, [*OPEN, ended("TIMEOUT", IDLE)], id="and-then-silence"
        ),
        pytest.param(
            answer(HI, Pause(505.0), *END),
            {2: 500.0},
            505.0,
            GOOD_CHUNKS,
            id="and-an-answer-after-it",
        ),
        pytest.param(
            answer(*(COMMENT, Pause(6.0)) * 4, HI, *END),
            {2: 5000.0},
            5024.0,
            GOOD_CHUNKS,
            id="after-waits-that-had-used-most-of-the-progress-limit",
        ),
    ],
)
def test_the_consumers_pause_never_counts(
    backend: Backend,
    exchange: Exchange,
    pauses: dict[int, float],
    at: float,
    expected: list[Chunk],
) -> None:
    assert Call(exchange, backend, pauses=pauses).run() == (at, expected, 1)


@both_backends
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_an_error_body_that_stalls_costs_neither_code_nor_facts(
    backend: Backend, coding: str
) -> None:
    headers = (*HEADERS, ("retry-after", "7"), ("content-encoding", coding))
    steps = (Send(b'{"error":{"message":"sl'),)
    exchange = Exchange(429, headers, steps=steps, ending="hold")
    at, (finish,), requests = Call(exchange, backend).run()
    assert isinstance(finish, Finish)
    assert finish.failure is not None
    facts = finish.failure.to_json()
    facts.pop("message")
    assert (at, requests, facts) == (
        10.0,
        1,
        {
            "code": "RATE_LIMIT",
            "status": 429,
            "providerRetryAfterMs": 7_000,
            "requestId": "req_1",
        },
    )


@both_backends
def test_an_error_body_that_drips_is_read_for_one_idle_limit_alone(backend: Backend) -> None:
    exchange = Exchange(503, (), steps=(Repeat((Send(b"x"),), every_seconds=1.0),))
    at, (finish,), _ = Call(exchange, backend).run()
    assert isinstance(finish, Finish)
    assert (at, finish.failure and finish.failure.code) == (10.0, "SERVER")


# ---- the evidence that needs no marker ---------------------------------------------------


@both_backends
@pytest.mark.parametrize(
    ("exchange", "idle", "pauses", "at"),
    [
        pytest.param(answer(HI, STOPPED, USAGE), 10.0, {}, 1.0, id="waits-a-second-for-usage"),
        pytest.param(answer(HI, STOPPED, USAGE), 0.5, {}, 0.25, id="or-half-a-shorter-idle-limit"),
        pytest.param(answer(HI, STOPPED, Pause(0.5), USAGE), 10.0, {}, 1.0, id="usage-in-time"),
        pytest.param(answer(HI, STOPPED, USAGE, DONE), 10.0, {}, 0.0, id="the-sentinel-ends-it"),
        pytest.param(
            answer(HI, STOPPED, USAGE, ending="cut"), 10.0, {}, 0.0, id="a-cut-ends-it-well-too"
        ),
        pytest.param(
            answer(HI, STOPPED, Pause(0.5), USAGE, ending="eof"), 10.0, {}, 0.5, id="clean-end"
        ),
        pytest.param(
            Exchange(200, HEADERS, steps=(Send(HI.data + STOPPED.data), Pause(0.1), USAGE, DONE)),
            10.0,
            {2: 60.0},
            60.0,
            id="usage-that-came-while-the-consumer-was-away",
        ),
    ],
)
def test_a_finish_reason_is_enough_where_it_is_declared(
    backend: Backend, exchange: Exchange, idle: float, pauses: dict[int, float], at: float
) -> None:
    call = Call(
        exchange, backend, terminal="finish-reason", pauses=pauses, options={"idle_timeout": idle}
    )
    assert call.run() == (at, GOOD_CHUNKS, 1)
