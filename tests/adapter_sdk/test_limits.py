"""What a limit in seconds may be."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from adapter_sdk._limits import (
    DEFAULT_IDLE_TIMEOUT_S,
    DEFAULT_PROGRESS_TIMEOUT_S,
    LONGEST_LIMIT_S,
    checked_limit,
    checked_optional_limit,
)


def test_the_limits_of_the_contract() -> None:
    assert (DEFAULT_IDLE_TIMEOUT_S, DEFAULT_PROGRESS_TIMEOUT_S, LONGEST_LIMIT_S) == (
        300.0,
        900.0,
        2_147_483.647,
    )


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        pytest.param(1, 1.0, id="int"),
        pytest.param(0.25, 0.25, id="fraction"),
        pytest.param(5e-324, 5e-324, id="smallest-float"),
        pytest.param(2_147_483, 2_147_483.0, id="largest-int"),
        pytest.param(2_147_483.647, 2_147_483.647, id="exactly-the-longest"),
    ],
)
def test_a_limit_becomes_a_float(seconds: float, expected: float) -> None:
    for checked in (checked_limit("idle", seconds), checked_optional_limit("idle", seconds)):
        assert (checked, type(checked)) == (expected, float)


RANGE = "idle: seconds above 0 and at most 2147483.647, got "
TYPE = "idle: a number of seconds, got "


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        pytest.param(0, RANGE + "0.0", id="zero"),
        pytest.param(0.0, RANGE + "0.0", id="zero-as-a-float"),
        pytest.param(-0.0, RANGE + "-0.0", id="negative-zero"),
        pytest.param(-1, RANGE + "-1.0", id="negative"),
        pytest.param(math.nan, RANGE + "nan", id="nan"),
        pytest.param(math.inf, RANGE + "inf", id="infinite"),
        pytest.param(-math.inf, RANGE + "-inf", id="minus-infinite"),
        pytest.param(2_147_483.648, RANGE + "2147483.648", id="a-millisecond-too-long"),
        pytest.param(2_147_484, RANGE + "2147484.0", id="int-too-long"),
        pytest.param(10**5000, RANGE + "inf", id="int-beyond-all-floats"),
        pytest.param(True, TYPE + "bool", id="bool"),
        pytest.param("5", TYPE + "str", id="text"),
        pytest.param(Decimal(5), TYPE + "Decimal", id="decimal"),
        pytest.param([5], TYPE + "list", id="list"),
    ],
)
def test_anything_else_is_refused_by_name(seconds: object, message: str) -> None:
    for check in (checked_limit, checked_optional_limit):
        with pytest.raises(ValueError) as caught:
            check("idle", seconds)
        assert str(caught.value) == message


def test_none_switches_off_only_where_that_is_allowed() -> None:
    assert checked_optional_limit("idle", None) is None
    with pytest.raises(ValueError) as caught:
        checked_limit("idle", None)
    assert str(caught.value) == TYPE + "NoneType"
