from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter_sdk._retry_after import provider_retry_after_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
AHEAD = {  # thirty seconds after noon
    "imf-fixdate": "Thu, 01 Jan 2026 12:00:30 GMT",
    "rfc-850": "Thursday, 01-Jan-26 12:00:30 GMT",
    "asctime": "Thu Jan  1 12:00:30 2026",
}


def wait(*headers: tuple[str, str], received_at: datetime = NOON) -> int | None:
    return provider_retry_after_ms(headers, received_at=received_at)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("7", 7_000, id="whole"),
        pytest.param(" \t7\t ", 7_000, id="padded"),
        pytest.param("1.5", 1_500, id="fraction"),
        pytest.param("0.0001", 1, id="less-than-a-millisecond"),
        pytest.param("1.0001", 1_001, id="rounded-up"),
        pytest.param("1.0010", 1_001, id="nothing-to-round"),
        pytest.param("0.1", 100, id="no-binary-fraction"),
        pytest.param("2." + "0" * 5000 + "1", 2_001, id="thousands-of-decimals"),
        pytest.param("777600", 777_600_000, id="nine-days-are-not-capped"),
        pytest.param("9999999999.999", 9_999_999_999_999, id="thirteen-digits"),
        pytest.param("9999999999.9991", None, id="rounded-up-to-fourteen-digits"),
        pytest.param("10000000000", None, id="fourteen-digits"),
        pytest.param("9" * 5000, None, id="thousands-of-digits"),
        pytest.param("0" * 5000 + "7", 7_000, id="thousands-of-leading-zeros"),
        pytest.param("0", None, id="zero"),
        pytest.param("0.000", None, id="zero-fraction"),
        pytest.param("-3", None, id="negative"),
        pytest.param("+3", None, id="sign"),
        pytest.param("1e10000", None, id="exponent"),
        pytest.param("inf", None, id="infinite"),
        pytest.param("nan", None, id="not-a-number"),
        pytest.param(".5", None, id="no-digit-before-the-point"),
        pytest.param("5.", None, id="no-digit-after-the-point"),
        pytest.param("1,5", None, id="comma"),
        pytest.param("1, 2", None, id="two-values-in-a-line"),
        pytest.param("1_000", None, id="underscore"),
        pytest.param("0x10", None, id="hexadecimal"),
        pytest.param("6m0s", None, id="go-duration"),
        pytest.param("7 s", None, id="unit"),
        pytest.param("\u00b2", None, id="superscript-digit"),
        pytest.param("\uff11\uff12", None, id="full-width-digits"),
        pytest.param("\u0663", None, id="arabic-digit"),
        pytest.param("\u00a07", None, id="no-break-space"),
        pytest.param("7\n", None, id="line-end"),
        pytest.param("", None, id="empty"),
        pytest.param("soon", None, id="words"),
    ],
)
def test_seconds_become_whole_milliseconds(value: str, expected: int | None) -> None:
    assert wait(("retry-after", value)) == expected


@pytest.mark.parametrize(
    ("milliseconds", "seconds", "expected"),
    [
        pytest.param("4321", "9", 4_321, id="milliseconds-win"),
        pytest.param("0", "1", 1_000, id="zero-falls-through"),
        pytest.param("soon", "1", 1_000, id="words-fall-through"),
        pytest.param("-5", "1", 1_000, id="negative-falls-through"),
        pytest.param("9" * 5000, "1", 1_000, id="too-long-falls-through"),
        pytest.param("12.25", "1", 13, id="fraction-rounds-up"),
        pytest.param(" 5 ", "1", 5, id="padded"),
        pytest.param("\uff15", "1", 1_000, id="full-width-digit-falls-through"),
        pytest.param(AHEAD["imf-fixdate"], "1", 1_000, id="a-date-falls-through"),
        pytest.param("5", "x", 5, id="alone-it-suffices"),
        pytest.param("0", "0", None, id="both-zero"),
    ],
)
def test_milliseconds_come_first(milliseconds: str, seconds: str, expected: int | None) -> None:
    headers = (("retry-after", seconds), ("Retry-After-Ms", milliseconds))
    assert wait(*headers) == expected


