"""The clients that are compared: each reads one whole stream and returns how many events it had.

Only what a client needs is imported, and only when it is made.
"""

from __future__ import annotations

import importlib
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

# Reads one stream from this base address; returns its events and when the first one came.
Read: TypeAlias = Callable[[str], Awaitable[tuple[int, float]]]
Make: TypeAlias = Callable[[], Awaitable[Read]]

KEY: Final = "sk-bench"
_BODY: Final = {
    "model": "bench",
    "stream": True,
    "messages": [{"role": "user", "content": "Go on."}],
}


def _package(name: str) -> Any:
    # By name: most of them are not installed where the types are checked.
    return importlib.import_module(name)


async def raw_socket() -> Read:
    """The floor: a blocking socket, nothing decoded."""

    async def read(base_url: str) -> tuple[int, float]:
        parts = urlsplit(base_url)
        with socket.create_connection((parts.hostname, parts.port)) as connection:
            connection.sendall(f"POST {parts.path}/x HTTP/1.1\r\n\r\n".encode())
            count, first, tail = 0, 0.0, b""
            while not tail.endswith(b"0\r\n\r\n"):
                data = connection.recv(1 << 16)
                count += data.count(b"data: ")
                first = first or time.monotonic()
                tail = (tail + data)[-5:]
        return count, first

    return read


def _raw(module: str) -> Make:
    async def make() -> Read:
        http = _package(module)
        client = http.AsyncClient(timeout=None)

        async def read(base_url: str) -> tuple[int, float]:
            count, first = 0, 0.0
            async with client.stream("POST", f"{base_url}/x", json=_BODY) as response:
                async for data in response.aiter_raw():
                    first = first or time.monotonic()
                    count += data.count(b"data: ")
            return count, first

        return read

    return make


async def httpx_sse_from_json() -> Read:
    """What a careful person writes by hand today."""
    import httpx
    import httpx_sse
    from pydantic_core import from_json

    client = httpx.AsyncClient(timeout=None)

    async def read(base_url: str) -> tuple[int, float]:
        count, first, text = 0, 0.0, []
        async with httpx_sse.aconnect_sse(client, "POST", f"{base_url}/x", json=_BODY) as source:
            async for event in source.aiter_sse():
                first = first or time.monotonic()
                count += 1
                if event.data == "[DONE]":
                    continue
                payload = from_json(event.data)
                for choice in payload.get("choices", ()):
                    text.append(choice["delta"].get("content") or "")
        return count, first

    return read


def _sdk(transport: str, wire: str = "chat") -> Make:
    async def make() -> Read:
        from adapter_sdk import BaseAdapter, BlockAssembler, Dialect, Finish, LlmRequest, user
        from adapter_sdk.dialects import AnthropicMessages, OpenAIChat

        dialects: dict[str, Dialect] = {
            "chat": OpenAIChat(terminal="done-sentinel"),
            "messages": AnthropicMessages(),
        }

        class Adapter(BaseAdapter):
            dialect = dialects[wire]

        client: Any = None
        if transport == "httpx2":
            import httpx2

            client = httpx2.AsyncClient(timeout=None)
        elif transport == "aiohttp":
            import httpx
            import httpx_aiohttp

            client = httpx.AsyncClient(transport=httpx_aiohttp.AiohttpTransport(), timeout=None)
        request = LlmRequest(model="bench", messages=(user("Go on."),))
        adapters: dict[str, Adapter] = {}

        async def read(base_url: str) -> tuple[int, float]:
            adapter = adapters.get(base_url)
            if adapter is None:
                adapter = adapters[base_url] = Adapter(
                    base_url=base_url, api_key=KEY, http_client=client
                )
            assembler = BlockAssembler()
            count, first = 0, 0.0
            async for chunk in adapter.stream(request):
                first = first or time.monotonic()
                count += 1
                assembler.add(chunk)
                if isinstance(chunk, Finish) and chunk.failure is not None:
                    raise RuntimeError(chunk.failure)
            assembler.message()
            return count, first

        return read

    return make


async def openai() -> Read:
    """The vendor's package, its stream of typed chunks."""
    from openai import AsyncOpenAI

    async def read(base_url: str) -> tuple[int, float]:
        count, first = 0, 0.0
        stream = await _openai(AsyncOpenAI, base_url).chat.completions.create(
            model="bench", messages=[{"role": "user", "content": "Go on."}], stream=True
        )
        async for _ in stream:
            first = first or time.monotonic()
            count += 1
        return count, first

    return read


