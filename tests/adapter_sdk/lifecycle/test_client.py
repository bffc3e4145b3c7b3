"""Calls over routes: retry, failover, waits, aborts and outcomes, on a virtual clock."""

from __future__ import annotations

import itertools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import anyio
import anyio.lowlevel
import pytest
from typing_extensions import override

from adapter_sdk import (
    STOP,
    AbortSignal,
    Chunk,
    Deadline,
    Finish,
    FinishReason,
    LlmError,
    LlmFailure,
    LlmRequest,
    TextDelta,
    TokenUsage,
    Tool,
    UsageReport,
    codes,
    user,
)
from adapter_sdk.lifecycle import (
    AssistantChunk,
    Diagnostic,
    FailedResponse,
    GiveUp,
    LifecycleEvent,
    LlmClient,
    Recovery,
    ResponseCommitted,
    ResponseFailed,
    ResponseInterrupted,
    ResponseLimits,
    ResponseStart,
    RouteCapabilities,
)
from adapter_sdk.retry import Backoff, Delay, Random
from adapter_sdk.testing import run_virtual

Backend = Literal["asyncio", "trio"]
lanes = pytest.mark.parametrize("backend", ["asyncio", "trio"])

REQUEST: Final = LlmRequest(model="m", messages=(user("Hi"),))
STEADY: Final = Backoff(initial_delay_ms=200, max_delay_ms=600_000, jitter_ratio=0)
RECOVERY: Final = Recovery(backoff=STEADY)


def failure(code: str = codes.SERVER, **facts: Any) -> LlmFailure:
    return LlmFailure(message="no", code=code, **facts)


SERVER: Final = failure(status=500)
AUTH: Final = failure(codes.AUTH, status=401)
TIMEOUT: Final = failure(codes.TIMEOUT)

End = LlmFailure | Exception | Literal["stop", "hang", "no-finish"]


@dataclass(frozen=True)
class Says:
    """One response: some text, then its end. A failure is in band, an exception is thrown."""

    text: str = ""
    end: End = "stop"
    after_s: float = 0.0


@dataclass
class Adapter:
    """A foreign adapter: no ``BaseAdapter``, raises at will, does not hear the signal."""

    script: list[Says]
    asked_s: list[float] = field(default_factory=list)
    closed_s: list[float] = field(default_factory=list)

    async def stream(
        self, request: LlmRequest, abort: AbortSignal | None = None
    ) -> AsyncIterator[Chunk]:
        says = self.script[min(len(self.asked_s), len(self.script) - 1)]
        self.asked_s.append(round(anyio.current_time(), 6))
        try:
            await wait_s(says.after_s)
            if says.text:
                yield TextDelta(0, says.text)
            match says.end:
                case "stop":
                    yield UsageReport(TokenUsage(1, 2))
                    yield Finish(STOP)
                case "hang":
                    await anyio.Event().wait()
                case "no-finish":
                    pass
                case Exception() as error:
                    raise error
                case LlmFailure() as failed:
                    kind = "aborted" if failed.code == codes.ABORTED else "error"
                    yield Finish(FinishReason(kind, failed))
        finally:
            self.closed_s.append(round(anyio.current_time(), 6))


async def wait_s(seconds: float) -> None:
    """Let virtual time pass without a sleep of a library."""
    if seconds:
        from adapter_sdk.retry._pause import pause

        await pause(round(seconds * 1000))


def new_client(recovery: Any = RECOVERY, **options: Any) -> LlmClient:
    numbers = itertools.count()
    return LlmClient(recovery=recovery, new_id=lambda: f"r{next(numbers)}", **options)


@dataclass
class Seen:
    """Events with their virtual times, in seconds."""

    events: list[LifecycleEvent] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        return [word(event) for event in self.events]

    @property
    def outcome(self) -> LifecycleEvent:
        return self.events[-1]


