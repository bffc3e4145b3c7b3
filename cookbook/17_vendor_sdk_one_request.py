"""Put an adapter over a vendor's package with its retries off, and prove that they are.
When: the vendor's package knows how to sign, address and send, and you want that much of it.
Used directly it asks three times and tells of the last answer; here one call is one request.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

import anyio
import httpx2
import openai
from typing_extensions import override

from adapter_sdk import BaseAdapter, LlmRequest, WireRequest, user
from adapter_sdk.dialects.openai_chat import OpenAIChat
from adapter_sdk.testing import Exchange, FaultServer


class Relay(httpx2.AsyncBaseTransport):
    """Carries what the package sends over the adapter's own transport, limits and all."""

    def __init__(self, adapter: BaseAdapter, wire: WireRequest) -> None:
        self.adapter, self.wire, self.answer = adapter, wire, adapter.send(wire)

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = {**self.wire.headers, "authorization": request.headers["authorization"]}
        self.answer = self.adapter.send(replace(self.wire, url=str(request.url), headers=headers))
        self.head: Any = await anext(self.answer)
        return httpx2.Response(self.head.status)  # no body: it would read all of an error's


class AcmeAdapter(BaseAdapter):
    """Acme over the package `openai`; the kit judges it as it judges any other adapter."""

    dialect, request_id_headers = OpenAIChat(), ("x-request-id",)
    default_base_url, api_key_env = "https://api.acme.example/v1", "ACME_API_KEY"

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        yield (wire := await self.wire_request(request))
        relay, path = Relay(self, wire), self.dialect.path
        http = httpx2.AsyncClient(transport=relay, timeout=None, trust_env=False)
        url, key = wire.url.removesuffix(path), wire.secrets[0]
        client = openai.AsyncOpenAI(api_key=key, base_url=url, http_client=http, max_retries=0)
        try:
            with suppress(openai.APIStatusError):  # it knows less than the head
                await client.post(path, cast_to=httpx2.Response, content=wire.body)
        except openai.APIConnectionError as error:
            raise error.__cause__ or error from None  # what our transport raised, by its name
        async with aclosing(relay.answer):
            yield relay.head
            async for data in relay.answer:
                yield data


async def main() -> None:
    facts = (("retry-after-ms", "1"), ("x-request-id", "req-7"))
    script = [Exchange(status, facts, body=b'{"error":{}}') for status in (429, 500, 500)]
    with FaultServer(script) as server:
        async with AcmeAdapter(base_url=server.base_url, api_key="any") as acme:
            request = LlmRequest(model="acme-1", messages=(user("Hi"),))
            chunks: list[Any] = [chunk async for chunk in acme.stream(request)]
        assert len(server.requests) == 1
    told = chunks[-1].failure
    assert (told.code, told.status) == ("RATE_LIMIT", 429)
    assert (told.provider_retry_after_ms, told.request_id) == (1, "req-7")
    with FaultServer(script) as server, suppress(openai.InternalServerError):  # the 429 is lost
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key="any") as package:
            await package.chat.completions.create(
                model="acme-1", messages=[{"role": "user", "content": "Hi"}]
            )
    assert len(server.requests) == 3
    print(f"one request: {told.code} {told.status}; the package by itself: three, and a 500")


if __name__ == "__main__":
    anyio.run(main)
