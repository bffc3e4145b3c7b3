"""Limits in time: what a configuration may say."""

from __future__ import annotations

import math
from typing import Final

# Larger delays overflow 32-bit millisecond timers, and then fire at once.
LONGEST_LIMIT_S: Final = 2_147_483.647

DEFAULT_IDLE_TIMEOUT_S: Final = 300.0
DEFAULT_PROGRESS_TIMEOUT_S: Final = 900.0

# How long a caller waits for something that is slow to close. A socket closes in less than a
# millisecond; what takes longer goes on behind the caller's back.
CLOSING_S: Final = 0.1


def checked_limit(name: str, seconds: object) -> float:
    """Return ``seconds`` as a float.

    Raises:
        ValueError: No number, zero, negative, NaN, infinite or above ``LONGEST_LIMIT_S``; the
            message begins with ``name``.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise ValueError(f"{name}: a number of seconds, got {type(seconds).__name__}")
    try:
        number = float(seconds)
    except OverflowError:  # an integer beyond all floats
        number = math.inf
    if not 0 < number <= LONGEST_LIMIT_S:  # NaN is neither above nor below anything
        raise ValueError(f"{name}: seconds above 0 and at most {LONGEST_LIMIT_S:.3f}, got {number}")
    return number


def checked_optional_limit(name: str, seconds: object) -> float | None:
    """Like ``checked_limit``; None, which switches the limit off, stays None."""
    return None if seconds is None else checked_limit(name, seconds)
