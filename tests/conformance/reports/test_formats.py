"""Each format as it is written, and what holds for all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TypeAlias
from xml.etree import ElementTree

import pytest
from syrupy.assertion import SnapshotAssertion

from conformance._reports import FORMATS, Report, badge, matrix, workflow_commands
from conformance._result import Run, Status

Judged: TypeAlias = Callable[..., Report]


def test_the_hand_made_run_holds_every_verdict(run: Run) -> None:
    assert {result.status for result in run.results} == set(Status)


def without_style_and_script(page: str) -> str:
    """The policy names the hash of the script, so it goes too."""
    page = re.sub(r"<(style|script)>.*?</\1>", r"<\1></\1>", page, flags=re.DOTALL)
    page = re.sub(r"sha256-[\w+/=]+", "sha256-", page)
    return re.sub(r"(?<=>)(?=<(?:details|div|li|tr|td|th|p|dt|pre)\b)", "\n", page)


@pytest.mark.parametrize("kind", ["json", "junit", "md", "ctrf"])
def test_a_text_format(kind: str, report: Report, snapshot: SnapshotAssertion) -> None:
    assert FORMATS[kind](report) == snapshot


def test_the_page(report: Report, snapshot: SnapshotAssertion) -> None:
    assert without_style_and_script(FORMATS["html"](report)) == snapshot


def test_the_badge(report: Report, snapshot: SnapshotAssertion) -> None:
    assert badge(report) == snapshot


def test_the_matrix(report: Report, judged: Judged, snapshot: SnapshotAssertion) -> None:
    levels = {"must": 44, "should": 6}
    other = judged("code-auth/bare_401=PASS", target="other", edition_levels=levels)

    assert without_style_and_script(matrix([report, other])) == snapshot


def test_the_workflow_commands(report: Report, snapshot: SnapshotAssertion) -> None:
    assert workflow_commands(report) == snapshot


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_names_every_check_and_its_verdict(kind: str, report: Report) -> None:
    text = FORMATS[kind](report)
    for requirement in report.requirements:
        assert requirement.id in text
    for check in report.checks:
        # A pull request wants to read of what is bad.
        if kind != "md" or check.status not in (Status.PASS, Status.NA, Status.XFAIL):
            assert check.id in text
        # JUnit has no word for PASS, and no requirement passed whole.
        if kind not in ("junit", "md") or check.status is not Status.PASS:
            assert check.status.value in text


@pytest.mark.parametrize("kind", FORMATS)
def test_a_run_without_results_makes_a_report_too(kind: str, judged: Judged) -> None:
    assert FORMATS[kind](judged()).strip()


def test_junit_tells_each_verdict_in_the_words_of_the_format(report: Report) -> None:
    root = ElementTree.fromstring(FORMATS["junit"](report))

    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuites", "8", "3")
    assert (root.get("errors"), root.get("skipped")) == ("1", "2")
    assert [suite.get("name") for suite in root] == [r.id for r in report.requirements]
    told = {
        case.get("name"): [(child.tag, child.get("type")) for child in case]
        for case in root.iter("testcase")
    }
    assert told == {
        "code_auth/bare_401": [("failure", "WRONG_REASON")],
        "code_auth/bare_403": [],
        "code_challenge_page/cloud_edge": [("system-out", None)],
        "code_quota/bare_402": [("failure", "STALE")],
        "retry_after_date/asctime": [("skipped", None)],
        "terminal_evidence/cut_after_text": [("failure", "FAIL")],
        "usage/cached_tokens": [("skipped", None)],
        "abort/mid_stream": [("error", "HARNESS")],
    }
    skipped = [element.get("message") for element in root.iter("skipped")]
    assert skipped == [
        "NA: the adapter does not declare http_facts",
        "XFAIL: the provider sends them elsewhere (https://tracker.invalid/12)",
    ]
    for suite in root:
        assert suite.get("tests") == str(len(suite.findall("testcase")))


def test_ctrf_counts_what_it_lists(report: Report) -> None:
    results = json.loads(FORMATS["ctrf"](report))["results"]
    summary, tests = results["summary"], results["tests"]

    assert summary["tests"] == len(tests) == len(report.checks)
    for status in ("passed", "failed", "skipped", "pending", "other"):
        assert summary[status] == sum(test["status"] == status for test in tests)
    assert summary["stop"] - summary["start"] == 4205
    assert {test["rawStatus"]: test["status"] for test in tests} == {
        "PASS": "passed",
        "WARN": "passed",
        "FAIL": "failed",
        "WRONG_REASON": "failed",
        "STALE": "failed",
        "HARNESS": "failed",
        "NA": "skipped",
        "XFAIL": "skipped",
    }


def test_markdown_fits_a_comment_however_much_is_bad(report: Report) -> None:
    bad = next(r for r in report.requirements if r.status is Status.FAIL)
    many = tuple(
        check.model_copy(update={"id": f"{check.id}_{n}", "said": "long " * 200})
        for n in range(500)
        for check in bad.checks
    )
    flooded = report.model_copy(
        update={"requirements": (bad.model_copy(update={"checks": many}), *report.requirements)}
    )

    text = FORMATS["md"](flooded)

    assert 50_000 < len(text) < 65_000
    left_out = re.search(r"^(\d+) more did not fit here", text, flags=re.MULTILINE)
    assert left_out is not None
    assert text.count("\n#### ") + int(left_out[1]) == len(many) + 5


def test_at_most_ten_annotations_of_a_kind_and_the_last_one_names_the_rest(judged: Judged) -> None:
    found = workflow_commands(
        judged(*(f"code-auth/wrong_{n}=FAIL" for n in range(12)), "code-challenge-page/edge=WARN")
    )

    assert [line.split(" ")[0] for line in found] == ["::error"] * 10 + ["::warning"]
    assert found[9] == (
        "::error title=3 more::code_auth/wrong_9, code_auth/wrong_10, code_auth/wrong_11"
    )
