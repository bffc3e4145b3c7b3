"""What a person sees of a run: whole sentences in 25 lines, ten of them, the rest in a line."""

from __future__ import annotations

import dataclasses
from typing import Any

import click
import pytest

from conformance._catalogue import load_catalogue
from conformance._explain import catalogue_data
from conformance._in_words import COUNTED, played, tally
from conformance._repeat import Repeat
from conformance._result import Check, Result, Status
from conformance._terminal import catalogue_lines, failure_report, findings, is_bad

REPEAT = Repeat(target="mypkg:Adapter")
ADVICE = "expected 1 (switch off every retry of the library underneath, in its constructor), got 2"
NOTE = "RuntimeError: exchange 0 was not delivered: the server was stopped in step 3 of 12 (play)"


def result(requirement: str = "single-attempt", name: str = "a", **more: Any) -> Result:
    found = load_catalogue()[requirement]
    check = Check(f"{found.folder}/{name}", found, "A title")
    return dataclasses.replace(Result(check=check, status=Status.FAIL), **more)


def report(**more: Any) -> list[str]:
    return click.unstyle(failure_report(result(**more), REPEAT)).splitlines()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        pytest.param(
            {"differences": (f"HTTP requests of a call with HTTP 429 and a header: {ADVICE}",)},
            f"a header: {ADVICE}",
            id="advice",
        ),
        pytest.param(
            {"differences": (f"the end of the call: expected a finish, got x (in {'a' * 80})",)},
            f"(in {'a' * 80})",
            id="the-name-of-a-failing-play",
        ),
        pytest.param(
            {"status": Status.HARNESS, "note": f"{NOTE}, line 117"}, ", line 117", id="a-broken-kit"
        ),
        pytest.param({"said": f"SERVER: {'word ' * 24}end"}, "word end", id="the-answer"),
    ],
)
def test_a_long_line_is_wrapped_and_keeps_its_end(more: dict[str, Any], words: str) -> None:
    lines = report(**more)

    assert max(map(len, lines[:-2])) <= 100
    assert words in " ".join(line.strip() for line in lines)


def test_many_differences_are_shown_whole_and_the_others_counted() -> None:
    difference = f"HTTP requests of a call with HTTP 429 and a header of some length: {ADVICE}"
    lines = report(differences=(difference,) * 9)

    text = " ".join(line.strip() for line in lines)
    assert text.count(difference.removeprefix("HTTP ")) == 4
    assert "  … and 5 more differences" in lines


def test_no_report_has_more_than_25_lines_and_one_of_one_difference_has_its_timeline() -> None:
    moment = (0.0, "server", "connection 1: step sent")
    fullest = {
        "requirement": "failure-payload",
        "said": "said " * 200,
        "lane": "socket",
        "timeline": (moment,) * 50,
    }

    most = report(differences=("field: expected 1, got " + "word " * 200,) * 9, **fullest)
    one = report(differences=("field: expected 1, got 2",), **fullest)

    assert len(most) <= 25
    assert len(one) <= 25
    assert sum(" ms  server" in line or "more …" in line for line in one) == 9
    assert sum(" ms  server" in line or "more …" in line for line in most) >= 4


def test_up_to_ten_are_reported_without_a_word_about_more() -> None:
    bad = [result("usage", f"n{n}", differences=("a: expected 1, got 2",)) for n in range(10)]

    assert len(findings(bad, REPEAT, every=False)) == 10


def test_of_many_the_causes_come_first_and_the_last_lines_say_what_is_missing() -> None:
    retried = ("HTTP requests: expected 1, got 2",)
    bad = [result("code-auth", f"n{n}", differences=retried) for n in range(20)]
    bad += [result("single-attempt", differences=retried)]
    bad += [result("usage", differences=("usage.input_tokens: expected 1, got 2",))]
    bad += [result("retry-after-ms", status=Status.WARN, differences=("a: expected 1, got 2",))]

    shown = findings([*bad, result(status=Status.PASS)], REPEAT, every=False)
    heads = [click.unstyle(block).splitlines()[0] for block in shown]

    assert heads == [
        "FAIL single_attempt/a",
        *(f"FAIL code_auth/n{n}" for n in range(7)),
        "FAIL usage/a",
        "WARN retry_after_ms/a",
        "21 of 22 failures: more than one HTTP request; begin with single-attempt",
    ]
    assert shown[-1].splitlines()[1:] == [
        "13 more are not shown in full: -v shows all of them, --report html=FILE keeps them"
    ]
    every = findings(bad, REPEAT, every=True)
    assert len(every) == len(bad) + 1
    assert every[-1] == heads[-1]


def test_nothing_bad_is_nothing_to_say() -> None:
    fine = [result(status=Status.PASS), result(status=Status.NA), result(status=Status.XFAIL)]

    assert not any(map(is_bad, fine))
    assert findings(fine, REPEAT, every=False) == []


@pytest.mark.parametrize(
    ("lane", "words"),
    [
        ("socket", "over a loopback socket"),
        ("code", "by code that makes calls of its own, so there is no timeline"),
        ("in-process, whole", "in process, without a socket; the bytes came whole"),
        ("in-process, byte by byte", "in process, without a socket; the bytes came one by one"),
        (
            "in-process, split with seed 1001",
            "in process, without a socket; the bytes came in random pieces (seed 1001)",
        ),
        (
            "in-process, smoke sweep",
            "in process, without a socket; over a sweep (smoke) of endings, pieces or variants",
        ),
        ("known failures", "known failures"),
    ],
)
def test_how_a_check_was_played_is_said_in_words(lane: str, words: str) -> None:
    assert played("code_auth/bare_401", lane) == words


def test_a_rule_for_every_call_says_where_it_was_not_kept() -> None:
    assert played("usage/in_every_call", "code_auth/a") == "in the call of code_auth/a"
    assert played("usage/in_every_call", "12 plays") == "over 12 plays of cases"


def test_the_tally_has_a_word_for_every_verdict_and_counts_other_dialects_apart() -> None:
    verdicts = [(status, "") for status in Status] + [(Status.NA, "dialect openai-chat")] * 2

    assert set(COUNTED) == set(Status)
    assert tally(verdicts) == (
        "1 failed, 1 failed for the wrong reason, 1 stale, 1 broken in the kit, 1 warned, "
        "1 failed as known, 1 passed, 1 not applicable, 2 of other dialects"
    )
    assert tally([(Status.NA, "dialect openai-chat")]) == "1 of other dialects"
    assert tally([]) == "none"


@pytest.mark.parametrize("columns", [20, 60, 80, 120, 250])
def test_the_list_keeps_to_the_width_of_the_terminal(columns: int) -> None:
    data = catalogue_data((), ())

    lines = list(catalogue_lines(data, columns=columns, every_check=False))

    assert max(map(len, lines)) <= max(columns, 41)
    text = " ".join(" ".join(lines).split())
    for requirement in data["requirements"]:
        assert requirement["statement"] in text


def test_the_list_names_every_check_where_it_is_asked_to() -> None:
    data = catalogue_data((), ())

    lines = list(catalogue_lines(data, columns=10_000, every_check=True))

    checks = [check["id"] for r in data["requirements"] for check in r["checks"]]
    assert len(lines) == len(data["requirements"]) + len(checks)
    assert {line.strip() for line in lines} >= set(checks)