@pytest.mark.parametrize("value", AHEAD.values(), ids=AHEAD.keys())
@pytest.mark.parametrize(
    ("date", "expected"),
    [
        pytest.param([], 30_000, id="no-date-header"),
        *(
            pytest.param(
                [("Date", text.replace("12:00:30", "12:00:20"))], 10_000, id=f"date-as-{form}"
            )
            for form, text in AHEAD.items()
        ),
        pytest.param([("Date", "today")], 30_000, id="unusable-date-header"),
        pytest.param([("Date", AHEAD["asctime"])] * 2, 30_000, id="repeated-date-header"),
        pytest.param([("Date", "Thu, 01 Jan 2026 12:00:30 GMT")], None, id="at-the-date-itself"),
        pytest.param([("Date", "Thu, 01 Jan 2026 12:00:31 GMT")], None, id="before-the-date"),
        pytest.param([("date", "Thu, 01 Jan 2026 09:00:30 GMT")], 10_800_000, id="slow-clock"),
    ],
)
def test_a_date_counts_from_the_date_header_or_from_the_clock(
    value: str, date: list[tuple[str, str]], expected: int | None
) -> None:
    assert wait(*date, ("retry-after", value)) == expected


def test_a_part_of_a_millisecond_rounds_up() -> None:
    at = NOON + timedelta(microseconds=1_001)
    assert wait(("retry-after", AHEAD["asctime"]), received_at=at) == 29_999
    at = NOON + timedelta(seconds=29, microseconds=999_999)
    assert wait(("retry-after", AHEAD["asctime"]), received_at=at) == 1


def test_the_clock_may_be_in_any_zone() -> None:
    at = NOON.astimezone(timezone(timedelta(hours=-5)))
    assert wait(("retry-after", AHEAD["rfc-850"]), received_at=at) == 30_000


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("value", AHEAD.values(), ids=AHEAD.keys())
@pytest.mark.usefixtures("new_york")
def test_the_zone_of_the_machine_does_not_matter(value: str) -> None:
    assert wait(("retry-after", value)) == 30_000


DAY = 86_400_000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("Sunday, 02-Jan-26 12:00:00 GMT", DAY, id="this-century"),
        pytest.param("Sunday, 01-Jan-76 12:00:00 GMT", 18_262 * DAY, id="fifty-years-ahead"),
        pytest.param("Sunday, 01-Jan-76 12:00:01 GMT", None, id="a-second-more-is-1976"),
        pytest.param("Sunday, 31-Dec-25 12:00:00 GMT", None, id="past"),
        pytest.param("Sunday, 29-Feb-28 12:00:00 GMT", 789 * DAY, id="leap-day"),
        pytest.param("Sunday, 29-Feb-27 12:00:00 GMT", None, id="leap-day-of-no-leap-year"),
    ],
)
def test_two_digits_name_a_year_at_most_fifty_years_ahead(value: str, expected: int | None) -> None:
    assert wait(("retry-after", value)) == expected


