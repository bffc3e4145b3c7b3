"""A handful of adapters that are really judged: mutants, one that does nothing, a good one."""

from __future__ import annotations

import pytest

from conformance._result import Status
from conformance._selftest._judging import Setup, examine, target_of
from conformance._selftest._textbook import Textbook
from conformance._selftest._units import Outcome, Unit, good_names, judge, reference_adapters


@pytest.mark.parametrize(
    "name",
    [
        "refused-key-is-a-bad-request",
        "retry-after-is-capped",
        "usage-comes-twice",
        "names-add-up",
        "a-tie-is-a-timeout",
        "abort-before-the-call-is-unread",
        "key-in-the-log",
        "sends-null",
    ],
)
def test_a_mutant_is_caught_for_its_declared_reason(name: str) -> None:
    outcome = judge(Unit("mutant", name, brief=True))
    assert outcome.complaints == ()
    assert all(outcome.evidence.values())


@pytest.mark.parametrize("name", ["never-returns", "always-success", "always-unknown"])
def test_an_adapter_that_does_nothing_fails_nearly_everywhere_and_soon(name: str) -> None:
    outcome = judge(Unit("null", name, brief=True))
    assert outcome.complaints == ()
    assert "MUST checks fail" in outcome.note


def test_an_adapter_that_is_good_for_something_is_no_null_adapter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("conformance._selftest._units.NULLS", {"textbook": Textbook})
    outcome = judge(Unit("null", "textbook", brief=True))
    assert [(c.subject, c.about) for c in outcome.complaints] == [("textbook", "MUST checks")]


def test_the_textbook_adapter_keeps_what_is_about_requests_and_keys() -> None:
    chosen = {"request-shape", "credential", "attribution", "unsupported-option", "usage"}
    results = examine(target_of("textbook", Textbook), chosen, Setup(), others=False)
    assert {r.check.requirement.id for r in results} >= chosen
    bad = [r for r in results if r.status not in (Status.PASS, Status.NA)]
    assert bad == []


def test_the_reference_adapters_are_among_the_good_ones() -> None:
    assert "deepseek" in reference_adapters()
    assert good_names() == [
        *reference_adapters(),
        "good-by-finish-reason",
        "good-messages",
        "good-responses",
        "textbook",
    ]


def test_an_error_of_the_kit_is_an_outcome() -> None:
    outcome: Outcome = judge(Unit("mutant", "nobody"))
    assert [(c.about, c.breaks_kit) for c in outcome.complaints] == [("the kit", True)]
