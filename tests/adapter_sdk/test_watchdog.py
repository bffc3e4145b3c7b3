"""The idle and progress clocks, and the one-shot deadline, on a clock that only the test moves."""

from __future__ import annotations

import math
from typing import Literal

import anyio
import pytest

from adapter_sdk import Deadline, Expiry, IdleWatchdog
from adapter_sdk._clock import running_clock
from adapter_sdk.testing import ManualClock, run_virtual

Step = tuple[Literal["wait", "pause", "event", "progress"], float]


def watch(
    clock: ManualClock, *, idle: float = 10.0, progress: float | None = 25.0
) -> tuple[IdleWatchdog, list[tuple[float, Expiry]]]:
    """Return a watchdog and the instants at which it called, with what."""
    calls: list[tuple[float, Expiry]] = []
    dog = IdleWatchdog(
        idle_timeout=idle,
        progress_timeout=progress,
        on_expired=lambda expiry: calls.append((clock.monotonic(), expiry)),
        clock=clock,
    )
    return dog, calls


def play(clock: ManualClock, dog: IdleWatchdog, steps: list[Step]) -> None:
    """Wait or pause for so long; an ``event`` or ``progress`` is a wait that a pulse follows."""
    for kind, seconds in steps:
        if kind == "pause":
            clock.advance(seconds)
            continue
        dog.arm()
        clock.advance(seconds)
        dog.disarm()
        if kind == "event":
            dog.pulse()
        elif kind == "progress":
            dog.progress()


@pytest.mark.parametrize("during", [True, False], ids=["during-a-wait", "between-waits"])
def test_progress_by_either_name_re_arms_both_limits(during: bool) -> None:
    called = []
    for name in ("pulse", "progress"):
        clock = ManualClock()
        dog, calls = watch(clock)
        dog.arm()
        clock.advance(9)
        if not during:
            dog.disarm()
            clock.advance(100)
        if name == "pulse":
            dog.pulse(progress=True)
        else:
            dog.progress()
        if not during:
            dog.arm()
        clock.advance(60)
        called.append(calls)
    at = 19.0 if during else 119.0
    assert called == [idle_at(at)] * 2


def idle_at(at: float) -> list[tuple[float, Expiry]]:
    return [(at, Expiry("idle", 10.0, at))]


def progress_at(at: float) -> list[tuple[float, Expiry]]:
    return [(at, Expiry("progress", 25.0, at))]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param([("wait", 9.999)], [], id="silence-below-the-limit"),
        pytest.param([("wait", 10)], idle_at(10), id="silence-of-exactly-the-limit"),
        pytest.param([("wait", 500)], idle_at(10), id="long-silence-fires-once-and-on-time"),
        pytest.param([("event", 8), ("wait", 9.5)], [], id="an-event-re-arms"),
        pytest.param([("event", 8), ("wait", 60)], idle_at(18), id="and-the-limit-runs-from-it"),
        pytest.param([("progress", 8), ("wait", 60)], idle_at(18), id="progress-re-arms-idle-too"),
        pytest.param(
            [("event", 8), ("event", 8), ("event", 8), ("wait", 5)],
            progress_at(25),
            id="events-alone-are-no-progress",
        ),
        pytest.param(
            [("event", 8), ("progress", 8), ("event", 8), ("event", 8), ("wait", 5)],
            [],
            id="progress-re-arms-progress",
        ),
        pytest.param(
            [("event", 8), ("progress", 8), *[("event", 8)] * 2, ("event", 5), ("wait", 9)],
            progress_at(41),
            id="and-its-limit-runs-from-there",
        ),
        pytest.param([("wait", 9), ("pause", 9999), ("wait", 0.5)], [], id="a-pause-never-counts"),
        pytest.param(
            [("wait", 9), ("pause", 1000), ("wait", 60)],
            idle_at(1010),
            id="after-a-pause-the-rest-is-left",
        ),
        pytest.param(
            [("event", 9), ("pause", 1000), ("wait", 9.5)],
            [],
            id="an-event-before-a-pause-keeps-the-whole-limit",
        ),
        pytest.param(
            [("wait", 3), ("pause", 7), ("wait", 3), ("pause", 7), ("wait", 60)],
            idle_at(24),
            id="waits-add-up-over-pauses",
        ),
        pytest.param(
            [*[("event", 8), ("pause", 100)] * 3, ("wait", 5)],
            progress_at(325),
            id="pauses-do-not-count-as-missing-progress",
        ),
        pytest.param([("pause", 99)], [], id="nobody-waits"),
    ],
)
def test_limits_run_only_while_the_caller_waits(
    steps: list[Step], expected: list[tuple[float, Expiry]]
) -> None:
    clock = ManualClock()
    dog, calls = watch(clock)
    play(clock, dog, steps)
    assert calls == expected
    assert dog.expired == (expected[0][1] if expected else None)


def test_a_pulse_during_a_wait_re_arms_without_ending_it() -> None:
    clock = ManualClock()
    dog, calls = watch(clock)
    dog.arm()
    for _ in range(3):
        clock.advance(8)
        dog.pulse()
    assert calls == []
    clock.advance(1)
    assert calls == progress_at(25)


def test_a_pulse_while_nobody_waits_counts_from_the_end_of_the_wait() -> None:
    clock = ManualClock()
    dog, calls = watch(clock)
    play(clock, dog, [("wait", 9), ("pause", 50)])
    dog.pulse()  # something that had arrived is looked at now
    play(clock, dog, [("pause", 50), ("wait", 60)])
    assert calls == idle_at(119)