def word(event: LifecycleEvent) -> str:
    match event:
        case ResponseStart():
            return f"start {event.response_id} {event.route_id}"
        case AssistantChunk(chunk=TextDelta(text=text)):
            return f"text {event.response_id} {text}"
        case AssistantChunk():
            return event.chunk.type
        case ResponseInterrupted():
            wait = f" {event.scheduled_retry_ms} {event.delay_source}"
            waits = event.scheduled_retry_ms is not None
            return f"interrupted {event.response_id} {event.failure.code}" + wait * waits
        case ResponseFailed():
            return f"failed {event.response_id} {event.failure.code}"
        case ResponseCommitted():
            return f"committed {event.response_id} {event.message.text}"


async def watch(
    client: LlmClient,
    request: LlmRequest = REQUEST,
    *,
    abort: AbortSignal | None = None,
    on_event: Callable[[LifecycleEvent], Awaitable[None]] | None = None,
) -> Seen:
    seen = Seen()
    async with client.stream(request, abort=abort) as events:
        async for event in events:
            seen.events.append(event)
            seen.times.append(round(anyio.current_time(), 6))
            if on_event is not None:
                await on_event(event)
    return seen


def run(backend: Backend, function: Callable[[], Any]) -> Any:
    return run_virtual(backend, function)


# ---- one route ------------------------------------------------------------------------------


@lanes
def test_a_good_answer_commits_at_once(backend: Backend) -> None:
    async def main() -> tuple[Seen, Adapter]:
        adapter, client = Adapter([Says("Hello")]), new_client()
        client.register_route("a", "m", adapter=adapter, provider="acme")
        return await watch(client), adapter

    seen, adapter = run(backend, main)
    assert seen.words == ["start r0 a", "text r0 Hello", "usage", "committed r0 Hello"]
    committed = seen.outcome
    assert isinstance(committed, ResponseCommitted)
    assert (committed.finish, committed.usage) == (STOP, TokenUsage(1, 2))
    assert (adapter.asked_s, adapter.closed_s) == ([0.0], [0.0])


@lanes
@pytest.mark.parametrize(
    "end",
    [
        pytest.param(SERVER, id="in-band"),
        pytest.param(LlmError(SERVER), id="thrown"),
    ],
)
def test_thrown_and_in_band_failures_are_alike(backend: Backend, end: End) -> None:
    async def main() -> Seen:
        client = new_client()
        client.register_route("a", "m", adapter=Adapter([Says("Hel", end), Says("Hello")]))
        return await watch(client)

    seen = run(backend, main)
    assert seen.words == [
        "start r0 a",
        "text r0 Hel",
        "interrupted r0 SERVER 200 backoff",
        "start r1 a",
        "text r1 Hello",
        "usage",
        "committed r1 Hello",
    ]
    assert seen.times[2:4] == [0.0, 0.2]


@lanes
@pytest.mark.parametrize(
    ("end", "code"),
    [
        pytest.param(AUTH, codes.AUTH, id="auth"),
        pytest.param(failure(codes.INVALID_REQUEST), codes.INVALID_REQUEST, id="invalid"),
        pytest.param(failure(codes.UNSUPPORTED_OPTION), codes.UNSUPPORTED_OPTION, id="local"),
        pytest.param(failure(codes.MALFORMED_RESPONSE), codes.MALFORMED_RESPONSE, id="protocol"),
        pytest.param("no-finish", codes.STREAM_CLOSED, id="no-finish"),
        pytest.param(RuntimeError("a bug"), codes.UNKNOWN, id="a-bug"),
    ],
)
def test_what_does_not_recover_ends_the_call_and_never_raises(
    backend: Backend, end: End, code: str
) -> None:
    async def main() -> tuple[Seen, Any]:
        client = new_client()
        client.register_route("a", "m", adapter=Adapter([Says("Hel", end), Says("Hello")]))
        client.register_route("b", "m", adapter=Adapter([Says("never asked")]))
        return await watch(client), await client.complete(REQUEST)

    seen, outcome = run(backend, main)
    assert seen.words == ["start r0 a", "text r0 Hel", f"failed r0 {code}"]
    assert outcome.type == "response/committed"  # by then the route answers


