"""native-cancellation: cancellation and every BaseException come out as they are."""

from __future__ import annotations

from typing import Any, Final

import anyio

from adapter_sdk.testing import Exchange, FaultServer

from .._bench import Bench
from .._judge import Difference
from .._lanes import RELEASE_S
from .._scenario import Scenario, scenario
from ._own_task import OwnTask
from ._raising_client import Place, client_that_raises_once
from ._verdicts import success_differs

# Loop ticks between the two cancellations: the first one's cleaning up is under way.
_TICKS: Final = (1, 2, 3)

_SHIELD_IT: Final = "close the response where a second cancellation cannot reach"


class TransportStopError(BaseException):
    """What no ``except Exception`` catches."""


@scenario(
    "native-cancellation",
    "A BaseException of the transport comes out unchanged and its connection is free again",
    needs_client=True,
    needs_good_stream=True,
)
async def base_exception_of_the_transport(bench: Bench) -> list[Difference]:
    """Raised before the answer and in mid body; then the next call on a pool of 1."""
    return [
        *await _base_exception(bench, at="send", where="in place of an answer"),
        *await _base_exception(bench, at="body", where="in mid body"),
    ]


async def _base_exception(bench: Bench, *, at: Place, where: str) -> list[Difference]:
    good, stop = bench.good, TransportStopError("stop here")
    first = () if at == "send" else (good.answer("hold", events=1),)
    with FaultServer((*first, good.answer())) as server:
        client = client_that_raises_once(bench.library, stop, at=at, max_connections=1)
        async with client, bench.adapter(server.base_url, http_client=client) as adapter:
            async with OwnTask(lambda task: task.read(adapter.stream(bench.request()))) as task:
                await task.has_ended(bench.patience_s)
            if task.error is not stop:
                wanted = "the same exception (catch Exception, not BaseException)"
                of = f"the call whose transport raises a BaseException {where}"
                return [Difference(of, wanted, task.how())]
            seen = await bench.call(adapter)
    of = f"the next call on a pool of 1, after a BaseException {where}"
    return success_differs(seen, good.text, of=of, advice="close the response in a finally")


@scenario(
    "native-cancellation",
    "A second cancellation one loop tick behind the first costs no connection",
    needs_client=True,
    needs_good_stream=True,
)
async def cancelled_twice(bench: Bench) -> list[Difference]:
    """In mid stream and before the headers; then the next call on a pool of 1."""
    good = bench.good
    silent = Exchange(None, ending="hold-before-headers")
    script = [*(good.answer("hold", events=1) for _ in _TICKS), *(silent for _ in _TICKS)]
    with FaultServer((*script, good.answer())) as server:
        async with (
            bench.client(limits=bench.library.Limits(max_connections=1)) as client,
            bench.adapter(server.base_url, http_client=client) as adapter,
        ):
            for number, ticks in enumerate(_TICKS * 2):
                in_mid_stream = number < len(_TICKS)
                how = await _cancelled_twice(
                    bench, adapter, server, ticks=ticks, in_mid_stream=in_mid_stream
                )
                if how:
                    where = "in mid stream" if in_mid_stream else "before the headers"
                    of = f"the call that is cancelled twice {where}, {ticks} ticks apart"
                    return [Difference(of, "its cancellation, unchanged", how)]
            seen = await bench.call(adapter)
    of = "the next call on a pool of 1, after calls that were cancelled twice"
    return success_differs(seen, good.text, of=of, advice=_SHIELD_IT)


async def _cancelled_twice(
    bench: Bench, adapter: Any, server: FaultServer, *, ticks: int, in_mid_stream: bool
) -> str:
    """Return what went wrong, or nothing."""
    requests_before = len(server.requests)
    async with OwnTask(lambda task: task.read(adapter.stream(bench.request()))) as task:
        if in_mid_stream:
            under_way = await task.is_reading(bench.patience_s)
        else:
            under_way = await _has_request(server, requests_before + 1, bench.patience_s)
        if not under_way:
            return f"no call under way: {task.how()}"
        task.cancel()
        for _ in range(ticks):
            await anyio.lowlevel.checkpoint()
        task.cancel(again=True)
        await task.has_ended(bench.patience_s)
        if not task.was_cancelled:
            return task.how()
    busy = await anyio.to_thread.run_sync(server.wait_until_released, RELEASE_S)
    if busy:
        return f"a connection that is still {busy[0].state} after {RELEASE_S * 1000:g} ms"
    return ""


async def _has_request(server: FaultServer, count: int, within_s: float) -> bool:
    with anyio.move_on_after(within_s):
        # The server has threads of its own and no event to wait for.
        while len(server.requests) < count:  # noqa: ASYNC110 - why: see above
            await anyio.sleep(0.001)
    return len(server.requests) >= count


SCENARIOS: Final[tuple[Scenario, ...]] = (base_exception_of_the_transport, cancelled_twice)
