"""abort: a signal that is set before the call sends nothing."""

from __future__ import annotations

from typing import Final

from adapter_sdk import AbortSignal
from adapter_sdk.testing import Exchange, FaultServer

from .._bench import Bench
from .._judge import Difference
from .._scenario import Scenario, scenario
from ._reading import Reading
from ._verdicts import failure_differs, requests_differ

_ASK_FIRST: Final = "look at the signal before anything is sent"


@scenario("abort", "A signal that is set before the first chunk is asked for sends nothing")
async def signal_set_before_the_call(bench: Bench) -> list[Difference]:
    """Set before ``stream()`` is called, and between that and its first chunk."""
    found: list[Difference] = []
    for early in (True, False):
        signal = AbortSignal()
        when = "before stream()" if early else "after stream()"
        with FaultServer((Exchange(500, body=b"{}"),)) as server:
            async with bench.adapter(server.base_url) as adapter:
                if early:
                    signal.abort()
                reading = Reading(adapter, bench.request(), signal, patience_s=bench.patience_s)
                signal.abort()
                seen = await reading.to_the_end()
            of = f"a call whose signal is set {when}"
            found += failure_differs(seen, "ABORTED", of=of, advice=_ASK_FIRST, status=None)
            found += requests_differ(len(server.requests), 0, of=of, advice=_ASK_FIRST)
    return found


SCENARIOS: Final[tuple[Scenario, ...]] = (signal_set_before_the_call,)
