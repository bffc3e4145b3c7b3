"""What the README shows is what happens: its code runs, its commands are those of the build."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final

import pytest

from adapter_sdk import codes
from adapter_sdk.testing import Exchange, FaultServer, Send

ROOT: Final = Path(__file__).parent.parent
README: Final = (ROOT / "README.md").read_text()
BLOCKS: Final = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PYTHON: Final = [block for language, block in BLOCKS if language == "python"]
SHELL: Final = [block.strip() for language, block in BLOCKS if language == "sh"]
ACME, NIMBUS = PYTHON
JUDGE, TEST = SHELL[:2]

HELLO: Final = Exchange(
    200,
    (("content-type", "text/event-stream"),),
    steps=(
        Send(b'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n'),
        Send(b'data: {"choices":[{"index":0,"delta":{"content":"lo"}}]}\n\n'),
        Send(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'),
        Send(b"data: [DONE]\n\n"),
    ),
)
REFUSED: Final = Exchange(401, (("x-request-id", "r-1"),), body=b'{"error":"no such key"}')


def run(
    *command: str | Path, cwd: Path, timeout_s: float, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **environment},
        text=True,
        timeout=timeout_s,
    )


def lines_of_code(block: str) -> int:
    return sum(1 for line in block.splitlines() if line.strip())


def without_numbers(line: str) -> str:
    """Counts grow with every check that is added, and no two runs take the same time."""
    return re.sub(r"\d+", "N", line)


def conformance(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    script = Path(sysconfig.get_path("scripts")) / "dsh-conformance"
    return run(script, *arguments, cwd=cwd, timeout_s=120)


def test_a_provider_is_at_most_twelve_lines_and_the_adapter_with_its_call_twenty() -> None:
    assert len(ACME.strip().splitlines()) <= 12
    assert lines_of_code(NIMBUS) == 20


@pytest.mark.parametrize(
    ("exchange", "printed"),
    [
        pytest.param(HELLO, r"Hello \[stop\]\n", id="a good key"),
        pytest.param(
            REFUSED, r" \[LlmFailure\(.*code='AUTH', status=401, .*'r-1'\)\]\n", id="a wrong key"
        ),
    ],
)
def test_the_twenty_lines_print_what_the_readme_says(
    exchange: Exchange, printed: str, tmp_path: Path
) -> None:
    (tmp_path / "nimbus.py").write_text(NIMBUS)
    with FaultServer([exchange]) as server:
        done = run(
            *(sys.executable, "-W", "error", "nimbus.py"),
            cwd=tmp_path,
            timeout_s=30,
            NIMBUS_BASE_URL=server.base_url,
            NIMBUS_API_KEY="any",
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(printed, done.stdout), done.stdout
    assert b'"safe_prompt":true' in server.requests[0].body


def test_the_twelve_lines_pass_every_must(tmp_path: Path) -> None:
    (tmp_path / "readme_block.py").write_text(ACME)
    done = conformance("readme_block.py:AcmeAdapter", "--level", "must", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    verdict = done.stdout.splitlines()[-1]
    passed = re.match(r"CONFORMANT  readme_block.py:AcmeAdapter  MUST (\d+)/(\d+),", verdict)
    assert passed is not None, verdict
    assert passed[1] == passed[2]


def test_the_twenty_lines_can_be_judged_too(tmp_path: Path) -> None:
    (tmp_path / "nimbus.py").write_text(NIMBUS)
    done = conformance("nimbus.py:NimbusAdapter", "code_auth", "terminal_evidence", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_the_known_failure_is_read_and_is_strict(tmp_path: Path) -> None:
    (tmp_path / "readme_block.py").write_text(ACME)
    (known,) = [block for language, block in BLOCKS if language == "toml"]
    (tmp_path / "known.toml").write_text(known)
    done = conformance(
        *("readme_block.py:AcmeAdapter", "code_auth", "--known-failures", "known.toml"),
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "STALE code_auth/bare_401" in done.stdout


def test_the_commands_are_each_one_line_that_begins_with_nothing_but_python() -> None:
    for command in (JUDGE, TEST):
        assert "\n" not in command
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")


def test_the_build_runs_the_readmes_test_command_then_its_first_command() -> None:
    steps = (ROOT / ".ci" / "run").read_text().splitlines()
    commands = [line for line in steps if line.startswith(("python3 ", ".venv/"))]
    assert commands == [
        TEST,
        ".venv/bin/ruff check .",
        ".venv/bin/ruff format --check .",
        ".venv/bin/mypy",
        JUDGE,
    ]


def test_the_first_command_gives_the_verdict_that_is_shown(tmp_path: Path) -> None:
    (shown,) = [block for _, block in BLOCKS if "\nCONFORMANT  deepseek  " in block]
    done = conformance("deepseek", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    given = [without_numbers(line) for line in done.stdout.splitlines()]
    lines = [without_numbers(line) for line in shown.splitlines() if line != "..."]
    assert [line for line in lines if line not in given] == []
    assert (lines[0], lines[-1]) == (given[0], given[-1])


def test_the_table_of_failure_codes_has_every_code_once() -> None:
    listed = re.findall(r"^\| `([A-Z_]+(?:<status>)?)` \|", README, re.MULTILINE)
    assert sorted(listed) == sorted([*codes.CODES, "HTTP_<status>"])


def test_the_table_says_of_the_transient_codes_that_they_are() -> None:
    listed = re.findall(r"^\| `([A-Z_]+)` \|[^|]*\(transient\) \|", README, re.MULTILINE)
    assert sorted(listed) == sorted(codes.TRANSIENT_CODES)


def test_every_link_leads_to_a_file_of_the_project() -> None:
    targets = re.findall(r"\]\((.+?)\)", README)
    assert targets
    headings = re.findall(r"^## (.+)$", README, re.MULTILINE)
    anchors = {"#" + heading.lower().replace(" ", "-") for heading in headings}
    assert [t for t in targets if not (ROOT / t).is_file() and t not in anchors] == []