@lanes
def test_recovery_is_unbounded_and_its_counts_are_visible(backend: Backend) -> None:
    """Eleven hours of failures, then an answer: the wait doubles up to ten minutes."""

    async def main() -> tuple[Seen, Adapter]:
        adapter, client = Adapter([Says(end=SERVER)] * 80 + [Says("at last")]), new_client()
        client.register_route("a", "m", adapter=adapter)
        return await watch(client), adapter

    seen, adapter = run(backend, main)
    starts = [event for event in seen.events if isinstance(event, ResponseStart)]
    assert [event.response_index for event in starts] == list(range(81))
    waits = [event.scheduled_retry_ms for event in seen.events if event.type[:12] == "response/int"]
    assert waits == [min(200 * 2**n, 600_000) for n in range(80)]
    assert isinstance(seen.outcome, ResponseCommitted)
    assert seen.times[-1] > 11 * 3600
    # Each response was closed before its wait began.
    assert adapter.closed_s == adapter.asked_s


@lanes
@pytest.mark.parametrize(
    ("hint_ms", "words"),
    [
        pytest.param(7_000, "7000 provider", id="a-hint"),
        pytest.param(1, "1 provider", id="a-short-hint"),
        pytest.param(36_000_000, "600000 provider-capped", id="ten-hours"),
    ],
)
def test_the_providers_delay_is_used_and_recorded(
    backend: Backend, hint_ms: int, words: str
) -> None:
    async def main() -> tuple[Seen, list[Diagnostic]]:
        told: list[Diagnostic] = []
        client = new_client()
        slow = failure(codes.RATE_LIMIT, status=429, provider_retry_after_ms=hint_ms)
        client.register_route("a", "m", adapter=Adapter([Says(end=slow), Says("Hello")]))
        client.on_diagnostic(told.append)
        return await watch(client), told

    seen, (note,) = run(backend, main)
    assert seen.words[1] == f"interrupted r0 RATE_LIMIT {words}"
    assert seen.times[2] == pytest.approx(min(hint_ms, 600_000) / 1000)
    assert (note.hint_ms, note.rest_ms, note.rest_source) == (
        hint_ms,
        note.wait_ms,
        words.split()[1],
    )
    assert (note.action, note.next_route_id) == ("retry", "a")


@lanes
@pytest.mark.parametrize(
    ("recovery", "words", "ended_s"),
    [
        pytest.param(
            replace(RECOVERY, max_responses=1), ["start r0 a", "failed r0 SERVER"], 0.0, id="one"
        ),
        pytest.param(
            replace(RECOVERY, max_responses=2),
            ["start r0 a", "interrupted r0 SERVER 200 backoff", "start r1 a", "failed r1 SERVER"],
            0.2,
            id="two-responses",
        ),
        pytest.param(
            replace(RECOVERY, max_elapsed=0.5),
            ["start r0 a", "interrupted r0 SERVER 200 backoff", "start r1 a", "failed r1 SERVER"],
            0.2,  # the next wait would end at 0.6
            id="half-a-second",
        ),
    ],
)
def test_a_provider_that_fails_for_ever_is_given_up_on_under_a_bound(
    backend: Backend, recovery: Recovery, words: list[str], ended_s: float
) -> None:
    async def main() -> Seen:
        client = new_client(recovery)
        client.register_route("a", "m", adapter=Adapter([Says(end=SERVER)]))
        return await watch(client)

    seen = run(backend, main)
    assert (seen.words, seen.times[-1]) == (words, ended_s)


@lanes
def test_complete_is_the_last_event_of_the_same_stream(backend: Backend) -> None:
    async def main() -> list[LifecycleEvent]:
        ends = []
        for script in ([Says(end=SERVER), Says("Hello")], [Says(end=AUTH)]):
            both = []
            for _ in range(2):
                client = new_client()
                client.register_route("a", "m", adapter=Adapter(script))
                both.append(client)
            ends += [(await watch(both[0])).outcome, await both[1].complete(REQUEST)]
        return ends

    committed, completed, failed, refused = run(backend, main)
    assert committed == completed
    assert failed == refused
    assert (committed.type, failed.type) == ("response/committed", "response/failed")


# ---- several routes -------------------------------------------------------------------------


