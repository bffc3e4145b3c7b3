"""A call that succeeds pays nothing for the retries that it does not need."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import AsyncIterator
from typing import Final

import anyio
import pytest

from adapter_sdk import STOP, AbortSignal, Chunk, Finish, LlmRequest, LlmRuntime, TextDelta
from adapter_sdk.agent import CallNext, Decision, RequestError, RequestErrorChain, StepLoop
from adapter_sdk.retry import RetryExecutor
from adapter_sdk.session import MemoryLog

LIMIT_US: Final = 20.0
CALLS: Final = 500
# The best of several rounds: whatever else the machine does only makes a round slower.
ROUNDS: Final = 7


class Echo:
    async def stream(
        self, request: LlmRequest, abort: AbortSignal | None = None
    ) -> AsyncIterator[Chunk]:
        yield TextDelta(0, "Hello")
        yield Finish(STOP)


def test_mounting_and_taking_off_an_executor_costs_less_than_the_limit() -> None:
    """The most that a call can pay: an executor of its own, made and disposed of around it."""

    async def main() -> float:
        log, chain = MemoryLog(), RequestErrorChain()
        best = float("inf")
        for _ in range(ROUNDS):
            began = time.perf_counter()
            for _ in range(CALLS):
                await RetryExecutor(log, register=chain.register).dispose()
            best = min(best, time.perf_counter() - began)
        return best / CALLS * 1e6

    assert anyio.run(main) < LIMIT_US


@pytest.mark.anyio
async def test_a_call_that_succeeds_never_asks_the_executor() -> None:
    asked: list[RequestError] = []

    async def first(payload: RequestError, call_next: CallNext) -> Decision:
        asked.append(payload)
        return await call_next(payload)

    runtime, chain, log = LlmRuntime(), RequestErrorChain(), MemoryLog()
    runtime.register("echo", Echo())
    chain.register(first)
    executor = RetryExecutor(log, register=chain.register)
    request = LlmRequest(model="m", messages=())
    loop = StepLoop(log, runtime, provider="echo", request=request, request_error=chain)
    assert (await loop.run_turn("Hi")).reason == "complete"
    assert asked == []
    await executor.dispose()


@pytest.mark.parametrize("package", ["adapter_sdk.retry", "reference_adapters.deepseek"])
def test_importing_loads_neither_a_validator_nor_a_terminal(package: str) -> None:
    code = f"import sys, {package}; print({{'pydantic', 'rich'}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("set()\n", "")
