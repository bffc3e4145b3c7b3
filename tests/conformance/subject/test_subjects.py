"""Good subjects keep every check that a pipe can show; what it cannot is told and counted."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import click
import pytest

from conformance._case_file import shipped_cases
from conformance._lanes import Backend, Means
from conformance._result import Result, Status
from conformance._runner import Runner
from conformance._scenarios import SCENARIOS
from conformance._target import load_target
from conformance.cli import main

HERE: Final = Path(__file__).parent
RECIPE: Final = HERE.parents[2] / "cookbook" / "10_other_language" / "subject.mjs"
PYTHON: Final = f"exec:{sys.executable} {HERE / 'good_subject.py'}"
NODE: Final = f"exec:node {RECIPE}"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

# Timers, aborts, leaving, neighbours, the machine's zone, keys, and the request itself.
WHAT_A_PIPE_COULD_BREAK: Final = (
    "abort",
    "abort-or-timeout",
    "connection-released",
    "credential",
    "idle-consumer-pause",
    "idle-timeout",
    "progress-timeout",
    "request-shape",
    "retry-after-date",
    "state-isolation",
    "unsupported-option",
)


def bad(results: list[Result]) -> dict[str, object]:
    return {
        result.check.id: result.differences or result.note
        for result in results
        if result.status not in (Status.PASS, Status.NA)
    }


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_good_subject_keeps_what_a_pipe_could_break(backend: Backend) -> None:
    runner = Runner(load_target(PYTHON), shipped_cases(), SCENARIOS, means=Means(backend=backend))
    run = runner.run(
        planned
        for planned in runner.plan()
        if planned.check.requirement.id in WHAT_A_PIPE_COULD_BREAK
    )

    assert bad(run.results) == {}
    # Another number of checks means that this test shows less than it says.
    assert sum(result.status is Status.PASS for result in run.results) > 30


def test_what_a_pipe_cannot_show_is_not_applicable_with_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as leaving:
        main([PYTHON, "native_cancellation", "attribution", "code_auth"])
    out = " ".join(click.unstyle(capsys.readouterr().out).split())

    assert leaving.value.code == 0
    assert "native-cancellation cancels a Python task, which a subject behind a pipe" in out
    assert "attribution asks for the name of this SDK, which a subject is not made with" in out
    counted = r"checks: 4 passed, [1-9][0-9]* not applicable, [1-9][0-9]* of other dialects;"
    assert re.search(counted, out)


def test_a_subject_that_breaks_one_promise_fails_for_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as leaving:
        main([f"{PYTHON} auth-as-invalid-request", "code_auth", "code_quota"])
    out = " ".join(click.unstyle(capsys.readouterr().out).split())

    assert leaving.value.code == 1
    assert "code: expected AUTH, got INVALID_REQUEST" in out
    assert "checks: 4 failed for the wrong reason, 7 passed" in out


def test_the_line_that_repeats_a_check_quotes_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = f"exec:{sys.executable} {HERE / 'broken_subject.py'} raises"
    with pytest.raises(SystemExit):
        main([command, "code_auth/bare_401"])

    repeat = f"repeat   dsh-conformance '{command}' code_auth/bare_401"
    assert repeat in click.unstyle(capsys.readouterr().out)


@needs_node
def test_the_recipe_in_node_keeps_every_check_that_waits_for_nothing() -> None:
    runner = Runner(load_target(NODE), shipped_cases(), SCENARIOS)
    run = runner.run(planned for planned in runner.plan() if not planned.timed)

    assert bad(run.results) == {}
    assert sum(result.status is Status.PASS for result in run.results) > 330


@needs_node
def test_the_recipe_in_node_keeps_its_limits_and_hears_an_abort() -> None:
    runner = Runner(load_target(NODE), shipped_cases(), SCENARIOS)
    run = runner.run(
        planned
        for planned in runner.plan()
        if planned.timed and planned.check.requirement.id in WHAT_A_PIPE_COULD_BREAK
    )

    assert bad(run.results) == {}
    assert sum(result.status is Status.PASS for result in run.results) > 10


@needs_node
def test_the_recipe_in_node_ends_with_its_standard_input() -> None:
    done = subprocess.run(
        ["node", str(RECIPE)],
        check=False,
        input='{"do":"hello","protocol":1}\n',
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith('{"protocol":1,"declaration":{"dialects":["openai-chat"]')


def test_the_recipe_needs_nothing_but_node() -> None:
    imported = {
        line.split(" from ")[1].strip('";')
        for file in RECIPE.parent.glob("*.mjs")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("import ")
    }

    assert [name for name in imported if not name.startswith(("node:", "./"))] == []