@lanes
def test_failover_goes_to_the_next_route_at_once(backend: Backend) -> None:
    async def main() -> tuple[Seen, list[Diagnostic]]:
        told: list[Diagnostic] = []
        client = new_client()
        client.on_diagnostic(told.append)
        client.register_route("a", "m", adapter=Adapter([Says("Hel", SERVER)]), priority=1)
        client.register_route("b", "m", adapter=Adapter([Says("Hello")]))
        return await watch(client), told

    seen, (note,) = run(backend, main)
    assert seen.words == [
        "start r0 a",
        "text r0 Hel",
        "interrupted r0 SERVER",
        "start r1 b",
        "text r1 Hello",
        "usage",
        "committed r1 Hello",
    ]
    assert set(seen.times) == {0.0}
    assert (note.action, note.route_id, note.next_route_id) == ("failover", "a", "b")
    assert note.reason == "the route rests 200 ms, our own backoff; the provider named no delay"


@lanes
def test_each_failed_route_rests_and_the_first_rested_is_asked(backend: Backend) -> None:
    async def main() -> tuple[Seen, Adapter, Adapter]:
        slow = failure(codes.RATE_LIMIT, status=429, provider_retry_after_ms=5_000)
        a = Adapter([Says(end=slow), Says("Hello")])
        b = Adapter([Says(end=SERVER)])
        client = new_client()
        client.register_route("a", "m", adapter=a, priority=1)
        client.register_route("b", "m", adapter=b)
        return await watch(client), a, b

    seen, a, b = run(backend, main)
    # b backs off 0.2, 0.4, 0.8, 1.6, 3.2 s; at 5 s the provider of a said yes again.
    assert b.asked_s == pytest.approx([0.0, 0.2, 0.6, 1.4, 3.0])
    assert a.asked_s == [0.0, 5.0]
    assert seen.words[-1] == "committed r6 Hello"
    assert "interrupted r5 SERVER 2000 provider" in seen.words


def covers(*names: str) -> RouteCapabilities:
    return RouteCapabilities(**dict.fromkeys(names, True))


@lanes
@pytest.mark.parametrize(
    ("end", "asked"),
    [
        pytest.param(SERVER, ["a", "same", "other"], id="unavailable"),
        pytest.param(failure(codes.RATE_LIMIT, status=429), ["a", "same", "a"], id="rate-limit"),
        pytest.param(TIMEOUT, ["a", "same", "a"], id="timeout"),
        pytest.param(AUTH, ["a"], id="auth"),
    ],
)
def test_failover_stays_within_its_scope_and_the_requests_needs(
    backend: Backend, end: LlmFailure, asked: list[str]
) -> None:
    async def main() -> Seen:
        client = new_client(replace(RECOVERY, max_responses=3), compatible_models={"m": ["m-mini"]})
        tools = covers("tools")
        for route_id, model, capabilities in (
            ("a", "m", tools),
            ("text-only", "m", covers("images", "stop")),
            ("same", "m", tools),
            ("foreign", "another-model", tools),
            ("other-text-only", "m-mini", covers()),
            ("other", "m-mini", tools),
        ):
            client.register_route(
                route_id, model, adapter=Adapter([Says("x", end)]), capabilities=capabilities
            )
        return await watch(client, replace(REQUEST, tools=(Tool("f"),)))

    seen = run(backend, main)
    assert [e.route_id for e in seen.events if isinstance(e, ResponseStart)] == asked


@lanes
def test_a_model_that_stands_in_may_be_asked_again(backend: Backend) -> None:
    """What only its own model may answer is asked of it, and of the model that was wanted."""

    async def main() -> Seen:
        down = failure(status=503, provider_retry_after_ms=60_000)
        slow = failure(codes.RATE_LIMIT, status=429, provider_retry_after_ms=1_000)
        client = new_client(compatible_models={"m": ("m-mini", "m-nano")})
        client.register_route("a", "m", adapter=Adapter([Says(end=down)]))
        client.register_route("b", "m-mini", adapter=Adapter([Says(end=slow), Says("Hello")]))
        client.register_route("c", "m-nano", adapter=Adapter([Says("never asked")]))
        return await watch(client)

    seen = run(backend, main)
    assert seen.words[:4] == [
        "start r0 a",
        "interrupted r0 SERVER",
        "start r1 b",
        "interrupted r1 RATE_LIMIT 1000 provider",
    ]
    assert seen.words[-1] == "committed r2 Hello"


