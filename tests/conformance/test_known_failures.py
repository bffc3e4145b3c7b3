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


ENTRY = "[[known_failure]]\ncheck = 'code-auth'\nreason = 'x'\n"
KEYS = "check, reason, answer, issue, expires"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("x = ", "no TOML: Invalid value (at end of document)", id="no-toml"),
        pytest.param(
            "[[known_failure]]\ncheck = 'code-auth'",
            "known_failure.0.reason: is missing; it must be a string",
            id="no-reason",
        ),
        pytest.param(
            ENTRY.replace("'x'", "' '"),
            "known_failure.0.reason: must say something",
            id="blank-reason",
        ),
        pytest.param(
            ENTRY.replace("'x'", "7"),
            "known_failure.0.reason: must be a string, not 7",
            id="reason-is-a-number",
        ),
        pytest.param(
            ENTRY.replace("known_failure", "known_failures"),
            "known_failures: no such key in a file of known failures; did you mean "
            "known_failure?; the keys here are known_failure",
            id="another-table",
        ),
        pytest.param(
            ENTRY.replace("[[known_failure]]", "[known_failure]"),
            "known_failure: must be a list of tables, each under [[known_failure]], not a table "
            "{check, reason}",
            id="one-bracket",
        ),
        pytest.param(
            "check = 'code-auth'\nreason = 'x'",
            "check: no such key in a file of known failures; did you mean known_failure.check?; "
            "the keys here are known_failure",
            id="without-a-table",
        ),
        pytest.param(
            f"{ENTRY}until = 1",
            f"known_failure.0.until: no such key in a file of known failures; the keys here are "
            f"{KEYS}",
            id="unknown-key",
        ),
        pytest.param(
            f"{ENTRY}expire = 2030-01-31",
            "known_failure.0.expire: no such key in a file of known failures; did you mean "
            f"expires?; the keys here are {KEYS}",
            id="mistyped-key",
        ),
        pytest.param(
            f"{ENTRY}expires = 'soon'",
            'known_failure.0.expires: must be a date like 2030-01-31 without quotes, not "soon"',
            id="no-date",
        ),
        pytest.param(
            f"{ENTRY}expires = 2030-01-31T00:00:00",
            "known_failure.0.expires: must be a date like 2030-01-31 without quotes, not "
            "2030-01-31 00:00:00",
            id="date-and-time",
        ),
        pytest.param(ENTRY * 2, "the file: code-auth is there twice", id="twice"),
        pytest.param(
            ENTRY.replace("code-auth", "nosuch"),
            "nosuch: no check or requirement has this id; delete the entry",
            id="matches-nothing",
        ),
        pytest.param(
            ENTRY.replace("code-auth", "code-aut"),
            "code-aut: no check or requirement has this id; did you mean code-auth?",
            id="mistyped-requirement",
        ),
        pytest.param(
            ENTRY.replace("code-auth", "code_auth/bare_410"),
            "code_auth/bare_410: no check or requirement has this id; did you mean "
            "code_auth/bare_401?",
            id="mistyped-check",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "known.toml"
    file.write_text(text)

    with pytest.raises(KnownFailuresError) as mistake:
        read_known_failures(file, known_ids={CHECK.id})

    assert str(mistake.value) == f"{file}: {says}"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        pytest.param("nosuch.toml", "No such file or directory", id="no-file"),
        pytest.param("folder", "Is a directory", id="a-folder"),
        pytest.param("latin.toml", "no UTF-8 at byte 5", id="no-utf-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_once(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin.toml").write_bytes(b"x = '\xff'")

    with pytest.raises(KnownFailuresError) as mistake:
        read_known_failures(tmp_path / name, known_ids=set())

    assert str(mistake.value) == f"{tmp_path / name}: cannot be read: {says}"
