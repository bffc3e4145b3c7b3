"""The executor: what it decides, what it writes when, and that nothing of it stays behind."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from adapter_sdk import AbortSignal, LlmFailure, codes
from adapter_sdk.retry import (
    RETRY,
    RETRY_STARTED,
    AlwaysRetry,
    Backoff,
    Decision,
    NormalRetry,
    RetryExecutor,
    RetryPolicy,
    check_retry_events,
)
from adapter_sdk.testing import ManualClock, run_virtual

Backend = Literal["asyncio", "trio"]
lanes = pytest.mark.parametrize("backend", ["asyncio", "trio"])

SERVER: Final = LlmFailure(message="broken", code=codes.SERVER, status=500)
AUTH: Final = LlmFailure(message="who?", code=codes.AUTH, status=401)
STEADY: Final = Backoff(jitter_ratio=0)
NORMAL: Final = NormalRetry(backoff=STEADY)
ALWAYS: Final = AlwaysRetry(backoff=STEADY)


@dataclass(frozen=True)
class Event:
    type: str
    seq: int
    data: Mapping[str, Any]


@dataclass
class Log:
    """A log in memory that also notes the loop's time of each event, in seconds."""

    events: list[Event] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def append(self, type_: str, data: Mapping[str, Any], /) -> Event:
        event = Event(type_, len(self.events), dict(data))
        self.events.append(event)
        self.times.append(anyio.current_time())
        return event

    def open(self, turn: int, step: int, provider: str) -> None:
        self.append("turn/start", {"turn": turn})
        self.append("step/start", {"turn": turn, "step": step, "provider": provider})

    def retries(self) -> list[tuple[str, int, str]]:
        return [
            (e.type.removeprefix("llm/"), e.data["retry"], e.data["retryId"])
            for e in self.events
            if e.type in (RETRY, RETRY_STARTED)
        ]


@dataclass(frozen=True)
class Payload:
    failure: LlmFailure = SERVER
    retry_policy: RetryPolicy | None = NORMAL
    turn: int = 1
    step: int = 1
    provider: str = "acme"
    signal: AbortSignal | None = None


@dataclass
class Downstream:
    """The rest of the chain: answers, and counts how often it was asked."""

    decision: Decision = None
    asked: int = 0

    async def __call__(self, _: Payload) -> Decision:
        self.asked += 1
        await anyio.lowlevel.checkpoint()
        return self.decision


def ids() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"id-{next(numbers)}"


def hinted(ms: int) -> LlmFailure:
    return replace(SERVER, code=codes.RATE_LIMIT, status=429, provider_retry_after_ms=ms)


def coded(code: str) -> LlmFailure:
    return LlmFailure(message="no", code=code)


async def answer(payload: Payload, *, before: int = 0) -> tuple[Decision, int, float, Log]:
    """Return decision, questions downstream, virtual seconds and log, after ``before`` retries."""
    log = Log()
    executor = RetryExecutor(log, new_id=ids())
    log.open(payload.turn, payload.step, payload.provider)
    downstream = Downstream()
    for _ in range(before):
        assert await executor.request_error(payload, downstream) == "retry"
    start_s, asked = anyio.current_time(), downstream.asked
    decision = await executor.request_error(payload, downstream)
    assert check_retry_events(log.events) == []
    return decision, downstream.asked - asked, anyio.current_time() - start_s, log


CLOSED: Final = coded(codes.STREAM_CLOSED)


