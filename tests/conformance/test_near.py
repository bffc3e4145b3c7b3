"""The words that come near a mistyped one."""

from __future__ import annotations

import pytest

from conformance._near import did_you_mean, near, slip_of

WORDS = ("code-auth", "code-quota", "retry-after-ms", "retry-after-date", "retry-after-seconds")


@pytest.mark.parametrize(
    ("word", "found"),
    [
        pytest.param("code-atuh", ["code-auth"], id="two-letters-changed-places"),
        pytest.param("CODE_AUTH", ["code-auth"], id="other-case-and-underscores"),
        pytest.param("code", ["code-auth", "code-quota"], id="a-beginning"),
        pytest.param("retry_after", sorted(WORDS[2:]), id="at-most-three"),
        pytest.param("retry-after-mss", ["retry-after-ms"], id="others-are-much-further"),
        pytest.param("xyzzy", [], id="like-none"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_the_nearest_words_are_found(word: str, found: list[str]) -> None:
    assert sorted(near(word, WORDS)) == found


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("code-aut", "; did you mean code-auth?"),
        ("code", "; did you mean code-auth or code-quota?"),
        ("xyzzy", ""),
    ],
)
def test_a_hint_is_said_where_there_is_one(word: str, said: str) -> None:
    assert did_you_mean(word, WORDS) == said


@pytest.mark.parametrize(
    ("word", "meant"),
    [("code_auth", "code-auth"), ("code-aut", "code-auth"), ("code", None), ("xyzzy", None)],
)
def test_a_slip_of_the_pen_is_told_from_a_word_of_ones_own(word: str, meant: str | None) -> None:
    assert slip_of(word, WORDS) == meant
