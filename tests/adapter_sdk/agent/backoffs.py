"""Backoffs of a length that a test can count on."""

from __future__ import annotations

from typing import Final

from adapter_sdk.retry import Backoff

QUICK: Final = Backoff(initial_delay_ms=1, max_delay_ms=1, jitter_ratio=0)
SLOW: Final = Backoff(initial_delay_ms=60_000, max_delay_ms=60_000, jitter_ratio=0)
