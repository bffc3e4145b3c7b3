"""All mutants, one module a theme."""

from __future__ import annotations

from typing import Final

from .._mutant import Mutant
from . import (
    _alike,
    _answers,
    _attempts,
    _chunks,
    _connections,
    _counts,
    _endings,
    _failure_codes,
    _failure_facts,
    _framing,
    _limits,
    _other_wires,
    _request_id,
    _requests,
    _retry_after,
    _stopping,
    _tool_calls,
)

MUTANTS: Final[tuple[Mutant, ...]] = (
    *_failure_facts.MUTANTS,
    *_failure_codes.MUTANTS,
    *_retry_after.MUTANTS,
    *_request_id.MUTANTS,
    *_attempts.MUTANTS,
    *_endings.MUTANTS,
    *_answers.MUTANTS,
    *_framing.MUTANTS,
    *_alike.MUTANTS,
    *_chunks.MUTANTS,
    *_counts.MUTANTS,
    *_tool_calls.MUTANTS,
    *_other_wires.MUTANTS,
    *_limits.MUTANTS,
    *_stopping.MUTANTS,
    *_connections.MUTANTS,
    *_requests.MUTANTS,
)
