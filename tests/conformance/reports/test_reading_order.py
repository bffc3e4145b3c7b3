"""What a reader meets first: what is bad, what explains it, and none of what is elsewhere."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import TypeAlias

import pytest

from conformance._reports import FORMATS, Report, report_of
from conformance._result import Check, Run, Status
from conformance._terminal import headline

Judged: TypeAlias = Callable[..., Report]

RETRIED = "HTTP requests: expected 1, got 2"


@pytest.fixture
def crowded(run: Run) -> Run:
    """The same run, but two of three failures have one cause, and a card has other dialects."""
    found = {result.check.id: result for result in run.results}
    del found["abort/mid_stream"]
    for name in ("code_quota/bare_402", "terminal_evidence/cut_after_text"):
        found[name] = dataclasses.replace(found[name], differences=(RETRIED,))
    na = found["retry_after_date/asctime"]
    for name in ("rfc_850", "imf_fixdate"):
        check = Check(f"retry_after_date/{name}", na.check.requirement, "In another dialect")
        found[check.id] = dataclasses.replace(na, check=check, note="dialect anthropic-messages")
    return dataclasses.replace(run, results=list(found.values()))


def cards(page: str) -> list[str]:
    return re.findall(r'<details class="requirement" id="([^"]+)"', page)


def test_the_page_begins_with_what_is_not_kept_and_says_so(crowded: Run) -> None:
    page = FORMATS["html"](report_of(crowded))

    assert cards(page) == [
        "code-quota",
        "terminal-evidence",
        "code-auth",
        "code-challenge-page",
        "retry-after-date",
        "usage",
    ]
    told = re.findall(r'<p class="cause">(.*?)</p>', page)
    assert told == [
        "2 of 3 failures: more than one HTTP request; begin with code-quota",
        "The 4 requirements that are not kept come first.",
    ]


@pytest.mark.parametrize(
    ("verdicts", "says"),
    [
        pytest.param(["usage/a=PASS", "code-auth/a=PASS"], [], id="all-kept"),
        pytest.param(["usage/a=FAIL", "code-auth/a=FAIL"], [], id="none-kept"),
        pytest.param(
            ["usage/a=PASS", "code-auth/a=FAIL"],
            ["The requirement that is not kept comes first."],
            id="one-not-kept",
        ),
    ],
)
def test_the_page_says_no_more_than_there_is(
    judged: Judged, verdicts: list[str], says: list[str]
) -> None:
    page = FORMATS["html"](judged(*verdicts))

    assert re.findall(r'<p class="cause">(.*?)</p>', page) == says


def test_markdown_begins_with_the_cause_and_its_requirement(crowded: Run) -> None:
    text = FORMATS["md"](report_of(crowded))

    assert "\n**2 of 3 failures: more than one HTTP request; begin with code-quota**\n" in text
    named = re.findall(r"^#### \S+ (\w+) `([^`]+)`", text, re.MULTILINE)
    assert named == [
        ("STALE", "code_quota/bare_402"),
        ("FAIL", "terminal_evidence/cut_after_text"),
        ("WRONG_REASON", "code_auth/bare_401"),
        ("WARN", "code_challenge_page/cloud_edge"),
    ]


def test_a_card_begins_with_what_is_bad(judged: Judged) -> None:
    page = FORMATS["html"](judged("usage/a=PASS", "usage/b=FAIL", "usage/c=NA", "usage/d=WARN"))

    assert re.findall(r'<details class="check" id="usage/(\w)"', page) == ["b", "d", "a", "c"]


def test_checks_of_other_dialects_are_one_line_with_their_number(crowded: Run) -> None:
    page = FORMATS["html"](report_of(crowded))

    (fold,) = re.findall(r'<details class="elsewhere".*?</details>', page, re.DOTALL)
    assert "<summary>2 checks of other dialects</summary>" in fold
    assert re.findall(r'id="(\w+/\w+)" data-status="(\w+)"', fold) == [
        ("retry_after_date/rfc_850", "NA"),
        ("retry_after_date/imf_fixdate", "NA"),
    ]
    assert 'class="check" id="retry_after_date/asctime"' in page
    assert 'class="check" id="retry_after_date/rfc_850"' not in page


def test_a_page_names_no_source_that_its_reader_cannot_look_up(report: Report) -> None:
    assert {requirement.source for requirement in report.requirements} == {"S002"}
    assert "S002" not in FORMATS["html"](report)
    assert "S002" not in FORMATS["md"](report)


def test_the_terminal_markdown_and_the_page_count_in_the_same_words(crowded: Run) -> None:
    words = (
        "1 failed, 1 failed for the wrong reason, 1 stale, 1 warned, 1 failed as known, 1 passed, "
        "1 not applicable, 2 of other dialects"
    )
    report = report_of(crowded)

    assert f"checks: {words}; " in headline(crowded)
    assert f"checks: {words} · " in FORMATS["md"](report)
    assert f"<dt>Checks</dt><dd>{words}</dd>" in FORMATS["html"](report)
    assert report.counts[Status.NA] == 3


def test_a_long_timeline_keeps_its_end_on_the_page(run: Run) -> None:
    sent = [(0.001 * n, "server", f"connection 1: step sent: step {n}") for n in range(300)]
    retried = (
        (0.0, "server", "connection 1: accepted"),
        *sent,
        (0.301, "server", "connection 2: accepted"),
        *sent,
        (0.5, "caller", "finish stop"),
    )
    run.results = [dataclasses.replace(run.results[0], timeline=retried)]

    page = FORMATS["html"](report_of(run))

    assert ">connection 2: accepted<" in page
    assert ">finish stop<" in page
    left_out = re.findall(r">(\d+) more events are in the JSON report<", page)
    listed = page.count('class="what"')
    assert listed <= 120
    assert sum(map(int, left_out)) + listed == len(retried)
