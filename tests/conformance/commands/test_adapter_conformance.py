"""A test class of three lines: what pytest collects, and that it agrees with the command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance._case_file import shipped_cases
from conformance._runner import Runner
from conformance._scenarios import SCENARIOS
from conformance._selection import selected
from conformance._target import load_target

from .ran import Ran

MUTANTS = Path(__file__).parents[2] / "mutants" / "broken.py"
SELECT = ("code_auth", "code_quota", "request_id/", "idle_timeout/")

THREE_LINES = """
from conformance import AdapterConformance
from broken import {adapter}

class TestMine(AdapterConformance):
    adapter = {adapter}
"""
OUTCOME_OF_VERDICT = {"PASS": "PASSED", "NA": "SKIPPED", "WARN": "SKIPPED", "XFAIL": "XFAIL"}


def run_pytest(
    folder: Path, *arguments: str, plugins: tuple[str, ...] = ("-p", "conformance.plugin")
) -> subprocess.CompletedProcess[str]:
    """Run pytest with ``plugins`` alone, which halves its start; with none given, with all."""
    (folder / "broken.py").write_text(MUTANTS.read_text())
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if plugins else {}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugins, *arguments],
        cwd=folder,
        env={**os.environ, **alone},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def outcomes(stdout: str) -> dict[str, str]:
    words = "PASSED|FAILED|SKIPPED|XFAIL"
    test = r"\S*::TestMine::test_conformance\[([^\]]+)\]"
    plain = re.findall(rf"^{test} ({words})", stdout, re.MULTILINE)
    spread = re.findall(rf"^\[gw\d\] \[ *\d+%\] ({words}) {test}", stdout, re.MULTILINE)
    return dict(plain) | {check: outcome for outcome, check in spread}


def by_command(target: str, *select: str) -> dict[str, str]:
    runner = Runner(load_target(target), shipped_cases(), SCENARIOS)
    plan = runner.plan()
    chosen = {c.id for c in selected([p.check for p in plan], select, dialect_of={})}
    run = runner.run([p for p in plan if p.check.id in chosen])
    return {
        result.check.id: OUTCOME_OF_VERDICT.get(result.status.value, "FAILED")
        for result in run.results
        if result.check.id in chosen
    }


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])
def test_the_class_and_the_command_agree_case_by_case(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    adapter = "AuthAsInvalidRequest"
    (tmp_path / "test_mine.py").write_text(THREE_LINES.format(adapter=adapter))
    options = [part for name in SELECT for part in ("--dsh-select", name)]

    ran = run_pytest(tmp_path, "-v", *options, *workers, plugins=())
    expected = by_command(f"{MUTANTS}:{adapter}", *SELECT)
    found = outcomes(ran.stdout)

    assert {check: found.get(check) for check in expected} == expected
    assert set(expected.values()) == {"PASSED", "FAILED", "SKIPPED"}  # of other dialects
    assert ran.returncode == 1


def test_a_failure_shows_the_report_of_the_command_without_colours_or_traceback(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_mine.py").write_text(THREE_LINES.format(adapter="AuthAsInvalidRequest"))

    ran = run_pytest(tmp_path, "--dsh-select", "code_auth/bare_401")

    assert "differs  code: expected AUTH, got INVALID_REQUEST" in ran.stdout
    assert "repeat   dsh-conformance broken:AuthAsInvalidRequest code_auth/bare_401" in ran.stdout
    assert "Traceback" not in ran.stdout
    assert "\x1b" not in ran.stdout


KNOWN = """
[[known_failure]]
check = "{check}"
reason = "Not yet."
{more}
"""


KNOWN_SELECT = ("code_auth", "code_quota/bare_402_empty_body")
OTHER_ANSWER = "code_auth/400_flat_body_names_an_invalid_key"
# What is known, of which adapter, and which tests fail.
KNOWN_CASES = {
    "known": ("code-auth", "", "AuthAsInvalidRequest", set()),
    "a_requirement_that_passes": ("code-auth", "", "Good", {"code_auth/known_failure"}),
    "passes": ("code_auth/bare_401", "", "Good", {"code_auth/bare_401"}),
    "expired": ("code-auth", "expires = 2020-01-01", "AuthAsInvalidRequest", {OTHER_ANSWER}),
    "another_answer": ("code-auth", 'answer = "got QUOTA"', "AuthAsInvalidRequest", {OTHER_ANSWER}),
    "one_of_them": ("code_auth/bare_401", "", "AuthAsInvalidRequest", {OTHER_ANSWER}),
}


@pytest.fixture(scope="module")
def known_outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What came of a test file for each of the cases, all in one run."""
    folder = tmp_path_factory.mktemp("known")
    for name, (check, more, adapter, _) in KNOWN_CASES.items():
        (folder / f"{name}.toml").write_text(KNOWN.format(check=check, more=more))
        (folder / f"test_{name}.py").write_text(
            THREE_LINES.format(adapter=adapter)
            + f"    known_failures = '{name}.toml'\n    select = {KNOWN_SELECT}\n"
        )
    ran = run_pytest(folder, "-v")
    parts = {
        name: "\n".join(re.findall(rf"^test_{name}\.py::.*", ran.stdout, re.MULTILINE))
        for name in KNOWN_CASES
    }
    return {name: outcomes(part) for name, part in parts.items()}


