"""``repro``: a check of a report, again or as a test that stands alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from .ran import Ran

MUTANTS = Path(__file__).parents[2] / "mutants" / "broken.py"
BROKEN = f"{MUTANTS}:AuthAsInvalidRequest"
CASE = "code_auth/bare_401"
CASE_OF_MINE = """
requirement = "code-auth"
dialect = "any"
title = "A case of mine, with 'quotes' and a \\\\ in it"

[[exchange]]
status = 401
headers = []
end = "eof"

[expect]
outcome = "failure"

[expect.failure]
code = "QUOTA"
"""


def report_of(
    capsys: pytest.CaptureFixture[str], folder: Path, target: str, *arguments: str
) -> Path:
    path = folder / "report.json"
    Ran(capsys, target, *arguments, "--report", f"json={path}")
    return path


def changed(path: Path, **changes: Any) -> Path:
    data = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps(data))
    return path


def run_pytest(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_emitted.py").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "conformance.plugin", "test_emitted.py"],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_failure_is_repeated_with_its_report(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = report_of(capsys, tmp_path, BROKEN, "code_auth")

    ran = Ran(capsys, "repro", str(path), CASE)

    assert (ran.exit_code, ran.err) == (1, "")
    assert "differs  code: expected AUTH, got INVALID_REQUEST" in ran.out
    assert ran.out.splitlines()[-1].endswith(" said the same")


def test_what_passes_by_now_says_what_the_report_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = changed(report_of(capsys, tmp_path, BROKEN, "code_auth"), target=f"{MUTANTS}:Good")

    ran = Ran(capsys, "repro", str(path), CASE)
    first, last = ran.out.splitlines()

    assert (ran.exit_code, ran.err) == (0, "")
    assert first == f"PASS         {CASE}"
    assert " said WRONG_REASON code: expected AUTH, got INVALID_REQUEST" in last


def test_the_run_is_the_one_of_the_report(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = report_of(
        capsys, tmp_path, BROKEN, "code_auth", "--backend", "trio", "--httpx2", "--seed", "7"
    )
    monkeypatch.setattr("conformance._repro._again.Runner", Empty)

    ran = Ran(capsys, "repro", str(path), CASE)
    (target, options) = Empty.made

    assert ran.exit_code == 4
    assert (target.name, options["seed"], options["sweep"]) == (BROKEN, 7, "smoke")
    assert (options["means"].backend, options["means"].client) == ("trio", "httpx2")


class Empty:
    """A runner without checks, which remembers what it was made for."""

    made: ClassVar[tuple[Any, dict[str, Any]]]

    def __init__(self, target: Any, *more: Any, **options: Any) -> None:
        Empty.made = (target, options)

    def plan(self) -> list[Any]:
        return []

    plan_invariants = plan


def test_a_scenario_and_a_rule_for_every_call_can_be_repeated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = report_of(capsys, tmp_path, f"{MUTANTS}:Retrying", "single_attempt")
    bad = [
        check["id"]
        for requirement in json.loads(path.read_text())["requirements"]
        for check in requirement["checks"]
        if check["status"] == "FAIL"
    ]

    rules = [name for name in bad if name.endswith("/in_every_call")]
    coded = [name for name in bad if name not in rules]
    for name in (rules[0], coded[0]):
        ran = Ran(capsys, "repro", str(path), name)
        assert (name, ran.exit_code, ran.err) == (name, 1, "")


@pytest.mark.parametrize(
    ("target", "outcome"), [("AuthAsInvalidRequest", "1 failed"), ("Good", "1 passed")]
)
def test_the_emitted_test_stands_alone_and_judges_as_the_command_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, target: str, outcome: str
) -> None:
    path = changed(report_of(capsys, tmp_path, BROKEN, "code_auth"), target=f"{MUTANTS}:{target}")
    emitted = Ran(capsys, "repro", str(path), CASE, "--emit-test")
    path.unlink()

    tested = run_pytest(tmp_path, emitted.out)

    assert (emitted.exit_code, emitted.err) == (0, "")
    assert 'title = "A 401 without a body is AUTH"' in emitted.out
    assert outcome in tested.stdout, tested.stdout
    assert ("differs  code: expected AUTH" in tested.stdout) == (outcome == "1 failed")
    assert "Traceback" not in tested.stdout


def test_the_emitted_test_of_a_case_of_ones_own_needs_no_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    case = tmp_path / "cases" / "code_auth" / "mine.toml"
    case.parent.mkdir(parents=True)
    case.write_text(CASE_OF_MINE)
    folder = ("--cases", str(tmp_path / "cases"))
    path = report_of(capsys, tmp_path, f"{MUTANTS}:Good", "code_auth/mine", *folder, "--seed", "3")
    again = Ran(capsys, "repro", str(path), "code_auth/mine", *folder)
    emitted = Ran(capsys, "repro", str(path), "code_auth/mine", "--emit-test", *folder)
    case.unlink()

    tested = run_pytest(tmp_path, emitted.out)

    assert again.exit_code == 1
    assert "        seed=3,\n" in emitted.out
    assert "differs  code: expected QUOTA, got AUTH" in tested.stdout
    # No command has the case, so none is named that would not work.
    assert "  repeat  " not in tested.stdout


def test_a_report_remembers_its_folder_of_cases(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "cases"
    case = folder / "code_auth" / "mine.toml"
    case.parent.mkdir(parents=True)
    case.write_text(CASE_OF_MINE)
    path = report_of(capsys, tmp_path, f"{MUTANTS}:Good", "code_auth/mine", "--cases", str(folder))

    again = Ran(capsys, "repro", str(path), "code_auth/mine")
    case.unlink()
    case.parent.rmdir()
    folder.rmdir()
    gone = Ran(capsys, "repro", str(path), "code_auth/mine")

    assert (again.exit_code, again.err) == (1, "")
    assert f"  repeat   dsh-conformance {MUTANTS}:Good --cases {folder} code_auth/mine" in again.out
    assert gone.exit_code == 4
    assert "if it came with --cases, name it" in gone.err


def test_the_emitted_test_of_a_check_in_code_names_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = report_of(capsys, tmp_path, f"{MUTANTS}:Retrying", "single_attempt")
    (name, *_) = [
        check["id"]
        for requirement in json.loads(path.read_text())["requirements"]
        for check in requirement["checks"]
        if check["lane"] == "code" and check["status"] == "FAIL"
    ]
    emitted = Ran(capsys, "repro", str(path), name, "--emit-test")

    tested = run_pytest(tmp_path, emitted.out)

    assert "CASE" not in emitted.out
    assert "1 failed" in tested.stdout


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(None, "cannot be read", id="no-file"),
        pytest.param("", "damaged: no JSON", id="empty"),
        pytest.param("{", "damaged: no JSON", id="half"),
        pytest.param("[1]", "no report of dsh-conformance", id="no-report"),
        pytest.param(
            '{"format": "dsh-conformance-report", "schema_version": 99}',
            "a report from another version",
            id="another-version",
        ),
        pytest.param(
            '{"format": "dsh-conformance-report", "schema_version": 1}', "damaged: ", id="damaged"
        ),
    ],
)
def test_a_report_that_cannot_be_used_is_one_line_and_exit_4(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str | None, says: str
) -> None:
    path = tmp_path / "report.json"
    if content is not None:
        path.write_text(content)

    ran = Ran(capsys, "repro", str(path), CASE)

    assert ran.exit_code == 4
    assert ran.is_one_line
    assert says in ran.err


@pytest.mark.parametrize(
    ("check", "changes", "says"),
    [
        pytest.param("nosuch/case", {}, "nosuch/case: not among the 4 checks", id="unknown"),
        pytest.param("code_auth/bare", {}, "it has code_auth/bare_401", id="beginning"),
        pytest.param(CASE, {"target": "nosuch"}, "no installed adapter", id="no-target"),
        pytest.param(CASE, {"profile": "x"}, "there is no profile 'x'", id="no-profile"),
        pytest.param(CASE, {"backend": "curio"}, "no event loop 'curio'", id="no-backend"),
        pytest.param(CASE, {"client": "os"}, "no HTTP client 'os'", id="no-client"),
        pytest.param(
            CASE, {"target": f"{MUTANTS}:_Twice"}, "has no declaration", id="no-declaration"
        ),
    ],
)
def test_what_cannot_be_repeated_is_one_line_and_exit_4(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    check: str,
    changes: dict[str, Any],
    says: str,
) -> None:
    path = changed(report_of(capsys, tmp_path, BROKEN, "code_auth"), **changes)

    ran = Ran(capsys, "repro", str(path), check)

    assert ran.exit_code == 4
    assert ran.is_one_line
    assert says in ran.err
