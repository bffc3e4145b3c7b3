"""unsupported-option: what cannot be honoured is refused, and nothing is sent."""

from __future__ import annotations

import dataclasses
from typing import Final

from adapter_sdk import LlmRequest
from adapter_sdk.testing import Exchange, FaultServer

from .._bench import Bench
from .._judge import Difference
from .._scenario import Scenario, scenario
from ._verdicts import outcome, requests_differ

_REFUSE: Final = "refuse it before anything is sent"

# A word that no provider knows.
_EFFORT: Final = "as-hard-as-you-can"


async def _refused(bench: Bench, request: LlmRequest, *, of: str) -> list[Difference]:
    with FaultServer((Exchange(500, body=b"{}"),)) as server:
        async with bench.adapter(server.base_url) as adapter:
            seen = await bench.call(adapter, request)
        found = requests_differ(len(server.requests), 0, of=of, advice=_REFUSE)
    if seen.failure is None or not seen.failure.code.startswith("UNSUPPORTED"):
        wanted = f"a failure whose code begins with UNSUPPORTED ({_REFUSE})"
        return [Difference(of, wanted, outcome(seen)), *found]
    return found


@scenario("unsupported-option", "A reasoning effort that nobody knows is refused unsent")
async def unheard_of_reasoning_effort(bench: Bench) -> list[Difference]:
    """Not dropped, and not passed on for the provider to refuse."""
    request = dataclasses.replace(bench.request(), reasoning_effort=_EFFORT)
    return await _refused(bench, request, of=f"a call with the reasoning effort {_EFFORT!r}")


@scenario("unsupported-option", "Images and tools that are not declared are refused unsent")
async def what_is_not_declared(bench: Bench) -> list[Difference]:
    """An adapter that declares both has nothing to refuse."""
    found: list[Difference] = []
    if "images" not in bench.target.capabilities:
        of = "a call with an image, which the adapter does not declare"
        found += await _refused(bench, bench.request("images"), of=of)
    if "tools" not in bench.target.capabilities:
        request = dataclasses.replace(bench.request(), tools=bench.request("tools").tools)
        of = "a call with a tool, which the adapter does not declare"
        found += await _refused(bench, request, of=of)
    return found


SCENARIOS: Final[tuple[Scenario, ...]] = (unheard_of_reasoning_effort, what_is_not_declared)
