"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

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

MUTANTS = Path(__file__).parents[1] / "mutants" / "broken.py"

VERDICT_OF_OUTCOME = {"PASSED": "PASS", "FAILED": "FAIL", "SKIPPED": "NA"}


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])
def test_the_plugin_and_the_command_agree_case_by_case(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    target, select = f"{MUTANTS}:AuthAsInvalidRequest", ["code_auth", "code_quota", "request_id/"]
    runner = Runner(load_target(target), shipped_cases(), SCENARIOS)
    plan = runner.plan()
    chosen = {c.id for c in selected([p.check for p in plan], select, dialect_of={})}
    run = runner.run([p for p in plan if p.check.id in chosen])
    by_command = {
        r.check.id: r.status.value.replace("WRONG_REASON", "FAIL")
        for r in run.results
        if r.check.id in chosen
    }

    options = [part for name in select for part in ("--dsh-select", name)]
    ran = run_pytest(
        tmp_path, "--pyargs", "conformance.suite", "--dsh-adapter", target, "-v", *options, *workers
    )

    found = re.findall(r"(PASSED|FAILED|SKIPPED)[^\n]*test_conformance\[([^\]]+)\]", ran.stdout)
    found += [
        (outcome, check)
        for check, outcome in re.findall(
            r"test_conformance\[([^\]]+)\] (PASSED|FAILED|SKIPPED)", ran.stdout
        )
    ]
    by_plugin = {
        check: VERDICT_OF_OUTCOME[outcome] for outcome, check in found if check in by_command
    }
    assert by_plugin == by_command
    assert ran.returncode == 1


def test_a_failure_shows_the_report_of_the_command_and_no_traceback(tmp_path: Path) -> None:
    target = f"{MUTANTS}:AuthAsInvalidRequest"

    ran = run_pytest(
        tmp_path,
        "--pyargs",
        "conformance.suite",
        "--dsh-adapter",
        target,
        "--dsh-select",
        "code_auth/bare_401",
        *("--dsh-backend", "trio", "--dsh-seed", "7"),
    )

    assert "differs  code: expected AUTH, got INVALID_REQUEST" in ran.stdout
    line = f"repeat   dsh-conformance {target} --backend trio --seed 7 code_auth/bare_401"
    assert line in ran.stdout
    assert "Traceback" not in ran.stdout


def test_a_requirement_that_is_known_to_fail_and_passes_fails_as_in_the_command(
    tmp_path: Path,
) -> None:
    known = tmp_path / "known.toml"
    known.write_text('[[known_failure]]\ncheck = "code-auth"\nreason = "Not yet."\n')
    options = ["--dsh-known-failures", str(known), "--dsh-select", "code_auth"]

    ran = run_pytest(
        tmp_path, "--pyargs", "conformance.suite", "--dsh-adapter", f"{MUTANTS}:Good", *options
    )

    assert "test_conformance[code_auth/known_failure]" in ran.stdout
    assert re.search(r"1 failed, \d+ passed", ran.stdout)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param([], "name the adapter to judge", id="no-adapter"),
        pytest.param(["--dsh-adapter", "nosuch"], "no installed adapter", id="unknown-adapter"),
        pytest.param(
            ["--dsh-adapter", "deepseek", "--dsh-select", "nosuch"],
            "no requirement or check",
            id="unknown-id",
        ),
        pytest.param(
            ["--dsh-adapter", "deepseek", "--dsh-cases", "nosuch"], "no such folder", id="no-folder"
        ),
    ],
)
def test_a_mistake_is_a_usage_error(tmp_path: Path, arguments: list[str], says: str) -> None:
    ran = run_pytest(tmp_path, "--pyargs", "conformance.suite", *arguments)

    assert (
        ran.returncode == pytest.ExitCode.USAGE_ERROR
        or ran.returncode == pytest.ExitCode.INTERRUPTED
    )
    assert says in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stdout


FIXTURES_ALONE = """
import urllib.error
import urllib.request

from adapter_sdk.testing import Exchange

def test_my_application_sees_a_throttled_server(dsh_server, dsh_case):
    server = dsh_server([Exchange(429, (("retry-after", "7"),))])
    try:
        urllib.request.urlopen(server.base_url, timeout=5)
    except urllib.error.HTTPError as error:
        with error:
            assert (error.code, error.headers["retry-after"]) == (429, "7")
    assert len(server.requests) == 1
    assert dsh_case("code_quota/bare_402_empty_body").expect.failure.code == "QUOTA"
"""


def test_the_fixtures_work_alone(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(FIXTURES_ALONE)

    ran = run_pytest(tmp_path, "-q", "test_mine.py")

    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_plugin_is_inert_until_it_is_asked(tmp_path: Path) -> None:
    code = (
        "import sys, pytest, conformance.plugin;"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in "
        "('adapter_sdk', 'httpx', 'pydantic', 'anyio', 'click', 'rich')))"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert ran.stdout.strip() == "[]"
