"""Retry what a provider fails at: some codes a few times, or everything for as long as it takes.
When: a loop of yours calls an adapter and must outlive a provider's bad minutes.
The adapter never retries: the loop asks the executor, which waits and counts in the log.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import anyio

from adapter_sdk import AbortSignal, LlmError, LlmFailure, LlmRequest, codes, collect, user
from adapter_sdk.retry import Decision, RetryExecutor, RetryInvariant, RetryPolicy
from adapter_sdk.session import MemoryLog
from adapter_sdk.testing import Exchange, FaultServer
from reference_adapters.deepseek import DeepSeekAdapter

HELLO = Exchange(
    200,
    (("content-type", "text/event-stream"),),
    body=b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n",
)
SLOW = Exchange(429, (("retry-after-ms", "20"),), body=b'{"error":"slow down"}')
BUSY = Exchange(503, body=b'{"error":"busy"}')
NO_KEY = Exchange(401, body=b'{"error":"who are you?"}')
QUICK = {"initial_delay_ms": 5, "max_delay_ms": 40}  # 500 and 10,000 unless you say otherwise
NORMAL = {"mode": "normal", "max_retries": 2, "backoff": QUICK}
ALWAYS = {"mode": "always", "backoff": QUICK}


@dataclass(frozen=True)
class Failed:
    """What the executor is told of one failed request."""

    failure: LlmFailure
    retry_policy: RetryPolicy | None
    turn: int = 1
    step: int = 1
    provider: str = "deepseek-official"
    signal: AbortSignal | None = None


async def nobody_else(_: Failed) -> Decision:  # where a loop's other listeners would be asked
    return None


async def ask(exchanges: list[Exchange], policy: Mapping[str, object]) -> tuple[str, list[int]]:
    """Return the answer or the code of its failure, and the delays that were waited, in ms."""
    log = MemoryLog(invariants=[RetryInvariant()])
    log.append("turn/start", {"turn": 1})
    log.append("step/start", {"turn": 1, "step": 1, "provider": "deepseek-official", "model": "m"})
    executor, end = RetryExecutor(log), ""
    request = LlmRequest(model="deepseek-v4-flash", messages=(user("Hi"),))
    with FaultServer(exchanges) as server:
        async with DeepSeekAdapter(
            base_url=server.base_url, api_key="any", retry_policy=policy
        ) as adapter:
            while not end:
                try:
                    end = (await collect(adapter.stream(request))).message.text
                except LlmError as error:
                    failed = Failed(error.failure, adapter.retry_policy)
                    if not await executor.request_error(failed, nobody_else):
                        end = error.code
        assert len(server.requests) == len(exchanges)
    return end, [event.data["delayMs"] for event in log.events if event.type == "llm/retry"]


async def main() -> None:
    answer, delays = await ask([SLOW, BUSY, HELLO], NORMAL)
    assert (answer, delays[0]) == ("Hello", 20)  # the provider's wait as it is, then ours,
    assert 9 <= delays[1] <= 11  # doubled, and a tenth up or down
    assert (await ask([BUSY] * 3, NORMAL))[0] == codes.SERVER  # two retries, and no more
    assert await ask([NO_KEY], NORMAL) == (codes.AUTH, [])
    assert (await ask([NO_KEY] * 4 + [HELLO], ALWAYS))[0] == "Hello"
    print(f"normal: {answer!r} after waits of {delays} ms; always: after four refusals")


if __name__ == "__main__":
    anyio.run(main)
