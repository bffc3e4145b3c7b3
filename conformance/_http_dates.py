"""The three HTTP date forms (RFC 9110 section 5.6.7), independent of the machine's locale."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal, TypeAlias

DateForm: TypeAlias = Literal["imf-fixdate", "rfc-850", "asctime"]

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip


def http_date(moment: datetime, form: DateForm) -> str:
    """Return ``moment``, which is in UTC, in one of the three forms; fractions are cut off."""
    day, month = _DAYS[moment.weekday()], _MONTHS[moment.month - 1]
    clock = f"{moment:%H:%M:%S}"
    match form:
        case "imf-fixdate":
            return f"{day[:3]}, {moment.day:02d} {month} {moment.year:04d} {clock} GMT"
        case "rfc-850":
            return f"{day}, {moment.day:02d}-{month}-{moment.year % 100:02d} {clock} GMT"
        case "asctime":
            return f"{day[:3]} {month} {moment.day:2d} {clock} {moment.year:04d}"
