"""Known failures are strict: what is no longer true of them fails the run."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from conformance._catalogue import load_catalogue
from conformance._known_failures import (
    KnownFailure,
    KnownFailures,
    KnownFailuresError,
    read_known_failures,
)
from conformance._result import Check, Result, Status

TODAY = date(2026, 6, 1)
AUTH = load_catalogue()["code-auth"]
CHECK = Check("code_auth/bare_401", AUTH, "A 401 is AUTH")


def entry(check: str = CHECK.id, **more: object) -> KnownFailure:
    return KnownFailure.model_validate({"check": check, "reason": "in work", **more})


def result(status: Status, *differences: str) -> Result:
    return Result(check=CHECK, status=status, differences=differences)


@pytest.mark.parametrize(
    ("known", "verdict", "expected"),
    [
        pytest.param(entry(), result(Status.FAIL, "x"), Status.XFAIL, id="fails-as-known"),
        pytest.param(entry("code-auth"), result(Status.FAIL, "x"), Status.XFAIL, id="requirement"),
        pytest.param(entry("code_auth"), result(Status.FAIL, "x"), Status.XFAIL, id="folder"),
        pytest.param(entry(), result(Status.WARN, "x"), Status.XFAIL, id="warns-as-known"),
        pytest.param(
            entry(answer="got 7"), result(Status.FAIL, "got 7"), Status.XFAIL, id="answer"
        ),
        pytest.param(
            entry(answer="got 7"), result(Status.FAIL, "got 8"), Status.STALE, id="another-answer"
        ),
        pytest.param(entry(), result(Status.PASS), Status.STALE, id="passes-now"),
        pytest.param(entry("code-auth"), result(Status.PASS), Status.PASS, id="one-of-many-passes"),
        pytest.param(
            entry(expires=date(2026, 6, 1)), result(Status.FAIL, "x"), Status.STALE, id="expired"
        ),
        pytest.param(
            entry(expires=date(2026, 6, 2)), result(Status.FAIL, "x"), Status.XFAIL, id="not-yet"
        ),
        pytest.param(entry(), result(Status.HARNESS), Status.HARNESS, id="the-kit-failed"),
        pytest.param(entry(), result(Status.NA), Status.NA, id="not-applicable"),
        pytest.param(
            entry("code_auth/bare_403"),
            result(Status.FAIL, "x"),
            Status.FAIL,
            id="of-another-check",
        ),
    ],
)
def test_the_verdict_of_a_known_failure(
    known: KnownFailure, verdict: Result, expected: Status
) -> None:
    assert KnownFailures([known], today=TODAY).judge(verdict).status is expected


@pytest.mark.parametrize(
    ("status", "stale"),
    [pytest.param(Status.PASS, 1, id="passes"), pytest.param(Status.FAIL, 0, id="still-fails")],
)
def test_a_requirement_that_passes_everywhere_leaves_its_entry_stale(
    status: Status, stale: int
) -> None:
    known = KnownFailures([entry("code-auth")], today=TODAY)
    known.judge(result(status))

    assert [r.status for r in known.left_over()] == [Status.STALE] * stale


def test_an_entry_of_a_requirement_that_did_not_run_is_not_stale() -> None:
    assert list(KnownFailures([entry("code-auth")], today=TODAY).left_over()) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("x = ", "no TOML", id="no-toml"),
        pytest.param("[[known_failure]]\ncheck = 'code-auth'", "reason: Field", id="no-reason"),
        pytest.param(
            "[[known_failure]]\ncheck = 'code-auth'\nreason = ' '", "must say", id="blank-reason"
        ),
        pytest.param(
            "[[known_failure]]\ncheck = 'nosuch'\nreason = 'x'", "no check or", id="matches-nothing"
        ),
        pytest.param(
            "[[known_failure]]\ncheck = 'code-auth'\nreason = 'x'\nuntil = 1", "until", id="key"
        ),
        pytest.param(
            "[[known_failure]]\ncheck = 'code-auth'\nreason = 'x'\n" * 2, "twice", id="twice"
        ),
        pytest.param(
            "[[known_failure]]\ncheck = 'code-auth'\nreason = 'x'\nexpires = 'soon'",
            "expires",
            id="no-date",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "known.toml"
    file.write_text(text)

    with pytest.raises(KnownFailuresError, match=says) as mistake:
        read_known_failures(file, known_ids={CHECK.id})

    assert str(mistake.value).startswith(str(file))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(KnownFailuresError, match="cannot be read"):
        read_known_failures(tmp_path / "nosuch.toml", known_ids=set())