def test_without_a_progress_limit_events_keep_a_call_alive_for_ever() -> None:
    clock = ManualClock()
    dog, calls = watch(clock, progress=None)
    play(clock, dog, [("event", 9.9)] * 1000)
    assert (calls, dog.progress_timeout) == ([], None)


@pytest.mark.parametrize(
    ("idle", "progress", "expected"),
    [
        pytest.param(10.0, 10.0, Expiry("idle", 10.0, 10.0), id="a-tie-is-idle"),
        pytest.param(10.0, 9.0, Expiry("progress", 9.0, 9.0), id="the-earlier-one-counts"),
    ],
)
def test_one_limit_is_named_where_both_are_near(
    idle: float, progress: float, expected: Expiry
) -> None:
    clock = ManualClock()
    dog, calls = watch(clock, idle=idle, progress=progress)
    play(clock, dog, [("wait", 50)])
    assert calls == [(expected.at, expected)]


def test_it_expires_once() -> None:
    clock = ManualClock()
    dog, calls = watch(clock)
    play(clock, dog, [("wait", 50), ("progress", 50), ("wait", 500)])
    assert calls == idle_at(10)


def test_ten_thousand_events_in_one_wait_cost_a_handful_of_timers() -> None:
    clock = ManualClock()
    dog, calls = watch(clock, idle=300.0, progress=900.0)
    dog.arm()
    for _ in range(10_000):
        clock.advance(0.1)
        dog.pulse(progress=True)
    assert calls == []
    assert clock.timers_made == 4  # at 0, 300, 600 and 900 s


def test_ten_thousand_waits_cost_a_handful_of_timers() -> None:
    clock = ManualClock()
    dog, calls = watch(clock, idle=300.0, progress=900.0)
    play(clock, dog, [("progress", 0.1)] * 10_000)
    assert calls == []
    assert clock.timers_made == 4


def test_at_most_one_timer_is_pending_and_none_once_closed() -> None:
    clock = ManualClock()
    dog, calls = watch(clock)
    pending = [clock.pending]
    play(clock, dog, [("event", 5), ("pause", 3), ("event", 5)])
    pending.append(clock.pending)
    dog.close()
    dog.close()
    pending.append(clock.pending)
    clock.advance(1000)
    assert (pending, calls) == ([0, 1, 0], [])


def test_a_timer_that_wakes_in_a_pause_does_not_fire_and_the_next_wait_has_one() -> None:
    clock = ManualClock()
    dog, calls = watch(clock)
    play(clock, dog, [("wait", 1), ("pause", 100)])
    assert clock.pending == 0
    play(clock, dog, [("wait", 60)])
    assert calls == idle_at(110)


@pytest.mark.parametrize("name", ["idle_timeout", "progress_timeout"])
@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(0, id="zero"),
        pytest.param(-1.0, id="negative"),
        pytest.param(math.nan, id="nan"),
        pytest.param(math.inf, id="infinite"),
        pytest.param(2_147_483.648, id="too-long"),
        pytest.param(True, id="bool"),
    ],
)
def test_a_limit_that_cannot_be_is_refused(name: str, seconds: float) -> None:
    limits: dict[str, float] = {"idle_timeout": 1.0, name: seconds}
    with pytest.raises(ValueError, match=f"^{name}: "):
        IdleWatchdog(**limits, on_expired=lambda _: None, clock=ManualClock())


def test_a_deadline_fires_once_at_its_instant() -> None:
    clock = ManualClock()
    clock.advance(100)
    calls: list[tuple[float, Expiry]] = []
    limit = Deadline(5, on_expired=lambda e: calls.append((clock.monotonic(), e)), clock=clock)
    clock.advance(4.999)
    assert (calls, limit.expired) == ([], None)
    clock.advance(1000)
    expiry = Expiry("deadline", 5.0, 105.0)
    assert (calls, limit.expired) == ([(105.0, expiry)], expiry)
    limit.close()
    assert limit.expired == expiry


def test_a_closed_deadline_never_fires() -> None:
    clock = ManualClock()
    calls: list[Expiry] = []
    limit = Deadline(5, on_expired=calls.append, clock=clock)
    limit.close()
    limit.close()
    clock.advance(1000)
    assert (calls, limit.expired, clock.pending) == ([], None, 0)


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf, 2_147_483.648, True])
def test_a_deadline_that_cannot_be_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match=r"^seconds: "):
        Deadline(seconds, on_expired=lambda _: None, clock=ManualClock())


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_without_a_clock_the_running_loop_gives_it(backend: Literal["asyncio", "trio"]) -> None:
    async def run() -> list[tuple[float, Expiry]]:
        calls: list[tuple[float, Expiry]] = []
        both = anyio.Event()
        clock = running_clock()

        def note(expiry: Expiry) -> None:
            calls.append((clock.monotonic(), expiry))
            if len(calls) == 2:
                both.set()

        dog = IdleWatchdog(idle_timeout=2.0, on_expired=note)
        Deadline(1.0, on_expired=note)
        dog.arm()
        await both.wait()
        return calls

    assert run_virtual(backend, run) == [
        (1.0, Expiry("deadline", 1.0, 1.0)),
        (2.0, Expiry("idle", 2.0, 2.0)),
    ]


def test_without_a_clock_and_a_loop_there_is_no_time() -> None:
    with pytest.raises(RuntimeError):
        IdleWatchdog(idle_timeout=1.0, on_expired=lambda _: None)
