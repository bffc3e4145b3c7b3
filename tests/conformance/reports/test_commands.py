"""``--report`` and ``--open``, and the commands that read reports, as a person uses them."""

from __future__ import annotations

import json
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

import pytest

from conformance._reports import FORMATS, Report, read_report

Command: TypeAlias = Callable[..., Any]
Judged: TypeAlias = Callable[..., Report]
Write: TypeAlias = Callable[[str, Report], Path]

BROKEN = Path(__file__).parents[2] / "mutants" / "broken.py"


def test_one_run_writes_every_report_and_prints_what_it_always_prints(
    command: Command, tmp_path: Path
) -> None:
    words = [f"--report={kind}={tmp_path / kind}" for kind in FORMATS]

    ran = command("deepseek", "code_auth/bare_401", *words)

    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1].startswith("CONFORMANT  deepseek")
    assert len(ran.out.splitlines()) == len(
        command("deepseek", "code_auth/bare_401").out.splitlines()
    )
    report = read_report(tmp_path / "json")
    assert [(check.id, check.status) for check in report.checks] == [("code_auth/bare_401", "PASS")]
    assert report.checks[0].timeline
    assert ElementTree.parse(tmp_path / "junit").getroot().get("tests") == "1"
    assert json.loads((tmp_path / "ctrf").read_text())["results"]["summary"]["passed"] == 1
    assert (tmp_path / "md").read_text().startswith("### ✅ CONFORMANT: `deepseek`")
    assert (tmp_path / "html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(
            ["--report", "xml=F"],
            "xml=F: there is no report 'xml'; there are: junit, json, html, md, ctrf",
            id="unknown-kind",
        ),
        pytest.param(["--report", "report.xml"], "there is no report 'report.xml'", id="no-kind"),
        pytest.param(["--report", "junit"], "name the file too: junit=FILE", id="no-equals"),
        pytest.param(["--report", "junit="], "name the file too: junit=FILE", id="no-file"),
        pytest.param(
            ["--report", "json=no/such/F"], "cannot be written: No such file", id="no-folder"
        ),
        pytest.param(["--report", "json=."], "cannot be written: Is a directory", id="a-folder"),
        pytest.param(
            ["--report", "json=F", "--report", "html=./F"],
            "two reports in one file",
            id="one-file-for-two",
        ),
        pytest.param(["--open"], "--open needs a report to open: --report html=FILE", id="open"),
        pytest.param(
            ["--open", "--report", "json=F"], "--open needs a report to open", id="open-no-html"
        ),
    ],
)
def test_a_report_that_cannot_be_is_told_before_anything_runs(
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)

    ran = command("deepseek", "code_auth", *words)

    assert (ran.exit_code, ran.out) == (4, "")
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith("dsh-conformance: ")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_there_keeps_its_content_when_the_run_does_not_start(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "report.json"
    path.write_text("what was there")

    ran = command("nosuch", f"--report=json={path}")

    assert ran.exit_code == 4
    assert path.read_text() == "what was there"


@pytest.mark.parametrize(
    ("target", "exit_code"),
    [
        pytest.param("deepseek", 4, id="conformant"),
        pytest.param(f"{BROKEN}:AuthAsInvalidRequest", 1, id="not-conformant"),
    ],
)
def test_a_disk_that_is_full_loses_one_report_and_nothing_else(
    command: Command, tmp_path: Path, target: str, exit_code: int
) -> None:
    other = tmp_path / "report.md"

    ran = command(target, "code_auth/bare_401", "--report=json=/dev/full", f"--report=md={other}")

    assert ran.exit_code == exit_code
    assert ran.err == ("dsh-conformance: /dev/full: cannot be written: No space left on device\n")
    assert "CONFORMANT" in ran.out
    assert other.read_text()


@pytest.mark.parametrize(
    ("opens", "says"), [(True, ""), (False, "dsh-conformance: found no browser to open ")]
)
def test_open_shows_the_page_in_a_browser(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opens: bool, says: str
) -> None:
    shown: list[str] = []

    def browser(url: str) -> bool:
        shown.append(url)
        return opens

    monkeypatch.setattr(webbrowser, "open", browser)
    page = tmp_path / "a report.html"

    ran = command("deepseek", "code_auth/bare_401", f"--report=html={page}", "--open")

    assert ran.exit_code == 0
    assert ran.err == (says and f"{says}{page}\n")
    assert shown == [page.as_uri()]


def test_a_workflow_gets_annotations_and_a_summary_and_the_same_report(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    target = f"{BROKEN}:AuthAsInvalidRequest"

    ran = command(target, "code_auth/bare_401")

    assert ran.exit_code == 1
    assert ran.err.splitlines() == [
        "::error title=WRONG_REASON code_auth/bare_401::differs: code: expected AUTH, got "
        "INVALID_REQUEST ('HTTP 401 from the provider, an empty body')%0Arepeat: "
        f"dsh-conformance {target} code_auth/bare_401"
    ]
    assert "::" not in ran.out
    assert summary.read_text().startswith("# before\n### ❌ NOT CONFORMANT: ")


def test_a_summary_that_cannot_be_written_leaves_the_verdict_alone(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))

    ran = command("deepseek", "code_auth/bare_401")

    assert ran.exit_code == 0
    assert ran.err == f"dsh-conformance: {tmp_path}: no summary: Is a directory\n"


@pytest.mark.parametrize(
    ("old", "new", "exit_code"),
    [
        pytest.param("PASS", "FAIL", 1, id="worse"),
        pytest.param("FAIL", "PASS", 0, id="better"),
        pytest.param("PASS", "PASS", 0, id="the-same"),
        pytest.param("FAIL", "FAIL", 0, id="bad-as-before"),
    ],
)
def test_diff_exits_with_1_if_anything_got_worse(
    command: Command, judged: Judged, write: Write, old: str, new: str, exit_code: int
) -> None:
    before = write("old.json", judged(f"code-auth/a={old}"))
    after = write("new.json", judged(f"code-auth/a={new}"))

    ran = command("diff", before, after)

    assert (ran.exit_code, ran.err) == (exit_code, "")
    assert ran.out.startswith("old  ")


def test_matrix_and_badge_write_a_file_or_standard_output(
    command: Command, report: Report, write: Write, tmp_path: Path
) -> None:
    source = write("report.json", report)
    for words, begin in (
        (("matrix", source, source), "<!doctype html>"),
        (("badge", source), "<svg"),
    ):
        printed = command(*words)
        assert (printed.exit_code, printed.err) == (0, "")
        assert printed.out.startswith(begin)

        written = command(*words, "-o", tmp_path / "out")
        assert (written.exit_code, written.out, written.err) == (0, "", "")
        assert (tmp_path / "out").read_text() == printed.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(["badge", "nosuch"], "nosuch: cannot be read", id="badge"),
        pytest.param(["matrix", "nosuch"], "nosuch: cannot be read", id="matrix"),
        pytest.param(["matrix"], "Missing argument", id="matrix-of-nothing"),
        pytest.param(["diff", "{report}", "nosuch"], "nosuch: cannot be read", id="diff-new"),
        pytest.param(["diff", "nosuch", "{report}"], "nosuch: cannot be read", id="diff-old"),
        pytest.param(["diff", "{report}"], "Missing argument", id="diff-of-one"),
        pytest.param(["badge", "{report}", "-o", "no/F"], "no/F: cannot be written", id="output"),
    ],
)
def test_a_mistake_gets_one_line_and_exit_code_4(
    command: Command, report: Report, write: Write, words: list[str], says: str
) -> None:
    source = str(write("report.json", report))

    ran = command(*(word.format(report=source) for word in words))

    assert (ran.exit_code, ran.out) == (4, "")
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1
