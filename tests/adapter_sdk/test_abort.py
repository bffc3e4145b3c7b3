"""The abort signal: the first reason wins, listeners are called once."""

from __future__ import annotations

from collections.abc import Callable

from adapter_sdk import AbortSignal


def test_a_signal_begins_unset() -> None:
    signal = AbortSignal()
    assert (signal.aborted, signal.reason) == (False, None)


def test_the_first_reason_wins_and_is_kept() -> None:
    signal = AbortSignal()
    signal.abort("the user pressed stop")
    signal.abort("another")
    assert (signal.aborted, signal.reason) == (True, "the user pressed stop")


def test_a_reason_is_not_needed() -> None:
    signal = AbortSignal()
    signal.abort()
    assert signal.reason == "the caller aborted the call"


def test_an_empty_reason_is_a_reason() -> None:
    signal = AbortSignal()
    signal.abort("")
    signal.abort("another")
    assert (signal.aborted, signal.reason) == (True, "")


def test_every_listener_is_called_once_in_order_and_sees_the_reason() -> None:
    signal = AbortSignal()
    seen: list[tuple[str, str | None]] = []
    signal.on_abort(lambda: seen.append(("first", signal.reason)))
    signal.on_abort(lambda: seen.append(("second", signal.reason)))
    signal.abort("stop")
    signal.abort("again")
    assert seen == [("first", "stop"), ("second", "stop")]


def test_a_listener_that_is_taken_away_is_not_called() -> None:
    signal = AbortSignal()
    seen: list[str] = []
    forget = signal.on_abort(lambda: seen.append("first"))
    signal.on_abort(lambda: seen.append("second"))
    forget()
    forget()
    signal.abort()
    forget()
    assert seen == ["second"]


def test_the_same_listener_counts_as_often_as_it_was_given() -> None:
    signal = AbortSignal()
    seen: list[str] = []

    def listener() -> None:
        seen.append("called")

    signal.on_abort(listener)
    signal.on_abort(listener)()
    signal.abort()
    assert seen == ["called"]


def test_a_listener_that_comes_late_is_called_at_once() -> None:
    signal = AbortSignal()
    signal.abort()
    seen: list[str] = []
    forget = signal.on_abort(lambda: seen.append("called"))
    forget()
    assert seen == ["called"]


def test_a_listener_that_leaves_while_the_others_are_told_does_no_harm() -> None:
    signal = AbortSignal()
    seen: list[str] = []
    forget: list[Callable[[], None]] = []
    signal.on_abort(lambda: forget[0]())
    forget.append(signal.on_abort(lambda: seen.append("second")))
    signal.abort()
    assert seen == ["second"]
