"""single-attempt: one call makes one request, and a good answer that waits stays unasked for."""

from __future__ import annotations

from typing import Final

from adapter_sdk.testing import Exchange, FaultServer

from .._bench import Bench
from .._judge import Difference
from .._scenario import Scenario, scenario
from ._verdicts import failure_differs, outcome, requests_differ

_JSON: Final = ("content-type", "application/json")
_BUSY: Final = b'{"error":{"message":"busy"}}'

# What libraries take as an invitation to try again at once.
_INVITATION: Final = (_JSON, ("retry-after-ms", "1"), ("x-should-retry", "true"))

# What an adapter would get if it asked again: not a failure that looks like the first one.
_WAITING: Final = (Exchange(200, (_JSON,), body=b"{}"),) * 2

_RETRIED_STATUSES: Final = (408, 409, 425, 429, 500, 502, 503, 504, 529)


async def _once(bench: Bench, first: Exchange, *, of: str) -> list[Difference]:
    with FaultServer((first, *_WAITING)) as server:
        async with bench.adapter(server.base_url) as adapter:
            seen = await bench.call(adapter)
        found = requests_differ(len(server.requests), 1, of=f"a call with {of}")
        if seen.ending != "failure":
            found.append(Difference(f"the call with {of}", "a failure", outcome(seen)))
        return found


@scenario("single-attempt", "Statuses that invite a retry are asked for once")
async def statuses_that_invite_a_retry(bench: Bench) -> list[Difference]:
    """429 with ``retry-after-ms: 1`` and a good answer waiting, and what else is retried."""
    found: list[Difference] = []
    for status in _RETRIED_STATUSES:
        first = Exchange(status, _INVITATION, body=_BUSY)
        found += await _once(bench, first, of=f"HTTP {status} and retry-after-ms: 1")
    return found


@scenario("single-attempt", "A connection that breaks before the headers is not opened again")
async def connections_that_break_before_the_headers(bench: Bench) -> list[Difference]:
    """Reset and close, on a new connection."""
    reset = Exchange(None, ending="reset")
    closed = Exchange(None, ending="close-before-headers")
    return [
        *await _once(bench, reset, of="a reset before the headers"),
        *await _once(bench, closed, of="an end before the headers"),
    ]


@scenario("single-attempt", "A kept connection that breaks under the next request is not replaced")
async def kept_connections_that_break(bench: Bench) -> list[Difference]:
    """HTTP libraries repeat a request on a new connection where a kept one had died."""
    found: list[Difference] = []
    for ending, of in (("reset", "reset"), ("close-before-headers", "closed")):
        broken = Exchange(None, ending="reset" if ending == "reset" else "close-before-headers")
        script = (Exchange(500, (_JSON,), body=_BUSY), broken, *_WAITING)
        with FaultServer(script) as server:
            async with bench.adapter(server.base_url) as adapter:
                await bench.call(adapter)
                seen = await bench.call(adapter)
            where = f"two calls, the second on a kept connection that is {of}"
            found += requests_differ(len(server.requests), 2, of=where)
            found += failure_differs(seen, "TRANSPORT", of=f"the second of {where}")
    return found


@scenario("single-attempt", "Headers that never come are waited for once", timed=True)
async def headers_that_never_come(bench: Bench) -> list[Difference]:
    """The idle limit ends the call; nobody asks again."""
    return await _once(
        bench, Exchange(None, ending="hold-before-headers"), of="headers that never come"
    )


@scenario("single-attempt", "A refused connection is tried once", needs_client=True, virtual=True)
async def refused_connection(bench: Bench) -> list[Difference]:
    """Counted by the client, for nobody else sees a connection that is refused."""
    async with bench.in_process((Exchange(None, ending="refuse"), *_WAITING)) as (adapter, client):
        seen = await bench.call(adapter)
        return [
            *requests_differ(len(client.requests), 1, of="a call whose connection is refused"),
            *failure_differs(seen, "TRANSPORT", of="the call whose connection is refused"),
        ]


SCENARIOS: Final[tuple[Scenario, ...]] = (
    statuses_that_invite_a_retry,
    connections_that_break_before_the_headers,
    kept_connections_that_break,
    headers_that_never_come,
    refused_connection,
)
