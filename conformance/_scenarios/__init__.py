"""Every check that is written as code, one module a theme."""

from __future__ import annotations

from typing import Final

from .._scenario import Scenario
from . import (
    _abort,
    _attribution,
    _connection_released,
    _credential,
    _error_bodies,
    _every_offset,
    _failure_payload,
    _foreign_exceptions,
    _native_cancellation,
    _request_shape,
    _retry_after,
    _single_attempt,
    _state_isolation,
    _structured_before_text,
    _stuck_transport,
    _unsupported_option,
)

SCENARIOS: Final[tuple[Scenario, ...]] = (
    *_abort.SCENARIOS,
    *_attribution.SCENARIOS,
    *_connection_released.SCENARIOS,
    *_credential.SCENARIOS,
    *_error_bodies.SCENARIOS,
    *_every_offset.SCENARIOS,
    *_failure_payload.SCENARIOS,
    *_foreign_exceptions.SCENARIOS,
    *_native_cancellation.SCENARIOS,
    *_request_shape.SCENARIOS,
    *_retry_after.SCENARIOS,
    *_single_attempt.SCENARIOS,
    *_state_isolation.SCENARIOS,
    *_structured_before_text.SCENARIOS,
    *_stuck_transport.SCENARIOS,
    *_unsupported_option.SCENARIOS,
)