@lanes
@pytest.mark.parametrize(
    ("payload", "before", "decision", "asked", "seconds"),
    [
        pytest.param(Payload(), 0, "retry", 0, 0.5, id="first"),
        pytest.param(Payload(), 4, "retry", 0, 8.0, id="fifth"),
        pytest.param(Payload(), 5, None, 1, 0.0, id="exhausted"),
        pytest.param(Payload(retry_policy=None), 4, "retry", 0, None, id="no-policy-is-default"),
        pytest.param(
            Payload(retry_policy=NormalRetry(max_retries=0)), 0, None, 1, 0.0, id="no-retries"
        ),
        pytest.param(Payload(AUTH), 0, None, 1, 0.0, id="code-outside-the-set"),
        pytest.param(Payload(CLOSED), 0, None, 1, 0.0, id="stream-closed-by-default"),
        pytest.param(
            Payload(CLOSED, NormalRetry(retryable_codes=("STREAM_CLOSED",), backoff=STEADY)),
            *(0, "retry", 0, 0.5),
            id="stream-closed-where-listed",
        ),
        pytest.param(Payload(hinted(1)), 0, "retry", 0, 0.001, id="short-hint"),
        pytest.param(Payload(hinted(10_000)), 3, "retry", 0, 10.0, id="hint-as-long-as-the-cap"),
        pytest.param(Payload(hinted(10_001)), 0, None, 1, 0.0, id="hint-above-the-cap"),
        pytest.param(Payload(SERVER, ALWAYS), 0, "retry", 1, 0.5, id="always"),
        pytest.param(Payload(AUTH, ALWAYS), 9, "retry", 1, 10.0, id="always-everything-for-ever"),
        pytest.param(
            Payload(hinted(10_001), ALWAYS), 1, "retry", 1, 1.0, id="always-backs-off-above-the-cap"
        ),
        pytest.param(Payload(hinted(77), ALWAYS), 1, "retry", 1, 0.077, id="always-honours-a-hint"),
        pytest.param(
            Payload(coded(codes.ABORTED), ALWAYS), 0, None, 1, 0.0, id="always-but-never-an-abort"
        ),
    ],
)
def test_a_policy_decides(
    backend: Backend,
    payload: Payload,
    before: int,
    decision: Decision,
    asked: int,
    seconds: float | None,
) -> None:
    got, questions, waited, _ = run_virtual(backend, lambda: answer(payload, before=before))
    assert (got, questions) == (decision, asked)
    if seconds is not None:
        assert waited == pytest.approx(seconds, abs=1e-6)


@lanes
def test_it_appends_then_waits_then_appends_again_then_answers(backend: Backend) -> None:
    _, _, _, log = run_virtual(backend, lambda: answer(Payload()))
    assert [event.type for event in log.events[2:]] == [RETRY, RETRY_STARTED]
    assert log.times[2:] == pytest.approx([0.0, 0.5])
    assert log.events[2].data == {
        "retryId": "id-1",
        "turn": 1,
        "step": 1,
        "provider": "acme",
        "mode": "normal",
        "policyKey": NORMAL.key,
        "retry": 1,
        "maxRetries": 5,
        "delayMs": 500,
        "failure": {"message": "broken", "code": "SERVER", "status": 500},
    }
    assert log.events[3].data == {"retryId": "id-1", "turn": 1, "step": 1, "retry": 1}


@lanes
def test_mode_always_writes_no_limit(backend: Backend) -> None:
    _, _, _, log = run_virtual(backend, lambda: answer(Payload(AUTH, ALWAYS)))
    assert "maxRetries" not in log.events[2].data
    assert log.events[2].data["mode"] == "always"


@lanes
def test_always_honours_a_retry_from_downstream_and_writes_nothing(backend: Backend) -> None:
    async def run() -> tuple[Decision, Log]:
        log = Log()
        executor = RetryExecutor(log)
        return await executor.request_error(Payload(AUTH, ALWAYS), Downstream("retry")), log

    decision, log = run_virtual(backend, run)
    assert (decision, log.events) == ("retry", [])


@lanes
def test_normal_passes_on_what_downstream_decides(backend: Backend) -> None:
    async def run() -> Decision:
        return await RetryExecutor(Log()).request_error(Payload(AUTH), Downstream("retry"))

    assert run_virtual(backend, run) == "retry"


