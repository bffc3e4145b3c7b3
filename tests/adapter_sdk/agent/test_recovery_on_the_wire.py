"""Loop, executor and log together, over a real adapter."""

from __future__ import annotations

from typing import Any, Final

import anyio
import anyio.lowlevel
import pytest

from adapter_sdk import BaseAdapter, LlmRequest, LlmRuntime, assistant
from adapter_sdk.agent import RequestErrorChain, StepLoop, Turn
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.retry import NormalRetry, RetryExecutor, RetryInvariant
from adapter_sdk.session import MemoryLog
from adapter_sdk.testing import Exchange, FaultServer, Send, run_virtual, scripted_client

from .backoffs import QUICK

pytestmark = pytest.mark.anyio


class Adapter(BaseAdapter):
    """A provider that ends its streams with ``[DONE]``."""

    dialect = OpenAIChat(terminal="done-sentinel")


STREAM: Final = (("content-type", "text/event-stream"),)
HALF: Final = Send(b'data: {"choices":[{"index":0,"delta":{"content":"Half"}}]}\n\n')
WHOLE: Final = (
    Send(b'data: {"choices":[{"index":0,"delta":{"content":"Noon."}}]}\n\n'),
    Send(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'),
    Send(b"data: [DONE]\n\n"),
)


async def test_a_silence_of_the_provider_is_timed_out_and_retried(anyio_backend: str) -> None:
    exchanges = [
        Exchange(200, STREAM, steps=(HALF,), ending="hold"),
        Exchange(200, STREAM, steps=WHOLE),
    ]

    async def run() -> tuple[Turn, MemoryLog, float]:
        scripted = scripted_client(exchanges)
        log = MemoryLog(invariants=[RetryInvariant()])
        runtime = LlmRuntime()
        adapter = Adapter(base_url="http://example.test", api_key="k", http_client=scripted.client)
        runtime.register("example", adapter)
        chain = RequestErrorChain()
        executor = RetryExecutor(log, register=chain.register)
        loop = StepLoop(
            log,
            runtime,
            provider="example",
            request=LlmRequest(model="m", messages=()),
            request_error=chain,
            retry_policy=NormalRetry(backoff=QUICK),
        )
        turn = await loop.run_turn("Time?")
        await executor.dispose()
        await scripted.client.aclose()
        assert scripted.open_responses == 0
        return turn, log, anyio.current_time()

    backend: Any = anyio_backend
    turn, log, seconds = await anyio.to_thread.run_sync(lambda: run_virtual(backend, run))
    assert turn.message == assistant("Noon.")
    (retry,) = (event.data for event in log.events if event.type == "llm/retry")
    assert retry["failure"]["code"] == "TIMEOUT"
    assert 300 <= seconds < 301  # of virtual time: the idle limit


async def test_each_attempt_is_one_request_on_the_wire() -> None:
    throttled = Exchange(429, (("retry-after-ms", "1"),), body=b'{"error":"slow"}')
    cut = Exchange(200, STREAM, steps=(HALF,), ending="cut")
    log = MemoryLog(invariants=[RetryInvariant()])
    with FaultServer([throttled, cut, Exchange(200, STREAM, steps=WHOLE)]) as server:
        async with Adapter(base_url=server.base_url, api_key="k") as adapter:
            runtime = LlmRuntime()
            runtime.register("example", adapter)
            chain = RequestErrorChain()
            executor = RetryExecutor(log, register=chain.register)
            loop = StepLoop(
                log,
                runtime,
                provider="example",
                request=LlmRequest(model="m", messages=()),
                request_error=chain,
                retry_policy=NormalRetry(backoff=QUICK),
            )
            turn = await loop.run_turn("Time?")
            await executor.dispose()
        assert turn.message == assistant("Noon.")
        bodies = {request.body for request in server.requests}
        assert (len(server.requests), len(bodies)) == (3, 1)
    failures = [e.data["failure"]["code"] for e in log.events if e.type == "llm/retry"]
    assert failures == ["RATE_LIMIT", "TRANSPORT"]
