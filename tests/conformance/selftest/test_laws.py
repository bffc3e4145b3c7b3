"""The laws over the declarations, without a run."""

from __future__ import annotations

import dataclasses
import re

import pytest

from conformance._case_file import shipped_cases
from conformance._catalogue import load_catalogue
from conformance._invariants import INVARIANTS
from conformance._scenarios import SCENARIOS
from conformance._selftest._campaign import all_names, plan
from conformance._selftest._good import Good
from conformance._selftest._judging import Complaint
from conformance._selftest._laws import (
    Proof,
    broken_laws,
    proof_of,
    smallest_cover,
    unnoticed,
)
from conformance._selftest._mutant import Mutant, in_every_call, requirement_of
from conformance._selftest._mutants import MUTANTS
from conformance._selftest._units import Outcome, Unit
from conformance._sweep import sweep_checks

ESSENTIAL = {scenario.id for scenario in SCENARIOS} | {rule.id for rule in INVARIANTS}
REQUIREMENTS = {requirement.id for requirement in load_catalogue().requirements}
FOLDERS = {requirement.folder for requirement in load_catalogue().requirements}
CHECKS = ESSENTIAL | {case.id for case in shipped_cases()} | {check.id for check in sweep_checks()}
WRONG = Mutant(name="wrong", broken="Is wrong.", factory=Good, trips={"usage": "no usage"})


def test_every_requirement_has_a_mutant_and_the_declarations_are_sound() -> None:
    assert broken_laws(MUTANTS) == []


def test_there_are_at_least_seventy_mutants() -> None:
    assert len(MUTANTS) >= 70


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_says_what_is_broken_and_trips_what_exists(mutant: Mutant) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", mutant.name)
    assert re.fullmatch(r"[A-Z].*\.", mutant.broken)
    assert set(mutant.trips) <= REQUIREMENTS | CHECKS


@pytest.mark.parametrize("check", sorted(ESSENTIAL))
def test_a_mutant_names_each_scenario_and_each_rule_for_every_call(check: str) -> None:
    assert [mutant.name for mutant in MUTANTS if check in mutant.trips] != []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": MUTANTS[0].name}, f"{MUTANTS[0].name}: its name: 2 mutants have it"),
        ({"trips": {}}, "wrong: what it trips: nothing is declared"),
        ({"trips": {"usages": "x"}}, "wrong: usages: no requirement is called so"),
        ({"trips": {"usage": " "}}, "wrong: usage: the reason is empty: anything would do"),
    ],
    ids=["a name twice", "no trips", "an unknown requirement", "an empty reason"],
)
def test_a_wrong_declaration_breaks_a_law(changed: dict[str, object], said: str) -> None:
    wrong = dataclasses.replace(WRONG, **changed)  # type: ignore[arg-type]  # why: a table of any
    assert [str(complaint) for complaint in broken_laws([*MUTANTS, wrong])] == [said]


def test_a_requirement_without_a_mutant_breaks_law_one() -> None:
    fewer = [mutant for mutant in MUTANTS if "usage" not in mutant.requirements]
    assert broken_laws(fewer) == [Complaint("law 1", "usage", "no mutant trips it")]


def test_few_mutants_break_a_law() -> None:
    said = [complaint.about for complaint in broken_laws(smallest_cover(MUTANTS))]
    assert said == ["the number of mutants"]


@pytest.mark.parametrize(
    ("key", "requirement"),
    [
        ("sse-utf8", "sse-utf8"),
        ("retry_after_ms/zero", "retry-after-ms"),
        (in_every_call("failure-message"), "failure-message"),
    ],
)
def test_a_key_leads_to_its_requirement(key: str, requirement: str) -> None:
    assert requirement_of(key) == requirement


def _outcome(**evidence: tuple[str, ...]) -> Outcome:
    return Outcome(
        unit=Unit("mutant", "any"), evidence=evidence, checks=("usage/a", "usage/b", "usage/c")
    )


def test_a_check_is_needed_where_a_mutant_is_caught_by_it_alone() -> None:
    proof = proof_of([_outcome(one=("usage/a",)), _outcome(two=("usage/a", "usage/b"), three=())])
    assert proof == Proof(
        checks=frozenset({"usage/a", "usage/b", "usage/c"}),
        tripped=frozenset({"usage/a", "usage/b"}),
        needed=frozenset({"usage/a"}),
    )
    assert proof.share_tripped == pytest.approx(2 / 3)


def test_what_could_be_neutralised_unnoticed_is_told() -> None:
    everything = frozenset(
        requirement.folder + "/x" for requirement in load_catalogue().requirements
    )
    proof = Proof(
        checks=everything, tripped=everything - {"usage/x"}, needed=everything - {"usage/x"}
    )
    assert [str(complaint) for complaint in unnoticed(proof, ["usage/x", "abort/x"])] == [
        "the kit mutated: usage/x: always passing, no mutant would get through",
        "the kit mutated: usage: always passing, nothing would turn red",
    ]


def test_the_quick_selection_still_kills_every_requirement() -> None:
    chosen = smallest_cover(MUTANTS)
    assert {r for mutant in chosen for r in mutant.requirements} == REQUIREMENTS
    assert len(chosen) < len(MUTANTS) / 3


def test_a_whole_plan_has_everything_and_a_quick_one_each_good_adapter_once() -> None:
    whole, quick = plan((), quick=False), plan((), quick=True)
    assert {unit.name for unit in whole} == set(all_names())
    assert sorted(unit.seed for unit in whole if unit.name == "textbook") == [1, 2, 3]
    assert sorted(unit.seed for unit in quick if unit.name == "textbook") == [1]
    assert len({unit.title for unit in whole}) == len(whole)
    assert [unit.name for unit in plan(["textbook"], quick=True)] == ["textbook"]
