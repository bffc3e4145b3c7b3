"""state-isolation: calls of one adapter know nothing of each other."""

from __future__ import annotations

from typing import Any, Final

import anyio

from adapter_sdk import AbortSignal, TextDelta
from adapter_sdk.testing import Exchange, FaultServer

from .._bench import Bench
from .._judge import Difference
from .._scenario import Scenario, scenario
from ._reading import Reading
from ._verdicts import failure_differs, success_differs

_SIDE_BY_SIDE: Final = 8

# Before each event, so that calls side by side take turns.
_PAUSE_S: Final = 0.005

_NEW_STATE: Final = "keep the state of a call in the call, not in the adapter"


@scenario("state-isolation", "The facts of a failure stay out of the next call's failure")
async def facts_of_the_last_call(bench: Bench) -> list[Difference]:
    """A 429 with a delay and a request id, then a bare 500."""
    names = bench.target.declaration.request_id_headers
    headers = (("retry-after", "7"), *((name, "req-of-the-first-call") for name in names))
    with FaultServer((Exchange(429, headers, body=b""), Exchange(500, body=b""))) as server:
        async with bench.adapter(server.base_url) as adapter:
            await bench.call(adapter)
            seen = await bench.call(adapter)
    return failure_differs(
        seen,
        "SERVER",
        of="the call after a 429 with facts",
        advice=_NEW_STATE,
        request_id=None,
        provider_retry_after_ms=None,
    )


@scenario(
    "state-isolation", "Text of a call that broke stays out of the next one", needs_good_stream=True
)
async def text_of_the_last_call(bench: Bench) -> list[Difference]:
    """Cut in mid stream, then a good answer."""
    broken, good = bench.good_of(("of the first call", "")), bench.good
    with FaultServer((broken.answer("cut", events=1), good.answer())) as server:
        async with bench.adapter(server.base_url) as adapter:
            await bench.call(adapter)
            seen = await bench.call(adapter)
    return success_differs(
        seen, good.text, of="the call after one that broke in mid stream", advice=_NEW_STATE
    )


@scenario(
    "state-isolation",
    "An abort ends its own call and no other of the same adapter",
    needs_good_stream=True,
)
async def abort_of_a_neighbour(bench: Bench) -> list[Difference]:
    """Two streams side by side, one aborted; then a third call."""
    mine, others = bench.good_of(("of the aborted call", "")), bench.good
    slow = others.answer(every_s=_PAUSE_S)
    script = (mine.answer("hold", events=1), slow, others.answer())
    with FaultServer(script) as server:
        async with bench.adapter(server.base_url) as adapter:
            signal = AbortSignal()
            aborted, other = _reading(bench, adapter, signal), _reading(bench, adapter)
            await aborted.until_content()
            await other.until_content()
            signal.abort()
            found = failure_differs(await aborted.to_the_end(), "ABORTED", of="the aborted call")
            for seen, of in (
                (await other.to_the_end(), "the call beside an aborted one"),
                (await bench.call(adapter), "the call after an aborted one"),
            ):
                found += success_differs(seen, others.text, of=of, advice=_NEW_STATE)
    return found


@scenario(
    "state-isolation",
    "The idle limit of a silent call leaves the one beside it alone",
    needs_good_stream=True,
    timed=True,
)
async def timeout_of_a_neighbour(bench: Bench) -> list[Difference]:
    """One is silent, one goes on beyond the limit with an event every 0.45 idle limits."""
    good = bench.good_of(tuple("abc"))
    script = (good.answer("hold", events=1), good.answer(every_s=0.45 * bench.idle_s))
    with FaultServer(script) as server:
        async with bench.adapter(server.base_url) as adapter:
            silent, alive = _reading(bench, adapter), _reading(bench, adapter)
            await silent.until_content()
            async with anyio.create_task_group() as group:
                group.start_soon(silent.to_the_end)
                await alive.to_the_end()
            return [
                *failure_differs(silent.seen, "TIMEOUT", of="the silent call"),
                *success_differs(
                    alive.seen, good.text, of="the call beside a silent one", advice=_NEW_STATE
                ),
            ]


@scenario(
    "state-isolation",
    "Eight streams side by side each bring their own text",
    needs_good_stream=True,
)
async def texts_side_by_side(bench: Bench) -> list[Difference]:
    """Whatever the order in which their requests arrive."""
    answers = [bench.good_of((f"call {n}, ", "its end")) for n in range(_SIDE_BY_SIDE)]
    with FaultServer([good.answer(every_s=_PAUSE_S) for good in answers]) as server:
        async with bench.adapter(server.base_url) as adapter:
            readings = [_reading(bench, adapter) for _ in answers]
            async with anyio.create_task_group() as group:
                for reading in readings:
                    group.start_soon(reading.to_the_end)
    due = {good.text for good in answers}
    found: list[Difference] = []
    for reading in readings:
        # Which answer it got is for the server to say; that it got one, whole, is checked here.
        text = reading.seen.joined(TextDelta)
        mine = text if text in due else min(due, default="a text of its own")
        of = f"one of {_SIDE_BY_SIDE} calls side by side"
        found += success_differs(reading.seen, mine, of=of, advice=_NEW_STATE)
        due.discard(mine)
    return found


def _reading(bench: Bench, adapter: Any, signal: AbortSignal | None = None) -> Reading:
    return Reading(adapter, bench.request(), signal, patience_s=bench.patience_s)


SCENARIOS: Final[tuple[Scenario, ...]] = (
    facts_of_the_last_call,
    text_of_the_last_call,
    abort_of_a_neighbour,
    timeout_of_a_neighbour,
    texts_side_by_side,
)
