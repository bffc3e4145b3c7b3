"""Every check that is written as code, one module a theme."""

from __future__ import annotations

from typing import Final

from .._scenario import Scenario
from . import (
    _connection_released,
    _foreign_exceptions,
    _native_cancellation,
    _single_attempt,
)

SCENARIOS: Final[tuple[Scenario, ...]] = (
    *_connection_released.SCENARIOS,
    *_foreign_exceptions.SCENARIOS,
    *_native_cancellation.SCENARIOS,
    *_single_attempt.SCENARIOS,
)
