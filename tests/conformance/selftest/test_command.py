"""The command: how it ends, and what it says of a wrong declaration."""

from __future__ import annotations

from typing import Any

import click
import pytest

from conformance._selftest._good import Good
from conformance._selftest._mutant import Mutant
from conformance._selftest._mutants import MUTANTS
from conformance._selftest._table import PAGE, page_of
from conformance.cli import main


class Ran:
    """What one run of the command printed, and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        with pytest.raises(SystemExit) as leaving:
            main(["selftest", *arguments])
        self.exit_code = leaving.value.code
        captured = capsys.readouterr()
        self.out, self.err = click.unstyle(captured.out), click.unstyle(captured.err)


class Undeclared:
    """Cannot even say what it is."""

    @staticmethod
    def declaration() -> Any:
        raise RuntimeError("no idea")


def _mutant(**changed: Any) -> Mutant:
    values = {"broken": "Is as good as the good twin.", "factory": Good, "trips": {"usage": "x"}}
    return Mutant(name="harmless", **{**values, **changed})


def _with(monkeypatch: pytest.MonkeyPatch, mutant: Mutant) -> None:
    for module in ("_campaign", "_units"):
        monkeypatch.setattr(f"conformance._selftest.{module}.MUTANTS", (*MUTANTS, mutant))


def test_a_mutant_that_is_not_broken_ends_with_1_and_a_line_that_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _with(monkeypatch, _mutant())
    ran = Ran(capsys, "--only", "harmless", "--jobs", "1", "--quick")
    assert ran.exit_code == 1
    assert "harmless: usage: it passes, and must not" in ran.out
    assert "the kit is not good: 1 findings" in ran.out


def test_a_mutant_that_trips_more_than_it_declares_ends_with_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = next(mutant for mutant in MUTANTS if mutant.name == "calls-without-a-key")
    _with(monkeypatch, _mutant(factory=real.factory, trips={"usage": "x"}))
    ran = Ran(capsys, "harmless", "--jobs", "1")
    assert ran.exit_code == 1
    assert "harmless: credential/missing: not declared: FAIL:" in ran.out


def test_an_adapter_that_breaks_the_kit_ends_with_3(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _with(monkeypatch, _mutant(factory=Undeclared))
    ran = Ran(capsys, "--only", "harmless", "--jobs", "1")
    assert ran.exit_code == 3
    assert "harmless: the kit: RuntimeError: no idea" in ran.out


def test_a_mutant_that_is_caught_ends_with_0_in_a_process_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran = Ran(capsys, "--only", "sends-null", "--jobs", "2", "--quick")
    assert (ran.exit_code, ran.out.splitlines()[-1]) == (0, "the kit is good")
    assert ran.out.startswith("[  1/1] ✓ sends-null")


@pytest.mark.parametrize(
    ("names", "says"),
    [
        pytest.param(
            ["--only", "sends-nill"],
            "no adapter of the selftest is called sends-nill; did you mean sends-null?\n",
            id="mistyped",
        ),
        pytest.param(
            ["nosuch"],
            "no adapter of the selftest is called nosuch; the mutants are listed in "
            f"{PAGE}, the others are always-success, always-unknown, ",
            id="like-no-other",
        ),
    ],
)
def test_a_name_that_nobody_has_is_a_mistake_of_the_caller_who_is_told_where_names_are(
    capsys: pytest.CaptureFixture[str], names: list[str], says: str
) -> None:
    ran = Ran(capsys, *names)
    assert (ran.exit_code, len(ran.err.splitlines())) == (4, 1)
    assert ran.err.startswith(f"dsh-conformance: {says}")


def test_the_page_of_mutants_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_of(MUTANTS), (
        "run: dsh-conformance selftest --write-table"
    )


def test_the_page_names_every_mutant_and_every_requirement() -> None:
    page = page_of(MUTANTS[:1])
    mutant = MUTANTS[0]
    assert f"### {mutant.name}\n\n{mutant.broken}\n" in page
    assert page.count("| nobody |") == page.count("\n| `") - len(mutant.requirements)
