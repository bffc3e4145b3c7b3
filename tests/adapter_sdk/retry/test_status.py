"""What a person sees: the fold, the lines and the table, from logs that end at every state."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from adapter_sdk.retry import (
    LiveRetries,
    RetryFold,
    RetryLines,
    RetryRow,
    plain_lines,
    retry_status,
    retry_table,
)

Entry = tuple[int, str, dict[str, Any]]
"""Milliseconds, type, data."""

SECRET: Final = "the draft that was taken back"


@dataclass(frozen=True)
class Event:
    type: str
    seq: int
    time_ms: int
    data: Mapping[str, Any]


def log(*entries: Entry) -> list[Event]:
    return [Event(type_, seq, at, data) for seq, (at, type_, data) in enumerate(entries)]


def start(at: int = 0, *, step: int = 1) -> tuple[Entry, Entry]:
    here = {"turn": 1, "step": step, "provider": "deepseek-official", "model": "m"}
    return (at, "turn/start", {"turn": 1}), (at, "step/start", here)


def chunk(at: int, text: str, type_: str = "text-delta") -> Entry:
    said = {"type": type_, "index": 0, "text": text}
    return at, "assistant/chunk", {"turn": 1, "step": 1, "chunk": said}


def retry(at: int, number: int, delay_ms: int, **changes: Any) -> Entry:
    data = {
        "retryId": "a",
        "turn": 1,
        "step": 1,
        "provider": "deepseek-official",
        "mode": "normal",
        "policyKey": "key",
        "retry": number,
        "maxRetries": 2,
        "delayMs": delay_ms,
        "failure": {"message": "slow down", "code": "RATE_LIMIT", "status": 429},
        **changes,
    }
    return at, "llm/retry", {key: value for key, value in data.items() if value is not None}


def started(at: int, number: int) -> Entry:
    return at, "llm/retry-started", {"retryId": "a", "turn": 1, "step": 1, "retry": number}


def turn_end(at: int, **data: Any) -> Entry:
    return at, "turn/end", {"turn": 1, **data}


DOWN: Final = {"message": "the model is overloaded", "code": "SERVER", "status": 503}
ALWAYS: Final[dict[str, Any]] = {"mode": "always", "maxRetries": None}

FAILED_ONCE: Final = (*start(), chunk(100, SECRET), retry(200, 1, 4_000))
SCENES: Final = {
    "scheduled": log(*FAILED_ONCE),
    "started": log(*FAILED_ONCE, started(4_200, 1), chunk(4_300, "a new answer")),
    "cancelled": log(*FAILED_ONCE, turn_end(1_000, reason="aborted")),
    "exhausted": log(
        *FAILED_ONCE,
        *(started(4_200, 1), retry(4_300, 2, 800, failure=DOWN), started(5_100, 2)),
        *(chunk(5_200, "half of"), turn_end(5_300, reason="error", error=DOWN)),
    ),
    "exhausted-with-a-long-message": log(
        *(*start(), retry(0, 1, 100), started(100, 1)),
        turn_end(200, reason="error", error={**DOWN, "message": "very " * 300}),
    ),
    "always": log(
        *start(),
        retry(0, 1, 500, failure={"message": "who?", "code": "AUTH", "status": 401}, **ALWAYS),
        *(started(500, 1), retry(600, 2, 1000, failure=DOWN, **ALWAYS)),
    ),
    "answered": log(
        *FAILED_ONCE,
        *(started(4_200, 1), chunk(4_300, "a new answer")),
        *((4_400, "assistant/message", {"turn": 1, "step": 1}), *start(5_000, step=2)[1:]),
        turn_end(6_000, reason="error", error=DOWN),
    ),
}


def drawn(rows: tuple[RetryRow, ...], now_ms: int, *, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    console.print(retry_table(rows, now_ms=now_ms))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("scene", SCENES)
def test_the_fold_and_its_renderers(scene: str, snapshot: SnapshotAssertion) -> None:
    rows = retry_status(SCENES[scene])
    seen = {
        "json": json.dumps([row.to_json(1_500) for row in rows], indent=1, ensure_ascii=False),
        "lines": "\n".join(plain_lines(rows, now_ms=1_500)),
        "table": drawn(rows, 1_500),
    }
    assert seen == snapshot


@pytest.mark.parametrize(
    ("now_ms", "seconds"),
    [(0, 5), (200, 4), (201, 4), (3_199, 2), (3_200, 1), (4_199, 1), (4_200, 1), (99_999, 1)],
)
def test_seconds_left_are_whole_and_at_least_one(now_ms: int, seconds: int) -> None:
    (row,) = retry_status(SCENES["scheduled"])
    assert row.seconds_left(now_ms) == seconds


@pytest.mark.parametrize("scene", ["started", "cancelled", "exhausted"])
def test_nothing_counts_down_where_nothing_is_awaited(scene: str) -> None:
    (row,) = retry_status(SCENES[scene])
    assert row.seconds_left(0) is None


@pytest.mark.parametrize("scene", SCENES)
def test_withdrawn_text_leaves_through_no_output(scene: str) -> None:
    rows = retry_status(SCENES[scene])
    machine = json.dumps([row.to_json(0) for row in rows]) + repr(rows)
    assert SECRET not in machine + drawn(rows, 0) + "\n".join(plain_lines(rows, now_ms=0))
    fold = RetryFold()
    for event in SCENES[scene]:
        fold.add(event)
    assert SECRET not in fold.text


def test_the_text_of_the_new_attempt_is_shown() -> None:
    fold, shown = RetryFold(), []
    for event in SCENES["started"]:
        fold.add(event)
        shown.append(fold.text)
    assert shown == ["", "", SECRET, "", "", "a new answer"]


def test_an_attempt_that_somebody_else_recovered_lends_the_next_one_no_text() -> None:
    header = (2, "request/header", {"turn": 1, "step": 1, "attempt": 2})
    fold, shown = RetryFold(), ""
    for event in log(*start(), chunk(1, "too much"), header, chunk(3, "shorter"), retry(4, 1, 9)):
        shown = fold.text
        fold.add(event)
    assert (shown, fold.rows[0].withdrawn_characters) == ("shorter", len("shorter"))


def test_the_withdrawn_chunks_of_every_attempt_are_named() -> None:
    (row,) = retry_status(SCENES["exhausted"])
    assert (row.withdrawn_seqs, row.withdrawn_characters) == ((2, 7), len(SECRET) + 7)


def test_a_wait_that_a_closed_step_left_behind_is_cancelled() -> None:
    closed = log(*FAILED_ONCE, (900, "step/end", {"turn": 1, "step": 1}))
    assert [row.state for row in retry_status(closed)] == ["cancelled"]
    reopened = log(*FAILED_ONCE, start(900, step=2)[1])
    assert [row.state for row in retry_status(reopened)] == ["cancelled"]


def test_an_abort_of_the_new_attempt_is_no_giving_up() -> None:
    aborted = {"message": "the caller aborted the turn", "code": "ABORTED"}
    entries = (*FAILED_ONCE, started(4_200, 1), turn_end(5_000, reason="aborted", error=aborted))
    (row,) = retry_status(log(*entries))
    assert (row.state, row.error) == ("started", None)


def test_two_chains_stand_in_the_order_of_their_first_retries() -> None:
    other = {"retryId": "b", "provider": "other", "policyKey": "other"}
    rows = retry_status(log(*start(), retry(0, 1, 1), retry(1, 1, 1, **other), retry(2, 2, 1)))
    assert [(row.retry_id, row.seq, row.count) for row in rows] == [
        ("a", 2, "2/2"),
        ("b", 3, "1/2"),
    ]


def test_a_log_that_begins_in_the_middle_is_read() -> None:
    assert retry_status(log(started(0, 1), chunk(1, "x"), turn_end(2, error=DOWN))) == ()


def test_lines_appear_when_something_changes_and_only_then(snapshot: SnapshotAssertion) -> None:
    lines = RetryLines()
    printed = [lines.add(event) for event in SCENES["exhausted"]]
    assert [len(new) for new in printed] == [0, 0, 0, 1, 1, 1, 1, 0, 1]
    assert "\n".join(line for new in printed for line in new) == snapshot


@settings(deadline=None)
@given(message=st.text(min_size=1), width=st.integers(20, 120))
def test_a_line_is_never_longer_than_the_screen(message: str, width: int) -> None:
    error = {"message": message, "code": "SERVER"}
    rows = retry_status(log(*start(), retry(0, 1, 1), started(1, 1), turn_end(2, error=error)))
    assert all(len(line) <= width for line in plain_lines(rows, now_ms=0, width=width))


def test_the_live_table_counts_down_on_its_own_clock() -> None:
    now_ms = 200
    console = Console(
        file=io.StringIO(), width=80, force_terminal=True, color_system=None, legacy_windows=False
    )
    with LiveRetries(console=console, now_ms=lambda: now_ms) as live:
        for event in SCENES["scheduled"]:
            live.add(event)
        early = drawn_once(live)
        now_ms = 3_500
        late = drawn_once(live)
    assert "in 4 s" in early
    assert "in 1 s" in late
    assert isinstance(console.file, io.StringIO)
    assert "in 1 s" in console.file.getvalue()  # the last state stays on the screen


def drawn_once(live: LiveRetries) -> str:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    console.print(live)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.anyio
async def test_without_a_clock_the_live_table_takes_the_wall_clock() -> None:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    with LiveRetries(console=console) as live:
        for event in SCENES["scheduled"]:  # 1970: long over, and still at least 1
            live.add(event)
        assert "in 1 s" in drawn_once(live)


# ---- any log --------------------------------------------------------------------------------

entries = st.lists(
    st.sampled_from(
        [
            *start(),
            chunk(0, "text"),
            chunk(0, "thought", "reasoning-delta"),
            *(retry(5, number, 100) for number in (1, 2)),
            retry(5, 1, 100, retryId="b", **ALWAYS),
            *(started(6, number) for number in (1, 2)),
            (7, "assistant/message", {"turn": 1, "step": 1}),
            (8, "step/end", {"turn": 1, "step": 1}),
            turn_end(9, reason="complete"),
            turn_end(9, reason="error", error=DOWN),
        ]
    ),
    max_size=30,
)


@settings(deadline=None)
@given(entries)
def test_any_log_gives_one_row_an_id_and_withdraws_no_chunk_twice(entries: list[Entry]) -> None:
    events = log(*entries)
    rows = retry_status(events)
    scheduled = [e.data["retryId"] for e in events if e.type == "llm/retry"]
    assert [row.retry_id for row in rows] == list(dict.fromkeys(scheduled))
    withdrawn = [seq for row in rows for seq in row.withdrawn_seqs]
    assert len(withdrawn) == len(set(withdrawn))
    assert {events[seq].type for seq in withdrawn} <= {"assistant/chunk"}
    # Live and replayed are the same fold.
    fold = RetryFold()
    for event in events:
        fold.add(event)
    assert fold.rows == rows