@lanes
def test_without_a_word_of_the_caller_no_other_model_answers(backend: Backend) -> None:
    async def main() -> Seen:
        client = new_client(replace(RECOVERY, max_responses=2))
        client.register_route("a", "m", adapter=Adapter([Says(end=SERVER)]))
        client.register_route("b", "m-mini", adapter=Adapter([Says("Hello")]))
        return await watch(client)

    assert run(backend, main).words[-1] == "failed r1 SERVER"


@lanes
def test_a_compatible_model_commits_under_its_own_name(backend: Backend) -> None:
    async def main() -> Seen:
        client = new_client(compatible_models={"m": ("m-mini",)})
        client.register_route("a", "m", adapter=Adapter([Says(end=SERVER)]))
        client.register_route("b", "m-mini", adapter=Adapter([Says("Hello")]), wire_model="v/mini")
        return await watch(client)

    committed = run(backend, main).outcome
    assert committed.route.to_json() == {
        "routeId": "b",
        "model": "m-mini",
        "wireModel": "v/mini",
        "provider": "b",
    }


# ---- disposal -------------------------------------------------------------------------------


@lanes
def test_a_route_that_is_disposed_of_while_it_serves_goes_on_serving(backend: Backend) -> None:
    async def main() -> tuple[Seen, Any]:
        client = new_client()
        dispose = client.register_route("a", "m", adapter=Adapter([Says("Hello")]))

        async def on_event(event: LifecycleEvent) -> None:
            if isinstance(event, ResponseStart):
                dispose()

        return await watch(client, on_event=on_event), await client.complete(REQUEST)

    seen, after = run(backend, main)
    assert seen.words[-1] == "committed r0 Hello"
    assert after.failure.code == codes.UNKNOWN_MODEL


@lanes
@pytest.mark.parametrize("other", [False, True], ids=["the-last-route", "another-is-left"])
def test_a_route_that_is_disposed_of_in_its_wait_is_not_asked_again(
    backend: Backend, other: bool
) -> None:
    async def main() -> tuple[Seen, Adapter]:
        client, adapter = new_client(), Adapter([Says(end=SERVER)])
        dispose = client.register_route("a", "m", adapter=adapter)

        async def on_event(event: LifecycleEvent) -> None:
            if isinstance(event, ResponseInterrupted):
                dispose()
                if other:
                    client.register_route("b", "m", adapter=Adapter([Says("Hello")]))

        return await watch(client, on_event=on_event), adapter

    seen, adapter = run(backend, main)
    assert seen.words[-1] == ("committed r1 Hello" if other else "failed None SERVER")
    assert adapter.asked_s == [0.0]


@lanes
def test_the_last_route_disposed_of_while_its_response_fails_ends_the_call(
    backend: Backend,
) -> None:
    async def main() -> tuple[Seen, list[Diagnostic]]:
        told: list[Diagnostic] = []
        client = new_client()
        client.on_diagnostic(told.append)
        dispose = client.register_route("a", "m", adapter=Adapter([Says("Hel", SERVER)]))

        async def on_event(event: LifecycleEvent) -> None:
            if isinstance(event, AssistantChunk):
                dispose()

        return await watch(client, on_event=on_event), told

    seen, (note,) = run(backend, main)
    assert seen.words == ["start r0 a", "text r0 Hel", "failed r0 SERVER"]
    assert note.reason == "no route that fits is left"


# ---- abort, leaving, cancellation -------------------------------------------------------------


