"""The command, as a person runs it: verdicts, messages, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
from syrupy.assertion import SnapshotAssertion

from conformance._case_file import shipped_cases
from conformance._catalogue import load_catalogue
from conformance.cli import main

MUTANTS = Path(__file__).parents[1] / "mutants" / "broken.py"


class Ran:
    """What one run of the command printed, and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        with pytest.raises(SystemExit) as leaving:
            main(list(arguments))
        self.exit_code = leaving.value.code
        captured = capsys.readouterr()
        self.out, self.err = click.unstyle(captured.out), click.unstyle(captured.err)


def settled(text: str) -> str:
    """Return ``text`` without what differs from run to run."""
    text = text.replace(str(MUTANTS), "broken.py")
    # Which side notes first what both have seen differs from run to run.
    text = re.sub(r"(?m)^ +[0-9]+\.[0-9] ms .*\n", "", text)
    text = re.sub(r"[0-9]+\.[0-9] s\b", "<s>", text)
    return re.sub(r"[0-9]+ bytes of body", "<n> bytes of body", text)


def test_x_stops_at_the_first_failure_and_says_how_much_was_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    mutant = f"{MUTANTS}:AuthAsInvalidRequest"
    whole = Ran(capsys, mutant, "code_auth", "unknown_fields")
    ran = Ran(capsys, mutant, "code_auth", "unknown_fields", "-x")
    reports, stopped_reports = (r.out.count("\n  differs  ") for r in (whole, ran))

    assert (ran.exit_code, ran.err) == (1, "")
    assert reports > stopped_reports == 1
    assert re.search(r"; checks: .*\d+ not run after the first failure;", ran.out)
    assert "not run" not in whole.out


def test_a_rule_for_every_call_can_be_selected_alone_and_beside_a_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rule, mutant = "single_attempt/in_every_call", f"{MUTANTS}:Retrying"
    alone = Ran(capsys, mutant, rule)
    beside = Ran(capsys, mutant, "code_auth/bare_401", rule)
    kept = Ran(capsys, f"{MUTANTS}:Good", "code_auth/bare_401", rule)

    assert (alone.exit_code, beside.exit_code, kept.exit_code) == (1, 1, 0)
    assert "MUST 0/1, SHOULD 0/0; checks: 1 failed; " in alone.out
    assert "MUST 0/2, SHOULD 0/0; checks: 1 failed, 1 failed for the wrong reason; " in beside.out
    assert "MUST 2/2, SHOULD 0/0; checks: 2 passed; " in kept.out
    for ran in (alone, beside, kept):
        assert ran.out.count(f" {rule}\n") >= 1


def test_a_run_with_many_failures_shows_ten_of_them_and_says_where_to_begin(
    capsys: pytest.CaptureFixture[str],
) -> None:
    select = ["code_quota", "retry_after_seconds", "single_attempt/sdk_"]
    ran = Ran(capsys, f"{MUTANTS}:Retrying", *select)
    every = Ran(capsys, f"{MUTANTS}:Retrying", *select, "-v")
    tail = ran.out.splitlines()[-4:]

    assert ran.exit_code == every.exit_code == 1
    assert ran.out.count("\n  repeat   ") == 10
    assert re.fullmatch(
        r"(\d+) of \1 failures: more than one HTTP request; begin with single-attempt", tail[0]
    )
    left = re.match(r"(\d+) more are not shown in full: -v shows all of them", tail[1])
    assert left is not None
    assert every.out.count("\n  repeat   ") == 10 + int(left[1])
    for reports in (ran.out, every.out):
        first = re.search(r"\n\n[A-Z_]+ (\w+)/", reports)
        assert first is not None
        assert first[1] == "single_attempt"
    assert every.out.splitlines()[-1].split("; ")[:2] == tail[-1].split("; ")[:2]


def test_a_conformant_adapter_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "deepseek", "code_auth", "retry_after_ms")

    assert ran.exit_code == 0
    assert ran.err == ""
    assert ran.out.splitlines()[-1].startswith("CONFORMANT  deepseek  MUST 1/1, SHOULD 1/1")


@pytest.mark.parametrize(
    ("mutant", "select", "says"),
    [
        pytest.param(
            "Retrying",
            "single_attempt",
            ["HTTP requests: expected 1, got 2", "One call makes at most one HTTP request"],
            id="a-hidden-retry",
        ),
        pytest.param(
            "AuthAsInvalidRequest",
            "code_auth",
            ["code: expected AUTH, got INVALID_REQUEST", "401, 403 and a body"],
            id="a-refused-key-as-a-refused-request",
        ),
        pytest.param(
            "TruncationAccepted",
            "terminal_evidence",
            ["outcome: expected failure, got success", "A call succeeds only on"],
            id="a-truncated-answer-as-a-whole-one",
        ),
    ],
)
def test_a_broken_adapter_exits_with_1_and_says_what_differs(
    capsys: pytest.CaptureFixture[str], mutant: str, select: str, says: list[str]
) -> None:
    ran = Ran(capsys, f"{MUTANTS}:{mutant}", select)

    assert ran.exit_code == 1
    for sentence in says:
        assert sentence in ran.out
    for part in (
        *("answer   ", "played   over a loopback socket", "server connection 1: "),
        *("caller finish", "repeat   ", "explain  "),
    ):
        assert part in ran.out
    reports = ran.out.split("\n\n")[1:-1]
    assert reports
    assert max(len(report.splitlines()) for report in reports) <= 25


