"""How long the provider asks to wait before the next attempt.

Pure: the caller passes the instant at which the response arrived. Dates are read with
tables of their own, so neither locale nor time zone of the machine matters.
Source: RFC 9110 sections 5.6.7 and 10.2.3; contract section 5.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

# Thirteen digits of milliseconds are three centuries; ``int`` itself raises above 4300 digits.
MOST_DIGITS: Final = 13

_MONTHS: Final = {
    "Jan": 1,
    "Feb": 2,
    "Mar": 3,
    "Apr": 4,
    "May": 5,
    "Jun": 6,
    "Jul": 7,
    "Aug": 8,
    "Sep": 9,
    "Oct": 10,
    "Nov": 11,
    "Dec": 12,
}
_MONTH: Final = f"(?P<month>{'|'.join(_MONTHS)})"
_TIME: Final = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"

# As text: what is compiled here is compiled at every import, and most calls need none.
_IMF_FIXDATE: Final = (
    rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}})"
    rf" {_TIME} GMT"
)
_RFC_850: Final = (
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,"
    rf" (?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_TIME} GMT"
)
_ASCTIME: Final = (
    rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {_MONTH} (?P<day>[0-9]{{2}}| [0-9]) {_TIME}"
    r" (?P<year>[0-9]{4})"
)
_DATE_FORMS: Final = (_IMF_FIXDATE, _RFC_850, _ASCTIME)

_DECIMAL: Final = re.compile(r"([0-9]+)(?:\.([0-9]+))?")


def provider_retry_after_ms(
    headers: Sequence[tuple[str, str]], *, received_at: datetime
) -> int | None:
    """Return the wait in whole milliseconds, rounded up and never capped, or None.

    Ask only for a response outside 2xx: some providers send the header with every answer.

    Args:
        headers: The lines as received, names in any case. A header that is repeated has no
            one value and counts as absent.
        received_at: When the response arrived; aware. Dates count from the response's own
            ``Date`` where it has a usable one, and from here otherwise.
    """
    milliseconds = _only_value(headers, "retry-after-ms")
    if milliseconds is not None:
        wait = _decimal_ms(milliseconds, exponent=0)
        if wait is not None:
            return wait
    value = _only_value(headers, "retry-after")
    if value is None:
        return None
    if _DECIMAL.fullmatch(value):
        return _decimal_ms(value, exponent=3)
    date = _only_value(headers, "date")
    sent_at = _http_date(date, near=received_at) if date is not None else None
    counted_from = sent_at or received_at
    until = _http_date(value, near=counted_from)
    if until is None:
        return None
    return _within_limits(-((counted_from - until) // timedelta(milliseconds=1)))


def _only_value(headers: Sequence[tuple[str, str]], name: str) -> str | None:
    values = [value for header, value in headers if header.lower() == name]
    return values[0].strip(" \t") if len(values) == 1 else None


def _within_limits(milliseconds: int) -> int | None:
    return milliseconds if 0 < milliseconds < 10**MOST_DIGITS else None


def _decimal_ms(text: str, *, exponent: int) -> int | None:
    """Return ``text`` times ten to the ``exponent``, rounded up, without a float."""
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return None
    whole, fraction = match[1].lstrip("0"), match[2] or ""
    if len(whole) > MOST_DIGITS:
        return None
    shifted = fraction[:exponent].ljust(exponent, "0")
    rest = fraction[exponent:].strip("0")
    return _within_limits(int(f"0{whole}{shifted}") + bool(rest))


def _http_date(text: str, *, near: datetime) -> datetime | None:
    for form in _DATE_FORMS:
        match = re.fullmatch(form, text)
        if match is not None:
            break
    else:
        return None
    month = _MONTHS[match["month"]]
    year, day, hour, minute, second = (
        int(match[field]) for field in ("year", "day", "hour", "minute", "second")
    )
    if form is _RFC_850:
        year = _full_year(year, (month, day, hour, minute, second), near.astimezone(UTC))
    if second > 60:  # 60 is a leap second
        return None
    try:
        return datetime(year, month, day, hour, minute, tzinfo=UTC) + timedelta(seconds=second)
    except (ValueError, OverflowError):  # a day that no month has; past the year 9999
        return None


def _full_year(two_digits: int, rest: tuple[int, int, int, int, int], near: datetime) -> int:
    """Return the latest year with these digits that is not over 50 years ahead of ``near``."""
    limit = (near.year + 50, near.month, near.day, near.hour, near.minute, near.second)
    year = limit[0] // 100 * 100 + two_digits
    return year if (year, *rest) <= limit else year - 100