def test_two_digits_can_name_a_year_of_the_next_century() -> None:
    at = datetime(2099, 12, 31, 12, 0, tzinfo=UTC)
    assert wait(("retry-after", "Friday, 01-Jan-00 12:00:00 GMT"), received_at=at) == DAY


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("Thu, 01 Jan 2015 00:00:00 GMT", None, id="past"),
        pytest.param("Thu, 01 Jan 2026 12:00:60 GMT", 60_000, id="leap-second"),
        pytest.param("Fri, 31 Dec 9999 23:59:60 GMT", None, id="leap-second-at-the-end-of-time"),
        pytest.param("Sun Nov 22 05:46:39 2342", 9_999_999_999_000, id="thirteen-digits"),
        pytest.param("Sun Nov 22 05:46:40 2342", None, id="fourteen-digits"),
        pytest.param("Fri, 31 Dec 9999 23:59:59 GMT", None, id="the-end-of-time"),
        pytest.param("Sat Jan 10 12:00:00 2026", 9 * DAY, id="asctime-with-two-digits"),
        pytest.param("Mon, 01 Jan 2026 12:00:30 GMT", 30_000, id="the-wrong-weekday-is-no-matter"),
        pytest.param("Thu, 01 Jan 2026 12:00:61 GMT", None, id="second-61"),
        pytest.param("Thu, 01 Jan 2026 12:60:00 GMT", None, id="minute-60"),
        pytest.param("Thu, 01 Jan 2026 24:00:00 GMT", None, id="hour-24"),
        pytest.param("Mon, 30 Feb 2026 12:00:00 GMT", None, id="thirtieth-of-february"),
        pytest.param("Thu, 00 Jan 2026 12:00:30 GMT", None, id="day-zero"),
        pytest.param("Thu Jan  0 12:00:30 2026", None, id="asctime-day-zero"),
        pytest.param("Thu, 01 Jan 0000 12:00:30 GMT", None, id="year-zero"),
        pytest.param("Thu, 01 Jan 20260 12:00:30 GMT", None, id="five-digit-year"),
        pytest.param("Thu, 1 Jan 2026 12:00:30 GMT", None, id="one-digit-day"),
        pytest.param("Thu, 01 Jan 26 12:00:30 GMT", None, id="two-digit-year-in-the-wrong-form"),
        pytest.param("Thu, 01-Jan-26 12:00:30 GMT", None, id="short-weekday-in-the-wrong-form"),
        pytest.param("Thu, 01 Jan 2026 12:00:30 +0000", None, id="offset"),
        pytest.param("Thu, 01 Jan 2026 12:00:30 UTC", None, id="another-zone"),
        pytest.param("Thu, 01 Jan 2026 12:00:30", None, id="no-zone"),
        pytest.param("Thu Jan  1 12:00:30 2026 GMT", None, id="asctime-with-a-zone"),
        pytest.param("Thu Jan 1 12:00:30 2026", None, id="asctime-without-padding"),
        pytest.param("thu, 01 jan 2026 12:00:30 gmt", None, id="lower-case"),
        pytest.param("Thu, 01 Mai 2026 12:00:30 GMT", None, id="another-language"),
        pytest.param("Thu, \uff10\uff11 Jan 2026 12:00:30 GMT", None, id="full-width-digits"),
        pytest.param("01 Jan 2026 12:00:30 GMT", None, id="no-weekday"),
        pytest.param("2026-01-01T12:00:30Z", None, id="rfc-3339"),
        pytest.param("1767268830", 1_767_268_830_000, id="epoch-seconds-are-seconds"),
    ],
)
def test_only_the_three_forms_of_the_standard_are_dates(value: str, expected: int | None) -> None:
    assert wait(("retry-after", value)) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param([], None, id="no-headers"),
        pytest.param([("RETRY-AFTER", "3")], 3_000, id="any-case"),
        pytest.param([("retry-after", "1"), ("Retry-After", "2")], None, id="repeated"),
        pytest.param([("retry-after", "1"), ("retry-after", "1")], None, id="repeated-alike"),
        pytest.param(
            [("retry-after-ms", "1"), ("retry-after-ms", "2"), ("retry-after", "3")],
            3_000,
            id="repeated-milliseconds-are-absent",
        ),
        pytest.param(
            [("retry-after-ms", "1"), ("retry-after", "2"), ("retry-after", "3")],
            1,
            id="repeated-seconds-leave-milliseconds",
        ),
        pytest.param([("x-ratelimit-reset-requests", "6")], None, id="reset-headers-are-not-read"),
        pytest.param([("llm_provider-retry-after", "60")], None, id="a-name-that-only-ends-in-it"),
    ],
)
def test_a_header_counts_when_it_has_one_value(
    headers: list[tuple[str, str]], expected: int | None
) -> None:
    assert wait(*headers) == expected


def with_character(text: str, at: int, character: str) -> str:
    return text[:at] + character + text[at + 1 :]


HEADER_TEXT = st.one_of(
    st.text(max_size=60),
    st.text("0123456789.-+e \t", max_size=30),
    st.builds(
        with_character,
        st.sampled_from(list(AHEAD.values())),
        st.integers(0, 32),
        st.sampled_from("0123456789") | st.characters(),
    ),
)


@given(value=HEADER_TEXT, date=HEADER_TEXT, milliseconds=st.none() | HEADER_TEXT)
def test_no_value_ever_raises(value: str, date: str, milliseconds: str | None) -> None:
    headers = [("retry-after", value), ("date", date)]
    headers += [("retry-after-ms", milliseconds)] if milliseconds is not None else []
    result = wait(*headers)
    assert result is None or 0 < result < 10**13


@given(
    until=st.datetimes(datetime(2026, 1, 1), datetime(2075, 12, 31), timezones=st.just(UTC)),
    form=st.sampled_from(
        ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"]
    ),
)
def test_all_three_forms_of_an_instant_agree(until: datetime, form: str) -> None:
    until = until.replace(microsecond=0)
    expected = (until - NOON) // timedelta(milliseconds=1)
    assert wait(("retry-after", until.strftime(form))) == (expected if expected > 0 else None)
