"""Every chat case has its twin on the other wires or a reason for none, and the twins hold."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

import pytest

import conformance
from adapter_sdk.testing import run_virtual
from conformance._case import Case
from conformance._case_file import shipped_cases
from conformance._lanes import Backend, Means, Played, fits_in_process, in_process
from conformance._result import Status
from conformance._runner import Runner
from conformance._scenarios import SCENARIOS
from conformance._target import Target, load_target

SUFFIXES: Final = {"anthropic-messages": "_anthropic", "openai-responses": "_responses"}
CASES: Final = {case.id: case for case in shipped_cases()}
CHAT: Final = [case for case in CASES.values() if case.dialect == "openai-chat"]
WITHOUT_TWIN: Final[dict[str, dict[str, str]]] = tomllib.loads(
    (Path(conformance.__file__).parent / "cases" / "without_twin.toml").read_text(encoding="utf-8")
)

ADAPTERS: Final = {"anthropic-messages": "Messages", "openai-responses": "Responses"}
DIALECTS: Final = tuple(ADAPTERS)


def speaking(dialect: str) -> Target:
    return load_target(f"{Path(__file__).with_name('speaking.py')}:{ADAPTERS[dialect]}")


def in_dialect(dialect: str) -> list[Case]:
    return [case for case in CASES.values() if case.dialect == dialect]


def in_virtual_time(case: Case, target: Target, backend: Backend) -> Played:
    means = Means(backend=backend)
    return run_virtual(backend, lambda: in_process(case, target, means, split=None))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_chat_case_has_a_twin_or_a_reason_for_none(dialect: str) -> None:
    twins = {case.id for case in CHAT if case.id + SUFFIXES[dialect] in CASES}
    reasons = {case_id for case_id, why in WITHOUT_TWIN.items() if why.get(dialect, "").strip()}

    assert twins & reasons == set()
    assert twins | reasons == {case.id for case in CHAT}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_requirement_with_a_chat_case_has_a_case_on_the_other_wire(dialect: str) -> None:
    own = {case.requirement for case in in_dialect(dialect)}

    assert {case.requirement for case in CHAT} - own == set()


def test_a_twin_is_in_its_dialect_and_shows_its_requirement() -> None:
    found = {
        (twin.id, twin.dialect, twin.requirement, twin.expect.outcome)
        for case in CHAT
        for suffix in SUFFIXES.values()
        if (twin := CASES.get(case.id + suffix)) is not None
    }
    expected = {
        (case.id + suffix, dialect, case.requirement, case.expect.outcome)
        for case in CHAT
        for dialect, suffix in SUFFIXES.items()
        if case.id + suffix in CASES
    }

    assert found == expected


def test_the_list_of_cases_without_a_twin_names_dialects_of_the_kit_alone() -> None:
    assert {dialect for why in WITHOUT_TWIN.values() for dialect in why} <= set(DIALECTS)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_adapter_of_the_dialect_alone_keeps_every_case_of_it_in_process(
    dialect: str, backend: Backend
) -> None:
    target = speaking(dialect)
    played = {
        case.id: in_virtual_time(case, target, backend)
        for case in in_dialect(dialect)
        if fits_in_process(case)
    }
    found = {
        case_id: [str(difference) for difference in play.differences]
        for case_id, play in played.items()
        if play.differences
    }

    assert found == {}
    assert len(played) > 150


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_adapter_of_the_dialect_alone_keeps_its_cases_and_every_scenario_on_sockets(
    dialect: str,
) -> None:
    # What waits for limits is played under virtual time above; cases of any dialect elsewhere.
    runner = Runner(speaking(dialect), in_dialect(dialect), SCENARIOS, in_process=False)
    run = runner.run(planned for planned in runner.plan() if not planned.timed)
    bad = {
        result.check.id: result.differences or (result.note,)
        for result in run.results
        if result.status not in (Status.PASS, Status.NA)
    }

    assert bad == {}
    # The kit speaks the dialect: no scenario is left out for want of a good answer in it.
    assert [r.check.id for r in run.results if "no reference answer" in r.note] == []
