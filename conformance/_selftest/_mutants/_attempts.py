"""More than one attempt, and calls that know of each other."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, Final

from typing_extensions import override

from adapter_sdk import (
    AbortSignal,
    Chunk,
    Dialect,
    Finish,
    LlmFailure,
    LlmRequest,
    ProviderRequestId,
    TextDelta,
    Translator,
    codes,
)

from .._altering import Altered, Passing, items_of
from .._good import Good
from .._mutant import Mutant, in_every_call


def _trying_again(when: Callable[[Any], bool], *, raised: str = "") -> type[Good]:
    """Return an adapter that asks again after a head for which ``when`` holds.

    Args:
        when: Of the response's head.
        raised: Or after an exception whose class name holds this, before any byte.
    """

    class TryingAgain(Good):
        @override
        async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
            again = answered = False
            try:
                async with contextlib.aclosing(items_of(super().exchange(request))) as source:
                    async for item in source:
                        answered = answered or hasattr(item, "status")
                        again = hasattr(item, "status") and when(item)
                        if again:
                            break
                        yield item
            except Exception as error:  # why: of any client; it is known by its name
                if answered or not raised or raised not in type(error).__name__:
                    raise
                again = True
            if again:
                async with contextlib.aclosing(items_of(super().exchange(request))) as source:
                    async for item in source:
                        yield item

    return TryingAgain


class _FollowsRedirects(Good):
    """Goes where a redirect says, with the same request and the same key."""

    location: str | None = None

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        self.location = None
        for _ in range(3):
            async with contextlib.aclosing(items_of(super().exchange(request))) as source:
                async for item in source:
                    location = _redirect(item)
                    if location is not None:
                        self.location = location
                        break
                    yield item
                else:
                    return

    @override
    async def wire_request(self, request: LlmRequest) -> Any:
        wire = await super().wire_request(request)
        if self.location is None:
            return wire
        origin = "/".join(wire.url.split("/")[:3])
        url = self.location if "://" in self.location else origin + self.location
        return dataclasses.replace(wire, url=url)


def _redirect(item: Any) -> str | None:
    if getattr(item, "status", 0) not in (301, 302, 307, 308):
        return None
    values: list[str] = item.values("location")
    return values[0] if values else None


class _TimesOutAndAsksAgain(Good):
    """Asks once more where the first headers took longer than the idle limit."""

    @override
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        return _SecondChance(super().stream(request, abort), lambda: Good.stream(self, request))


class _SecondChance(Passing):
    def __init__(self, source: Any, again: Callable[[], Any]) -> None:
        super().__init__(source)
        self.again = again

    @override
    async def receive(self) -> Chunk:
        chunk = await super().receive()
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if failure is not None and failure.code == codes.TIMEOUT and failure.status is None:
            await self.source.aclose()
            self.source = self.again()
            chunk = await super().receive()
        return chunk


# ---- state that outlives its call --------------------------------------------------------


class _KeepsFacts(Good):
    """Fills facts that a failure lacks with those of the last one."""

    last_id: ProviderRequestId | None = None

    @override
    def refine_failure(self, failure: LlmFailure, payload: object) -> LlmFailure:
        self.last_id = failure.request_id or self.last_id
        return dataclasses.replace(failure, request_id=self.last_id)


class _OneTranslator(Good):
    """Keeps what was not yet told of the text in the adapter."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.kept = ""

    @override
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        return _WithLastText(super().stream(request, abort), self)


class _WithLastText(Passing):
    def __init__(self, source: Any, adapter: _OneTranslator) -> None:
        super().__init__(source)
        self.adapter = adapter
        self.text = ""

    @override
    def edit(self, chunk: Chunk) -> Iterable[Chunk]:
        if isinstance(chunk, TextDelta):
            kept, self.adapter.kept = self.adapter.kept, ""
            self.text += chunk.text
            return (TextDelta(chunk.index, kept + chunk.text),)
        if isinstance(chunk, Finish) and chunk.failure is not None:
            self.adapter.kept = self.text
        return (chunk,)


class _OneSignal(Good):
    """Ends all its calls when one of them is aborted."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.all_calls = AbortSignal()

    @override
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        if abort is not None:
            abort.on_abort(lambda: self.all_calls.abort(abort.reason or ""))
        return super().stream(request, self.all_calls)


class _OneTimer(Good):
    """Ends every call that runs when one of them meets its idle limit."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.running: list[_Ended] = []

    @override
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        self.running.append(_Ended(super().stream(request, abort), self))
        return self.running[-1]


