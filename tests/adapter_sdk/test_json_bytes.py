"""JSON as it goes out: the same value gives the same characters."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter_sdk._json_bytes import json_bytes, json_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(
            {"b": 1, "a": [1, 2.5]}, '{"b":1,"a":[1,2.5]}', id="insertion-order-no-spaces"
        ),
        pytest.param({"a": None, "b": True}, '{"a":null,"b":true}', id="null-and-true"),
        pytest.param("größer ∞ 👍", '"größer ∞ 👍"', id="no-escapes-beyond-json"),
        pytest.param('a"\\\n\x00', '"a\\"\\\\\\n\\u0000"', id="escapes-that-json-needs"),
        pytest.param("\u2028", '"\u2028"', id="line-separator"),
        pytest.param("half \ud83d!", '"half \ufffd!"', id="first-half-alone"),
        pytest.param("\udc4d", '"\ufffd"', id="second-half-alone"),
        pytest.param({"\ud83d": 1}, '{"\ufffd":1}', id="half-in-a-key"),
        pytest.param({}, "{}", id="empty-object"),
        pytest.param(10**30, "1" + "0" * 30, id="large-int"),
        pytest.param((1, 2), "[1,2]", id="tuple"),
    ],
)
def test_a_value_gives_these_characters(value: Any, text: str) -> None:
    assert json_text(value) == text
    assert json_bytes(value) == text.encode()


def circle() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"a": math.nan}, id="nan"),
        pytest.param([math.inf], id="infinite"),
        pytest.param(-math.inf, id="minus-infinite"),
        pytest.param({"a": b"x"}, id="bytes"),
        pytest.param({"a": {1, 2}}, id="set"),
        pytest.param({("a",): 1}, id="key-that-is-no-text"),
        pytest.param(circle(), id="circle"),
    ],
)
def test_what_json_cannot_carry_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        json_bytes(value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)  # fmt: skip


@settings(deadline=None)
@given(value=json_values)
def test_any_value_comes_back_and_is_the_same_twice(value: Any) -> None:
    encoded = json_bytes(value)
    assert json.loads(encoded) == value
    assert json_bytes(json.loads(encoded)) == encoded
