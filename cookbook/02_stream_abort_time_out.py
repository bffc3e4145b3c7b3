"""Read an answer as it arrives, stop it on purpose, and give up on a provider that went silent.
When: a person watches the text grow, has a stop button, and must not wait for ever.
All three end in one Finish chunk; only leaving early and cancelling the task report nothing.
"""

import anyio

from adapter_sdk import AbortSignal, ChunkStream, LlmRequest, codes, user
from adapter_sdk.testing import Exchange, FaultServer, Send
from reference_adapters.deepseek import DeepSeekAdapter

STREAM = (("content-type", "text/event-stream"),)
WORDS = (
    Send(b'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n'),
    Send(b'data: {"choices":[{"index":0,"delta":{"content":"lo"}}]}\n\n'),
)
THE_END = (
    Send(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'),
    Send(b"data: [DONE]\n\n"),
)
WHOLE = Exchange(200, STREAM, steps=WORDS + THE_END)
THEN_SILENT = Exchange(200, STREAM, steps=WORDS, ending="hold")

REQUEST = LlmRequest(model="deepseek-v4-flash", messages=(user("Hi"),))


async def read(stream: ChunkStream, stop_button: AbortSignal | None = None) -> tuple[str, str]:
    """Return the text that arrived and how the call ended."""
    text, end = "", ""
    async with stream:  # closes the connection, also where the body leaves early
        async for chunk in stream:
            if chunk.type == "text-delta":
                text += chunk.text
                if stop_button is not None:
                    stop_button.abort("the person pressed stop")
            elif chunk.type == "finish":
                end = chunk.reason.kind if chunk.failure is None else chunk.failure.code
    return text, end


async def main() -> None:
    with FaultServer([WHOLE, THEN_SILENT, THEN_SILENT, THEN_SILENT]) as server:
        # Seconds of silence while the caller waits; 300 unless you say otherwise.
        async with DeepSeekAdapter(
            base_url=server.base_url, api_key="any", idle_timeout=0.3
        ) as adapter:
            assert await read(adapter.stream(REQUEST)) == ("Hello", "stop")

            button = AbortSignal()
            stopped = await read(adapter.stream(REQUEST, abort=button), stop_button=button)
            assert stopped == ("Hel", codes.ABORTED)

            gave_up = await read(adapter.stream(REQUEST))
            assert gave_up == ("Hello", codes.TIMEOUT)

            async with adapter.stream(REQUEST) as stream:
                await anext(stream)  # leaves after the first chunk: nothing to clean up by hand
            assert server.wait_until_released(2) == []
    print(f"whole: ('Hello', 'stop'); stop button: {stopped}; silence: {gave_up}")


if __name__ == "__main__":
    anyio.run(main)
