"""Show a person what retries do: the wait as it runs down, and the text that was taken back.
When: somebody watches a conversation in a terminal, or reads its log afterwards.
The same fold serves both, and nothing it gives to a machine holds the text that was withdrawn.
"""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import anyio
from rich.console import Console
from typing_extensions import override

from adapter_sdk import LlmRequest, LlmRuntime
from adapter_sdk.agent import RequestErrorChain, StepLoop
from adapter_sdk.retry import LiveRetries, NormalRetry, RetryExecutor, RetryLines, retry_status
from adapter_sdk.session import Event, MemoryLog
from adapter_sdk.testing import Exchange, FaultServer, Send
from reference_adapters.deepseek import DeepSeekAdapter

STREAM = (("content-type", "text/event-stream"),)
DRAFT = Send(b'data: {"choices":[{"index":0,"delta":{"content":"The capital of Fra"}}]}\n\n')
ANSWER = (
    b'data: {"choices":[{"index":0,"delta":{"content":"Paris"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)
SCRIPT = [
    Exchange(200, STREAM, steps=(DRAFT,), ending="reset"),
    Exchange(429, (("retry-after-ms", "1900"),), body=b'{"error":"slow down"}'),
    Exchange(200, STREAM, body=ANSWER),
]


class WatchedLog(MemoryLog):
    """A log that shows each event as it is written."""

    watch: Callable[[Event], None]

    @override
    def append(self, type: str, data: Mapping[str, Any], /, **options: Any) -> Event:
        event = super().append(type, data, **options)
        self.watch(event)
        return event


async def main() -> None:
    screen = io.StringIO()  # Console() draws in your own terminal
    console = Console(file=screen, width=80, force_terminal=True, color_system=None)
    lines, printed = RetryLines(), list[str]()
    log, chain, runtime = WatchedLog(), RequestErrorChain(), LlmRuntime()
    with FaultServer(SCRIPT) as server, LiveRetries(console=console) as live:

        def show(event: Event) -> None:
            live.add(event)
            printed.extend(lines.add(event))

        log.watch = show
        executor = RetryExecutor(log, register=chain.register)
        async with DeepSeekAdapter(base_url=server.base_url, api_key="any") as adapter:
            runtime.register("deepseek", adapter)
            request = LlmRequest(model="deepseek-v4-flash", messages=())
            loop = StepLoop(log, runtime, provider="deepseek", request=request,
                            request_error=chain, retry_policy=NormalRetry())  # fmt: skip
            turn = await loop.run_turn("What is the capital of France?")
        await executor.dispose()

    assert turn.message is not None
    assert turn.message.text == "Paris"
    assert ["TRANSPORT" in printed[0], "in 2 s" in printed[2]] == [True, True]
    assert ["in 2 s" in screen.getvalue(), "in 1 s" in screen.getvalue()] == [True, True]
    (row,) = retry_status(log.events)  # the same from a log that was stored
    assert "Fra" not in json.dumps(row.to_json(0)) + "".join(printed)
    print(printed[2], printed[3], sep="\n")


if __name__ == "__main__":
    anyio.run(main)
