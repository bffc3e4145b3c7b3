"""One fault that fails many checks: it is found, said, and shown before what follows from it."""

from __future__ import annotations

import pytest

from adapter_sdk.testing import Exchange, FaultServer
from conformance._catalogue import load_catalogue
from conformance._causes import (
    BEYOND_THE_SCRIPT,
    MORE_REQUESTS,
    NO_REQUEST,
    Finding,
    cause_of,
    first_of,
    groups_of,
)
from conformance._result import Status

RETRIED = "HTTP requests: expected 1, got 2"


def finding(number: int, requirement: str, *differences: str, status: str = "FAIL") -> Finding:
    return Finding(
        number=number, requirement=requirement, status=Status(status), differences=differences
    )


@pytest.mark.parametrize(
    ("difference", "begin_with"),
    [
        pytest.param(RETRIED, "single-attempt", id="two-requests"),
        pytest.param(
            "HTTP requests of a call with HTTP 429 and retry-after-ms: 1: expected 1 (switch off "
            "every retry underneath), got 2",
            "single-attempt",
            id="two-requests-of-a-scenario",
        ),
        pytest.param(
            "requests of three calls: expected 3, got 6: failure SERVER: ''",
            "single-attempt",
            id="six-of-three",
        ),
        pytest.param(
            f"code: expected AUTH, got SERVER ('{BEYOND_THE_SCRIPT}')",
            "single-attempt",
            id="the-answer-beyond-the-script",
        ),
        pytest.param(
            "outcome: expected failure, got an exception: 'a.B: c'",
            "foreign-exceptions",
            id="an-exception",
        ),
        pytest.param(
            "the end of the call: expected a finish, got 'a.B: c'",
            "foreign-exceptions",
            id="an-exception-in-every-call",
        ),
        pytest.param(
            "outcome: expected failure, got no end within 4.5 s", "idle-timeout", id="no-end"
        ),
        pytest.param(
            "the connection: expected closed, or idle and reusable, within 50 ms, got serving",
            "connection-released",
            id="a-connection-in-use",
        ),
        pytest.param(
            "outcome: expected failure, got success with the text 'a'",
            "terminal-evidence",
            id="a-success",
        ),
    ],
)
def test_a_difference_names_the_requirement_to_begin_with(difference: str, begin_with: str) -> None:
    cause = cause_of(["another: expected 1, got 2", difference])

    assert cause is not None
    assert cause.requirement == begin_with
    assert begin_with in load_catalogue()


def test_no_request_at_all_is_no_matter_of_a_requirement() -> None:
    assert cause_of(["HTTP requests: expected 1, got 0"]) is NO_REQUEST


def test_an_exception_says_why_there_was_no_request() -> None:
    raised = "outcome: expected failure, got an exception: 'a.B: c'"
    cause = cause_of(["HTTP requests: expected 1, got 0", raised])

    assert cause is not None
    assert cause.requirement == "foreign-exceptions"


@pytest.mark.parametrize(
    "difference",
    [
        "code: expected AUTH, got SERVER ('HTTP 500 from the provider')",
        "HTTP requests: expected 0, got 1",
        "HTTP requests: expected 2, got 1",
        "known failure: it passes now: delete the entry",
    ],
)
def test_any_other_difference_is_of_its_own_requirement(difference: str) -> None:
    assert cause_of([difference]) is None


def test_the_answer_beyond_the_script_is_that_of_the_fault_server() -> None:
    import httpx

    with FaultServer([Exchange(204)]) as server, httpx.Client(trust_env=False) as client:
        answers = [client.get(server.base_url) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [204, 500]
    assert answers[1].text == BEYOND_THE_SCRIPT


def test_a_cause_comes_before_what_follows_from_it_and_warnings_come_last() -> None:
    groups = groups_of(
        [
            finding(0, "code-auth", RETRIED),
            finding(1, "retry-after-ms", "a: expected 1, got 2", status="WARN"),
            finding(2, "usage", "usage.input_tokens: expected 1, got 2"),
            finding(3, "retry-after-ms", RETRIED, status="WARN"),
            finding(4, "single-attempt", RETRIED),
            finding(5, "abort", "", status="HARNESS"),
            finding(6, "usage", "usage.output_tokens: expected 1, got 2"),
        ]
    )

    assert [[found.number for found in group.findings] for group in groups] == [
        [5], [4, 0, 3], [2, 6], [1],
    ]  # fmt: skip
    assert [group.cause for group in groups] == [None, MORE_REQUESTS, None, None]
    assert [group.sentence(4) for group in groups] == [
        "",
        "2 of 4 failures: more than one HTTP request; begin with single-attempt",
        "",
        "",
    ]


def test_a_reader_begins_where_something_is_not_kept() -> None:
    findings = [finding(n, name, RETRIED) for n, name in enumerate(("usage", "abort", "abort"))]
    unreached = [finding(n, f"r{n}", "HTTP requests: expected 1, got 0") for n in range(2)]

    (kept,), (elsewhere,) = groups_of(findings), groups_of(unreached)

    assert kept.sentence(3).endswith("; begin with abort")
    assert [found.number for found in kept.findings] == [1, 2, 0]
    assert elsewhere.sentence(2).endswith("; begin with " + NO_REQUEST.remedy)


def test_what_shows_in_one_requirement_only_is_that_requirements() -> None:
    (group,) = groups_of([finding(0, "single-attempt", RETRIED)] * 2)

    assert group.cause is None


def test_the_first_ten_leave_room_for_every_group() -> None:
    findings = [finding(n, "code-auth" if n else "single-attempt", RETRIED) for n in range(30)]
    findings += [finding(30 + n, "usage", "a: expected 1, got 2") for n in range(2)]

    shown = first_of(groups_of(findings), most=10, each=3)

    assert [found.number for found in shown] == [0, 1, 2, 3, 4, 5, 6, 7, 30, 31]


@pytest.mark.parametrize("number", [0, 1, 9, 10])
def test_ten_at_most_are_all_shown(number: int) -> None:
    findings = [finding(n, "usage", "a: expected 1, got 2") for n in range(number)]

    assert first_of(groups_of(findings), most=10, each=3) == findings
