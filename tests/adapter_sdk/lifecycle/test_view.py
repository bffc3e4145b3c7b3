"""What a person sees of a call: rows, waits, failover, and only text that stands."""

from __future__ import annotations

import io
import json
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from adapter_sdk import (
    STOP,
    BlockStart,
    LlmFailure,
    ReasoningDelta,
    TextDelta,
    assistant,
    codes,
)
from adapter_sdk.lifecycle import (
    AssistantChunk,
    LifecycleEvent,
    LiveResponses,
    ResponseCommitted,
    ResponseFailed,
    ResponseFold,
    ResponseInterrupted,
    ResponseStart,
    RouteInfo,
    event_from_json,
    response_view,
)

SECRET: Final = "the draft that was taken back"
SLOW: Final = LlmFailure(message="slow down", code=codes.RATE_LIMIT, status=429)
DOWN: Final = LlmFailure(message="the model is overloaded", code=codes.SERVER, status=503)
NO_KEY: Final = LlmFailure(message="who are you?", code=codes.AUTH, status=401)


def start(index: int, route: str = "deepseek-eu") -> LifecycleEvent:
    return ResponseStart(response_id=f"r{index}", response_index=index, route_id=route)


def text(index: int, said: str) -> LifecycleEvent:
    return AssistantChunk(response_id=f"r{index}", chunk=TextDelta(1, said))


def thought(index: int, said: str) -> LifecycleEvent:
    return AssistantChunk(response_id=f"r{index}", chunk=ReasoningDelta(0, said))


def interrupted(index: int, failure: LlmFailure, *wait: Any) -> LifecycleEvent:
    ms, source = wait or (None, None)
    return ResponseInterrupted(
        response_id=f"r{index}", failure=failure, scheduled_retry_ms=ms, delay_source=source
    )


def committed(index: int, said: str) -> LifecycleEvent:
    route = RouteInfo(route_id="b", model="m", wire_model="m", provider="b")
    return ResponseCommitted(
        response_id=f"r{index}", message=assistant(said), finish=STOP, route=route
    )


FAILED_ONCE: Final = [start(0), text(0, SECRET)]
SCENES: Final[dict[str, list[LifecycleEvent]]] = {
    "open": [start(0), thought(0, "Hm. "), text(0, "Hel")],
    "waiting-as-asked": [*FAILED_ONCE, interrupted(0, SLOW, 4_000, "provider")],
    "waiting-for-the-cap": [*FAILED_ONCE, interrupted(0, SLOW, 600_000, "provider-capped")],
    "waiting-for-our-backoff": [*FAILED_ONCE, interrupted(0, DOWN, 200, "backoff")],
    "failed-over": [
        *FAILED_ONCE,
        interrupted(0, DOWN),
        start(1, "deepseek-us"),
        text(1, "Hello"),
        committed(1, "Hello"),
    ],
    "failed": [*FAILED_ONCE, ResponseFailed(response_id="r0", failure=NO_KEY)],
    "aborted-in-the-wait": [
        *FAILED_ONCE,
        interrupted(0, SLOW, 4_000, "provider"),
        ResponseFailed(failure=LlmFailure(message="enough", code=codes.ABORTED)),
    ],
    "a-long-message": [
        start(0),
        ResponseFailed(
            response_id="r0", failure=LlmFailure(message="very " * 300, code=codes.QUOTA)
        ),
    ],
    "never-begun": [
        ResponseFailed(
            failure=LlmFailure(message="no route to the model 'x'", code=codes.UNKNOWN_MODEL)
        )
    ],
}


def fold(events: list[LifecycleEvent]) -> ResponseFold:
    folded = ResponseFold()
    for at, event in enumerate(events):
        folded.add(event, now_ms=at)
    return folded


def drawn(folded: ResponseFold, now_ms: int = 1_000) -> str:
    console = Console(file=io.StringIO(), width=80, color_system=None, legacy_windows=False)
    console.print(response_view(folded, now_ms=now_ms))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("scene", SCENES)
def test_a_call_in_a_terminal_of_80_columns(scene: str, snapshot: SnapshotAssertion) -> None:
    assert drawn(fold(SCENES[scene])) == snapshot


@pytest.mark.parametrize("scene", SCENES)
def test_the_rows_for_machines(scene: str, snapshot: SnapshotAssertion) -> None:
    rows = [row.to_json(1_000) for row in fold(SCENES[scene]).rows]
    assert json.dumps(rows, indent=1) == snapshot


@pytest.mark.parametrize("scene", [name for name in SCENES if name != "open"])
def test_withdrawn_text_is_nowhere(scene: str) -> None:
    folded = fold(SCENES[scene])
    machine = json.dumps([row.to_json(0) for row in folded.rows]) + repr(folded.rows)
    assert SECRET not in folded.text + machine + drawn(folded)


def test_the_text_on_screen_is_withdrawn_when_its_response_is_interrupted() -> None:
    folded, shown = ResponseFold(), []
    for event in SCENES["failed-over"]:
        folded.add(event, now_ms=0)
        shown.append(folded.text)
    assert shown == ["", SECRET, "", "", "Hello", "Hello"]


def test_what_a_model_says_cannot_steer_the_terminal() -> None:
    assert drawn(fold([start(0), text(0, "a\x1b[2Jb\n\tc\r")])).splitlines()[1:] == [
        "a\N{REPLACEMENT CHARACTER}[2Jb",
        "        c\N{REPLACEMENT CHARACTER}",
    ]


def test_a_chunk_without_text_shows_nothing() -> None:
    folded = fold([start(0), AssistantChunk(response_id="r0", chunk=BlockStart(0, "text"))])
    assert folded.text == ""


@pytest.mark.parametrize(("now_ms", "seconds"), [(0, 5), (2, 4), (3_003, 1), (99_999, 1)])
def test_seconds_left_are_at_least_one(now_ms: int, seconds: int) -> None:
    (row,) = fold(SCENES["waiting-as-asked"]).rows  # seen at 2 ms, for 4,000 ms
    assert row.seconds_left(now_ms) == seconds


@pytest.mark.parametrize("scene", ["failed-over", "aborted-in-the-wait", "failed"])
def test_nothing_counts_down_when_nothing_is_awaited(scene: str) -> None:
    assert [row.seconds_left(0) for row in fold(SCENES[scene]).rows if row.due_ms] == []


@settings(deadline=None)
@given(st.sampled_from(sorted(SCENES)))
def test_the_view_works_on_stored_events_too(scene: str) -> None:
    stored = [event_from_json(json.loads(json.dumps(e.to_json()))) for e in SCENES[scene]]
    assert drawn(fold(stored)) == drawn(fold(SCENES[scene]))


def test_the_live_view_counts_down_and_leaves_its_last_state() -> None:
    now_ms = 0
    console = Console(
        file=io.StringIO(), width=80, force_terminal=True, color_system=None, legacy_windows=False
    )
    with LiveResponses(console=console, now_ms=lambda: now_ms) as live:
        for event in SCENES["waiting-as-asked"]:
            live.add(event)
        plain = Console(file=io.StringIO(), width=80, color_system=None)
        plain.print(live)
        now_ms = 2_500
        plain.print(live)
    assert isinstance(plain.file, io.StringIO)
    assert isinstance(console.file, io.StringIO)
    assert [f"next in {n} s" in plain.file.getvalue() for n in (4, 2)] == [True, True]
    assert "next in 2 s" in console.file.getvalue()
