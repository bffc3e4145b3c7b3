"""Delays: the arithmetic as a table, and its bounds as properties."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter_sdk.retry import AboveCap, Backoff, Delay, choose_delay


def middle() -> float:
    """Neither longer nor shorter."""
    return 0.5


def never() -> float:
    raise AssertionError("the provider's delay has no jitter")


@pytest.mark.parametrize(
    ("retry", "random", "expected"),
    [
        pytest.param(1, 0.5, 500, id="first"),
        pytest.param(2, 0.5, 1000, id="doubles"),
        pytest.param(5, 0.5, 8000, id="doubles-four-times"),
        pytest.param(6, 0.5, 10_000, id="is-capped"),
        pytest.param(10**9, 0.5, 10_000, id="stays-capped-for-any-number"),
        pytest.param(1, 0.0, 450, id="a-tenth-shorter"),
        pytest.param(1, 1.0, 550, id="a-tenth-longer"),
        pytest.param(6, 0.0, 9000, id="jitter-shortens-the-cap"),
        pytest.param(6, 1.0, 10_000, id="jitter-never-exceeds-the-cap"),
        pytest.param(1, 0.501, 500, id="whole-milliseconds"),
    ],
)
def test_own_delays_double_up_to_the_cap(retry: int, random: float, expected: int) -> None:
    assert Backoff().delay_ms(retry, random=lambda: random) == expected


@settings(deadline=None)
@given(
    initial=st.integers(1, 2_147_483_647),
    more=st.integers(0, 2_147_483_646),
    jitter=st.floats(0, 1),
    retry=st.integers(1, 10**30),
    random=st.floats(0, 1, exclude_max=True),
)
def test_every_own_delay_is_a_whole_number_within_its_bounds(
    initial: int, more: int, jitter: float, retry: int, random: float
) -> None:
    cap = min(initial + more, 2_147_483_647)
    backoff = Backoff(initial_delay_ms=initial, max_delay_ms=cap, jitter_ratio=jitter)
    delay = backoff.delay_ms(retry, random=lambda: random)
    plain = min(initial * 2 ** min(retry - 1, 40), cap)
    assert type(delay) is int
    assert plain * (1 - jitter) - 1 <= delay <= min(plain * (1 + jitter) + 1, cap)


@pytest.mark.parametrize(
    ("hint_ms", "above_cap", "expected"),
    [
        pytest.param(None, "pass-on", Delay(500, "backoff"), id="no-hint"),
        pytest.param(1, "pass-on", Delay(1, "provider"), id="shorter-than-ours"),
        pytest.param(9_999, "backoff", Delay(9_999, "provider"), id="longer-than-ours"),
        pytest.param(10_000, "pass-on", Delay(10_000, "provider"), id="exactly-the-cap"),
        pytest.param(10_001, "pass-on", None, id="above-the-cap-passed-on"),
        pytest.param(10_001, "backoff", Delay(500, "backoff"), id="above-the-cap-ours-instead"),
        pytest.param(36_000_000, "cap", Delay(10_000, "provider-capped"), id="ten-hours-cut"),
    ],
)
def test_a_hint_is_used_as_it_is_where_it_fits(
    hint_ms: int | None, above_cap: AboveCap, expected: Delay | None
) -> None:
    random = middle if hint_ms is None or expected == Delay(500, "backoff") else never
    chosen = choose_delay(Backoff(), hint_ms=hint_ms, retry=1, above_cap=above_cap, random=random)
    assert chosen == expected


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param(
            {"initial_delay_ms": 0},
            "initial_delay_ms: whole milliseconds from 1 to 2147483647, got 0",
            id="no-delay",
        ),
        pytest.param(
            {"initial_delay_ms": 1.5},
            "initial_delay_ms: whole milliseconds from 1 to 2147483647, got 1.5",
            id="half-a-millisecond",
        ),
        pytest.param(
            {"initial_delay_ms": True},
            "initial_delay_ms: whole milliseconds from 1 to 2147483647, got True",
            id="a-flag",
        ),
        pytest.param(
            {"max_delay_ms": 2_147_483_648},
            "max_delay_ms: whole milliseconds from 1 to 2147483647, got 2147483648",
            id="beyond-timers",
        ),
        pytest.param(
            {"max_delay_ms": 499},
            "max_delay_ms: not below initial_delay_ms (500), got 499",
            id="cap-below-the-first",
        ),
        pytest.param(
            {"jitter_ratio": 1.01}, "jitter_ratio: a number from 0 to 1, got 1.01", id="too-much"
        ),
        pytest.param(
            {"jitter_ratio": float("nan")},
            "jitter_ratio: a number from 0 to 1, got nan",
            id="nan",
        ),
        pytest.param(
            {"jitter_ratio": "0.1"}, "jitter_ratio: a number from 0 to 1, got '0.1'", id="a-text"
        ),
    ],
)
def test_impossible_numbers_are_refused_by_name(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Backoff(**fields)
    assert str(caught.value) == message
