from __future__ import annotations

import pytest

from adapter_sdk._growing_text import GrowingText

SMALL = "a few words, é\r\n"
LARGE = "x" * 64 * 1024


@pytest.mark.parametrize(
    "fragments",
    [
        pytest.param([], id="nothing"),
        pytest.param([""], id="an-empty-one"),
        pytest.param([SMALL] * 3, id="small-ones"),
        pytest.param([LARGE], id="a-large-one"),
        pytest.param([LARGE, SMALL], id="large-then-small"),
        pytest.param([SMALL, SMALL, LARGE], id="small-then-large"),
        pytest.param([SMALL, LARGE, SMALL, LARGE + "é", LARGE, SMALL], id="all-in-turn"),
    ],
)
def test_fragments_become_one_text_whenever_it_is_asked_for(fragments: list[str]) -> None:
    text, expected = GrowingText(), ""
    assert (text.whole(), bool(text)) == ("", False)
    for fragment in fragments:
        text.add(fragment)
        expected += fragment
        assert (text.whole(), bool(text)) == (expected, bool(expected))


def test_a_single_large_fragment_is_never_copied() -> None:
    text, fragment = GrowingText(), LARGE + "!"
    text.add(fragment)
    assert text.whole() is fragment
