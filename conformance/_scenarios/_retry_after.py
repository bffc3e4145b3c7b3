"""retry-after-seconds and retry-after-date, where one exchange does not show them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from adapter_sdk.testing import Exchange, FaultServer

from .._bench import Bench
from .._http_dates import DateForm, http_date
from .._judge import Difference
from .._scenario import Scenario, scenario
from ._verdicts import failure_differs

# New York by the rules of POSIX, so that no zone file is needed.
_NEW_YORK: Final = "EST5EDT,M3.2.0,M11.1.0"

_DELAY_S: Final = 42
_DELAY_MS: Final = _DELAY_S * 1000
_FORMS: Final[tuple[DateForm, ...]] = ("asctime", "imf-fixdate", "rfc-850")


@contextlib.contextmanager
def _machine_in(zone: str) -> Iterator[None]:
    """Move this process to ``zone``; not for checks that run side by side."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()


@scenario("retry-after-date", "A date gives the same delay wherever the machine stands")
async def machine_in_another_zone(bench: Bench) -> list[Difference]:
    """Each form, with and without the response's own Date, under New York's rules."""
    found: list[Difference] = []
    with _machine_in(_NEW_YORK):
        for form in _FORMS:
            for dated in (True, False):
                found += await _delay_differs(bench, form, dated=dated)
    return found


async def _delay_differs(bench: Bench, form: DateForm, *, dated: bool) -> list[Difference]:
    begun = datetime.now(UTC).replace(microsecond=0)
    until = begun + timedelta(seconds=_DELAY_S)
    headers = [("retry-after", http_date(until, form))]
    if dated:
        headers.append(("date", http_date(begun, "imf-fixdate")))
    with FaultServer((Exchange(503, tuple(headers), body=b""),)) as server:
        async with bench.adapter(server.base_url) as adapter:
            seen = await bench.call(adapter)
    where = "with" if dated else "without"
    of = f"a 503 whose Retry-After is {headers[0][1]!r} {where} a Date, in New York"
    found = failure_differs(seen, "SERVER", of=of)
    if found or seen.failure is None:
        return found
    got = seen.failure.provider_retry_after_ms
    # Without a Date the delay counts from the moment at which the answer came.
    least = _DELAY_MS if dated else (until - datetime.now(UTC)) // timedelta(milliseconds=1)
    if got is None or not least <= got <= _DELAY_MS:
        wanted = f"{_DELAY_MS} (an HTTP date is in UTC whatever the machine's zone)"
        return [Difference(f"provider_retry_after_ms of {of}", wanted, str(got))]
    return []


@scenario("retry-after-seconds", "Spaces and tabs around a number of seconds are no part of it")
async def spaces_around_the_number(bench: Bench) -> list[Difference]:
    """As a header may have them (RFC 9110 section 5.5).

    Some clients strip a header that comes over a socket, others only its start, so that what
    the adapter does about it may not show there. A client that is passed in strips nothing.
    """
    found: list[Difference] = []
    for value in (" 7 ", "\t7\t", "  7"):
        answer = Exchange(429, (("retry-after", value),), body=b"")
        of = f"a 429 whose Retry-After is {value!r}"
        with FaultServer((answer,)) as server:
            async with bench.adapter(server.base_url) as adapter:
                seen = await bench.call(adapter)
        found += failure_differs(seen, "RATE_LIMIT", of=of, provider_retry_after_ms=7000)
        if bench.target.takes_client:
            async with bench.in_process([answer]) as (adapter, _):
                seen = await bench.call(adapter)
            of += ", over http_client"
            found += failure_differs(seen, "RATE_LIMIT", of=of, provider_retry_after_ms=7000)
    return found


SCENARIOS: Final[tuple[Scenario, ...]] = (machine_in_another_zone, spaces_around_the_number)
