"""Clients whose transport raises what a scenario chooses, where it chooses."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any, Literal, TypeAlias

from .._good_streams import EVENT_STREAM

Place: TypeAlias = Literal["send", "body"]

# Re-arms the idle limit, says nothing, and is right in every dialect.
COMMENT = b": waiting\n\n"


def raising_client(library: ModuleType, error: BaseException, *, at: Place) -> Any:
    """Return a client that raises ``error`` in place of every answer, or inside its body.

    Args:
        library: ``httpx`` or ``httpx2``.
        error: What is raised.
        at: ``send``: in place of an answer. ``body``: behind a comment of an event stream.
    """
    http: Any = library

    class Body(http.AsyncByteStream):  # type: ignore[misc]  # why: two libraries, one base
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield COMMENT
            raise error

    class Transport(http.AsyncBaseTransport):  # type: ignore[misc]  # why: as above
        async def handle_async_request(self, request: Any) -> Any:
            await request.aread()
            if at == "send":
                raise error
            return http.Response(200, headers=EVENT_STREAM, stream=Body())

    return http.AsyncClient(transport=Transport(), timeout=None)


def client_that_raises_once(
    library: ModuleType, error: BaseException, *, at: Place, max_connections: int
) -> Any:
    """Return a client over sockets that raises ``error`` in its first exchange only.

    Args:
        library: ``httpx`` or ``httpx2``.
        error: What is raised.
        at: ``send``: before anything is sent. ``body``: behind the first read of the body.
        max_connections: Of its pool.
    """
    http: Any = library
    sockets = http.AsyncHTTPTransport(
        limits=http.Limits(max_connections=max_connections),
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # no roots, which cost 55 ms
    )

    class Body(http.AsyncByteStream):  # type: ignore[misc]  # why: two libraries, one base
        def __init__(self, inner: Any) -> None:
            self.inner = inner
            self.reads = aiter(inner)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield await anext(self.reads)
            raise error

        async def aclose(self) -> None:
            await self.inner.aclose()
            # One more read, of a closed connection, ends generators that are left half-way.
            with contextlib.suppress(http.HTTPError, StopAsyncIteration):
                await anext(self.reads)

    class Transport(http.AsyncBaseTransport):  # type: ignore[misc]  # why: as above
        raised = False

        async def handle_async_request(self, request: Any) -> Any:
            first, self.raised = not self.raised, True
            if first and at == "send":
                raise error
            response = await sockets.handle_async_request(request)
            if not first:
                return response
            return http.Response(
                response.status_code,
                headers=response.headers,
                stream=Body(response.stream),
                extensions=response.extensions,
            )

        async def aclose(self) -> None:
            await sockets.aclose()

    return http.AsyncClient(transport=Transport(), timeout=None)
