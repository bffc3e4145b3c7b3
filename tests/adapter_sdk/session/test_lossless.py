"""Only JSON that comes back as it was goes in, and nobody changes it afterwards."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter_sdk.session import LosslessError
from adapter_sdk.session._lossless import MAX_DEPTH, frozen


class Word(StrEnum):
    A = "a"


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param({"a": math.nan}, "data.a: nan is no number of JSON", id="nan"),
        pytest.param({"a": [math.inf]}, "data.a[0]: inf is no number of JSON", id="infinity"),
        pytest.param({"a": {"b": -0.0}}, "data.a.b: -0.0, which comes back as 0", id="minus zero"),
        pytest.param({"a": 2**53}, "data.a: a whole number beyond 2^53-1", id="large"),
        pytest.param({"a": [-(2**53)]}, "data.a[0]: a whole number beyond 2^53-1", id="small"),
        pytest.param(
            {"a": "\ud83d"}, "data.a: a lone surrogate, which UTF-8 cannot carry", id="surrogate"
        ),
        pytest.param(
            {"\udc4d": 1},
            "a key of data: a lone surrogate, which UTF-8 cannot carry",
            id="surrogate in a key",
        ),
        pytest.param({"a": {1: 2}}, "data.a: a key that is int, no string", id="key"),
        pytest.param({Word.A: 2}, "data: a key that is Word, no string", id="key of an enum"),
        pytest.param({"a": (1,)}, "data.a: tuple is no type of JSON", id="tuple"),
        pytest.param({"a": Word.A}, "data.a: Word is no type of JSON", id="enum"),
        pytest.param({"a": b"x"}, "data.a: bytes is no type of JSON", id="bytes"),
        pytest.param({"a": {1}}, "data.a: set is no type of JSON", id="set"),
        pytest.param([1], "data: an object", id="no object"),
    ],
)
def test_what_json_would_lose_is_refused_with_its_path(data: Any, message: str) -> None:
    with pytest.raises(LosslessError) as caught:
        frozen(data)
    assert str(caught.value) == message


def test_depth_is_bounded() -> None:
    assert frozen({"a": nested(MAX_DEPTH - 1)}) == {"a": nested(MAX_DEPTH - 1)}
    with pytest.raises(LosslessError, match="nested deeper than 100"):
        frozen({"a": nested(MAX_DEPTH)})
    around: list[Any] = []
    around.append(around)
    with pytest.raises(LosslessError, match="nested deeper than 100"):
        frozen({"a": around})


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(
        lambda x: math.copysign(1, x) > 0 or x != 0
    )
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_what_is_taken_comes_back_from_json_the_same(data: dict[str, Any]) -> None:
    value = frozen(data)
    assert value == data
    assert json.loads(json.dumps(value)) == data


def test_data_are_copied_and_cannot_be_changed_to_their_depth() -> None:
    inner = {"b": [1]}
    data = {"a": inner}
    value = frozen(data)
    inner["b"].append(2)
    assert value == {"a": {"b": [1]}}
    changes: list[Callable[[], object]] = [
        lambda: value.__setitem__("a", 1),
        lambda: value.__delitem__("a"),
        lambda: value.clear(),
        lambda: value.pop("a"),
        lambda: value.popitem(),
        lambda: value.setdefault("x", 1),
        lambda: value.update(x=1),
        lambda: value.__ior__({"x": 1}),
        lambda: value["a"].__setitem__("b", 1),
        lambda: value["a"]["b"].append(1),
        lambda: value["a"]["b"].__setitem__(0, 1),
        lambda: value["a"]["b"].__delitem__(0),
        lambda: value["a"]["b"].clear(),
        lambda: value["a"]["b"].extend([1]),
        lambda: value["a"]["b"].insert(0, 1),
        lambda: value["a"]["b"].pop(),
        lambda: value["a"]["b"].remove(1),
        lambda: value["a"]["b"].reverse(),
        lambda: value["a"]["b"].sort(),
        lambda: value["a"]["b"].__iadd__([1]),
        lambda: value["a"]["b"].__imul__(2),
    ]
    for change in changes:
        with pytest.raises(TypeError, match="the data of an event are frozen"):
            change()
    assert value == {"a": {"b": [1]}}


def test_frozen_data_can_be_copied_and_pickled() -> None:
    value = frozen({"a": [{"b": 1}]})
    assert copy.copy(value) is value
    assert copy.deepcopy(value) is value
    assert copy.deepcopy(value["a"]) is value["a"]
    assert copy.copy(value["a"]) is value["a"]
    thawed = pickle.loads(pickle.dumps(value))
    assert (thawed, type(thawed), type(thawed["a"])) == (value, type(value), type(value["a"]))