def test_the_good_twin_of_the_broken_adapters_passes_what_they_fail(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran = Ran(capsys, f"{MUTANTS}:Good", "single_attempt", "code_auth", "terminal_", "truncation_")

    assert ran.exit_code == 0, ran.out


def test_the_report_of_a_failure(
    capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    ran = Ran(capsys, f"{MUTANTS}:AuthAsInvalidRequest", "code_auth/bare_401")

    assert settled(ran.out) == snapshot


@pytest.mark.parametrize(
    ("arguments", "exit_code", "says"),
    [
        pytest.param(["nosuch"], 4, "no installed adapter has this name", id="unknown-entry-point"),
        pytest.param(["no.such:Thing"], 4, "cannot be imported", id="unknown-module"),
        pytest.param(["nosuch.py:Thing"], 4, "there is no file nosuch.py", id="unknown-file"),
        pytest.param([f"{MUTANTS}:Nothing"], 4, "has no Nothing", id="unknown-attribute"),
        pytest.param([f"{MUTANTS}:codes"], 4, "a factory, got module", id="no-factory"),
        pytest.param([f"{MUTANTS}:LlmRequest"], 4, "has no declaration", id="no-declaration"),
        pytest.param(["deepseek", "nosuch_id"], 4, "nosuch_id: no requirement", id="unknown-id"),
        pytest.param(["deepseek", "level:most"], 4, "there is no such level", id="unknown-level"),
        pytest.param(["deepseek", "speed:1"], 4, "select by id", id="unknown-selector"),
        pytest.param(["deepseek", "--seed", "x"], 4, "not a valid integer", id="bad-seed"),
        pytest.param(["deepseek", "--nosuch"], 4, "No such option", id="unknown-option"),
        pytest.param(["deepseek", "--profile", "x"], 4, "no profile 'x'", id="unknown-profile"),
        pytest.param(["deepseek", "--cases", "nosuch"], 4, "no such folder", id="no-case-folder"),
        pytest.param(["explain", "nosuch"], 4, "nothing has this id", id="explain-unknown"),
        pytest.param(
            ["deepseek", "code_auth", "level:should"], 5, "matches no check", id="nothing-selected"
        ),
        pytest.param(["deepseek", "code_challenge_page"], 5, "", id="no-must-checked"),
    ],
)
def test_a_mistake_gets_one_line_and_the_exit_code_of_its_kind(
    capsys: pytest.CaptureFixture[str], arguments: list[str], exit_code: int, says: str
) -> None:
    ran = Ran(capsys, *arguments)

    assert ran.exit_code == exit_code
    assert says in ran.err
    assert "Traceback" not in ran.out + ran.err
    if exit_code == 4:
        assert len(ran.err.splitlines()) == 1
        assert ran.err.startswith("dsh-conformance: ")
        assert ran.out == ""


def test_a_run_that_is_interrupted_exits_with_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance._runner.Runner.run", interrupt)
    ran = Ran(capsys, "deepseek", "code_auth")

    assert ran.exit_code == 2
    assert ran.err.split("\n") == ["", "dsh-conformance: interrupted", ""]


CASE = """
requirement = "code-auth"
dialect = "any"
title = "A refused key is refused"

[[exchange]]
status = 401
headers = []
end = "eof"

[expect]
outcome = "failure"

[expect.failure]
code = "{code}"
"""


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [pytest.param("AUTH", 0, id="kept"), pytest.param("QUOTA", 1, id="not-kept")],
)
def test_a_folder_of_more_cases_is_played_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, code: str, exit_code: int
) -> None:
    case = tmp_path / "code_auth" / "mine.toml"
    case.parent.mkdir()
    case.write_text(CASE.format(code=code))

    ran = Ran(capsys, "deepseek", "code_auth/mine", "--cases", str(tmp_path))

    assert ran.exit_code == exit_code


@pytest.mark.parametrize("columns", [None, 70])
def test_list_keeps_to_a_terminal_and_gives_a_pipe_whole_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int | None
) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setattr("conformance.cli._in_a_terminal", lambda: columns is not None)

    lines = Ran(capsys, "list").out.splitlines()
    checks = Ran(capsys, "list", "-v").out.splitlines()

    requirements = load_catalogue().requirements
    if columns is None:
        assert len(lines) == len(requirements)
    else:
        assert max(map(len, lines)) <= columns
    assert len(checks) - len(lines) >= len(shipped_cases())
    assert [line.split()[1] for line in lines if line[:1].strip()] == [r.id for r in requirements]


def test_list_as_json_names_every_check_of_every_requirement(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran = Ran(capsys, "list", "--json")

    listed = json.loads(ran.out)["requirements"]
    assert ran.exit_code == 0
    assert [each["id"] for each in listed] == [each.id for each in load_catalogue().requirements]
    assert all(each["checks"] for each in listed)
    named = {check["id"] for each in listed for check in each["checks"]}
    assert named >= {case.id for case in shipped_cases()}


def test_explain_works_for_every_id(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(Ran(capsys, "list", "--json").out)
    ids = [requirement["id"] for requirement in data["requirements"]]
    ids += [check["id"] for requirement in data["requirements"] for check in requirement["checks"]]

    for wanted in ids:
        ran = Ran(capsys, "explain", wanted)
        assert (ran.exit_code, ran.err) == (0, "")
        assert ran.out.startswith(wanted)


@pytest.mark.parametrize(
    "wanted",
    ["retry-after-date", "retry_after_date/asctime_without_zone", "abort/before_the_call"],
)
def test_what_explain_prints(
    capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion, wanted: str
) -> None:
    assert Ran(capsys, "explain", wanted).out == snapshot