@lanes
def test_history_is_the_log(backend: Backend) -> None:
    """Same key counts up; a step, a policy and a provider of their own start at 1."""
    other_policy = NormalRetry(backoff=Backoff(initial_delay_ms=7))
    asked = [
        Payload(),
        Payload(),
        Payload(retry_policy=other_policy),
        Payload(),
        Payload(step=2),
        Payload(step=2),
        Payload(turn=2),
    ]

    async def run() -> Log:
        log, new_id = Log(), ids()
        for payload in asked:
            opened = [e for e in log.events if e.type == "step/start"]
            here = {"turn": payload.turn, "step": payload.step, "provider": "acme"}
            if not opened or opened[-1].data != here:
                log.open(payload.turn, payload.step, "acme")
            # A new executor each time: a restart resets nothing.
            executor = RetryExecutor(log, new_id=new_id)
            assert await executor.request_error(payload, Downstream()) == "retry"
        return log

    log = run_virtual(backend, run)
    assert [entry[1:] for entry in log.retries() if entry[0] == "retry"] == [
        (1, "id-1"),
        (2, "id-1"),
        (1, "id-2"),
        (3, "id-1"),
        (1, "id-3"),
        (2, "id-3"),
        (1, "id-4"),
    ]
    assert check_retry_events(log.events) == []


@pytest.mark.anyio
async def test_only_the_open_step_is_read_however_long_the_log() -> None:
    class Watched(list[Event]):
        read = 0

        @override
        def __reversed__(self) -> Iterator[Event]:
            for event in super().__reversed__():
                self.read += 1
                yield event

    log = Log()
    log.events = events = Watched()
    for _ in range(1000):
        log.append("assistant/chunk", {})
    log.open(1, 1, "acme")
    quick = NormalRetry(backoff=Backoff(initial_delay_ms=1, jitter_ratio=1))
    executor = RetryExecutor(log, random=lambda: 0.0)
    assert await executor.request_error(Payload(retry_policy=quick), Downstream()) == "retry"
    assert events.read == 1


@lanes
def test_two_failures_at_once_get_two_numbers(backend: Backend) -> None:
    async def run() -> list[tuple[str, int, str]]:
        log = Log()
        first, second = RetryExecutor(log, new_id=ids()), RetryExecutor(log, new_id=ids())
        async with anyio.create_task_group() as tasks:
            for executor in (first, second):
                tasks.start_soon(executor.request_error, Payload(), Downstream())
        return log.retries()

    written = run_virtual(backend, run)
    assert written[:2] == [("retry", 1, "id-1"), ("retry", 2, "id-1")]
    assert sorted(written[2:]) == [("retry-started", 1, "id-1"), ("retry-started", 2, "id-1")]


# ---- abort, disposal, cancellation ----------------------------------------------------------


@lanes
@pytest.mark.parametrize("policy", [NORMAL, ALWAYS], ids=["normal", "always"])
def test_an_abort_before_the_failure_writes_nothing(backend: Backend, policy: RetryPolicy) -> None:
    async def run() -> tuple[Decision, Log]:
        log, signal = Log(), AbortSignal()
        signal.abort()
        payload = Payload(retry_policy=policy, signal=signal)
        return await RetryExecutor(log).request_error(payload, Downstream()), log

    decision, log = run_virtual(backend, run)
    assert (decision, log.events) == (None, [])


@lanes
@pytest.mark.parametrize("stop", ["abort", "dispose"])
def test_what_stops_while_downstream_thinks_writes_nothing(backend: Backend, stop: str) -> None:
    async def run() -> tuple[Decision, Log]:
        log, signal = Log(), AbortSignal()
        executor = RetryExecutor(log)

        async def downstream(_: Payload) -> Decision:
            if stop == "abort":
                signal.abort()
            else:
                await executor.dispose()
            return None

        return await executor.request_error(Payload(AUTH, ALWAYS, signal=signal), downstream), log

    decision, log = run_virtual(backend, run)
    assert (decision, log.events) == (None, [])


class CountingSignal(AbortSignal):
    """A signal that knows how many listen."""

    listening = 0

    @override
    def on_abort(self, listener: Callable[[], None]) -> Callable[[], None]:
        self.listening += 1
        release = super().on_abort(listener)

        def counted() -> None:
            self.listening -= 1
            release()

        return counted


