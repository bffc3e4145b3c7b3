"""``check_retry_events``: silent about good logs, and each broken one is found by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest

from adapter_sdk.retry import RetryInvariant, check_retry_events
from adapter_sdk.session import InvariantError, MemoryLog

Entry = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Event:
    type: str
    seq: int
    data: Mapping[str, Any]


def log(*entries: Entry) -> list[Event]:
    return [Event(type_, seq, data) for seq, (type_, data) in enumerate(entries)]


def turn(number: int = 1) -> Entry:
    return "turn/start", {"turn": number}


def step(number: int = 1, *, turn: int = 1, provider: str = "acme") -> Entry:
    return "step/start", {"turn": turn, "step": number, "provider": provider, "model": "m"}


def retry(number: int = 1, **changes: Any) -> Entry:
    data = {
        "retryId": "a",
        "turn": 1,
        "step": 1,
        "provider": "acme",
        "mode": "normal",
        "policyKey": "normal/2",
        "retry": number,
        "maxRetries": 2,
        "delayMs": 500,
        "failure": {"message": "broken", "code": "SERVER"},
        **changes,
    }
    return "llm/retry", {key: value for key, value in data.items() if value is not None}


def started(number: int = 1, **changes: Any) -> Entry:
    return "llm/retry-started", {"retryId": "a", "turn": 1, "step": 1, "retry": number, **changes}


STEP_END: Final[Entry] = ("step/end", {"turn": 1, "step": 1})
TURN_END: Final[Entry] = ("turn/end", {"turn": 1, "reason": "complete"})
ALWAYS: Final[dict[str, Any]] = {"mode": "always", "maxRetries": None, "policyKey": "always"}


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([], id="empty"),
        pytest.param([turn(), step(), STEP_END, TURN_END], id="no-retry"),
        pytest.param([turn(), step(), retry()], id="a-wait-that-never-ended"),
        pytest.param([turn(), step(), retry(), started(), retry(2), started(2)], id="two"),
        pytest.param([turn(), step(), retry(), retry(2), started(2)], id="one-that-never-started"),
        pytest.param(
            [turn(), step(), retry(), started(), retry(retryId="b", **ALWAYS)],
            id="a-changed-policy-starts-at-one",
        ),
        pytest.param(
            [turn(), step(), retry(), started(), STEP_END, step(2), retry(retryId="b", step=2)],
            id="a-new-step-starts-at-one",
        ),
        pytest.param(
            [turn(), step(), *(retry(n, **ALWAYS) for n in range(1, 40))], id="always-for-ever"
        ),
        pytest.param([turn(), step(), ("other/thing", {}), retry()], id="foreign-events"),
    ],
)
def test_a_good_log_has_no_problem(entries: list[Entry]) -> None:
    assert check_retry_events(log(*entries)) == []


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        pytest.param(
            [retry()], "event 0: llm/retry: stands outside an open turn and step", id="no-turn"
        ),
        pytest.param(
            [turn(), retry()],
            "event 1: llm/retry: stands outside an open turn and step",
            id="no-step",
        ),
        pytest.param(
            [turn(), step(), STEP_END, retry()],
            "event 3: llm/retry: stands outside an open turn and step",
            id="closed-step",
        ),
        pytest.param(
            [turn(), step(), TURN_END, turn(2), step(turn=2), retry()],
            "event 5: llm/retry: names turn 1, step 1, but open is turn 2, step 1",
            id="another-turn",
        ),
        pytest.param(
            [turn(), step(), retry(step=2)],
            "event 2: llm/retry: names turn 1, step 2, but open is turn 1, step 1",
            id="another-step",
        ),
        pytest.param(
            [turn(), step(), retry(2)],
            "event 2: llm/retry: retry 2, but the next of its chain is 1",
            id="begins-at-two",
        ),
        pytest.param(
            [turn(), step(), retry(), started(), retry()],
            "event 4: llm/retry: retry 1, but the next of its chain is 2",
            id="repeats-a-number",
        ),
        pytest.param(
            [turn(), step(), retry(maxRetries=5), retry(3, maxRetries=5)],
            "event 3: llm/retry: retry 3, but the next of its chain is 2",
            id="skips-a-number",
        ),
        pytest.param(
            [turn(), step(), retry(), retry(2, retryId="b")],
            "event 3: llm/retry: changes the id of its chain from 'a' to 'b'",
            id="changes-its-id",
        ),
        pytest.param(
            [turn(), step(), retry(), STEP_END, step(2), retry(step=2)],
            "event 5: llm/retry: takes the id 'a' of another chain",
            id="takes-another-id",
        ),
        pytest.param(
            [turn(), step(), retry(provider="other")],
            "event 2: llm/retry: names 'other', the request went to 'acme'",
            id="another-provider",
        ),
        pytest.param(
            [turn(), step(), ("request/header", {"provider": "acme-eu"}), retry()],
            "event 3: llm/retry: names 'acme', the request went to 'acme-eu'",
            id="another-provider-than-the-last-request",
        ),
        pytest.param(
            [turn(), step(), retry(), retry(2), retry(3)],
            "event 4: llm/retry: retry 3 exceeds its limit of 2",
            id="exceeds-its-limit",
        ),
        pytest.param(
            [turn(), step(), retry(mode="always")],
            "event 2: llm/retry: maxRetries: mode always has no limit",
            id="always-with-a-limit",
        ),
        pytest.param(
            [turn(), step(), retry(maxRetries=None)],
            "event 2: llm/retry: maxRetries: a whole number of 1 or more",
            id="normal-without-a-limit",
        ),
        pytest.param(
            [turn(), step(), retry(), started(), started()],
            "event 4: llm/retry-started: retry 1 of 'a' is started twice",
            id="started-twice",
        ),
        pytest.param(
            [turn(), step(), started()],
            "event 2: llm/retry-started: retry 1 of 'a' was never scheduled",
            id="started-unscheduled",
        ),
        pytest.param(
            [turn(), step(), retry(), started(2)],
            "event 3: llm/retry-started: retry 2 of 'a' was never scheduled",
            id="started-ahead-of-its-number",
        ),
        pytest.param(
            [turn(), step(), retry(), retry(2), started()],
            "event 4: llm/retry-started: retry 1 of 'a' is over already",
            id="started-late",
        ),
        pytest.param(
            [turn(), step(), retry(), STEP_END, step(2), started(step=2)],
            "event 5: llm/retry-started: was scheduled in turn 1, step 1",
            id="started-in-another-step",
        ),
        pytest.param(
            [turn(), step(), retry(), STEP_END, started()],
            "event 4: llm/retry-started: stands outside an open turn and step",
            id="started-after-the-step",
        ),
        pytest.param(
            [turn(), step(), retry(delayMs=-1)],
            "event 2: llm/retry: delayMs: whole milliseconds from 0 to 2147483647",
            id="negative-delay",
        ),
        pytest.param(
            [turn(), step(), retry(failure={"message": "x", "code": "NO_SUCH"})],
            "event 2: llm/retry: failure: a failure in its stored form",
            id="no-failure",
        ),
        pytest.param(
            [turn(), step(), retry(retryId="")],
            "event 2: llm/retry: retryId: a string that is not empty",
            id="empty-id",
        ),
        pytest.param(
            [turn(), step(), retry(mode="never")],
            "event 2: llm/retry: mode: normal or always",
            id="unknown-mode",
        ),
        pytest.param(
            [turn(), step(), retry(), started(0)],
            "event 3: llm/retry-started: retry: a whole number of 1 or more",
            id="started-number-zero",
        ),
    ],
)
def test_a_broken_log_has_exactly_this_problem(entries: list[Entry], problem: str) -> None:
    assert check_retry_events(log(*entries)) == [problem]


def test_several_problems_are_all_told() -> None:
    broken = log(turn(), step(), retry(3, provider="other"), started(3), started(3))
    assert check_retry_events(broken) == [
        "event 2: llm/retry: names 'other', the request went to 'acme'",
        "event 2: llm/retry: retry 3 exceeds its limit of 2",
        "event 2: llm/retry: retry 3, but the next of its chain is 1",
        "event 4: llm/retry-started: retry 3 of 'a' is started twice",
    ]


def test_an_id_stays_its_first_owners() -> None:
    broken = log(*(turn(), step(), retry(), STEP_END, step(2)), retry(step=2), retry(2, step=2))
    assert check_retry_events(broken) == [
        "event 5: llm/retry: takes the id 'a' of another chain",
        "event 6: llm/retry: takes the id 'a' of another chain",
    ]


def test_a_long_log_is_checked_in_one_pass() -> None:
    """Events are read once, so a generator will do."""
    entries = [turn(), step(), *(retry(n, **ALWAYS) for n in range(1, 20_000))]
    assert check_retry_events(event for event in log(*entries)) == []


def test_a_log_can_ask_before_it_appends() -> None:
    """``problems`` changes nothing, so a refused event leaves no trace."""
    invariant = RetryInvariant()
    for event in log(turn(), step()):
        assert invariant.problems(event) == []
        invariant.take(event)
    (refused,) = log(retry(2))
    expected = ["llm/retry: retry 2, but the next of its chain is 1"]
    assert [invariant.problems(refused) for _ in range(2)] == [expected, expected]
    assert invariant.problems(log(retry())[0]) == []


def test_a_session_log_takes_it_as_one_of_its_invariants() -> None:
    with MemoryLog(invariants=[RetryInvariant()]) as session:
        for type_, data in (turn(), step(), retry(), started()):
            session.append(type_, data)
        with pytest.raises(InvariantError, match=r"llm/retry-started: retry 1 of 'a' is started"):
            session.append(*started())