@pytest.mark.parametrize("name", KNOWN_CASES)
def test_known_failures_are_as_strict_as_in_the_command(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    known_outcomes: dict[str, dict[str, str]],
    name: str,
) -> None:
    check, more, adapter, failed = KNOWN_CASES[name]
    known = tmp_path / "known.toml"
    known.write_text(KNOWN.format(check=check, more=more))
    command = Ran(
        capsys, f"{MUTANTS}:{adapter}", *KNOWN_SELECT, "--known-failures", str(known), "-v"
    )
    stale = re.findall(r"^ *(?:STALE|FAIL|WRONG_REASON) +(\S+/\S+)", command.out, re.MULTILINE)
    found = known_outcomes[name]

    assert {check for check, outcome in found.items() if outcome == "FAILED"} == set(stale)
    assert failed <= set(stale)
    assert bool(stale) == bool(failed) == (command.exit_code == 1)


BODIES = {
    "no-adapter": ("", "TestMine: name what is judged: adapter = MyAdapter"),
    "no-such-target": ("    adapter = 'nosuch'\n", "TestMine: nosuch: no installed adapter"),
    "a-lambda": ("    adapter = lambda **more: None\n", "at the top of a module, not <function"),
    "no-declaration": ("    adapter = dict\n", "builtins:dict: has no declaration"),
    "no-profile": (
        "    adapter = Good\n    profile = 'x'\n",
        "TestMine: broken:Good: there is no profile 'x'",
    ),
    "no-known-failures": (
        "    adapter = Good\n    known_failures = 'nosuch.toml'\n",
        "nosuch.toml: cannot be read",
    ),
    "no-cases": ("    adapter = Good\n    cases = 'nosuch'\n", "there is no such folder"),
    "no-such-check": ("    adapter = Good\n    select = ['nosuch']\n", "nosuch: no requirement"),
}


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest says of a test file for each of the mistakes, all in one run."""
    folder = tmp_path_factory.mktemp("mistakes")
    for name, (body, _) in BODIES.items():
        (folder / f"test_{name.replace('-', '_')}.py").write_text(
            "from conformance import AdapterConformance\nfrom broken import Good\n"
            f"class TestMine(AdapterConformance):\n    __doc__ = ''\n{body}"
        )
    ran = run_pytest(folder)
    assert ran.returncode in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERRUPTED)
    return ran.stdout + ran.stderr


@pytest.mark.parametrize("says", [says for _, says in BODIES.values()], ids=BODIES)
def test_a_mistake_is_a_line_and_no_traceback(mistakes: str, says: str) -> None:
    assert says in mistakes
    assert "Traceback" not in mistakes


def test_the_class_itself_is_never_collected(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_classes = *\n")
    (tmp_path / "test_mine.py").write_text("from conformance import AdapterConformance\n")

    ran = run_pytest(tmp_path, "--collect-only", "-q")

    assert ran.returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_several_classes_stand_side_by_side_and_own_tests_among_them(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        THREE_LINES.format(adapter="Good")
        + "    select = ['code_auth/bare_401']\n"
        + "    def test_own(self):\n        assert self.adapter is Good\n"
        + "class TestOther(AdapterConformance):\n    adapter = 'deepseek'\n"
        + "    select = ['code_auth/bare_403']\n"
    )

    ran = run_pytest(tmp_path, "-q")

    assert ran.stdout.splitlines()[-1].startswith("3 passed"), ran.stdout


def test_the_package_stays_inert_until_the_class_is_asked_for(tmp_path: Path) -> None:
    code = (
        "import sys, conformance; before = set(sys.modules); conformance.AdapterConformance;"
        "print('adapter_sdk' in before, 'pydantic' in sys.modules, 'pytest' in sys.modules)"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert ran.stdout.split() == ["False", "False", "False"]


def test_the_package_has_no_other_attribute() -> None:
    import conformance

    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = conformance.Nothing
