"""Call an adapter from code that is not async: once, several times, and chunk by chunk.
When: the caller is a script, a thread pool, a notebook cell or a web framework without a loop.
One call needs anyio.run; more share a portal, which is one event loop in a thread of its own.
"""

from collections.abc import Iterator

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from adapter_sdk import BaseAdapter, Chunk, LlmRequest, collect, user
from adapter_sdk.testing import Exchange, FaultServer
from reference_adapters.deepseek import DeepSeekAdapter

HELLO = Exchange(
    200,
    (("content-type", "text/event-stream"),),
    body=b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n",
)
REQUEST = LlmRequest(model="deepseek-v4-flash", messages=(user("Hi"),))


async def ask(adapter: BaseAdapter) -> str:
    """Return the whole answer, or raise LlmError."""
    return (await collect(adapter.stream(REQUEST))).message.text


async def ask_once(base_url: str) -> str:
    """Open, ask, close: the adapter lives as long as its loop."""
    async with DeepSeekAdapter(base_url=base_url, api_key="any") as adapter:
        return await ask(adapter)


def chunks(portal: BlockingPortal, adapter: BaseAdapter) -> Iterator[Chunk]:
    """Yield the chunks of one call as they arrive; closing the generator ends the call."""
    with portal.wrap_async_context_manager(adapter.stream(REQUEST)) as stream:
        while True:
            try:
                yield portal.call(stream.__anext__)
            except StopAsyncIteration:  # the chunk before this was the Finish
                return


def main() -> None:
    with FaultServer([HELLO] * 4) as server:
        once = anyio.run(ask_once, server.base_url)

        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(
                DeepSeekAdapter(base_url=server.base_url, api_key="any")
            ) as adapter,
        ):
            twice = [portal.call(ask, adapter) for _ in range(2)]
            streamed = "".join(c.text for c in chunks(portal, adapter) if c.type == "text-delta")

    assert [once, *twice, streamed] == ["Hello"] * 4
    print(f"four answers of {once!r}, synchronously")


if __name__ == "__main__":
    main()
