"""Give an adapter a client of your own: a proxy, your TLS roots, httpx2, or aiohttp underneath.
When: the network asks for a proxy or a private certificate, or your program has its client already.
The adapter never closes your client, and its limits replace the client's; you set the rest.
"""

import ssl

import anyio
import httpx
import httpx2
from httpx_aiohttp import AiohttpTransport

from adapter_sdk import LlmRequest, codes, collect, user
from adapter_sdk.testing import Exchange, FaultServer
from reference_adapters.deepseek import DeepSeekAdapter

HELLO = Exchange(
    200,
    (("content-type", "text/event-stream"),),
    body=b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n",
)
REQUEST = LlmRequest(model="deepseek-v4-flash", messages=(user("Hi"),))
# httpx lets 100 streams run at once and makes the others wait; here nothing waits.
NO_QUEUE = httpx.Limits(max_connections=None)


async def ask(base_url: str, client: httpx.AsyncClient | httpx2.AsyncClient) -> str:
    """Return the answer's text, over a client that is open before and after."""
    async with DeepSeekAdapter(base_url=base_url, api_key="any", http_client=client) as adapter:
        answer = await collect(adapter.stream(REQUEST))
    assert not client.is_closed
    return answer.message.text


async def through_a_proxy() -> None:
    # The server plays the proxy, so nobody looks up the provider's name.
    with FaultServer([HELLO]) as proxy:
        async with httpx.AsyncClient(proxy=proxy.base_url, limits=NO_QUEUE) as client:
            assert await ask("http://provider.example/v1", client) == "Hello"
    assert proxy.requests[0].target == "http://provider.example/v1/chat/completions"


async def with_your_tls_roots() -> None:
    roots = ssl.create_default_context()  # cafile="corporate-roots.pem" for your own
    # The server knows no TLS, so the handshake begins and is never answered.
    with FaultServer([]) as mute:
        async with httpx.AsyncClient(verify=roots, limits=NO_QUEUE) as client:
            adapter = DeepSeekAdapter(
                base_url=mute.base_url.replace("http:", "https:"),
                api_key="any",
                http_client=client,
                connect_timeout=0.3,
            )
            (finish,) = [chunk async for chunk in adapter.stream(REQUEST)]
    assert finish.type == "finish"
    assert finish.failure is not None
    assert finish.failure.code == codes.TIMEOUT
    assert roots.session_stats()["connect"] == 1  # your context, and no other, began it


async def over_other_libraries() -> None:
    with FaultServer([HELLO, HELLO]) as server:
        async with httpx2.AsyncClient() as client:
            assert await ask(server.base_url, client) == "Hello"
        async with httpx.AsyncClient(transport=AiohttpTransport()) as client:
            assert await ask(server.base_url, client) == "Hello"


async def main() -> None:
    await through_a_proxy()
    await with_your_tls_roots()
    await over_other_libraries()
    print("'Hello' through a proxy, over httpx2 and over aiohttp; TLS with the caller's roots")


if __name__ == "__main__":
    anyio.run(main)