@dataclass
class Waiting:
    """One retry in its wait, on a clock that only the test moves."""

    log: Log = field(default_factory=Log)
    clock: ManualClock = field(default_factory=ManualClock)
    signal: CountingSignal = field(default_factory=CountingSignal)
    scopes: list[anyio.CancelScope] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    unregistered: int = 0

    def __post_init__(self) -> None:
        self.executor = RetryExecutor(self.log, register=self._register, clock=self.clock)

    def _register(self, _: Callable[..., Awaitable[Decision]]) -> Callable[[], None]:
        def unregister() -> None:
            self.unregistered += 1

        return unregister

    async def fail(self) -> None:
        with anyio.CancelScope() as scope:
            self.scopes.append(scope)
            payload = Payload(signal=self.signal)
            self.decisions.append(await self.executor.request_error(payload, Downstream()))

    @property
    def written(self) -> list[str]:
        return [event.type for event in self.log.events]


@pytest.mark.anyio
async def test_disposal_in_backoff_leaves_nothing_alive() -> None:
    waiting = Waiting()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiting.fail)
        tasks.start_soon(waiting.fail)
        await anyio.wait_all_tasks_blocked()
        assert waiting.clock.pending == 2
        await waiting.executor.dispose()
        # Both waits have ended by now, not only been told to.
        assert waiting.decisions == [None, None]
    assert waiting.written == [RETRY, RETRY]
    assert (waiting.clock.pending, waiting.signal.listening) == (0, 0)
    assert waiting.unregistered == 1
    heard = waiting.log.events[:]
    waiting.clock.advance(3600)
    assert waiting.log.events == heard


@pytest.mark.anyio
async def test_disposal_twice_and_with_nothing_to_do_returns() -> None:
    waiting = Waiting()
    await waiting.executor.dispose()
    await waiting.executor.dispose()
    assert waiting.unregistered == 1
    downstream = Downstream("retry")
    assert await waiting.executor.request_error(Payload(), downstream) == "retry"
    assert (downstream.asked, waiting.log.events) == (1, [])


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["abort", "cancel", "abort-as-the-wait-ends"])
async def test_a_wait_that_is_stopped_starts_nothing(how: str) -> None:
    waiting = Waiting()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiting.fail)
        await anyio.wait_all_tasks_blocked()
        match how:
            case "abort":
                waiting.signal.abort()
            case "cancel":
                waiting.scopes[0].cancel()
            case _:
                waiting.clock.advance(1)
                waiting.signal.abort()  # the waiter has not run since: the abort is in time
    assert waiting.decisions == ([] if how == "cancel" else [None])
    assert waiting.written == [RETRY]
    assert (waiting.clock.pending, waiting.signal.listening) == (0, 0)
    await waiting.executor.dispose()  # returns: no wait is left over


@lanes
@pytest.mark.parametrize("stop", ["nothing", "abort", "cancel", "dispose"])
def test_a_wait_of_no_time_can_be_stopped_too(backend: Backend, stop: str) -> None:
    async def main() -> tuple[list[Decision], Log]:
        log, signal, decisions = Log(), AbortSignal(), []
        at_once = NormalRetry(backoff=Backoff(initial_delay_ms=1, jitter_ratio=1))
        executor = RetryExecutor(log, random=lambda: 0.0)
        with anyio.CancelScope() as scope:

            async def fail() -> None:
                payload = Payload(retry_policy=at_once, signal=signal)
                decisions.append(await executor.request_error(payload, Downstream()))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(fail)
                while not log.events:  # the wait has begun, and is over at the next step
                    await anyio.lowlevel.checkpoint()
                match stop:
                    case "abort":
                        signal.abort()
                    case "cancel":
                        scope.cancel()
                    case "dispose":
                        await executor.dispose()
                    case _:
                        pass
        return decisions, log

    decisions, log = run_virtual(backend, main)
    assert log.events[0].data["delayMs"] == 0
    # Whatever came first won: started and answered, or neither.
    began = [event.type for event in log.events] == [RETRY, RETRY_STARTED]
    assert decisions == (["retry"] if began else [] if stop == "cancel" else [None])
    assert began or stop != "nothing"


