"""idle-timeout and abort over a transport that does not let itself be cancelled."""

from __future__ import annotations

from typing import Final

import anyio

from .._bench import CLOSING_LIMIT_S, IN_PROCESS_URL, Bench
from .._case import Call, Moment
from .._judge import Difference
from .._observe import Observation
from .._scenario import Scenario, scenario
from ._raising_client import Place
from ._stuck_client import Grip, StuckClient
from ._verdicts import failure_differs

# Later than this the limit did not end the wait; earlier the transport is not let go.
_LATEST_IDLES: Final = 2.0
_LATEST_S: Final = 0.25
_LET_GO_IDLES: Final = 4.0
_LET_GO_S: Final = 0.5

_PLACES: Final[tuple[tuple[Place, str], ...]] = (
    ("send", "before the headers"),
    ("body", "between two events"),
)

_END_THE_WAIT: Final = "end the caller's wait itself; asking the transport to end it is not enough"


async def _stuck_call(bench: Bench, grip: Grip, at: Place, how: Call) -> Observation:
    """Make one call, and let the transport go once it is over, or far too late."""
    stuck = StuckClient(bench.library, grip=grip, at=at)

    async def let_go_at_last() -> None:
        await anyio.sleep(_LET_GO_IDLES * bench.idle_s + _LET_GO_S)
        await stuck.release(within_s=CLOSING_LIMIT_S)

    async with (
        stuck.client,
        bench.adapter(IN_PROCESS_URL, http_client=stuck.client) as adapter,
        anyio.create_task_group() as group,
    ):
        group.start_soon(let_go_at_last)
        seen = await bench.call(adapter, how=how)
        await stuck.release(within_s=CLOSING_LIMIT_S)
        group.cancel_scope.cancel()
    return seen


async def _ends_at(
    bench: Bench, grip: Grip, how: Call, code: str, latest_s: float
) -> list[Difference]:
    found: list[Difference] = []

    async def one(at: Place, where: str) -> None:
        seen = await _stuck_call(bench, grip, at, how)
        of = f"the call whose transport is stuck ({grip}) {where}"
        found.extend(failure_differs(seen, code, of=of, advice=_END_THE_WAIT))
        if seen.elapsed_s > latest_s:
            wanted = f"at most {latest_s:.2f} s ({_END_THE_WAIT})"
            found.append(Difference(f"duration of {of}", wanted, f"{seen.elapsed_s:.2f} s"))

    async with anyio.create_task_group() as group:
        for at, where in _PLACES:
            group.start_soon(one, at, where)
    return found


async def _times_out(bench: Bench, grip: Grip) -> list[Difference]:
    latest_s = _LATEST_IDLES * bench.idle_s + _LATEST_S
    return await _ends_at(bench, grip, Call(), "TIMEOUT", latest_s)


@scenario(
    "idle-timeout",
    "The idle limit ends a wait for a read that is shielded from cancellation",
    needs_client=True,
    timed=True,
)
async def transport_that_is_shielded(bench: Bench) -> list[Difference]:
    """Before the headers and between events."""
    return await _times_out(bench, "shielded")


@scenario(
    "idle-timeout",
    "The idle limit ends a wait for a read that is stuck in a thread",
    needs_client=True,
    timed=True,
)
async def transport_that_is_stuck_in_a_thread(bench: Bench) -> list[Difference]:
    """Before the headers and between events."""
    return await _times_out(bench, "thread")


@scenario(
    "abort",
    "An abort ends a wait for a read that is shielded from cancellation",
    needs_client=True,
    timed=True,
)
async def transport_that_ignores_cancellation(bench: Bench) -> list[Difference]:
    """Before the idle limit, which would end it too."""
    abort = Call(abort=Moment(after_chunks=0, at_idles=0.2))
    return await _ends_at(bench, "shielded", abort, "ABORTED", bench.idle_s + _LATEST_S)


SCENARIOS: Final[tuple[Scenario, ...]] = (
    transport_that_is_shielded,
    transport_that_is_stuck_in_a_thread,
    transport_that_ignores_cancellation,
)
