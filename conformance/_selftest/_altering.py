"""How to break a good adapter in one place: its failures, chunks, payloads, bytes or request.

Each function returns a class like ``Good`` with one thing changed.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from typing import Any, Self, TypeAlias

from typing_extensions import override

from adapter_sdk import (
    STOP,
    AbortSignal,
    Chunk,
    Dialect,
    Finish,
    FinishReason,
    Json,
    LlmFailure,
    LlmRequest,
    TokenUsage,
    Translator,
)

from ._good import Good

FailureEdit: TypeAlias = Callable[[LlmFailure, Any], LlmFailure]
ChunkEdit: TypeAlias = Callable[[Chunk], Iterable[Chunk]]
PayloadEdit: TypeAlias = Callable[[Any], Iterable[Any]]
BytesEdit: TypeAlias = Callable[[bytes], bytes]


def forged(failure: LlmFailure, **values: object) -> LlmFailure:
    """Return a copy with values that its class would refuse."""
    made = copy.copy(failure)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def items_of(source: Any) -> AsyncGenerator[Any, None]:
    """Return the items of an exchange, whose types stay behind the SDK's door."""
    items: AsyncGenerator[Any, None] = source
    return items


# ---- failures ----------------------------------------------------------------------------


def failing(edit: FailureEdit) -> type[Good]:
    """Return an adapter whose failures are edited; the second argument is the error's JSON."""

    class Failing(Good):
        @override
        def refine_failure(self, failure: LlmFailure, payload: object) -> LlmFailure:
            return edit(failure, payload)

    return Failing


def recoded(when: Callable[[LlmFailure], bool], code: str) -> type[Good]:
    """Return an adapter that reports the failures for which ``when`` holds under ``code``."""
    return failing(lambda f, _: dataclasses.replace(f, code=code) if when(f) else f)


class KeepsHead(Good):
    """Remembers the header lines of the last response, for edits that need them."""

    head_status = 0
    head_lines: tuple[tuple[str, str], ...] = ()

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        self.head_status, self.head_lines = 0, ()
        async with contextlib.aclosing(items_of(super().exchange(request))) as source:
            async for item in source:
                if hasattr(item, "status"):
                    self.head_status, self.head_lines = item.status, tuple(item.headers)
                yield item

    def line(self, name: str) -> str | None:
        """Return the first value of a header, or None."""
        return next((v for key, v in self.head_lines if key.lower() == name), None)


def failing_with_head(edit: Callable[[LlmFailure, KeepsHead], LlmFailure]) -> type[Good]:
    """Return an adapter whose failures are edited by what the response's head says."""

    class Failing(KeepsHead):
        @override
        def refine_failure(self, failure: LlmFailure, payload: object) -> LlmFailure:
            return edit(failure, self)

    return Failing


# ---- chunks ------------------------------------------------------------------------------