class _Ended(Passing):
    def __init__(self, source: Any, adapter: _OneTimer) -> None:
        super().__init__(source)
        self.adapter = adapter
        self.timeout: Finish | None = None
        self.over = False

    @override
    async def receive(self) -> Chunk:
        if self.over:
            raise StopAsyncIteration
        if self.timeout is not None:
            self.over = True
            await self.source.aclose()
            return self.timeout
        chunk = await super().receive()
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if isinstance(chunk, Finish) and failure is not None and failure.code == codes.TIMEOUT:
            for other in self.adapter.running:
                other.timeout = None if other is self else chunk
        return chunk


class _OneStreamAtATime(Good):
    """Gives each payload to the translator of whoever began last."""

    latest: list[Translator]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.latest = []
        self.dialect: Dialect = _SharedDialect(type(self).dialect, self.latest)  # type: ignore[misc]


class _SharedDialect:
    def __init__(self, inner: Dialect, latest: list[Translator]) -> None:
        self.inner, self.latest = inner, latest

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def translator(self) -> Translator:
        self.latest.append(self.inner.translator())
        return _Latest(self.latest)


class _Latest(Altered):
    """Whatever translator was made last."""

    def __init__(self, latest: list[Translator]) -> None:
        super().__init__(latest[-1])
        self.latest = latest

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        self.inner = self.latest[-1]
        return super().event(name, data)


MUTANTS: Final = (
    Mutant(
        name="retries-a-server-error",
        broken="Asks once more after a 500 without a body.",
        factory=_trying_again(lambda h: h.status == 500 and h.values("content-length") == ["0"]),
        trips={
            "single_attempt/500_with_a_good_answer_waiting": "HTTP requests: expected 1, got 2",
            in_every_call("single-attempt"): "HTTP requests: expected at most 1, got 2",
        },
    ),
    Mutant(
        name="retries-what-should-be-retried",
        broken="Asks once more where x-should-retry says so.",
        factory=_trying_again(lambda head: head.values("x-should-retry") == ["true"]),
        trips={"single_attempt/statuses_that_invite_a_retry": "HTTP requests"},
    ),
    Mutant(
        name="opens-a-broken-connection-again",
        broken="Asks again on a new connection where the first one broke before the headers.",
        factory=_trying_again(lambda head: False, raised="ReadError"),
        trips={
            "single_attempt/connections_that_break_before_the_headers": "HTTP requests",
            "single_attempt/kept_connections_that_break": "HTTP requests",
        },
    ),
    Mutant(
        name="connects-twice",
        broken="Tries once more where a connection is refused.",
        factory=_trying_again(lambda head: False, raised="ConnectError"),
        trips={"single_attempt/refused_connection": "HTTP requests"},
    ),
    Mutant(
        name="asks-again-after-a-timeout",
        broken="Asks once more where headers do not come in time.",
        factory=_TimesOutAndAsksAgain,
        trips={
            "single_attempt/headers_that_never_come": "HTTP requests",
            "idle-timeout": "HTTP requests: expected 1, got 2",
        },
    ),
    Mutant(
        name="follows-redirects",
        broken="Follows redirects, with the key, wherever they lead.",
        factory=_FollowsRedirects,
        trips={
            "code-other-status": "requests to another origin: expected 0",
            in_every_call("single-attempt"): "HTTP requests: expected at most 1, got 2",
        },
    ),
    Mutant(
        name="facts-outlive-their-call",
        broken="Keeps the last request id for calls that bring none.",
        factory=_KeepsFacts,
        trips={"state_isolation/facts_of_the_last_call": "request_id"},
    ),
    Mutant(
        name="text-outlives-its-call",
        broken="Puts the text of a call that broke before the text of the next one.",
        factory=_OneTranslator,
        trips={
            "state_isolation/text_of_the_last_call": "of the first call",
            "sse-framing": "text delivered before a cut",
        },
    ),
    Mutant(
        name="one-abort-ends-all",
        broken="Ends all its calls when one of them is aborted.",
        factory=_OneSignal,
        trips={"state_isolation/abort_of_a_neighbour": "ABORTED"},
    ),
    Mutant(
        name="one-timeout-ends-all",
        broken="Ends all its calls when one of them times out.",
        factory=_OneTimer,
        trips={"state_isolation/timeout_of_a_neighbour": "TIMEOUT"},
    ),
    Mutant(
        name="one-translator-for-all",
        broken="Gives what it reads to the call that began last.",
        factory=_OneStreamAtATime,
        trips={"state_isolation/texts_side_by_side": "one of 8 calls"},
    ),
)