@lanes
@pytest.mark.parametrize(
    ("script", "when", "words"),
    [
        pytest.param([Says("Hello")], "before", ["failed None ABORTED"], id="before-the-call"),
        pytest.param(
            [Says("Hello")], ResponseStart, ["start r0 a", "failed r0 ABORTED"], id="at-the-start"
        ),
        pytest.param(
            [Says("Hel", "hang")], "later", ["start r0 a", "text r0 Hel", "failed r0 ABORTED"],
            id="while-a-chunk-is-awaited",
        ),
        pytest.param(
            [Says("Hel", "hang")], AssistantChunk,
            ["start r0 a", "text r0 Hel", "failed r0 ABORTED"], id="while-the-caller-reads",
        ),
        pytest.param(
            [Says("Hel", SERVER)], ResponseInterrupted,
            ["start r0 a", "text r0 Hel", "interrupted r0 SERVER 200 backoff",
             "failed None ABORTED"],
            id="before-the-wait",
        ),
        pytest.param(
            [Says(end=failure(provider_retry_after_ms=60_000))], "later",
            ["start r0 a", "interrupted r0 SERVER 60000 provider", "failed None ABORTED"],
            id="in-the-wait",
        ),
    ],
)  # fmt: skip
def test_an_abort_ends_the_call_in_every_state(
    backend: Backend, script: list[Says], when: Any, words: list[str]
) -> None:
    async def main() -> tuple[Seen, Adapter]:
        abort, adapter, client = AbortSignal(), Adapter(script), new_client()
        client.register_route("a", "m", adapter=adapter)
        if when == "before":
            abort.abort("enough")

        async def on_event(event: LifecycleEvent) -> None:
            if not isinstance(when, str) and isinstance(event, when):
                abort.abort("enough")

        async def later() -> None:
            if when == "later":
                await wait_s(10)
                abort.abort("enough")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(later)
            seen = await watch(client, abort=abort, on_event=on_event)
        return seen, adapter

    seen, adapter = run(backend, main)
    assert seen.words == words
    assert seen.outcome.failure.message == "enough"
    assert seen.times[-1] == (10.0 if when == "later" else 0.0)
    assert len(adapter.closed_s) == len(adapter.asked_s)


@lanes
def test_leaving_early_closes_the_response_and_begins_no_other(backend: Backend) -> None:
    async def main() -> Adapter:
        adapter, client = Adapter([Says("Hel", "hang")]), new_client()
        client.register_route("a", "m", adapter=adapter)
        async with client.stream(REQUEST) as events:
            async for event in events:
                if isinstance(event, AssistantChunk):
                    break
        return adapter

    adapter = run(backend, main)
    assert (adapter.asked_s, adapter.closed_s) == ([0.0], [0.0])


@lanes
@pytest.mark.parametrize(
    "says", [Says("Hel", "hang"), Says(end=SERVER)], ids=["in-a-response", "in-a-wait"]
)
def test_cancellation_propagates_and_leaves_nothing_open(backend: Backend, says: Says) -> None:
    async def main() -> tuple[bool, Adapter]:
        adapter, client = (
            Adapter([says]),
            new_client(Recovery(backoff=Backoff(initial_delay_ms=60_000, max_delay_ms=60_000))),
        )
        client.register_route("a", "m", adapter=adapter)
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch, client)
                await wait_s(1)
                scope.cancel()
        return scope.cancelled_caught, adapter

    caught, adapter = run(backend, main)
    assert caught
    assert (len(adapter.asked_s), len(adapter.closed_s)) == (1, 1)


@lanes
def test_nothing_is_sent_before_the_first_event_is_awaited(backend: Backend) -> None:
    async def main() -> Adapter:
        adapter, client = Adapter([Says("Hello")]), new_client()
        client.register_route("a", "m", adapter=adapter)
        stream = client.stream(REQUEST)
        await anyio.lowlevel.checkpoint()
        await stream.aclose()
        return adapter

    assert run(backend, main).asked_s == []


@lanes
def test_a_caller_who_keeps_an_event_for_long_does_not_wait_twice(backend: Backend) -> None:
    async def main() -> Seen:
        client = new_client()
        slow = failure(codes.RATE_LIMIT, provider_retry_after_ms=5_000)
        client.register_route("a", "m", adapter=Adapter([Says(end=slow), Says("Hello")]))

        async def on_event(event: LifecycleEvent) -> None:
            if isinstance(event, ResponseInterrupted):
                await wait_s(4)

        return await watch(client, on_event=on_event)

    seen = run(backend, main)
    assert seen.times[seen.words.index("start r1 a")] == 5.0


# ---- limits ---------------------------------------------------------------------------------