class Passing:
    """A stream that hands on what another one brings; subclasses change what they like."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.ready: deque[Chunk] = deque()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        while not self.ready:
            self.ready.extend(self.edit(await self.receive()))
        return self.ready.popleft()

    async def receive(self) -> Chunk:
        """Return the source's next chunk."""
        chunk: Chunk = await anext(self.source)
        return chunk

    def edit(self, chunk: Chunk) -> Iterable[Chunk]:
        """Return what becomes of one chunk."""
        return (chunk,)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Leave the call."""
        await self.source.aclose()


def emitting(new_edit: Callable[[], ChunkEdit]) -> type[Good]:
    """Return an adapter whose chunks are edited; ``new_edit`` makes the edit of one call."""

    class Stream(Passing):
        def __init__(self, source: Any) -> None:
            super().__init__(source)
            self._edit = new_edit()

        @override
        def edit(self, chunk: Chunk) -> Iterable[Chunk]:
            return self._edit(chunk)

    return streaming(lambda adapter, source: Stream(source))


def succeeding(when: Callable[[LlmFailure], bool]) -> type[Good]:
    """Return an adapter that takes the failures for which ``when`` holds for good ends."""

    def edit(chunk: Chunk) -> Iterable[Chunk]:
        failure = chunk.failure if isinstance(chunk, Finish) else None
        return (Finish(STOP),) if failure is not None and when(failure) else (chunk,)

    return emitting(lambda: edit)


def streaming(wrap: Callable[[Any, Any], Any]) -> type[Good]:
    """Return an adapter whose streams are wrapped: ``wrap(adapter, stream)``."""

    class Streaming(Good):
        @override
        def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
            return wrap(self, super().stream(request, abort))

    return Streaming


def telling(edit: Callable[[LlmFailure, KeepsHead], LlmFailure]) -> type[Good]:
    """Return an adapter whose failures are edited when nothing looks at them any more.

    For values that ``failing`` cannot bring past their class: see ``forged``.
    """

    class Telling(KeepsHead):
        @override
        def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
            return _Telling(super().stream(request, abort), lambda failure: edit(failure, self))

    return Telling


class _Telling(Passing):
    def __init__(self, source: Any, edit_failure: Callable[[LlmFailure], LlmFailure]) -> None:
        super().__init__(source)
        self._edit_failure = edit_failure

    @override
    def edit(self, chunk: Chunk) -> Iterable[Chunk]:
        if not isinstance(chunk, Finish) or chunk.failure is None:
            return (chunk,)
        return (Finish(FinishReason(chunk.reason.kind, self._edit_failure(chunk.failure))),)


# ---- payloads ----------------------------------------------------------------------------


class Altered:
    """A translator around another one; see ``Translator``."""

    def __init__(self, inner: Translator) -> None:
        self.inner = inner

    @property
    def usage(self) -> TokenUsage | None:
        """See ``Translator``."""
        return self.inner.usage

    @property
    def settled(self) -> bool:
        """See ``Translator``."""
        return self.inner.settled

    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        """See ``Translator``."""
        return self.inner.event(name, data)

    def document(self, payload: Json) -> Iterable[Chunk]:
        """See ``Translator``."""
        return self.inner.document(payload)

    def close(self) -> Iterable[Chunk]:
        """See ``Translator``."""
        return self.inner.close()


class _AlteredDialect:
    def __init__(self, inner: Dialect, alter: Callable[[Translator], Translator]) -> None:
        self.inner, self.alter = inner, alter
        self.name, self.path, self.terminal = inner.name, inner.path, inner.terminal

    def body(self, request: LlmRequest) -> Mapping[str, Json]:
        return self.inner.body(request)

    def credential_headers(self, credential: str) -> Mapping[str, str]:
        return self.inner.credential_headers(credential)

    def translator(self) -> Translator:
        return self.alter(self.inner.translator())


def translating(
    alter: Callable[[Translator], Translator], *, good: type[Good] = Good
) -> type[Good]:
    """Return an adapter whose translator is replaced by ``alter(translator)``.

    Args:
        alter: Puts its own translator around the given one.
        good: What is altered; another one for another dialect.
    """

    class Translating(good):  # type: ignore[misc,valid-type]  # why: a class that is a value
        dialect = _AlteredDialect(good.dialect, alter)

    return Translating


def reading(new_edit: Callable[[], PayloadEdit], *, good: type[Good] = Good) -> type[Good]:
    """Return an adapter that edits each decoded payload of a stream before it reads it.

    The edit returns none, one or several payloads; one that it leaves alone keeps its bytes.
    ``good`` is the adapter that is altered; another one for another dialect.
    """

    class Reading(Altered):
        def __init__(self, inner: Translator) -> None:
            super().__init__(inner)
            self.edit = new_edit()

        @override
        def event(self, name: str, data: bytes) -> Iterable[Chunk]:
            payload = decoded(data)
            if payload is None:
                yield from self.inner.event(name, data)
                return
            for edited in self.edit(copy.deepcopy(payload)):
                same = edited == payload
                yield from self.inner.event(name, data if same else json.dumps(edited).encode())

    return translating(Reading, good=good)


def decoded(data: bytes) -> Any:
    """Return the JSON object in ``data``, or None for anything else."""
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError):  # no JSON; nested too deep
        return None
    return payload if isinstance(payload, dict) else None


def choices_of(payload: Any) -> list[dict[str, Any]]:
    """Return the choices of a payload; empty where there are none."""
    choices = payload.get("choices") if isinstance(payload, dict) else None
    return [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []


def deltas_of(payload: Any) -> list[dict[str, Any]]:
    """Return the deltas of a payload's choices."""
    found = (choice.get("delta") or choice.get("message") for choice in choices_of(payload))
    return [delta for delta in found if isinstance(delta, dict)]


def calls_of(payload: Any) -> list[dict[str, Any]]:
    """Return the entries of ``tool_calls`` in a payload."""
    lists = (delta.get("tool_calls") for delta in deltas_of(payload))
    return [c for calls in lists if isinstance(calls, list) for c in calls if isinstance(c, dict)]


# ---- bytes -------------------------------------------------------------------------------


def receiving(new_edit: Callable[[], BytesEdit], *, status: int | None = None) -> type[Good]:
    """Return an adapter that edits each read of a body that is not compressed.

    Args:
        new_edit: Makes the edit of one call.
        status: Narrows it to such answers.
    """

    class Receiving(Good):
        @override
        async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
            edit, wanted = new_edit(), False
            async with contextlib.aclosing(items_of(super().exchange(request))) as source:
                async for item in source:
                    if hasattr(item, "status"):
                        plain = not item.values("content-encoding")
                        wanted = plain and status in (None, item.status)
                    yield edit(item) if isinstance(item, bytes) and wanted else item

    return Receiving


# ---- the request -------------------------------------------------------------------------


def sending(edit: Callable[[Any], Any]) -> type[Good]:
    """Return an adapter that edits its request: a value with url, method, headers and body."""

    class Sending(Good):
        @override
        async def wire_request(self, request: LlmRequest) -> Any:
            return edit(await super().wire_request(request))

    return Sending


def saying(edit: Callable[[dict[str, Any], LlmRequest], None]) -> type[Good]:
    """Return an adapter that edits the JSON body of its request in place."""

    class Saying(Good):
        @override
        def body(self, request: LlmRequest) -> Mapping[str, Json]:
            body = dict(super().body(request))
            edit(body, request)
            return body

    return Saying