@pytest.mark.anyio
async def test_a_policy_that_nobody_has_checked_is_refused_with_its_path() -> None:
    unchecked: Any = {"mode": "sometimes"}
    with pytest.raises(ValueError, match=r"\Aretry_policy\.mode: normal or always"):
        await RetryExecutor(Log()).request_error(Payload(retry_policy=unchecked), Downstream())


@pytest.mark.anyio
async def test_disposal_that_is_cancelled_can_be_asked_again() -> None:
    waiting = Waiting()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiting.fail)
        await anyio.wait_all_tasks_blocked()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await waiting.executor.dispose()
        await waiting.executor.dispose()
        assert waiting.decisions == [None]


@pytest.mark.anyio
async def test_cancellation_while_downstream_thinks_propagates() -> None:
    log, decisions = Log(), []
    with anyio.CancelScope() as scope:

        async def downstream(_: Payload) -> Decision:
            scope.cancel()
            await anyio.lowlevel.checkpoint()
            return None

        payload = Payload(AUTH, ALWAYS)
        decisions.append(await RetryExecutor(log).request_error(payload, downstream))
    assert (decisions, log.events, scope.cancelled_caught) == ([], [], True)


@pytest.mark.anyio
async def test_a_log_that_refuses_ends_the_call_and_leaves_no_timer() -> None:
    class Full(Log):
        @override
        def append(self, type_: str, data: Mapping[str, Any], /) -> Event:
            raise OSError("no space left")

    clock = ManualClock()
    executor = RetryExecutor(Full(), clock=clock)
    with pytest.raises(OSError, match="no space left"):
        await executor.request_error(Payload(), Downstream())
    assert clock.timers_made == 0
    await executor.dispose()


# ---- any history ----------------------------------------------------------------------------

failures = st.sampled_from([SERVER, AUTH, hinted(40), hinted(99_000), coded(codes.TIMEOUT)])
policies = st.sampled_from([NORMAL, NormalRetry(max_retries=1), ALWAYS, None])
moves = st.lists(
    st.one_of(
        st.tuples(st.just("fail"), failures, policies),
        st.tuples(st.just("step"), st.none(), st.none()),
        st.tuples(st.just("turn"), st.none(), st.none()),
        st.tuples(st.just("abort"), failures, policies),
        st.tuples(st.just("restart"), st.none(), st.none()),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(moves=moves, backend=st.sampled_from(["asyncio", "trio"]))
def test_every_history_keeps_the_invariants_and_the_budgets(
    moves: list[tuple[str, Any, Any]], backend: Backend
) -> None:
    async def run() -> Log:
        log, turn, step = Log(), 1, 1
        executor = RetryExecutor(log)
        log.open(turn, step, "acme")
        for kind, failure, policy in moves:
            if kind == "turn":
                log.append("turn/end", {"turn": turn})
                turn, step = turn + 1, 1
                log.open(turn, step, "acme")
            elif kind == "step":
                log.append("step/end", {"turn": turn, "step": step})
                step += 1
                log.append("step/start", {"turn": turn, "step": step, "provider": "acme"})
            elif kind == "restart":
                await executor.dispose()
                executor = RetryExecutor(log)
            else:
                signal = AbortSignal()
                payload = Payload(failure, policy, turn, step, signal=signal)
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(executor.request_error, payload, Downstream())
                    if kind == "abort":
                        await anyio.lowlevel.checkpoint()
                        signal.abort()
        return log

    log = run_virtual(backend, run)
    assert check_retry_events(log.events) == []
    for event in log.events:
        if event.type == RETRY:
            assert event.data["retry"] <= event.data.get("maxRetries", event.data["retry"])
            assert event.data["delayMs"] <= 10_000