@lanes
def test_a_silent_response_is_timed_out_and_another_one_answers(backend: Backend) -> None:
    async def main() -> tuple[Seen, Adapter]:
        adapter, client = Adapter([Says("Hel", "hang"), Says("Hello")]), new_client()
        client.register_route("a", "m", adapter=adapter)
        return await watch(client), adapter

    seen, adapter = run(backend, main)
    assert seen.words[2:4] == ["interrupted r0 TIMEOUT 200 backoff", "start r1 a"]
    assert seen.times[2:4] == [300.0, 300.2]
    assert adapter.closed_s[0] == 300.0
    assert seen.events[2].failure.message == "no chunk for 300 s, the idle limit"


@lanes
@pytest.mark.parametrize("first", ["abort", "limit"])
def test_an_abort_at_the_very_instant_of_a_limit_wins(backend: Backend, first: str) -> None:
    async def main() -> list[str]:
        limits = ResponseLimits(idle_timeout=10 if first == "abort" else 9.999)
        client, abort = new_client(replace(RECOVERY, limits=limits)), AbortSignal()
        client.register_route("a", "m", adapter=Adapter([Says(end="hang"), Says("Hello")]))

        async def later() -> None:
            await wait_s(10)
            abort.abort()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(later)
            seen = await watch(client, abort=abort)
        return seen.words

    words = run(backend, main)
    assert (words[1] == "failed r0 ABORTED") is (first == "abort")


@lanes
def test_without_an_idle_limit_silence_lasts_as_long_as_the_call(backend: Backend) -> None:
    async def main() -> Seen:
        limits = ResponseLimits(idle_timeout=None)
        client = new_client(replace(RECOVERY, limits=limits, max_elapsed=9_000))
        client.register_route("a", "m", adapter=Adapter([Says("Hel", "hang")]))
        return await watch(client)

    seen = run(backend, main)
    assert (seen.words[-1], seen.times[-1]) == ("failed r0 TIMEOUT", 9_000.0)


@lanes
def test_a_slow_reader_is_no_silent_response(backend: Backend) -> None:
    async def main() -> Seen:
        recovery = replace(RECOVERY, limits=ResponseLimits(idle_timeout=2))
        client = new_client(recovery)
        client.register_route("a", "m", adapter=Adapter([Says("Hello", after_s=1.5)]))

        async def on_event(event: LifecycleEvent) -> None:
            await wait_s(30)

        return await watch(client, on_event=on_event)

    assert run(backend, main).words[-1] == "committed r0 Hello"


@dataclass
class Slow:
    """Text every so often, for as long as it is asked."""

    every_s: float
    pieces: int

    async def stream(
        self, request: LlmRequest, abort: AbortSignal | None = None
    ) -> AsyncIterator[Chunk]:
        for _ in range(self.pieces):
            await wait_s(self.every_s)
            yield TextDelta(0, ".")
        yield Finish(STOP)


@lanes
@pytest.mark.parametrize(
    ("every_s", "end"),
    [
        pytest.param(290, "committed r0 .....", id="just-in-time"),
        pytest.param(310, "failed r0 TIMEOUT", id="too-late"),
    ],
)
def test_each_chunk_re_arms_the_idle_limit(backend: Backend, every_s: float, end: str) -> None:
    async def main() -> Seen:
        client = new_client(replace(RECOVERY, max_responses=1))
        client.register_route("a", "m", adapter=Slow(every_s, 5))
        return await watch(client)

    assert run(backend, main).words[-1] == end


