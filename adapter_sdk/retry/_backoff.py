"""How long to wait before the next attempt. Pure: the caller brings the random number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, overload

# Design note 003.
DEFAULT_INITIAL_DELAY_MS: Final = 500
DEFAULT_MAX_DELAY_MS: Final = 10_000
DEFAULT_JITTER_RATIO: Final = 0.1

# Larger delays overflow 32-bit millisecond timers, and then fire at once.
LONGEST_DELAY_MS: Final = 2_147_483_647

# 1 ms doubled so often is above every cap; without a clamp the 2,000th retry is a huge integer.
LARGEST_EXPONENT: Final = 31

DelaySource: TypeAlias = Literal["provider", "provider-capped", "backoff"]
"""Whose delay was used: the provider's as it is, the provider's cut to the cap, or our own."""

AboveCap: TypeAlias = Literal["pass-on", "cap", "backoff"]
"""What to do with a provider's delay above the cap: nothing, wait for the cap, or back off."""

Random: TypeAlias = Callable[[], float]
"""Returns a number from 0 up to and without 1, as ``random.random`` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Delays that double up to a cap.

    Attributes:
        initial_delay_ms: Before the first retry; whole milliseconds, 1 or more.
        max_delay_ms: The cap, for a provider's delay too; not below ``initial_delay_ms``.
        jitter_ratio: Share by which a delay is made longer or shorter at random, 0 to 1.

    Raises:
        ValueError: A value breaks its rule; the message begins with the field's name.

    Source: design note 003.
    """

    initial_delay_ms: int = DEFAULT_INITIAL_DELAY_MS
    max_delay_ms: int = DEFAULT_MAX_DELAY_MS
    jitter_ratio: float = DEFAULT_JITTER_RATIO

    def __post_init__(self) -> None:
        for name in ("initial_delay_ms", "max_delay_ms"):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= LONGEST_DELAY_MS:
                raise ValueError(
                    f"{name}: whole milliseconds from 1 to {LONGEST_DELAY_MS}, got {value!r}"
                )
        if self.max_delay_ms < self.initial_delay_ms:
            raise ValueError(
                f"max_delay_ms: not below initial_delay_ms ({self.initial_delay_ms}), "
                f"got {self.max_delay_ms}"
            )
        ratio = self.jitter_ratio
        is_number = isinstance(ratio, (int, float)) and not isinstance(ratio, bool)
        if not is_number or not 0 <= ratio <= 1:  # NaN is neither above nor below anything
            raise ValueError(f"jitter_ratio: a number from 0 to 1, got {ratio!r}")

    def delay_ms(self, retry: int, *, random: Random) -> int:
        """Return the delay before retry number ``retry`` (from 1), in whole milliseconds.

        ``min(initial · 2^(retry - 1), cap) · (1 ± jitter)``, at most the cap.
        """
        exponent = min(max(retry, 1) - 1, LARGEST_EXPONENT)
        plain = min(self.initial_delay_ms << exponent, self.max_delay_ms)
        factor = 1 + self.jitter_ratio * (2 * random() - 1)
        return min(math.floor(plain * factor + 0.5), self.max_delay_ms)


@dataclass(frozen=True, slots=True)
class Delay:
    """A delay in whole milliseconds, and whose it is."""

    ms: int
    source: DelaySource


@overload
def choose_delay(
    backoff: Backoff,
    *,
    hint_ms: int | None,
    retry: int,
    above_cap: Literal["cap", "backoff"],
    random: Random,
) -> Delay: ...
@overload
def choose_delay(
    backoff: Backoff, *, hint_ms: int | None, retry: int, above_cap: AboveCap, random: Random
) -> Delay | None: ...
def choose_delay(
    backoff: Backoff, *, hint_ms: int | None, retry: int, above_cap: AboveCap, random: Random
) -> Delay | None:
    """Return the delay before retry number ``retry``; None: do not retry.

    A provider's delay that fits under the cap is used as it is, without jitter.

    Args:
        backoff: The policy's numbers.
        hint_ms: What the provider asked for (``LlmFailure.provider_retry_after_ms``), or None.
        retry: The number of the retry, from 1.
        above_cap: What to do where the provider asks for more than the cap.
        random: Called once where our own delay is used, else never.
    """
    if hint_ms is not None:
        if hint_ms <= backoff.max_delay_ms:
            return Delay(hint_ms, "provider")
        if above_cap == "pass-on":
            return None
        if above_cap == "cap":
            return Delay(backoff.max_delay_ms, "provider-capped")
    return Delay(backoff.delay_ms(retry, random=random), "backoff")
