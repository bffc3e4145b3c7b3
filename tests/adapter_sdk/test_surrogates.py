from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter_sdk._surrogates import SurrogateJoiner

HIGH, LOW, LONE = "\ud83d", "\ude00", "\ufffd"
FACE = "\U0001f600"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(["Hi", "", "you"], ["Hi", "", "you", ""], id="plain"),
        pytest.param(["é", "你", FACE], ["é", "你", FACE, ""], id="whole-characters"),
        pytest.param(["a" + HIGH, LOW + "b"], ["a", FACE + "b", ""], id="pair-over-two-texts"),
        pytest.param([HIGH, "", LOW], ["", "", FACE, ""], id="an-empty-text-between"),
        pytest.param([HIGH + LOW], [FACE, ""], id="pair-in-one-text"),
        pytest.param(["a" + HIGH, "b"], ["a", LONE + "b", ""], id="first-half-alone"),
        pytest.param(["a" + HIGH, "é"], ["a", LONE + "é", ""], id="first-half-before-non-ascii"),
        pytest.param(["a", LOW + "b"], ["a", LONE + "b", ""], id="second-half-alone"),
        pytest.param([LOW, HIGH], [LONE, "", LONE], id="halves-in-the-wrong-order"),
        pytest.param([HIGH, HIGH, LOW], ["", LONE, FACE, ""], id="two-first-halves"),
        pytest.param([HIGH + HIGH, "x"], [LONE, LONE + "x", ""], id="two-first-halves-in-one"),
        pytest.param(["a" + HIGH], ["a", LONE], id="first-half-at-the-end"),
        pytest.param([], [""], id="nothing"),
        pytest.param([FACE + HIGH, LOW], [FACE, FACE, ""], id="after-a-whole-character"),
    ],
)
def test_halves_are_joined_and_lone_ones_replaced(texts: list[str], expected: list[str]) -> None:
    joiner = SurrogateJoiner()
    assert [*(joiner.feed(text) for text in texts), joiner.flush()] == expected


def test_plain_text_is_the_same_object() -> None:
    joiner = SurrogateJoiner()
    for text in ("plain text", "n\u00e4her", FACE):
        assert joiner.feed(text) is text


def test_a_half_is_flushed_once() -> None:
    joiner = SurrogateJoiner()
    joiner.feed(HIGH)
    assert (joiner.flush(), joiner.flush(), joiner.feed(LOW)) == (LONE, "", LONE)


def repaired(text: str) -> str:
    """Walk over the characters one by one, as the oracle."""
    out, at = "", 0
    while at < len(text):
        first, second = text[at], text[at + 1 : at + 2]
        if "\ud800" <= first <= "\udbff" and "\udc00" <= second <= "\udfff":
            out += chr(0x10000 + ((ord(first) - 0xD800) << 10) + ord(second) - 0xDC00)
            at += 2
        else:
            out += LONE if "\ud800" <= first <= "\udfff" else first
            at += 1
    return out


@given(
    texts=st.lists(
        st.text(
            st.sampled_from(["a", "é", FACE, HIGH, LOW, "\ud800", "\udbff", "\udc00", "\udfff"])
        )
    )
)
def test_every_split_gives_the_text_repaired_as_a_whole(texts: list[str]) -> None:
    joiner = SurrogateJoiner()
    assert "".join([*map(joiner.feed, texts), joiner.flush()]) == repaired("".join(texts))
