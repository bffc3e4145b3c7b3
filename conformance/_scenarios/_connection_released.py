"""connection-released: however a call ends, its connection is closed or back in the pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import anyio

from adapter_sdk.testing import Exchange, FaultServer, Send

from .._bench import Bench
from .._case import Call, Moment
from .._good_streams import EVENT_STREAM
from .._judge import Difference
from .._lanes import RELEASE_S
from .._scenario import Scenario, scenario
from ._own_task import OwnTask
from ._verdicts import failure_differs, outcome, success_differs

_THROTTLED: Final = Exchange(
    429, (("content-type", "application/json"),), body=b'{"error":{"message":"slow down"}}'
)
_CANCELLED_CALLS: Final = 20
_THROTTLED_CALLS: Final = 10
# Whether a call is done before its connection is, is a race: one call shows nothing.
_GOOD_CALLS: Final = 40
_CLOSE_IT: Final = "close the response however the call ends"


async def _busy(server: FaultServer) -> list[str]:
    """Return the states of connections that are still in use after the time for release."""
    busy = await anyio.to_thread.run_sync(server.wait_until_released, RELEASE_S)
    return [connection.state for connection in busy]


def _left_open(states: list[str], after: str) -> list[Difference]:
    if not states:
        return []
    wanted = f"closed or reusable within {RELEASE_S * 1000:g} ms ({_CLOSE_IT})"
    return [Difference(f"the connection after {after}", wanted, ", ".join(states))]


@scenario(
    "connection-released",
    "Twenty calls cancelled in mid stream leave a pool of two connections free",
    needs_client=True,
    needs_good_stream=True,
)
async def cancelled_calls_leave_the_pool_free(bench: Bench) -> list[Difference]:
    """A pool of 2; 20 streams are cancelled in mid body; one more call succeeds."""
    good = bench.good
    held = good.answer("hold", events=1)
    limits = bench.library.Limits(max_connections=2)
    with FaultServer((*(held,) * _CANCELLED_CALLS, good.answer())) as server:
        async with (
            bench.client(limits=limits) as client,
            bench.adapter(server.base_url, http_client=client) as adapter,
        ):
            for number in range(_CANCELLED_CALLS):
                how = await _cancelled_in_mid_stream(bench, adapter, ticks=number % 3)
                if how:
                    wanted = f"its first text and then its cancellation ({_CLOSE_IT})"
                    return [Difference(f"cancelled call {number + 1} on a pool of 2", wanted, how)]
            seen = await bench.call(adapter)
            return [
                *success_differs(
                    seen,
                    good.text,
                    of=f"a call after {_CANCELLED_CALLS} cancelled ones on a pool of 2",
                    advice=_CLOSE_IT,
                ),
                *_left_open(await _busy(server), "cancelled calls"),
            ]


async def _cancelled_in_mid_stream(bench: Bench, adapter: Any, *, ticks: int) -> str:
    """Cancel a call ``ticks`` turns of the loop after its first text; return what went wrong."""
    async with OwnTask(lambda task: task.read(adapter.stream(bench.request()))) as task:
        if not await task.is_reading(bench.patience_s):
            return f"no first text: {task.how()}"
        for _ in range(ticks):
            await anyio.lowlevel.checkpoint()
        task.cancel()
        await task.has_ended(bench.patience_s)
        return "" if task.was_cancelled else task.how()


@scenario(
    "connection-released",
    "Ten throttled calls through a pool of one connection all hear of the rate limit",
    needs_client=True,
)
async def throttled_calls_through_a_pool_of_one(bench: Bench) -> list[Difference]:
    """The tenth 429 is still RATE_LIMIT, not a wait for the pool."""
    limits = bench.library.Limits(max_connections=1)
    with FaultServer((_THROTTLED,) * _THROTTLED_CALLS) as server:
        async with (
            bench.client(limits=limits) as client,
            bench.adapter(server.base_url, http_client=client) as adapter,
        ):
            for number in range(_THROTTLED_CALLS):
                found = failure_differs(
                    await bench.call(adapter),
                    "RATE_LIMIT",
                    of=f"call {number + 1} through a pool of 1, each answered 429",
                    advice="close the response of a refused call",
                )
                if found:
                    return found
            return []


@scenario(
    "connection-released",
    "Forty good answers through a pool of one connection leave it free for the next",
    needs_client=True,
    needs_good_stream=True,
)
async def good_answers_through_a_pool_of_one(bench: Bench) -> list[Difference]:
    """A slot that a call leaves behind is idle to the server; only the next call misses it."""
    good = bench.good
    limits = bench.library.Limits(max_connections=1)
    with FaultServer((good.answer(),) * _GOOD_CALLS) as server:
        async with (
            bench.client(limits=limits) as client,
            bench.adapter(server.base_url, http_client=client) as adapter,
        ):
            for number in range(_GOOD_CALLS):
                found = success_differs(
                    await bench.call(adapter),
                    good.text,
                    of=f"call {number + 1} through a pool of 1, after good answers",
                    advice="close the response to its end, also where it is cancelled meanwhile",
                )
                if found:
                    return found
    return []


@dataclass(frozen=True, slots=True)
class _Way:
    """One way for a call to end."""

    name: str
    exchange: Exchange
    how: Call
    ending: str


def _ways(bench: Bench) -> tuple[_Way, ...]:
    good, after_text = bench.good, Moment(after_chunks=1)
    held = good.answer("hold", events=1)
    in_band = Exchange(
        200,
        EVENT_STREAM,
        steps=(Send(good.deltas[0]), Send(good.errors[0].frame)),
        ending="hold",
    )
    return (
        _Way("success", good.answer(), Call(), "success"),
        _Way("success on a connection that stays open", good.answer("hold"), Call(), "success"),
        _Way("a refusal", _THROTTLED, Call(), "failure"),
        _Way("an error inside the stream", in_band, Call(), "failure"),
        _Way("a timeout", held, Call(), "failure"),
        _Way("an abort", held, Call(abort=after_text), "failure"),
        _Way("a cancellation", held, Call(cancel=after_text), "cancelled"),
        _Way("an early exit", held, Call(leave=after_text), "left"),
    )


@scenario(
    "connection-released",
    "Success, failure, abort, timeout, cancellation and leaving free the connection at once",
    needs_good_stream=True,
    timed=True,
)
async def every_ending_frees_the_connection(bench: Bench) -> list[Difference]:
    """The server sees it closed, or idle and reusable, within 50 ms."""
    found: list[Difference] = []
    for way in _ways(bench):
        with FaultServer((way.exchange,)) as server:
            async with bench.adapter(server.base_url) as adapter:
                seen = await bench.call(adapter, how=way.how)
                states = await _busy(server)
            if seen.ending != way.ending:
                found.append(Difference(f"the call for {way.name}", way.ending, outcome(seen)))
            found += _left_open(states, way.name)
    return found


SCENARIOS: Final[tuple[Scenario, ...]] = (
    cancelled_calls_leave_the_pool_free,
    throttled_calls_through_a_pool_of_one,
    good_answers_through_a_pool_of_one,
    every_ending_frees_the_connection,
)
