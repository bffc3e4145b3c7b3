"""A busy machine earns another look and never a verdict: lateness is injected, nobody sleeps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any

import pytest

from adapter_sdk import Finish, FinishReason, LlmFailure
from conformance import _lanes, _runner
from conformance._busy_machine import may_be_spoilt, was_late
from conformance._case import Case
from conformance._case_file import shipped_cases
from conformance._judge import Difference
from conformance._lanes import Means, Played, play_on_socket
from conformance._lateness import LoopWitness, ThreadWitness
from conformance._observe import Observation
from conformance._result import Status
from conformance._runner import Runner
from conformance._scenario import Bench, Scenario
from conformance._target import load_target

IDLE_S = 1.0
CASES = {case.id: case for case in shipped_cases()}
TIMED = next(case for case in CASES.values() if case.requirement == "idle-rearm")
UNTIMED = next(case for case in CASES.values() if case.requirement == "usage")
WRONG = (Difference("outcome", "success", "failure TIMEOUT"),)


class OverError(Exception):
    """The script of a fake clock is at its end."""


class Clock:
    """A clock whose waits take longer than asked, by so many seconds each."""

    def __init__(self, *delays_s: float) -> None:
        self.now_s, self.delays_s = 0.0, list(delays_s)

    def now(self) -> float:
        return self.now_s

    async def sleep(self, asked_s: float) -> None:
        if not self.delays_s:
            raise OverError
        self.now_s += asked_s + self.delays_s.pop(0)

    def wait(self, asked_s: float) -> bool:
        self.now_s += asked_s + self.delays_s.pop(0)
        return not self.delays_s


DELAYS = pytest.mark.parametrize(
    ("delays_s", "late_s", "is_late"),
    [
        pytest.param((0.0, 0.0, 0.0), 0.0, False, id="in time"),
        pytest.param((0.0, 0.3, 0.1), 0.3, True, id="late once"),
        pytest.param((0.04, 0.04), 0.04, False, id="by less than matters"),
        pytest.param((0.0, 0.7), 0.7, True, id="late at the end"),
    ],
)


@pytest.mark.anyio
@DELAYS
async def test_a_loop_that_wakes_up_late_is_measured(
    delays_s: Sequence[float], late_s: float, is_late: bool
) -> None:
    clock = Clock(*delays_s)
    witness = LoopWitness(IDLE_S, now=clock.now, sleep=clock.sleep)
    with pytest.raises(OverError):
        await witness.run()
    assert witness.late_s == pytest.approx(late_s)
    assert witness.is_late is is_late


@pytest.mark.anyio
async def test_a_loop_that_has_not_woken_up_yet_is_late_already() -> None:
    clock = Clock()
    witness = LoopWitness(IDLE_S, now=clock.now, sleep=clock.sleep)
    before = witness.late_s
    with pytest.raises(OverError):
        await witness.run()
    clock.now_s += 0.45
    assert before == 0.0
    assert witness.late_s == pytest.approx(0.4)


@DELAYS
def test_a_thread_that_wakes_up_late_is_measured(
    delays_s: Sequence[float], late_s: float, is_late: bool
) -> None:
    clock = Clock(*delays_s)
    with ThreadWitness(IDLE_S, now=clock.now, wait=clock.wait) as witness:
        pass
    assert witness.late_s == pytest.approx(late_s)
    assert witness.is_late is is_late


def test_a_thread_witness_ends_with_what_it_watches() -> None:
    with ThreadWitness(1000.0) as witness:
        pass
    assert witness.late_s < 1000.0


# ---- from what was measured to another look -------------------------------------------------


def observed(code: str = "") -> Observation:
    reason = FinishReason("stop")
    if code:
        reason = FinishReason("error", LlmFailure(message="x", code=code))
    return Observation("failure" if code else "success", [(0.0, Finish(reason))])


def play(
    *server: tuple[float, str],
    code: str = "",
    wrong: bool = False,
    late_s: float = 0.0,
    trouble: str = "",
) -> Played:
    return Played(
        seen=observed(code),
        differences=WRONG if wrong else (),
        timeline=tuple((at, "server", f"connection 1: {what}") for at, what in server),
        late_s=late_s,
        trouble=trouble,
        idle_s=IDLE_S,
    )


REQUEST = (0.01, "request received: POST /, 2 bytes of body")


@pytest.mark.parametrize(
    ("played", "late"),
    [
        (play(REQUEST, (0.02, "head sent: 200"), (0.9, "step sent: 1 of 1")), False),
        (play(REQUEST, (0.02, "head sent: 200"), code="TIMEOUT"), False),
        (play(REQUEST, late_s=0.2), True),
        (play((0.2, REQUEST[1]), (0.21, "head sent: 200")), True),
        (play((0.0, "accepted"), code="TIMEOUT"), True),
        (play((0.0, "accepted"), code="ABORTED"), True),
        (play((0.0, "accepted"), code="TRANSPORT"), False),
        (play(REQUEST, (1.02, "head sent: 200")), True),
        (play(REQUEST, (0.02, "head sent: 200"), (1.03, "step sent: 1 of 1")), True),
        (dataclasses.replace(play(REQUEST, late_s=0.2), seen=Observation("hung")), False),
    ],
    ids=[
        "nobody",
        "nobody before a limit that ran out",
        "the loop of the caller",
        "the server with the request",
        "the server, which read no request before the limit",
        "the server, which read no request before the caller stopped",
        "nobody where no request was sent",
        "the server with its head",
        "the server between two sends",
        "nobody where the call has no end at all",
    ],
)
def test_who_was_late_is_known(played: Played, late: bool) -> None:
    assert was_late(played) is late


@pytest.mark.parametrize(
    ("case", "played", "spoilt"),
    [
        (TIMED, play(wrong=True), True),
        (TIMED, play(), False),
        (UNTIMED, play(wrong=True), False),
        (UNTIMED, play(wrong=True, code="TIMEOUT"), True),
        (UNTIMED, play(code="TIMEOUT"), False),
        (UNTIMED, play(trouble="exchange 0 was not delivered"), True),
    ],
    ids=["timed", "timed and right", "untimed", "out of time", "a timeout as due", "not sent"],
)
def test_a_machine_can_spoil_what_time_decides(case: Case, played: Played, spoilt: bool) -> None:
    assert may_be_spoilt(case, played) is spoilt


IN_TIME, LATE = play(REQUEST, wrong=True), play(REQUEST, wrong=True, late_s=0.3)
RIGHT = play(REQUEST)


@pytest.mark.parametrize(
    ("plays", "status"),
    [
        ([RIGHT], Status.PASS),
        ([LATE, RIGHT], Status.PASS),
        ([LATE, LATE, RIGHT], Status.PASS),
        ([LATE, LATE, LATE, RIGHT], Status.PASS),
        ([LATE, LATE, LATE, LATE], Status.FAIL),
        ([IN_TIME, IN_TIME], Status.FAIL),
        ([LATE, IN_TIME], Status.FAIL),
        ([IN_TIME, LATE, IN_TIME], Status.FAIL),
    ],
    ids=[
        "right at once",
        "right at the second look",
        "right at the third look",
        "right at the last look",
        "wrong however much room there is",
        "wrong in time",
        "wrong in time at last",
        "wrong in the end",
    ],
)
def test_lateness_earns_another_look_and_the_last_look_decides(
    monkeypatch: pytest.MonkeyPatch, plays: list[Played], status: Status
) -> None:
    left, rooms_s = list(plays), []

    def play_next(case: Case, target: object, means: Means, *, watched: bool = True) -> Played:
        assert watched
        rooms_s.append(means.idle_s)
        return left.pop(0)

    monkeypatch.setattr(_runner, "play_on_socket", play_next)
    runner = Runner(
        load_target("deepseek"), [TIMED], (), means=Means(idle_s=IDLE_S), in_process=False
    )
    run = runner.run(item for item in runner.plan() if item.check.id == TIMED.id)
    found = {result.check.id: result.status for result in run.results}

    assert (found[TIMED.id], left, rooms_s) == (status, [], [1.0, 4.0, 12.0, 12.0][: len(plays)])


@pytest.mark.parametrize(
    ("delays_s", "rights", "status"),
    [
        (0.0, [False, True], Status.PASS),
        (0.0, [False, False], Status.FAIL),
        (9.0, [False, False, True], Status.PASS),
        (9.0, [False] * 4, Status.FAIL),
    ],
    ids=["right later", "wrong again", "right on a late machine", "wrong on a late machine"],
)
def test_a_scenario_on_a_late_machine_is_run_once_more(
    monkeypatch: pytest.MonkeyPatch, delays_s: float, rights: list[bool], status: Status
) -> None:
    left = list(rights)
    scenario = Scenario(
        name="made_up",
        requirement="idle-rearm",
        title="Made up",
        run=lambda bench: () if left.pop(0) else list(WRONG),
    )

    def witness(idle_s: float) -> ThreadWitness:
        clock = Clock(delays_s)
        return ThreadWitness(idle_s, now=clock.now, wait=clock.wait)

    monkeypatch.setattr(_runner, "ThreadWitness", witness)
    runner = Runner(load_target("deepseek"), (), [scenario])
    run = runner.run(item for item in runner.plan() if item.check.id == scenario.id)

    assert ([result.status for result in run.results], left) == ([status], [])


@pytest.mark.parametrize("idle_s", [0.25, 1.0, 3.0])
def test_a_scenario_has_patience_for_what_it_waits_for_however_much_room_there_is(
    idle_s: float,
) -> None:
    # The longest waits for five events, 0.45 of the limit apart.
    assert Bench(load_target("deepseek"), Means(idle_s=idle_s), 1).patience_s > 5 * 0.45 * idle_s


def jumping(step_s: float) -> Callable[[], float]:
    """Return a clock that is so much later at each look."""
    ticks = count()
    return lambda: next(ticks) * step_s


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_play_over_a_socket_tells_how_late_its_loop_was(
    monkeypatch: pytest.MonkeyPatch, backend: Any
) -> None:
    monkeypatch.setattr(_lanes, "LoopWitness", partial(LoopWitness, now=jumping(5.0)))
    played = play_on_socket(UNTIMED, load_target("deepseek"), Means(backend=backend))

    assert played.differences == ()
    assert played.late_s > 4.0
    assert was_late(played)