@lanes
def test_no_timer_of_the_call_outlives_a_chunk(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[object] = []

    class Counted(Deadline):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            running.append(self)

        @override
        def close(self) -> None:
            super().close()
            running.remove(self)

    monkeypatch.setattr("adapter_sdk.lifecycle._limited.Deadline", Counted)
    counts: list[int] = []

    async def main() -> Seen:
        client = new_client(replace(RECOVERY, max_elapsed=3600))
        client.register_route("a", "m", adapter=Slow(1, 3))

        async def on_event(_: LifecycleEvent) -> None:
            counts.append(len(running))

        return await watch(client, on_event=on_event)

    assert run(backend, main).words[-1] == "committed r0 ..."
    assert set(counts) == {0}


@lanes
def test_the_time_of_the_whole_call_ends_a_response_too(backend: Backend) -> None:
    async def main() -> tuple[Seen, Adapter]:
        client = new_client(replace(RECOVERY, max_elapsed=30))
        adapter = Adapter([Says(end=SERVER), Says("Hel", "hang")])
        client.register_route("a", "m", adapter=adapter)
        return await watch(client), adapter

    seen, adapter = run(backend, main)
    assert seen.words[-2:] == ["text r1 Hel", "failed r1 TIMEOUT"]
    assert (seen.times[-1], adapter.closed_s[-1]) == (30.0, 30.0)
    assert seen.outcome.failure.message == "the time of the whole call is over"


@lanes
def test_a_caller_who_reads_beyond_the_time_of_the_call_gets_no_more(backend: Backend) -> None:
    async def main() -> Seen:
        client = new_client(replace(RECOVERY, max_elapsed=30))
        client.register_route("a", "m", adapter=Adapter([Says("Hello")]))

        async def on_event(event: LifecycleEvent) -> None:
            await wait_s(31)

        return await watch(client, on_event=on_event)

    assert run(backend, main).words == ["start r0 a", "failed r0 TIMEOUT"]


# ---- policies and listeners -------------------------------------------------------------------


class TwiceThenStop(Recovery):
    """A policy of somebody else: retries a bad key once, at once, and nothing else."""

    @override
    def decide(self, failed: FailedResponse, *, random: Random) -> Delay | GiveUp:
        if failed.failure.code == codes.AUTH and failed.route_failures == 1:
            return Delay(0, "backoff")
        return GiveUp("not ours")


@lanes
def test_another_policy_takes_the_place_of_the_default(backend: Backend) -> None:
    async def main() -> list[list[str]]:
        words = []
        for end in (AUTH, SERVER):
            client = new_client(TwiceThenStop())
            client.register_route("a", "m", adapter=Adapter([Says(end=end)]))
            words.append((await watch(client)).words)
        return words

    assert run(backend, main) == [
        ["start r0 a", "interrupted r0 AUTH", "start r1 a", "failed r1 AUTH"],
        ["start r0 a", "failed r0 SERVER"],
    ]


@lanes
def test_a_listener_that_raises_is_logged_and_changes_nothing(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> tuple[Seen, list[Diagnostic]]:
        told: list[Diagnostic] = []
        client = new_client()

        def broken(_: Diagnostic) -> None:
            raise ZeroDivisionError("a bug of the listener")

        client.on_diagnostic(broken)
        dispose = client.on_diagnostic(told.append)
        script = [Says(end=SERVER), Says("Hello")] * 2
        client.register_route("a", "m", adapter=Adapter(script))
        seen = await watch(client)
        dispose()
        await watch(client)
        return seen, told

    with caplog.at_level(logging.ERROR, "adapter_sdk.lifecycle"):
        seen, told = run(backend, main)
    assert seen.words[-1] == "committed r1 Hello"
    assert [note.action for note in told] == ["retry"]
    assert [record.message for record in caplog.records] == ["a listener of diagnostics raised"] * 2


@lanes
@pytest.mark.parametrize(
    ("recovery", "end", "reason"),
    [
        pytest.param(RECOVERY, AUTH, "auth is not recovered from", id="never"),
        pytest.param(replace(RECOVERY, max_responses=1), SERVER, "max_responses is 1", id="bound"),
        pytest.param(
            replace(RECOVERY, max_elapsed=0.1),
            SERVER,
            "a wait of 200 ms ends after the call's time",
            id="time",
        ),
        pytest.param(
            replace(RECOVERY, max_elapsed=0.1),
            "hang",
            "the time of the whole call is over",
            id="time-is-over",
        ),
    ],
)
def test_a_diagnostic_says_why_the_call_was_given_up(
    backend: Backend, recovery: Recovery, end: End, reason: str
) -> None:
    async def main() -> list[Diagnostic]:
        told: list[Diagnostic] = []
        client = new_client(recovery)
        client.on_diagnostic(told.append)
        client.register_route("a", "m", adapter=Adapter([Says(end=end)]))
        await watch(client)
        return told

    (note,) = run(backend, main)
    assert (note.action, note.next_route_id, note.reason) == ("give-up", None, reason)
    assert (note.response_id, note.response_index, note.route_id) == ("r0", 0, "a")
