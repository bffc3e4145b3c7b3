"""Play a script to an adapter under virtual time, and see that it leaves nothing open."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable, Sequence
from types import ModuleType
from typing import Any

from adapter_sdk.testing import Exchange, Scripted, run_virtual, scripted_client

from .chat_answer import Example
from .lanes import Backend
from .waiting import settle


def play(
    backend: Backend,
    library: ModuleType,
    exchanges: Sequence[Exchange],
    test: Callable[[Example, Scripted], Awaitable[Any]],
) -> Any:
    """Run ``test`` under virtual time; afterwards nothing is open, whatever it did."""

    async def main() -> Any:
        scripted = scripted_client(exchanges, library=library)
        adapter = Example(http_client=scripted.client, api_key="sk-1", idle_timeout=10.0)
        try:
            return await test(adapter, scripted)
        finally:
            gc.collect()
            await settle()
            await scripted.client.aclose()
            assert scripted.open_responses == 0

    return run_virtual(backend, main)
