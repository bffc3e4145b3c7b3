"""One client in a process of its own: reads a stream when told to, and says what it cost.

    python -m tests.benchmarks.worker CLIENT BACKEND

takes lines ``{"base_url": …, "streams": 1}`` and answers each with a line of JSON.
"""

from __future__ import annotations

import gc
import json
import logging
import sys
import time
from typing import Any

import anyio

from .clients import CLIENTS, Read


async def measured(read: Read, base_url: str, streams: int) -> dict[str, float]:
    """Read ``streams`` streams side by side; return what they cost.

    Returns:
        ``events`` of all, ``cpu_us`` an event, ``first_ms``: the median time to a first event,
        ``wall_s``.
    """
    events: list[int] = []
    firsts: list[float] = []
    gc.collect()
    began, began_cpu = time.monotonic(), time.process_time()

    async def one() -> None:
        count, first = await read(base_url)
        events.append(count)
        firsts.append(first - began)

    if streams == 1:
        await one()
    else:
        async with anyio.create_task_group() as group:
            for _ in range(streams):
                group.start_soon(one)
    cpu = time.process_time() - began_cpu
    return {
        "events": sum(events),
        "cpu_us": 1e6 * cpu / sum(events),
        "first_ms": 1e3 * sorted(firsts)[len(firsts) // 2],
        "wall_s": time.monotonic() - began,
    }


async def serve(name: str) -> None:
    """Answer the lines of the input until it closes."""
    logging.disable()  # what a client says of its own end is no part of the answer
    try:
        read = await CLIENTS[name][1]()
    except ModuleNotFoundError:  # most of the clients are no dependency of the project
        return
    print(json.dumps({"ready": name}), flush=True)
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        print(json.dumps(await measured(read, order["base_url"], order["streams"])), flush=True)


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1], backend=sys.argv[2])
