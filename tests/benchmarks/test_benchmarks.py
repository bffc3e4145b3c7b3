"""The benchmark itself: it reads whole streams, and its table, JSON and plot say what it found."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from .measure import NotInstalled, Row, compare
from .report import against, as_json, as_svg, as_table
from .server import writes


def row(client: str, ratio: float, *, mode: str = "token", streams: int = 1) -> Row:
    return Row(client, mode, 100, streams, 9, 10 * ratio, ratio, (ratio, ratio), 1.5, 0.1)


ROWS = [row("sdk", 1.4), row("httpx", 1.0), row("sdk", 5.0, mode="burst", streams=200)]


def test_every_client_reads_every_event_of_the_stream() -> None:
    told: list[str] = []
    rows = compare(
        ["httpx", "sdk", "sdk messages", "raw socket"],
        mode="token",
        events=50,
        streams=2,
        rounds=1,
        tell=told.append,
    )
    assert [(one.client, one.rounds, one.streams) for one in rows] == [
        ("httpx", 1, 2),
        ("sdk", 1, 2),
        ("sdk messages", 1, 2),
        ("raw socket", 1, 2),
    ]
    assert rows[0].ratio == 1.0
    assert all(one.cpu_us > 0 and one.first_ms > 0 for one in rows)
    assert told == ["token: round 0 of 1", "token: round 1 of 1"]


def test_a_client_that_nobody_knows_is_named() -> None:
    with pytest.raises(NotInstalled, match="nobody: no such client"):
        compare(["nobody"], mode="token", events=1, streams=1, rounds=1, tell=lambda _: None)


def test_a_client_that_cannot_be_had_is_told_and_left_out() -> None:
    told: list[str] = []
    rows = compare(
        ["httpx", "nobody"], mode="burst", events=5, streams=1, rounds=1, tell=told.append
    )
    assert [one.client for one in rows] == ["httpx"]
    assert told[0].startswith("nobody: no such client")


@pytest.mark.parametrize(("mode", "least"), [("token", 103), ("burst", 3)])
def test_the_server_sends_an_event_a_write_or_many(mode: str, least: int) -> None:
    sent = writes(mode, "chat", 100)
    assert len(sent) == least + (2 if mode == "token" else 0)
    assert b"".join(sent).count(b"data: ") == 103  # a role, the words, a finish, a marker


def test_the_table_puts_the_cheapest_first() -> None:
    assert as_table(ROWS).splitlines()[2:] == [
        "| burst, 200 streams | sdk | 50.00 | 5.00 | 5.00-5.00 | 1.50 |",
        "| token | httpx | 10.00 | 1.00 | 1.00-1.00 | 1.50 |",
        "| token | sdk | 14.00 | 1.40 | 1.40-1.40 | 1.50 |",
    ]


def test_a_run_is_compared_with_an_earlier_one() -> None:
    earlier = as_json([row("sdk", 2.0), row("httpx", 1.0)])
    assert json.loads(earlier)["rows"][0]["ratio"] == 2.0
    assert against(ROWS, earlier).splitlines()[2:] == [
        "| token | httpx | 1.00 | 1.00 | +0 % |",
        "| token | sdk | 2.00 | 1.40 | -30 % |",
    ]


def test_the_plot_has_a_bar_for_each_row_and_longer_ones_for_dearer_clients() -> None:
    namespace = {"svg": "http://www.w3.org/2000/svg"}
    bars = ET.fromstring(as_svg(ROWS)).findall("svg:rect", namespace)[1:]
    dearest, cheapest, middle = (float(bar.attrib["width"]) for bar in bars)
    assert cheapest < middle < dearest
