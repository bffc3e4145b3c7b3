"""Reports beside each other: what changed, who keeps what, and one number for a badge."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias
from xml.etree import ElementTree

import pytest
from syrupy.assertion import SnapshotAssertion

from conformance._reports import Report, badge, changes, diff_lines, got_worse, matrix
from conformance._reports._badge import AMBER, GREEN, GREY, RED, message_of
from conformance._result import Status

Judged: TypeAlias = Callable[..., Report]

WORSE = {
    "PASS": ["NA", "WARN", "XFAIL", "FAIL", "WRONG_REASON", "STALE", "HARNESS"],
    "NA": ["WARN", "XFAIL", "FAIL", "WRONG_REASON", "STALE", "HARNESS"],
    "WARN": ["XFAIL", "FAIL", "WRONG_REASON", "STALE", "HARNESS"],
    "XFAIL": ["FAIL", "WRONG_REASON", "STALE", "HARNESS"],
}


@pytest.mark.parametrize("old", Status)
@pytest.mark.parametrize("new", Status)
def test_every_pair_of_verdicts_is_worse_better_or_otherwise_bad(
    judged: Judged, old: Status, new: Status
) -> None:
    found = changes(judged(f"code-auth/a={old}"), judged(f"code-auth/a={new}"))

    kinds = [change.kind for change in found]
    if old is new:
        assert kinds == []
    elif new in WORSE.get(old, []):
        assert kinds == ["worse"]
    elif old in WORSE.get(new, []):
        assert kinds == ["better"]
    else:
        assert kinds == ["otherwise"]
    assert got_worse(found) is (kinds == ["worse"])


def test_a_new_check_and_one_that_is_gone_are_told_and_are_not_worse(judged: Judged) -> None:
    found = changes(judged("code-auth/a=PASS"), judged("code-auth/b=FAIL"))

    assert [(change.id, change.kind) for change in found] == [
        ("code_auth/b", "new"),
        ("code_auth/a", "gone"),
    ]
    assert not got_worse(found)


def test_what_diff_says(report: Report, judged: Judged, snapshot: SnapshotAssertion) -> None:
    old = judged(
        "code-auth/bare_401=PASS",
        "code-auth/bare_403=FAIL",
        "code-quota/bare_402=FAIL",
        "terminal-evidence/cut_after_text=PASS",
        "usage/cached_tokens=FAIL",
        "usage/gone=PASS",
        target="mypkg.adapter:Adapter",
        edition="2025.4",
        edition_levels={"must": 40, "should": 5},
        capabilities=("images", "tools"),
    )

    assert "\n".join(diff_lines(old, report)) == snapshot


def test_diff_says_that_nothing_changed(judged: Judged) -> None:
    same = judged("code-auth/a=PASS", "code-auth/b=FAIL")

    assert list(diff_lines(same, same))[-1] == "no verdict changed (2 checks)"


@pytest.mark.parametrize(
    ("verdicts", "of_edition", "message", "colour"),
    [
        pytest.param(
            ["code-auth/a=PASS", "usage/a=PASS"], 2, "2/2 MUST", GREEN, id="all-that-there-are"
        ),
        pytest.param(["code-auth/a=PASS"], 2, "1/2 MUST", AMBER, id="not-all-selected"),
        pytest.param(["code-auth/a=PASS", "usage/a=FAIL"], 2, "1/2 MUST", RED, id="one-fails"),
        pytest.param(
            ["code-auth/a=PASS", "usage/a=XFAIL"], 2, "1/2 MUST", AMBER, id="one-is-known-to-fail"
        ),
        pytest.param(
            ["code-auth/a=PASS", "usage/a=NA"], 2, "1/1 MUST, 1 n/a", GREEN, id="one-not-applicable"
        ),
        pytest.param(
            ["code-auth/a=PASS", "code-challenge-page/a=WARN"], 1, "1/1 MUST", GREEN, id="a-should"
        ),
        pytest.param(
            ["code-auth/a=PASS", "usage/a=HARNESS"], 2, "no verdict", GREY, id="the-kit-failed"
        ),
        pytest.param(["code-auth/a=NA"], 2, "no verdict", GREY, id="nothing-ran"),
    ],
)
def test_the_badge_says_how_many_musts_of_the_edition_are_kept(
    judged: Judged, verdicts: list[str], of_edition: int, message: str, colour: str
) -> None:
    report = judged(*verdicts, edition_levels={"must": of_edition, "should": 6})

    assert message_of(report) == (message, colour)
    drawn = ElementTree.fromstring(badge(report))
    assert drawn.get("aria-label") == f"conformance: {message}"
    texts = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["conformance", message]


@pytest.mark.parametrize("colour", [GREEN, RED, AMBER, GREY])
def test_white_on_a_badge_can_be_read(colour: str) -> None:
    def linear(part: str) -> float:
        share = int(part, 16) / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(colour[at : at + 2]) for at in (1, 3, 5))

    assert 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 4.5


def test_the_matrix_has_a_row_for_each_requirement_and_a_column_for_each_report(
    judged: Judged,
) -> None:
    page = matrix(
        [
            judged("code-auth/a=PASS", "usage/a=FAIL", target="first"),
            judged("usage/a=PASS", "abort/a=NA", "code-auth/a=PASS", target="second"),
        ]
    )

    head, *rows = re.findall(r"<tr.*?</tr>", page)
    assert re.findall(r'scope="col">([^<]*)', head) == ["Requirement", "first", "second"]
    told = {
        re.findall(r"<code>(.*?)</code>", row)[0]: re.findall(
            r'<td>(?:<span class="pill \w+">|<small>)([^<]*)', row
        )
        for row in rows
    }
    assert told == {
        "usage": ["FAIL", "PASS"],
        "abort": ["not in this report", "NA"],
        "code-auth": ["PASS", "PASS"],
    }
    assert re.findall(r'data-status="([^"]*)"', page) == ["FAIL PASS", "NA", "PASS"]