_CLIENTS: Final[dict[tuple[str, str], Any]] = {}


def _openai(cls: Any, base_url: str) -> Any:
    key = (cls.__name__, base_url)
    if key not in _CLIENTS:
        _CLIENTS[key] = cls(api_key=KEY, base_url=base_url, max_retries=0, timeout=None)
    return _CLIENTS[key]


async def anthropic() -> Read:
    """The vendor's package, its stream of raw events, typed."""
    from anthropic import AsyncAnthropic

    async def read(base_url: str) -> tuple[int, float]:
        count, first = 0, 0.0
        stream = await _openai(AsyncAnthropic, base_url).messages.create(
            model="bench",
            max_tokens=9,
            messages=[{"role": "user", "content": "Go on."}],
            stream=True,
        )
        async for _ in stream:
            first = first or time.monotonic()
            count += 1
        return count, first

    return read


async def pydantic_ai() -> Read:
    """One request of an agent's model, streamed."""
    direct, messages = _package("pydantic_ai.direct"), _package("pydantic_ai.messages")
    models = _package("pydantic_ai.models.openai")
    providers = _package("pydantic_ai.providers.openai")
    prompt = messages.ModelRequest(parts=[messages.UserPromptPart("Go on.")])

    async def read(base_url: str) -> tuple[int, float]:
        provider = providers.OpenAIProvider(base_url=base_url, api_key=KEY)
        model = models.OpenAIChatModel("bench", provider=provider)
        count, first = 0, 0.0
        async with direct.model_request_stream(model, [prompt]) as stream:
            async for _ in stream:
                first = first or time.monotonic()
                count += 1
        return count, first

    return read


async def langchain_openai() -> Read:
    """A chat model's ``astream``."""
    chat_openai = _package("langchain_openai").ChatOpenAI

    async def read(base_url: str) -> tuple[int, float]:
        model = chat_openai(model="bench", api_key=KEY, base_url=base_url, max_retries=0)
        count, first = 0, 0.0
        async for _ in model.astream("Go on."):
            first = first or time.monotonic()
            count += 1
        return count, first

    return read


async def litellm() -> Read:
    """``acompletion`` against an OpenAI-compatible address."""
    package = _package("litellm")

    async def read(base_url: str) -> tuple[int, float]:
        count, first = 0, 0.0
        stream: Any = await package.acompletion(
            model="openai/bench",
            messages=[{"role": "user", "content": "Go on."}],
            api_base=base_url,
            api_key=KEY,
            stream=True,
            max_retries=0,
        )
        async for _ in stream:
            first = first or time.monotonic()
            count += 1
        return count, first

    return read


async def any_llm() -> Read:
    """``acompletion`` of the package any-llm-sdk."""
    package = _package("any_llm")

    async def read(base_url: str) -> tuple[int, float]:
        count, first = 0, 0.0
        stream: Any = await package.acompletion(
            model="bench",
            provider="openai",
            messages=[{"role": "user", "content": "Go on."}],
            api_base=base_url,
            api_key=KEY,
            stream=True,
        )
        async for _ in stream:
            first = first or time.monotonic()
            count += 1
        return count, first

    return read


# Name: the wire that it reads, and how it is made.
CLIENTS: Final[dict[str, tuple[str, Make]]] = {
    "raw socket": ("chat", raw_socket),
    "httpx": ("chat", _raw("httpx")),
    "httpx2": ("chat", _raw("httpx2")),
    "httpx-sse": ("chat", httpx_sse_from_json),
    "sdk": ("chat", _sdk("httpx")),
    "sdk httpx2": ("chat", _sdk("httpx2")),
    "sdk aiohttp": ("chat", _sdk("aiohttp")),
    "sdk messages": ("messages", _sdk("httpx", "messages")),
    "openai": ("chat", openai),
    "anthropic": ("messages", anthropic),
    "pydantic-ai": ("chat", pydantic_ai),
    "langchain-openai": ("chat", langchain_openai),
    "litellm": ("chat", litellm),
    "any-llm": ("chat", any_llm),
}
