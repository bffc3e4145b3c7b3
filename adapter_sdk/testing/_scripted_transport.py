"""The fault server's scripts without a socket: a client that plays them in process.

For runs of thousands of splits, under virtual time. What only a socket can show (what the peer
sees of the connection, informational responses, a second origin) it cannot show.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio

from ._script import BEYOND_THE_SCRIPT, Exchange, Flood, Pause, Repeat, Send, Step
from ._splits import Split, whole

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from types import ModuleType

    from .._http import HttpClient


@dataclass(slots=True)
class Scripted:
    """A client and what it saw.

    Attributes:
        client: An ``AsyncClient`` of the library asked for; close it when done.
        requests: Every request that reached the transport, in order, as the library's objects.
        open_responses: Responses that were begun and not closed.
    """

    client: HttpClient
    requests: list[Any] = field(default_factory=list)
    open_responses: int = 0


def scripted_client(
    exchanges: Sequence[Exchange],
    *,
    split: Split | Sequence[Split] | None = None,
    library: ModuleType | None = None,
) -> Scripted:
    """Return a client that answers the n-th request with the n-th exchange.

    Args:
        exchanges: A request beyond them is answered with status 500.
        split: How the body's bytes are cut into reads, one for all exchanges or one for each;
            None keeps the script's own writes.
        library: ``httpx`` (the default) or ``httpx2``.
    """
    if library is None:
        import httpx as library
    assert library is not None  # noqa: S101 - why: narrows for the type checker
    http: Any = library

    class Transport(http.AsyncBaseTransport):  # type: ignore[misc]  # why: two libraries, one base
        async def handle_async_request(self, request: Any) -> Any:
            await request.aread()
            scripted.requests.append(request)
            number = len(scripted.requests) - 1
            if number >= len(exchanges):
                return http.Response(500, content=BEYOND_THE_SCRIPT)
            own = split if split is None or callable(split) else split[number]
            return await _answer(http, exchanges[number], own, scripted)

    scripted = Scripted(http.AsyncClient(transport=Transport(), timeout=None))
    return scripted


async def _answer(http: Any, exchange: Exchange, split: Split | None, scripted: Scripted) -> Any:
    match exchange.ending:
        case "refuse":
            raise http.ConnectError("connection refused")
        case "close-before-headers":
            raise http.RemoteProtocolError("the peer closed before it answered")
        case "hold-before-headers":
            await anyio.sleep_forever()
        case "reset" if exchange.status is None:
            raise http.ReadError("")
        case _:
            pass

    class Body(http.AsyncByteStream):  # type: ignore[misc]  # why: two libraries, one base
        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for data in _play(exchange, split):
                yield data
            await _end(http, exchange)

        async def aclose(self) -> None:
            scripted.open_responses -= 1

    scripted.open_responses += 1
    lines = [
        (name.encode(), value if isinstance(value, bytes) else value.encode())
        for name, value in exchange.headers
    ]
    return http.Response(exchange.status, headers=lines, stream=Body())


async def _play(exchange: Exchange, split: Split | None) -> AsyncIterator[bytes]:
    steps: Sequence[Step] = exchange.steps
    if exchange.body is not None:
        steps = (Send(exchange.body),)
    # With a split, writes that follow each other are one run of bytes to be cut.
    gathered = bytearray()
    for piece in _pieces(steps):
        if isinstance(piece, bytes):
            if split is None:
                yield piece
            else:
                gathered += piece
            continue
        for data in (split or whole)(bytes(gathered)):
            yield data
        gathered.clear()
        await anyio.sleep(piece)
    for data in (split or whole)(bytes(gathered)):
        yield data


def _pieces(steps: Sequence[Step]) -> Iterator[bytes | float]:
    """Yield bytes to send and seconds to wait."""
    for step in steps:
        match step:
            case Send(data=data):
                if data:
                    yield data
            case Pause(seconds=seconds):
                yield seconds
            case Flood(data=data, times=times):
                block = max(1, 65536 // max(1, len(data)))
                while times > 0:
                    yield data * min(block, times)
                    times -= block
            case Repeat(steps=inner, every_seconds=every_seconds):
                while True:
                    yield from _pieces(inner)
                    yield every_seconds


async def _end(http: Any, exchange: Exchange) -> None:
    match exchange.ending:
        case "hold":
            await anyio.sleep_forever()
        case "cut" | "short":
            raise http.RemoteProtocolError("the peer closed before the body was complete")
        case "reset":
            raise http.ReadError("")
        case _:
            pass  # the body is complete
