"""Clients whose transport raises what a scenario chooses, where it chooses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from types import ModuleType
from typing import Any, Literal, TypeAlias

from .._good_streams import EVENT_STREAM

Place: TypeAlias = Literal["send", "body"]

# Re-arms the idle limit, says nothing, and is right in every dialect.
COMMENT = b": waiting\n\n"


def raising_client(
    library: ModuleType, error: Callable[[], BaseException], *, at: Place, before: bytes = COMMENT
) -> Any:  # noqa: ANN401 - why: two libraries
    """Return a client that raises ``error()`` in place of every answer, or inside its body.

    Args:
        library: ``httpx`` or ``httpx2``.
        error: Makes the exception.
        at: ``send``: in place of an answer. ``body``: behind the bytes of ``before``.
        before: The beginning of an event stream.
    """
    http: Any = library

    class Body(http.AsyncByteStream):  # type: ignore[misc]  # why: two libraries, one base
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield before
            raise error()

    class Transport(http.AsyncBaseTransport):  # type: ignore[misc]  # why: as above
        async def handle_async_request(self, request: Any) -> Any:  # noqa: ANN401
            await request.aread()
            if at == "send":
                raise error()
            return http.Response(200, headers=EVENT_STREAM, stream=Body())

    return http.AsyncClient(transport=Transport(), timeout=None)


def client_that_raises_once(
    library: ModuleType, error: BaseException, *, at: Place, max_connections: int
) -> Any:  # noqa: ANN401 - why: two libraries
    """Return a client over sockets that raises ``error`` in its first exchange only.

    Args:
        library: ``httpx`` or ``httpx2``.
        error: What is raised.
        at: ``send``: before anything is sent. ``body``: behind the first read of the body.
        max_connections: Of its pool.
    """
    http: Any = library
    sockets = http.AsyncHTTPTransport(limits=http.Limits(max_connections=max_connections))

    class Body(http.AsyncByteStream):  # type: ignore[misc]  # why: two libraries, one base
        def __init__(self, inner: Any) -> None:  # noqa: ANN401
            self.inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for data in self.inner:
                yield data
                raise error

        async def aclose(self) -> None:
            await self.inner.aclose()

    class Transport(http.AsyncBaseTransport):  # type: ignore[misc]  # why: as above
        raised = False

        async def handle_async_request(self, request: Any) -> Any:  # noqa: ANN401
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
