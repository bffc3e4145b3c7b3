"""What the parts that show something in a terminal share."""

from __future__ import annotations

import pytest

from adapter_sdk._terminal import seconds_until, shortened, withdrawn_words, without_controls


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [("abcd", 4, "abcd"), ("abcde", 4, "abc…"), ("", 1, "")],
    ids=["fits", "is-cut", "empty"],
)
def test_a_text_is_cut_with_an_ellipsis(text: str, most: int, expected: str) -> None:
    assert shortened(text, most) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain, wide 你 and e\u0301", "plain, wide 你 and e\u0301", id="text-stays"),
        pytest.param("a\n\tb", "a\n\tb", id="lines-and-tabs-stay"),
        pytest.param("\x1b]0;title\x07", "\ufffd]0;title\ufffd", id="escape-and-bell"),
        pytest.param("a\rb\x08c", "a\ufffdb\ufffdc", id="return-and-backspace"),
        pytest.param("\u202egnp", "\ufffdgnp", id="right-to-left-override"),
        pytest.param("\x9b2J", "\ufffd2J", id="eight-bit-control"),
    ],
)
def test_nothing_that_moves_a_cursor_is_left(text: str, expected: str) -> None:
    assert without_controls(text) == expected


@pytest.mark.parametrize(
    ("due_ms", "seconds"), [(5000, 4), (4001, 4), (1500, 1), (1000, 1), (0, 1)]
)
def test_what_is_awaited_is_at_least_a_second_away(due_ms: int, seconds: int) -> None:
    assert seconds_until(due_ms, now_ms=1000) == seconds


def test_one_character_is_one() -> None:
    assert [withdrawn_words(n) for n in (1, 19)] == [
        "1 character withdrawn",
        "19 characters withdrawn",
    ]
