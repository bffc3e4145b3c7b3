"""A long log costs what its length costs: twice the events, twice the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from adapter_sdk import TextDelta
from adapter_sdk.session import AppendOnlyLog, LogReader, derive_messages, load_events

from .talking import BACKENDS, STORED, Opening, Talk

EVENTS: Final = 1200


def calls_of(work: Callable[[], object]) -> int:
    """Count the calls of Python functions in ``work``: a measure that no busy machine bends."""
    count = 0

    def counted(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def write_chunks(log: AppendOnlyLog, events: int) -> None:
    talk = Talk(log)
    talk.begin()
    talk.begin_step()
    talk.chunks(*(TextDelta(0, f"word {n} ") for n in range(events)))


def load_and_derive(path: Path) -> None:
    derive_messages(load_events(path))


@pytest.mark.parametrize("opened", BACKENDS.values(), ids=BACKENDS)
def test_appending_takes_linear_time(
    opened: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the disk's time is not ours to measure
    counts = []
    for events in (EVENTS // 4, EVENTS):
        folder = tmp_path / str(events)
        folder.mkdir()
        with opened(folder) as log:
            counts.append(calls_of(partial(write_chunks, log, events)))
    assert counts[1] < 4.1 * counts[0]
    assert counts[1] < 60 * EVENTS


@pytest.mark.parametrize("opened", STORED.values(), ids=STORED)
def test_loading_and_deriving_take_linear_time(
    opened: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    counts = []
    for events in (EVENTS // 4, EVENTS):
        folder = tmp_path / str(events)
        folder.mkdir()
        with opened(folder) as log:
            write_chunks(log, events)
        (path,) = folder.iterdir()
        counts.append(calls_of(partial(load_and_derive, path)))
    assert counts[1] < 4.1 * counts[0]
    assert counts[1] < 60 * EVENTS


def test_asking_a_reader_again_costs_nothing_for_what_it_has_read() -> None:
    log = BACKENDS["memory"](Path())
    write_chunks(log, EVENTS)
    reader = LogReader(log.events)
    first = calls_of(lambda: reader.messages)
    assert calls_of(lambda: reader.messages) < 20 < first
