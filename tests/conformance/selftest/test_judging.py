"""What is held against a mutant: results made by hand, so that every verdict is known."""

from __future__ import annotations

import pytest

from conformance._catalogue import load_catalogue
from conformance._result import Check, Result, Status
from conformance._runner import Planned
from conformance._selftest._good import Good
from conformance._selftest._judging import (
    TWICE,
    evidence,
    looked_at_again,
    uncaught,
    undeclared,
)
from conformance._selftest._mutant import Mutant
from conformance._selftest._null import share_that_fails

MUTANT = Mutant(
    name="bad",
    broken="Is bad.",
    factory=Good,
    trips={"usage": "expected 4", "abort/before": "sent"},
)


def result(check_id: str, status: Status, *said: str, note: str = "") -> Result:
    requirement = load_catalogue()[check_id.split("/")[0].replace("_", "-")]
    return Result(
        check=Check(check_id, requirement, "title"), status=status, differences=said, note=note
    )


CAUGHT = [
    result("usage/a", Status.FAIL, "count: expected 4, got 8"),
    result("abort/before", Status.WRONG_REASON, "sent"),
]


def test_a_mutant_that_trips_all_it_declares_is_caught() -> None:
    results = [*CAUGHT, result("usage/b", Status.PASS), result("reasoning/a", Status.NA)]
    assert uncaught(MUTANT, results) == []
    assert undeclared(MUTANT, results) == []
    assert evidence(MUTANT, results) == {"usage": ("usage/a",), "abort/before": ("abort/before",)}


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        (result("usage/a", Status.PASS), "bad: usage: it passes, and must not"),
        (
            result("usage/a", Status.FAIL, "count: expected 5"),
            "bad: usage: not for its reason, 'expected 4', but with: count: expected 5",
        ),
        (result("usage/a", Status.NA), "bad: usage: it passes, and must not"),
    ],
    ids=["passes", "another reason", "not applicable"],
)
def test_a_mutant_that_is_not_caught_for_its_reason_is_told(instead: Result, said: str) -> None:
    assert [str(c) for c in uncaught(MUTANT, [instead, CAUGHT[1]])] == [said]


def test_another_check_of_the_requirement_does_not_stand_in_for_a_declared_check() -> None:
    results = [CAUGHT[0], result("abort/after", Status.FAIL, "sent")]
    assert [str(c) for c in uncaught(MUTANT, results)] == [
        "bad: abort/before: it passes, and must not"
    ]


@pytest.mark.parametrize(
    ("extra", "told", "breaks_kit"),
    [
        (
            result("reasoning/a", Status.FAIL, "x"),
            ["bad: reasoning/a: not declared: FAIL: x"],
            False,
        ),
        (
            result("reasoning/a", Status.WARN, "x"),
            ["bad: reasoning/a: not declared: WARN: x"],
            False,
        ),
        (
            result("usage/b", Status.HARNESS, note="boom"),
            ["bad: usage/b: not declared: HARNESS: boom"],
            True,
        ),
        (result("usage/b", Status.FAIL, "x"), [], False),
    ],
    ids=["fails", "warns", "breaks the kit", "declared"],
)
def test_what_a_mutant_trips_and_does_not_declare_is_told(
    extra: Result, told: list[str], breaks_kit: bool
) -> None:
    found = undeclared(MUTANT, [*CAUGHT, extra])
    assert [str(complaint) for complaint in found] == told
    assert any(complaint.breaks_kit for complaint in found) is breaks_kit


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (Status.FAIL, Status.PASS, (Status.PASS, TWICE)),
        (Status.FAIL, Status.FAIL, (Status.FAIL, "")),
        (Status.HARNESS, Status.PASS, (Status.HARNESS, "")),
        (Status.PASS, Status.FAIL, (Status.PASS, "")),
    ],
    ids=["passes now", "fails again", "breaks the kit", "passed before"],
)
def test_a_bad_verdict_on_a_good_adapter_is_looked_at_again(
    first: Status, second: Status, kept: tuple[Status, str]
) -> None:
    before, after = result("usage/a", first, "x"), result("usage/a", second, "x")
    again = looked_at_again([Planned(before.check, lambda: after)], [before])
    assert [(r.status, r.note) for r in again] == [kept]


def test_a_bad_verdict_that_nothing_can_play_again_stays() -> None:
    assert looked_at_again([], CAUGHT) == CAUGHT


def test_the_share_that_fails_counts_must_checks_that_apply() -> None:
    results = [
        result("usage/a", Status.FAIL, "x"),
        result("usage/b", Status.PASS),
        result("usage/c", Status.NA),
        result("content_encoding/a", Status.WARN, "a SHOULD"),
    ]
    assert share_that_fails(results) == (1, 2)
