"""The lines ``repeat`` and ``explain``: every format prints the same, and they do what they say."""

from __future__ import annotations

import html
import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance._invariants import INVARIANTS
from conformance._repeat import EVERY_CALL, Repeat
from conformance._result import Status

from .commands.ran import Ran

MUTANTS = Path(__file__).parents[1] / "mutants" / "broken.py"
RETRYING = f"{MUTANTS}:Retrying"

CASE_OF_MINE = """
requirement = "code-auth"
dialect = "any"
title = "A refused key is what I say"

[[exchange]]
status = 401
headers = []
end = "eof"

[expect]
outcome = "failure"

[expect.failure]
code = "QUOTA"
"""
KNOWN = '[[known_failure]]\ncheck = "{check}"\nreason = "Not yet."\n'


@pytest.mark.parametrize(
    ("repeat", "status", "lane", "command"),
    [
        pytest.param(Repeat(target="a:b"), Status.FAIL, "socket", "a:b x/y", id="plain"),
        pytest.param(
            Repeat(target="exec:node a.mjs"), Status.FAIL, "", "'exec:node a.mjs' x/y", id="quoted"
        ),
        pytest.param(
            Repeat(
                target="a:b",
                profile="eu",
                backend="trio",
                client="httpx2",
                seed=7,
                cases="my cases",
                known_failures="known.toml",
            ),
            Status.FAIL,
            "socket",
            "a:b --profile eu --backend trio --httpx2 --seed 7 --cases 'my cases' x/y",
            id="every-option",
        ),
        pytest.param(
            Repeat(target="a:b", known_failures="known.toml"),
            Status.STALE,
            "socket",
            "a:b --known-failures known.toml x/y",
            id="stale",
        ),
        pytest.param(
            Repeat(target="a:b"),
            Status.FAIL,
            "in-process, full sweep",
            "a:b --sweep full x/y",
            id="full-sweep",
        ),
    ],
)
def test_the_command_has_what_differs_from_a_plain_run(
    repeat: Repeat, status: Status, lane: str, command: str
) -> None:
    assert repeat.command("x/y", status, lane) == f"dsh-conformance {command}"


def test_what_is_judged_over_many_calls_names_the_check_in_which_it_was_seen() -> None:
    repeat = Repeat(target="a:b", known_failures="known.toml")
    rule = INVARIANTS[0].id

    assert all(invariant.id.endswith(EVERY_CALL) for invariant in INVARIANTS)
    assert repeat.command(rule, Status.FAIL, "x/y") == f"dsh-conformance a:b x/y {rule}"
    assert repeat.command(rule, Status.PASS, "12 plays") == f"dsh-conformance a:b {rule}"
    assert repeat.command("code_auth/known_failure", Status.STALE, "known failures") == (
        "dsh-conformance a:b --known-failures known.toml code_auth/"
    )
    assert repeat.explanation("code_auth/known_failure") == "dsh-conformance explain code-auth"


@dataclass(frozen=True)
class Lines:
    """The commands that one format prints, in order."""

    repeat: set[str]
    explain: set[str]


def lines_in(text: str) -> Lines:
    return Lines(
        set(re.findall(r"^ *repeat:? +(dsh-conformance .*)$", text, re.MULTILINE)),
        set(re.findall(r"^ *explain:? +(dsh-conformance .*)$", text, re.MULTILINE)),
    )


def commands_of_the_page(page: str) -> Lines:
    """The page has them for what passed too: those of the checks that are open are of the bad."""
    bad = re.findall(r'<details class="check"[^>]*? open>.*?</details>', page, re.DOTALL)
    blocks = [re.findall(r'<pre class="command">(.*?)</pre>', text) for text in bad]
    plain = [[html.unescape(re.sub(r"<[^>]+>", "", text)) for text in pair] for pair in blocks]
    return Lines({pair[0] for pair in plain}, {pair[1] for pair in plain})


def messages_of_ctrf(text: str) -> Lines:
    tests = json.loads(text)["results"]["tests"]
    bad = [test["extra"] for test in tests if test["rawStatus"] in ("FAIL", "WRONG_REASON")]
    return Lines({extra["repeat"] for extra in bad}, {extra["explain"] for extra in bad})


def test_every_format_prints_the_same_lines_and_each_of_them_works(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    case = tmp_path / "my cases" / "code_auth" / "mine.toml"
    case.parent.mkdir(parents=True)
    case.write_text(CASE_OF_MINE)
    options = ["--cases", str(case.parents[1]), "--backend", "trio", "--httpx2", "--seed", "7"]
    select = ["code_auth/mine", "single_attempt/statuses", "code_quota/bare_402_empty_body"]
    reports = [f"--report={kind}={tmp_path / kind}" for kind in ("md", "junit", "html", "ctrf")]

    ran = Ran(capsys, RETRYING, *select, *options, *reports)
    told = lines_in(ran.out)
    junit = "\n".join(e.text or "" for e in ElementTree.parse(tmp_path / "junit").iter("failure"))

    assert ran.exit_code == 1
    assert len(told.repeat) == len(told.explain) == 4
    assert lines_in((tmp_path / "md").read_text()) == told
    assert lines_in(junit) == told
    assert commands_of_the_page((tmp_path / "html").read_text()) == told
    assert messages_of_ctrf((tmp_path / "ctrf").read_text()) == told
    for line in told.repeat:
        again = Ran(capsys, *shlex.split(line)[1:])
        assert (line, again.exit_code, again.err) == (line, 1, "")
        assert f" {shlex.split(line)[-1]}\n" in f"{again.out}\n"
    for line in told.explain:
        explained = Ran(capsys, *shlex.split(line)[1:])
        assert (line, explained.exit_code, explained.err) == (line, 0, "")


@pytest.mark.parametrize("check", ["code_auth/bare_401", "code-auth"])
def test_a_stale_entry_is_stale_again_where_its_line_is_followed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, check: str
) -> None:
    known = tmp_path / "known.toml"
    known.write_text(KNOWN.format(check=check))

    ran = Ran(capsys, f"{MUTANTS}:Good", "code_auth", "--known-failures", str(known))
    (line,) = lines_in(ran.out).repeat
    (explain,) = lines_in(ran.out).explain
    again = Ran(capsys, *shlex.split(line)[1:])

    assert ran.exit_code == again.exit_code == 1
    assert "1 stale" in ran.out.splitlines()[-1]
    assert "1 stale" in again.out.splitlines()[-1]
    assert Ran(capsys, *shlex.split(explain)[1:]).exit_code == 0
