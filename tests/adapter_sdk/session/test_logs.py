"""What holds for every log, whatever keeps it."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from adapter_sdk.session import (
    Event,
    InvariantError,
    LogClosedError,
    LogDamagedError,
    LosslessError,
    MemoryLog,
    WholeLog,
    derive_messages,
    load_events,
    open_log,
)

from .talking import BACKENDS, STORED, TALKED, Opening, Talk, lines_of, ticking

every_log = pytest.mark.parametrize("opened", BACKENDS.values(), ids=BACKENDS)
every_stored_log = pytest.mark.parametrize("opened", STORED.values(), ids=STORED)


@every_log
def test_an_event_is_numbered_timed_and_handed_back(opened: Opening, tmp_path: Path) -> None:
    with opened(tmp_path, now_ms=ticking()) as log:
        first = log.append("a/b", {"x": 1})
        second = log.append("a/c", {}, source_event_seqs=[0])
        assert (first, second) == (
            Event("a/b", 0, 1_790_000_000_000, {"x": 1}),
            Event("a/c", 1, 1_790_000_000_001, {}, None, (0,)),
        )
        assert list(log.events) == [first, second]


def test_the_same_conversation_gives_the_same_bytes_from_all_three(tmp_path: Path) -> None:
    written = {}
    for name, opened in BACKENDS.items():
        with opened(tmp_path, now_ms=ticking()) as log:
            Talk(log).whole_turn()
            log.append("product/note", {"text": "ü\n\u2028\x00", "n": [1.5, 1e16, None, True]})
            written[name] = lines_of(log)
    assert written["memory"] == written["jsonl"] == written["sqlite"]
    for opened in STORED.values():
        with opened(tmp_path) as log:
            assert lines_of(log) == written["memory"]
            assert derive_messages(log.events) == TALKED


@every_stored_log
def test_a_log_goes_on_where_it_was_closed(opened: Opening, tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        Talk(log).whole_turn()
        stood = lines_of(log)
    with opened(tmp_path) as log:
        again = Talk(log)
        again.turn = 1
        again.begin("And now?")
        assert lines_of(log)[: len(stood)] == stood
        assert [event.seq for event in log.events] == list(range(len(stood) + 2))


@every_stored_log
def test_others_may_read_a_log_that_is_open(opened: Opening, tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        Talk(log).whole_turn()
        (path,) = (p for p in tmp_path.iterdir() if p.suffix in (".jsonl", ".db"))
        assert list(load_events(path)) == list(log.events)
        log.append("a/b", {})
        assert list(load_events(path)) == list(log.events)


@every_log
@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("a/b", {"x": math.nan}), {}, LosslessError, "data.x: nan is no number of JSON"),
        (("a/b", [1]), {}, LosslessError, "data: an object"),
        (("A", {}), {}, ValueError, "type: words in lower case, parted by a slash"),
        (("a/b", {}), {"surface_op": "drop"}, ValueError, "surfaceOp: append or replace"),
        (
            ("a/b", {}),
            {"source_event_seqs": (0,)},
            ValueError,
            "sourceEventSeqs: numbers of earlier events, ascending",
        ),
        (
            ("a/b", {}),
            {"surface_op": "append"},
            InvariantError,
            "event 0: message: an object, got NoneType",
        ),
    ],
    ids=["not lossless", "no object", "type", "operation", "sources", "surface"],
)
def test_what_is_refused_is_not_written_and_the_log_goes_on(
    opened: Opening,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    error: type[Exception],
    message: str,
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as log:
        with pytest.raises(error) as caught:
            log.append(*arguments, **options)
        assert (type(caught.value), str(caught.value)) == (error, message)
        assert log.append("a/b", {}).seq == 0


@every_log
def test_a_closed_log_takes_nothing_and_can_be_closed_again(
    opened: Opening, tmp_path: Path
) -> None:
    log = opened(tmp_path)
    log.append("a/b", {})
    log.close()
    log.close()
    with pytest.raises(LogClosedError, match="the log is closed"):
        log.append("a/b", {})
    assert len(log.events) == 1


def test_events_are_a_view_that_grows_and_cannot_be_changed() -> None:
    log = MemoryLog()
    events = log.events
    log.append("a/b", {})
    log.append("a/c", {})
    assert [event.type for event in events] == ["a/b", "a/c"]
    assert [event.type for event in reversed(events)] == ["a/c", "a/b"]
    assert (events[-1].type, events[:1], len(events)) == ("a/c", (log.events[0],), 2)
    assert repr(events) == "<2 events>"
    assert not hasattr(events, "append")
    with pytest.raises(TypeError):
        events[0] = events[1]  # type: ignore[index]  # why: what is tested
    seen = 0
    for event in events:
        log.append("a/d", {"of": event.seq})
        seen += 1
    assert seen == 2


# ---- invariants --------------------------------------------------------------------------


def at_most_two_notes(events: Sequence[Event]) -> Iterable[str]:
    notes = [event.seq for event in events if event.type == "product/note"]
    if len(notes) > 2:
        yield f"a third note at {notes[2]}"


class NoGossip:
    """An incremental rule: nobody says the same thing twice."""

    def __init__(self) -> None:
        self.said: set[Any] = set()

    def problems(self, event: Event) -> Iterable[str]:
        if event.data.get("text") in self.said:
            yield f"{event.data['text']!r} was said before"

    def take(self, event: Event) -> None:
        if "text" in event.data:
            self.said.add(event.data["text"])


def notes(log: Any, *texts: str) -> None:
    for text in texts:
        log.append("product/note", {"text": text})


@every_log
@pytest.mark.parametrize(
    ("rule", "texts", "refused", "problem"),
    [
        (lambda: at_most_two_notes, ("a", "b"), "c", "event 2: a third note at 2"),
        (
            lambda: WholeLog(at_most_two_notes, frozenset({"product/note"})),
            ("a", "b"),
            "c",
            "event 2: a third note at 2",
        ),
        (NoGossip, ("a", "b"), "a", "event 2: 'a' was said before"),
    ],
    ids=["function", "function with types", "object"],
)
def test_a_rule_of_the_products_holds_on_append(
    opened: Opening,
    rule: Callable[[], Any],
    texts: tuple[str, ...],
    refused: str,
    problem: str,
    tmp_path: Path,
) -> None:
    with opened(tmp_path, invariants=[rule()]) as log:
        notes(log, *texts)
        with pytest.raises(InvariantError) as caught:
            notes(log, refused)
        assert str(caught.value) == problem
        log.append("product/other", {})
        assert len(log.events) == 3


@every_stored_log
@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (lambda: at_most_two_notes, "a third note at 2"),
        (lambda: WholeLog(at_most_two_notes, frozenset()), "a third note at 2"),
        (NoGossip, "'a' was said before"),
    ],
    ids=["function", "function with types", "object"],
)
def test_a_rule_of_the_products_holds_on_load(
    opened: Opening, rule: Callable[[], Any], problem: str, tmp_path: Path
) -> None:
    with opened(tmp_path) as log:
        notes(log, "a", "b", "a")
    with pytest.raises(LogDamagedError) as caught:
        opened(tmp_path, invariants=[rule()])
    assert str(caught.value).endswith(problem)
    with opened(tmp_path) as log:  # a refused opening lets go of the file
        assert len(log.events) == 3


def test_a_rule_runs_only_for_the_types_that_it_names() -> None:
    runs: list[int] = []

    def counted(events: Sequence[Event]) -> Iterable[str]:
        runs.append(len(events))
        return ()

    log = MemoryLog(invariants=[WholeLog(counted, frozenset({"a/b"}))])
    log.append("a/c", {})
    log.append("a/b", {})
    assert runs == [2]
    everything = MemoryLog(invariants=[counted])
    Talk(everything).whole_turn()
    chunks = sum(event.type == "assistant/chunk" for event in everything.events)
    assert len(runs) - 1 == len(everything.events) - chunks


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.jsonl", "JsonlLog"),
        ("a.NDJSON", "JsonlLog"),
        ("a.db", "SqliteLog"),
        ("a", "SqliteLog"),
        (":memory:", "SqliteLog"),
        ("file:a?mode=memory", "SqliteLog"),
    ],
)
def test_a_log_is_opened_by_the_name_of_its_file(name: str, kind: str, tmp_path: Path) -> None:
    with open_log(tmp_path / name) as log:
        log.append("a/b", {})
        assert type(log).__name__ == kind
        assert (tmp_path / name).is_file()


@every_stored_log
def test_loading_pauses_the_collector_and_leaves_it_as_it_was(
    opened: Opening, tmp_path: Path
) -> None:
    running: list[bool] = []

    def noted(_: Sequence[Event]) -> Iterable[str]:
        running.append(gc.isenabled())
        return ()

    opened(tmp_path, invariants=[noted]).close()
    assert (running, gc.isenabled()) == ([False], True)
    gc.disable()
    try:
        opened(tmp_path).close()
        assert not gc.isenabled()
    finally:
        gc.enable()
