"""A folder of more cases: what would be passed over in silence ends the run with one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .ran import Ran

GOOD = """
requirement = "code-auth"
dialect = "any"
title = "A refused key is refused"
[[exchange]]
status = 401
[expect]
outcome = "failure"
failure = {code = "AUTH"}
"""


@pytest.mark.parametrize(
    ("place", "text", "says"),
    [
        pytest.param("mine.toml", GOOD, "mine.toml: is not read here; a case is ", id="too-high"),
        pytest.param(
            "code_auth/old/mine.toml", GOOD, "mine.toml: is not read here; a case is ", id="too-low"
        ),
        pytest.param(
            "code_auth/mine.toml",
            GOOD.replace('"any"', '"openai"'),
            "mine.toml: dialect: neither the kit nor the target speaks 'openai'; did you mean "
            "openai-chat or openai-responses?",
            id="a-dialect-of-nobody",
        ),
        pytest.param(
            "code_auth/mine.toml",
            GOOD.replace('"AUTH"', '"NOPE"'),
            "mine.toml: expect.failure.code: no code is called 'NOPE'; there are ABORTED, ",
            id="a-code-that-is-none",
        ),
    ],
)
def test_the_command_and_the_suite_refuse_a_case_that_would_never_count(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    place: str,
    text: str,
    says: str,
) -> None:
    folder = tmp_path / "cases"
    for name, content in {"code_auth/good.toml": GOOD, place: text}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)

    ran = Ran(capsys, "deepseek", "code_auth", "--cases", str(folder))
    suite = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
            *("--pyargs", "conformance.suite", "--dsh-adapter", "deepseek"),
            *("--dsh-cases", str(folder)),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (ran.exit_code, ran.out, ran.is_one_line) == (4, "", True)
    assert says in ran.err
    assert suite.returncode in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERRUPTED)
    assert says in suite.stdout + suite.stderr


def test_a_good_case_of_ones_own_is_judged(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "code_auth").mkdir()
    (tmp_path / "code_auth" / "good.toml").write_text(GOOD)

    ran = Ran(capsys, "deepseek", "code_auth/good", "--cases", str(tmp_path), "-v")

    assert ran.exit_code == 0
    assert "code_auth/good" in ran.out
