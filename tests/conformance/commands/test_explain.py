"""``explain``: an id, a failure code, how a case is written, and what a mistyped id may mean."""

from __future__ import annotations

from pathlib import Path

import pytest

import conformance

from .ran import Ran


def test_the_page_about_cases_is_printed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "case")

    assert (ran.exit_code, ran.err) == (0, "")
    assert ran.out == (Path(conformance.__file__).parent / "CASES.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        pytest.param("code_aut", "; did you mean code-auth?", id="requirement"),
        pytest.param("code-autth", "; did you mean code-auth?", id="requirement-with-dashes"),
        pytest.param("retry-after", "; did you mean retry-after-", id="beginning"),
        pytest.param("code_auth/bare_41", "; did you mean code_auth/bare_401", id="case"),
        pytest.param(
            "single_attempt/every_call", "; did you mean single_attempt/in_every_call?", id="rule"
        ),
        pytest.param("auth", "; did you mean AUTH?", id="code-in-small-letters"),
        pytest.param("RATELIMIT", "; did you mean RATE_LIMIT", id="code"),
        pytest.param("cases", "; did you mean case?", id="page"),
        pytest.param("xyzzy", "; see dsh-conformance list\n", id="like-no-other"),
    ],
)
def test_a_mistyped_id_is_told_with_those_like_it(
    capsys: pytest.CaptureFixture[str], wanted: str, meant: str
) -> None:
    ran = Ran(capsys, "explain", wanted)

    assert (ran.exit_code, ran.out, ran.is_one_line) == (4, "", True)
    assert ran.err.startswith(f"dsh-conformance: {wanted}: nothing has this id{meant}")


@pytest.mark.parametrize(
    ("code", "speaking", "silent"),
    [
        pytest.param(
            "AUTH",
            ["code-auth  (MUST)", "code-challenge-page  (SHOULD)"],
            ["code-quota"],
            id="in-cases-and-in-sentences",
        ),
        pytest.param("HTTP_418", ["code-other-status  (MUST)"], ["code-auth"], id="of-a-status"),
        pytest.param("ABORTED", ["abort-or-timeout  (MUST)"], ["idle-timeout"], id="of-the-caller"),
    ],
)
def test_a_failure_code_leads_to_the_requirements_that_speak_of_it(
    capsys: pytest.CaptureFixture[str], code: str, speaking: list[str], silent: list[str]
) -> None:
    ran = Ran(capsys, "explain", code)
    lines = ran.out.splitlines()

    assert (ran.exit_code, ran.err) == (0, "")
    assert lines[:3] == [f"{code}  (a failure code)", "", "Requirements that speak of it:"]
    assert [line for line in speaking if f"  {line}" not in lines] == []
    assert [name for name in silent if any(line.strip().startswith(name) for line in lines)] == []


def test_a_code_of_the_registry_is_no_affair_of_the_kit(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "NO_ADAPTER")

    assert ran.out == "NO_ADAPTER  (a failure code)\n\nNo requirement speaks of it.\n"
