"""A check that never returns is given up, and its error or result otherwise comes through."""

from __future__ import annotations

from threading import Event

import pytest

from conformance._bounded import ExitCalledError, StuckError, bounded


def test_a_result_comes_through() -> None:
    assert bounded(lambda: 7, limit_s=5) == 7


def test_an_error_comes_through_unchanged() -> None:
    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        bounded(fail, limit_s=5)


def test_an_exit_is_an_error_and_ends_nothing() -> None:
    def leave() -> None:
        raise SystemExit(0)

    with pytest.raises(ExitCalledError, match=r"sys\.exit\(0\) was called"):
        bounded(leave, limit_s=5)


def test_what_never_returns_is_given_up() -> None:
    release = Event()
    try:
        with pytest.raises(StuckError, match=r"within 0\.05 s"):
            bounded(release.wait, limit_s=0.05)
    finally:
        release.set()
