"""Retry-After misread."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from adapter_sdk import LlmFailure

from .._altering import KeepsHead, failing, failing_with_head, forged, telling
from .._good import Good
from .._mutant import Mutant, in_every_call

_CAP_MS: Final = 60_000


def _reread(read: Callable[[str], int | None], *, when: Callable[[str], bool]) -> type[Good]:
    """Return an adapter that reads the values for which ``when`` holds with ``read``."""

    def edit(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
        value = adapter.line("retry-after")
        if value is None or adapter.line("retry-after-ms") or not when(value.strip()):
            return failure
        return forged(failure, provider_retry_after_ms=read(value.strip()))

    return telling(edit)


def _nothing(value: str) -> None:
    return None


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:  # a date, or nothing at all
        return False


def _by_float(value: str) -> int:
    return math.ceil(float(value) * 1000)


def _by_local_clock(value: str) -> int | None:
    at = parsedate_to_datetime(value).replace(tzinfo=UTC)
    return max(0, math.ceil((at - datetime.now(UTC)).total_seconds() * 1000)) or None


def _on_any_status(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    value = adapter.line("retry-after")
    if adapter.head_status != 200 or value is None:
        return failure
    return dataclasses.replace(failure, provider_retry_after_ms=_by_float(value))


def _only_on_429(failure: LlmFailure, payload: object) -> LlmFailure:
    wait = failure.provider_retry_after_ms if failure.status == 429 else None
    return dataclasses.replace(failure, provider_retry_after_ms=wait)


def _seconds_first(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    value = adapter.line("retry-after")
    if value is None or not adapter.line("retry-after-ms"):
        return failure
    return dataclasses.replace(failure, provider_retry_after_ms=_by_float(value))


def _milliseconds_unread(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    if adapter.line("retry-after-ms") is None or adapter.line("retry-after") is not None:
        return failure
    return dataclasses.replace(failure, provider_retry_after_ms=None)


def _zero_milliseconds_end_it(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    if adapter.line("retry-after-ms") != "0":
        return failure
    return dataclasses.replace(failure, provider_retry_after_ms=None)


def _first_of_two(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    lines = [v for name, v in adapter.head_lines if name.lower() == "retry-after"]
    if len(lines) < 2:
        return failure
    return dataclasses.replace(failure, provider_retry_after_ms=_by_float(lines[0]))


def _other_digits(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    # Header bytes are read as Latin-1; a client that decodes UTF-8 sees other digits.
    value = (adapter.line("retry-after") or "").encode("latin-1").decode("utf-8", "replace")
    if value.isascii() or not value.isdecimal():
        return failure
    return dataclasses.replace(failure, provider_retry_after_ms=int(value) * 1000)


def _in_the_machines_zone(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    offset_ms = -1000 * time.localtime().tm_gmtoff
    dated = ":" in (adapter.line("retry-after") or "")
    if not dated or not offset_ms or failure.provider_retry_after_ms is None:
        return failure
    wait = max(1, failure.provider_retry_after_ms + offset_ms)
    return dataclasses.replace(failure, provider_retry_after_ms=wait)


def _needs_bare_digits(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    value = adapter.line("retry-after") or ""
    hidden = value != value.strip()
    return dataclasses.replace(failure, provider_retry_after_ms=None) if hidden else failure


def _strips_no_break_spaces(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    value = adapter.line("retry-after") or ""
    wide = value.startswith("\xa0") and value.strip().isdigit()
    delay_ms = 1000 * int(value) if wide else failure.provider_retry_after_ms
    return dataclasses.replace(failure, provider_retry_after_ms=delay_ms)


def _needs_a_body(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    bare = adapter.line("retry-after") == "7" and adapter.line("content-length") == "0"
    return dataclasses.replace(failure, provider_retry_after_ms=None) if bare else failure


def _reset_headers(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    if adapter.line("x-ratelimit-reset-requests") is None:
        return failure
    return dataclasses.replace(failure, provider_retry_after_ms=360_000)


MUTANTS: Final = (
    Mutant(
        name="retry-after-is-capped",
        broken="Caps the delay at one minute.",
        factory=failing(
            lambda f, _: (
                dataclasses.replace(
                    f, provider_retry_after_ms=min(f.provider_retry_after_ms, _CAP_MS)
                )
                if f.provider_retry_after_ms
                else f
            )
        ),
        trips={
            "retry-after-seconds": "provider_retry_after_ms: expected 410400000, got 60000",
            "code-quota": "provider_retry_after_ms: expected 777600000, got 60000",
        },
    ),
    Mutant(
        name="retry-after-is-rounded-down",
        broken="Rounds a fraction of seconds down.",
        factory=_reread(
            lambda value: math.floor(float(value)) * 1000 or None,
            when=lambda value: _is_number(value) and "." in value and value[0] != "-",
        ),
        trips={"retry-after-seconds": "provider_retry_after_ms: expected 1500, got 1000"},
    ),
    Mutant(
        name="retry-after-is-taken-for-milliseconds",
        broken="Takes whole seconds for milliseconds.",
        factory=_reread(
            lambda value: int(value), when=lambda value: value.isdecimal() and len(value) == 3
        ),
        trips={"retry-after-seconds": "provider_retry_after_ms: expected 7000, got 7"},
    ),
    Mutant(
        name="retry-after-only-on-429",
        broken="Reads the delay on 429 alone.",
        factory=failing(_only_on_429),
        trips={
            "retry-after-seconds": "provider_retry_after_ms: expected 7000, got nothing",
            "retry-after-ms": "provider_retry_after_ms: expected 250, got nothing",
            "code-rate-limit": "provider_retry_after_ms: expected 1000, got nothing",
            "retry-after-date": "expected 42000 (an HTTP date is in UTC",
        },
    ),
    Mutant(
        name="retry-after-on-a-200",
        broken="Reads the delay on a 200 too.",
        factory=failing_with_head(_on_any_status),
        trips={"retry-after-seconds": "expected 'absent', got 5000"},
    ),
    Mutant(
        name="retry-after-date-is-unread",
        broken="Reads seconds only, no date.",
        factory=_reread(_nothing, when=lambda value: value.endswith("GMT") and "-" not in value),
        trips={"retry-after-date": "provider_retry_after_ms: expected 42000, got nothing"},
    ),
    Mutant(
        name="retry-after-date-by-the-local-clock",
        broken="Counts from its own clock although the response has a Date.",
        factory=_reread(
            _by_local_clock, when=lambda value: value.endswith("GMT") and "2035" in value
        ),
        trips={"retry-after-date": "provider_retry_after_ms: expected 42000, got"},
    ),
    Mutant(
        name="retry-after-asctime-is-unread",
        broken="Does not know dates in the form of asctime.",
        factory=_reread(_nothing, when=lambda value: not value.endswith("GMT") and ":" in value),
        trips={"retry-after-date": "provider_retry_after_ms: expected 42000, got nothing"},
    ),
    Mutant(
        name="retry-after-rfc-850-is-unread",
        broken="Does not know dates in the form of RFC 850.",
        factory=_reread(_nothing, when=lambda value: value.endswith("GMT") and "-" in value),
        trips={"retry-after-date": "provider_retry_after_ms: expected 42000, got nothing"},
    ),
    Mutant(
        name="retry-after-ms-is-unread",
        broken="Does not know retry-after-ms.",
        factory=failing_with_head(_milliseconds_unread),
        trips={"retry-after-ms": "expected 250, got nothing"},
    ),
    Mutant(
        name="seconds-beat-milliseconds",
        broken="Lets Retry-After win over retry-after-ms.",
        factory=failing_with_head(_seconds_first),
        trips={"retry-after-ms": "expected 4321, got 9000"},
    ),
    Mutant(
        name="zero-milliseconds-hide-the-seconds",
        broken="Stops at a retry-after-ms of zero.",
        factory=failing_with_head(_zero_milliseconds_end_it),
        trips={"retry-after-ms": "expected 1000, got nothing"},
    ),
    Mutant(
        name="retry-after-through-float",
        broken="Reads the delay as a float, which takes underscores, signs and exponents.",
        factory=_reread(_by_float, when=lambda value: _is_number(value) and not value.isdecimal()),
        trips={
            "retry-after-invalid": "expected 'absent', got 1000000",
            in_every_call("failure-payload"): "ValueError: LlmFailure.provider_retry_after_ms",
        },
    ),
    Mutant(
        name="retry-after-of-zero",
        broken="Reports a delay of zero.",
        factory=_reread(lambda value: 0, when=lambda value: value == "0"),
        trips={
            "retry-after-invalid": "expected 'absent', got 0",
            in_every_call("failure-payload"): "ValueError: LlmFailure.provider_retry_after_ms",
        },
    ),
    Mutant(
        name="first-of-two-retry-afters",
        broken="Takes the first of two Retry-After lines.",
        factory=failing_with_head(_first_of_two),
        trips={"retry-after-invalid": "expected 'absent', got 1000"},
    ),
    Mutant(
        name="digits-of-other-scripts",
        broken="Takes full-width digits for a number.",
        factory=failing_with_head(_other_digits),
        trips={"retry-after-invalid": "expected 'absent', got 12000"},
    ),
    Mutant(
        name="reset-headers-are-a-delay",
        broken="Takes x-ratelimit-reset-requests for a delay.",
        factory=failing_with_head(_reset_headers),
        trips={"retry-after-invalid": "expected 'absent', got 360000"},
    ),
    Mutant(
        name="dates-are-in-the-machines-zone",
        broken="Reads a date as if it were in the machine's zone.",
        factory=failing_with_head(_in_the_machines_zone),
        trips={"retry_after_date/machine_in_another_zone": "an HTTP date is in UTC"},
    ),
    Mutant(
        name="the-delay-needs-a-body",
        broken="Reads the delay only where the answer has a body.",
        factory=failing_with_head(_needs_a_body),
        trips={"retry_after_seconds/spaces_around_the_number": "provider_retry_after_ms"},
    ),
    Mutant(
        name="spaces-hide-the-delay",
        broken="Reads no delay that has spaces or tabs around it.",
        factory=failing_with_head(_needs_bare_digits),
        trips={
            "retry_after_seconds/spaces_around_the_number": "over http_client: expected 7000",
            "retry-after-seconds": "provider_retry_after_ms",
        },
    ),
    Mutant(
        name="other-spaces-are-stripped",
        broken="Strips a no-break space from a number of seconds.",
        factory=failing_with_head(_strips_no_break_spaces),
        trips={"retry_after_invalid/no_break_space_before": "expected 'absent', got 7000"},
    ),
)
