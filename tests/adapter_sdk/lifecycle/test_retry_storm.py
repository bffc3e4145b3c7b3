"""Two hundred clients against one failing route: no more requests than asked for, and spread."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal

import anyio
import pytest

from adapter_sdk import (
    AbortSignal,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    LlmRequest,
    codes,
    user,
)
from adapter_sdk.lifecycle import LlmClient, Recovery
from adapter_sdk.testing import run_virtual

CLIENTS: Final = 200
RESPONSES: Final = 5

# Kolmogorov and Smirnov: for 200 samples of a uniform distribution the largest gap between what
# is drawn and what is expected stays below 1.63 / sqrt(200) in 99 of 100 runs.
LARGEST_GAP: Final = 1.63 / CLIENTS**0.5


@dataclass
class Down:
    """A route that fails every request, and notes who asked when."""

    asked_s: dict[str, list[float]] = field(default_factory=dict)

    async def stream(
        self, request: LlmRequest, abort: AbortSignal | None = None
    ) -> AsyncIterator[Chunk]:
        self.asked_s.setdefault(request.session_id or "", []).append(anyio.current_time())
        yield Finish(FinishReason("error", LlmFailure(message="down", code=codes.SERVER)))


async def storm(seed: int) -> Down:
    route = Down()

    async def one(number: int) -> None:
        client = LlmClient(
            recovery=Recovery(max_responses=RESPONSES), random=Random(seed + number).random
        )
        client.register_route("a", "m", adapter=route)
        request = LlmRequest(model="m", messages=(user("Hi"),), session_id=str(number))
        outcome = await client.complete(request)
        assert outcome.type == "response/failed"

    async with anyio.create_task_group() as tasks:
        for number in range(CLIENTS):
            tasks.start_soon(one, number)
    return route


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_storm_makes_the_policys_requests_and_is_spread_by_jitter(
    backend: Literal["asyncio", "trio"],
) -> None:
    route = run_virtual(backend, lambda: storm(seed=7))
    assert [len(times) for times in route.asked_s.values()] == [RESPONSES] * CLIENTS
    for retry in range(1, RESPONSES):
        base_s = 0.2 * 2 ** (retry - 1)
        waits = sorted(times[retry] - times[retry - 1] for times in route.asked_s.values())
        shares = [(wait - 0.9 * base_s) / (0.2 * base_s) for wait in waits]
        rounding = 0.001 / (0.2 * base_s)  # delays are whole milliseconds
        assert -rounding <= shares[0] <= shares[-1] <= 1 + rounding
        gaps = [abs(share - (n + 0.5) / CLIENTS) for n, share in enumerate(shares)]
        assert max(gaps) < LARGEST_GAP + rounding
    # All came at once; the last round is spread over the sum of all jitters.
    assert {times[0] for times in route.asked_s.values()} == {0.0}
    last = sorted(times[-1] for times in route.asked_s.values())
    assert last[-1] - last[0] > 0.3
    busiest = max(sum(at <= other < at + 0.01 for other in last) for at in last)
    assert busiest < CLIENTS / 10


def test_without_jitter_the_storm_would_not_be_spread() -> None:
    """The measure can fail: with one and the same random number all come together."""

    async def together() -> set[float]:
        route = Down()
        async with anyio.create_task_group() as tasks:
            for number in range(3):
                client = LlmClient(recovery=Recovery(max_responses=2), random=lambda: 0.25)
                client.register_route("a", "m", adapter=route)
                request = LlmRequest(model="m", messages=(user("Hi"),), session_id=str(number))
                tasks.start_soon(client.complete, request)
        return {times[1] for times in route.asked_s.values()}

    assert len(run_virtual("asyncio", together)) == 1
