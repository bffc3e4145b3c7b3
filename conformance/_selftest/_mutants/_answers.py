"""Answers that are not what was asked for: errors inside, no stream, nothing at all."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, Final

from typing_extensions import override

from adapter_sdk import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    InBandError,
    Json,
    LlmFailure,
    LlmRequest,
    ProtocolFault,
    UsageReport,
    codes,
)

from .._altering import (
    Altered,
    ChunkEdit,
    decoded,
    emitting,
    items_of,
    reading,
    recoded,
    succeeding,
    translating,
)
from .._good import Good
from .._mutant import Mutant

# ---- errors inside -----------------------------------------------------------------------


def _without_error_of_empty_choices(payload: Any) -> Iterable[Any]:
    if payload.get("choices") == []:
        payload.pop("error", None)
    return (payload,)


def _string_errors_are_nothing(payload: Any) -> Iterable[Any]:
    return () if isinstance(payload.get("error"), str) else (payload,)


class _ErrorAfterTheFinish(Altered):
    """Looks for errors only until a finish reason has come."""

    finished = False

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        try:
            chunks = self.inner.event(name, data)
        except InBandError:
            if not self.finished:
                raise
            return ()
        self.finished = self.finished or b'"finish_reason":"stop"' in data
        return chunks


class _ErrorAsText(Altered):
    """Shows an overload that has a type of its own to the user."""

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        if b'"server_is_overloaded"' not in data:
            return self.inner.event(name, data)
        told = {"index": 0, "delta": {"content": data.decode()}, "finish_reason": None}
        return self.inner.event(name, json.dumps({"choices": [told]}).encode())


class _EventNameUnread(Altered):
    """Does not look at the name of an event."""

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        payload = decoded(data)
        if name == "error" and payload is not None and "error" not in payload:
            return ()
        return self.inner.event("message", data)


# ---- what is no stream -------------------------------------------------------------------


class _RefusesDocuments(Altered):
    """Takes a whole completion for a mistake."""

    @override
    def document(self, payload: Json) -> Iterable[Chunk]:
        chunks = list(self.inner.document(payload))
        if any(isinstance(chunk, BlockStart) for chunk in chunks):
            raise ProtocolFault(codes.MALFORMED_RESPONSE, "a completion where a stream belongs")
        return chunks


class _ErrorsInDocumentsAreMalformed(Altered):
    """Does not look for an error in an answer that is no stream."""

    @override
    def document(self, payload: Json) -> Iterable[Chunk]:
        try:
            return self.inner.document(payload)
        except InBandError as error:
            said = "the answer has no choices"
            raise ProtocolFault(codes.MALFORMED_RESPONSE, said) from error


class _TrustsTheMediaType(Good):
    """Reads an event stream as one only where the header says so."""

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        plain = False
        async with contextlib.aclosing(items_of(super().exchange(request))) as source:
            async for item in source:
                if hasattr(item, "status"):
                    plain = item.status == 200 and item.values("content-type") == ["text/plain"]
                wrong = plain and isinstance(item, bytes) and item.startswith(b"data:")
                yield b"(" + item if wrong else item


# ---- empty answers -----------------------------------------------------------------------


def _usage_lost() -> ChunkEdit:
    held: list[Chunk] = []

    def edit(chunk: Chunk) -> Iterable[Chunk]:
        if isinstance(chunk, UsageReport):
            held.append(chunk)
            return ()
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if failure is None or failure.code != codes.EMPTY_RESPONSE:
            return (*held, chunk)
        return (chunk,)

    return edit


def _empty_unless(enough: Callable[[list[Chunk], Finish], bool]) -> type[Good]:
    """Return an adapter that takes good answers for empty ones unless ``enough`` holds."""

    def new_edit() -> ChunkEdit:
        ends: list[Chunk] = []

        def edit(chunk: Chunk) -> Iterable[Chunk]:
            if isinstance(chunk, BlockEnd):
                ends.append(chunk)
            good = isinstance(chunk, Finish) and chunk.failure is None
            if not isinstance(chunk, Finish) or not good or enough(ends, chunk):
                return (chunk,)
            failure = LlmFailure(message="no content", code=codes.EMPTY_RESPONSE, status=200)
            return (Finish(FinishReason("error", failure)),)

        return edit

    return emitting(new_edit)


def _blocks(ends: list[Chunk], *types: str) -> list[Any]:
    return [e.block for e in ends if isinstance(e, BlockEnd) and e.block.type in types]


MUTANTS: Final = (
    Mutant(
        name="error-beside-empty-choices",
        broken="Skips an event with empty choices, whatever else it carries.",
        factory=reading(lambda: _without_error_of_empty_choices),
        trips={"in-band-error": "expected SERVER, got STREAM_CLOSED"},
    ),
    Mutant(
        name="error-string-in-the-stream",
        broken="Skips an error that is a string.",
        factory=reading(lambda: _string_errors_are_nothing),
        trips={"in-band-error": "expected SERVER, got STREAM_CLOSED"},
    ),
    Mutant(
        name="error-after-the-finish",
        broken="Ignores an error that follows a finish reason.",
        factory=translating(_ErrorAfterTheFinish),
        trips={"in-band-error": "outcome: expected failure, got success"},
    ),
    Mutant(
        name="error-becomes-text",
        broken="Shows an error inside the stream as text.",
        factory=translating(_ErrorAsText),
        trips={"in-band-error": "expected SERVER, got STREAM_CLOSED"},
    ),
    Mutant(
        name="error-event-by-its-name",
        broken="Does not look at the name of an event.",
        factory=translating(_EventNameUnread),
        trips={"in-band-error": "expected CONTEXT_WINDOW_EXCEEDED, got STREAM_CLOSED"},
    ),
    Mutant(
        name="completion-in-place-of-a-stream",
        broken="Refuses a whole completion.",
        factory=translating(_RefusesDocuments),
        trips={"not-a-stream": "outcome: expected success, got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="error-in-place-of-a-stream",
        broken="Does not look for an error in a JSON answer.",
        factory=translating(_ErrorsInDocumentsAreMalformed),
        trips={"not-a-stream": "expected RATE_LIMIT, got MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="page-in-place-of-a-stream",
        broken="Reports an HTML page with status 200 as an empty answer.",
        factory=recoded(lambda f: "an HTML page" in f.message, codes.EMPTY_RESPONSE),
        trips={"not-a-stream": "expected MALFORMED_RESPONSE, got EMPTY_RESPONSE"},
    ),
    Mutant(
        name="stream-under-another-type",
        broken="Reads an event stream as one only where the header says so.",
        factory=_TrustsTheMediaType,
        trips={"not-a-stream": "outcome: expected success, got failure"},
    ),
    Mutant(
        name="empty-answer-is-success",
        broken="Takes a stop without any content for a good answer.",
        factory=succeeding(lambda f: "finished without any content" in f.message),
        trips={
            "empty-response": "outcome: expected failure, got success",
            "reasoning": "outcome: expected failure, got success",
        },
    ),
    Mutant(
        name="empty-answer-loses-its-usage",
        broken="Reports an empty answer without its usage.",
        factory=emitting(_usage_lost),
        trips={"empty-response": "no usage"},
    ),
    Mutant(
        name="reasoning-alone-is-empty",
        broken="Takes reasoning without text for an empty answer.",
        factory=_empty_unless(lambda ends, _: not ends or bool(_blocks(ends, "text", "tool-call"))),
        trips={
            "empty-not-overreach": "outcome: expected success, got failure EMPTY_RESPONSE",
            "reasoning": "outcome: expected success, got failure EMPTY_RESPONSE",
        },
    ),
    Mutant(
        name="white-space-is-empty",
        broken="Takes white space for an empty answer.",
        factory=_empty_unless(
            lambda ends, _: (
                not ends
                or any(
                    b.type != "text" or b.text.strip()
                    for b in _blocks(ends, "text", "reasoning", "tool-call")
                )
            )
        ),
        trips={"empty-not-overreach": "outcome: expected success, got failure EMPTY_RESPONSE"},
    ),
    Mutant(
        name="max-tokens-without-content-is-empty",
        broken="Takes max-tokens without content for an empty answer.",
        factory=_empty_unless(
            lambda ends, finish: bool(ends) or finish.reason.kind != "max-tokens"
        ),
        trips={"empty-not-overreach": "outcome: expected success, got failure EMPTY_RESPONSE"},
    ),
)
