"""Middleware that changes nothing and notes when it is entered and left."""

from __future__ import annotations

from collections.abc import AsyncIterator

from adapter_sdk import Chunk, LlmRequest, Middleware
from adapter_sdk._runtime import Next


def named(name: str, seen: list[str]) -> Middleware:
    async def layer(request: LlmRequest, call_next: Next) -> AsyncIterator[Chunk]:
        seen.append(f"{name} in")
        try:
            async for chunk in call_next(request):
                yield chunk
        finally:
            seen.append(f"{name} out")

    return layer
