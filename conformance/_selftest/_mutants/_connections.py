"""Connections that are left behind, and exceptions that get out."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, Callable
from typing import Any, Final

import anyio
import httpx
from typing_extensions import override

from adapter_sdk import Chunk, Finish, LlmFailure, LlmRequest, ResponseHead, codes

from ..._lanes import client_of
from .._altering import Passing, failing, recoded, streaming
from .._good import Good
from .._mutant import Mutant, in_every_call


class _Careless(Good):
    """Talks to its client itself, and leaves responses as they are where it likes.

    asyncio only.
    """

    def __init__(self, **options: Any) -> None:
        self.http: Any = options.get("http_client") or client_of(httpx)
        super().__init__(**{**options, "http_client": self.http})
        self.owns_http = options.get("http_client") is None
        self.kept: list[Any] = []  # what nobody refers to is closed by the collector

    def has_enough(self, head: ResponseHead, read: bytes) -> bool:
        """Whether to stop reading here, and to leave the response as it is."""
        return False

    def keeps(self, head: ResponseHead, read: bytes) -> bool:
        """Whether to leave a response as it is that is stopped from outside."""
        return False

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        wire = await self.wire_request(request)
        yield wire
        sent = self.http.build_request(
            wire.method, wire.url, headers=dict(wire.headers), content=wire.body, timeout=None
        )
        response = await self.http.send(sent, stream=True, auth=None, follow_redirects=False)
        lines = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in response.headers.raw]
        head, read, whole = ResponseHead(response.status_code, lines), b"", False
        raw, reading = aiter(response.aiter_raw()), None
        try:
            yield head
            while not self.has_enough(head, read):
                # In a task, so that no cancellation reaches the client, which would close.
                reading = asyncio.get_running_loop().create_task(_next_of(raw))
                reading.add_done_callback(seen)
                data = await asyncio.shield(reading)
                if data is None:
                    whole = True
                    return
                read = (read + data)[-4096:]
                yield data
            if head.status == 200:
                await anyio.sleep_forever()
        finally:
            if not whole and (self.has_enough(head, read) or self.keeps(head, read)):
                self.kept += [raw, response, reading]
            else:
                with anyio.CancelScope(shield=True):
                    if reading is not None:
                        reading.cancel()
                        await asyncio.wait({reading})
                    await raw.aclose()
                    await response.aclose()

    @override
    async def aclose(self) -> None:
        if self.owns_http:
            await self.http.aclose()


def seen(task: asyncio.Task[Any]) -> None:
    """Look at how a task ended, so that the loop does not report that nobody did."""
    if not task.cancelled():
        task.exception()


async def _next_of(raw: Any) -> bytes | None:
    try:
        data: bytes = await anext(raw)
    except StopAsyncIteration:  # a task cannot carry it
        return None
    return data


class _KeepsRefusals(_Careless):
    """Reads the body of a 429 to its last byte, and leaves the response open."""

    @override
    def has_enough(self, head: ResponseHead, read: bytes) -> bool:
        return head.status == 429 and head.values("content-length") == [str(len(read))]


class _KeepsWhatIsStopped(_Careless):
    """Leaves a response open that is stopped in mid stream."""

    @override
    def keeps(self, head: ResponseHead, read: bytes) -> bool:
        return head.status == 200 and read.endswith(b"}\n\n") and b'"error"' not in read


class _KeepsGoodAnswers(_Careless):
    """Leaves the response of a good answer as it is behind the marker."""

    @override
    def has_enough(self, head: ResponseHead, read: bytes) -> bool:
        return head.status == 200 and read.endswith(b"}\n\ndata: [DONE]\n\n")


class _LeavesItOpen(Passing):
    """Does not close what its consumer leaves; holds on to it instead."""

    def __init__(self, source: Any, adapter: Any) -> None:
        super().__init__(source)
        self.ended = False
        self.kept: list[Any] = adapter.__dict__.setdefault("left", [])

    @override
    async def receive(self) -> Chunk:
        chunk = await super().receive()
        self.ended = self.ended or isinstance(chunk, Finish)
        return chunk

    @override
    async def aclose(self) -> None:
        if self.ended:
            await super().aclose()
        else:
            self.kept.append(self.source)


# ---- exceptions --------------------------------------------------------------------------


class LibraryError(Exception):
    """What a library would raise."""


class _Raises(Passing):
    """Raises in place of a failure for which ``when`` holds."""

    def __init__(self, source: Any, when: Callable[[LlmFailure], bool]) -> None:
        super().__init__(source)
        self.when = when

    @override
    async def receive(self) -> Chunk:
        chunk = await super().receive()
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if failure is not None and self.when(failure):
            raise LibraryError(failure.message)
        return chunk


def _raising(when: Callable[[LlmFailure], bool]) -> type[Good]:
    return streaming(lambda adapter, source: _Raises(source, when))


MUTANTS: Final = (
    Mutant(
        name="leaving-keeps-the-connection",
        broken="Leaves its connection open where its consumer leaves early.",
        factory=streaming(lambda adapter, source: _LeavesItOpen(source, adapter)),
        trips={
            "connection_released/every_ending_frees_the_connection": "after an early exit",
            in_every_call("connection-released"): "expected closed",
        },
    ),
    Mutant(
        name="refusals-keep-their-connection",
        broken="Leaves the response of a 429 open.",
        factory=_KeepsRefusals,
        trips={
            "connection_released/throttled_calls_through_a_pool_of_one": "call 2 through a pool",
        },
    ),
    Mutant(
        name="stopped-streams-keep-their-connection",
        broken="Leaves a response open that is stopped in mid stream.",
        factory=_KeepsWhatIsStopped,
        trips={
            "connection_released/cancelled_calls_leave_the_pool_free": "on a pool of 2",
            "connection_released/every_ending_frees_the_connection": "the connection after",
            in_every_call("connection-released"): "expected closed",
            "native-cancellation": "a pool of 1",
        },
    ),
    Mutant(
        name="good-answers-keep-their-connection",
        broken="Stops reading behind the marker and does not close the response.",
        factory=_KeepsGoodAnswers,
        trips={
            "connection_released/good_answers_through_a_pool_of_one": "through a pool of 1",
            "connection_released/every_ending_frees_the_connection": "stays open",
        },
    ),
    Mutant(
        name="refused-connections-raise",
        broken="Raises what its library raises where a connection is refused.",
        factory=_raising(lambda f: "(ConnectError" in f.message),
        trips={
            in_every_call("foreign-exceptions"): "LibraryError",
            "foreign_exceptions/exceptions_of_the_client": "LibraryError",
            "single_attempt/refused_connection": "LibraryError",
            "truncation-transport": "an exception",
        },
    ),
    Mutant(
        name="write-errors-are-unknown",
        broken="Does not know that a request can break off while it is sent.",
        factory=recoded(lambda f: "(WriteError" in f.message, codes.UNKNOWN),
        trips={"foreign_exceptions/exceptions_of_the_client": "WriteError"},
    ),
    Mutant(
        name="the-pool-goes-unnamed",
        broken="Does not say that it waited for the client's pool.",
        factory=failing(
            lambda f, _: (
                dataclasses.replace(f, message="no answer in time")
                if "PoolTimeout" in f.message
                else f
            )
        ),
        trips={"foreign_exceptions/pool_timeout_names_the_pool": "one that names the pool"},
    ),
    Mutant(
        name="strangers-raise",
        broken="Raises what nobody knows.",
        factory=_raising(lambda f: f.code == codes.UNKNOWN and "UnheardOf" in f.message),
        trips={"foreign_exceptions/unknown_exceptions": "LibraryError"},
    ),
    Mutant(
        name="strangers-are-the-network",
        broken="Reports an exception that nobody knows as TRANSPORT.",
        factory=recoded(
            lambda f: f.code == codes.UNKNOWN and "confused" in f.message, codes.TRANSPORT
        ),
        trips={"foreign_exceptions/unknown_exceptions": "got failure TRANSPORT"},
    ),
)
