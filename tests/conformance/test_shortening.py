"""A long timeline loses sends and chunks, and keeps what proves a finding."""

from __future__ import annotations

import random

import pytest

from adapter_sdk.testing import Event
from conformance._shortening import LeftOut, Moment, shortened, shortened_lines

ACCEPTED = "connection {0}: accepted"
RECEIVED = "connection {0}: request received: POST /chat/completions, 170 bytes of body"
SENT = "connection {0}: step sent: step 1 of 9 (20 bytes)"
CLOSED = "connection {0}: peer closed"


def timeline(*events: str) -> list[Moment]:
    return [
        (number / 1000, "server" if what.startswith("connection") else "caller", what)
        for number, what in enumerate(events)
    ]


HIDDEN_RETRY = timeline(
    ACCEPTED.format(1),
    RECEIVED.format(1),
    *[SENT.format(1)] * 6,
    CLOSED.format(1),
    ACCEPTED.format(2),
    RECEIVED.format(2),
    *[SENT.format(2)] * 6,
    *["text-delta 'a'"] * 6,
    "finish stop",
    CLOSED.format(2),
)


def test_a_hidden_retry_keeps_its_second_connection_and_its_second_request() -> None:
    assert shortened_lines(HIDDEN_RETRY, lines=9) == [
        "     0.0 ms  server connection 1: accepted",
        f"     1.0 ms  server {RECEIVED.format(1)}",
        "                    … 6 more …",
        "     8.0 ms  server connection 1: peer closed",
        "     9.0 ms  server connection 2: accepted",
        f"    10.0 ms  server {RECEIVED.format(2)}",
        "                    … 12 more …",
        "    23.0 ms  caller finish stop",
        "    24.0 ms  server connection 2: peer closed",
    ]


def test_a_retry_on_the_same_connection_keeps_its_second_request() -> None:
    long = timeline(
        ACCEPTED.format(1), RECEIVED.format(1), *[SENT.format(1)] * 9, RECEIVED.format(1),
        *[SENT.format(1)] * 9, "finish error SERVER",
    )  # fmt: skip

    said = [m.number if isinstance(m, LeftOut) else m[2] for m in shortened(long, lines=6)]

    assert said == [
        ACCEPTED.format(1), RECEIVED.format(1), 9, RECEIVED.format(1), 9, "finish error SERVER",
    ]  # fmt: skip


def test_a_short_one_stays_as_it_is() -> None:
    assert shortened(HIDDEN_RETRY, lines=len(HIDDEN_RETRY)) == HIDDEN_RETRY
    assert shortened([], lines=9) == []


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_shortened_fits_keeps_its_order_and_counts_what_is_missing(seed: int) -> None:
    chance = random.Random(seed)
    kinds = [ACCEPTED, RECEIVED, SENT, SENT, SENT, CLOSED, "text-delta 'a'", "finish stop"]
    long = timeline(*(chance.choice(kinds).format(1) for _ in range(chance.randrange(200))))
    lines = chance.randrange(3, 20)

    short = shortened(long, lines=lines)

    assert len(short) <= lines
    place = 0
    for moment in short:
        if isinstance(moment, LeftOut):
            assert moment.number >= 2
            assert moment.at_s == long[place][0]
            place += moment.number
        else:
            assert moment == long[place]
            place += 1
    assert place == len(long)


@pytest.mark.parametrize("kind", ["accepted", "request-received", "bad-request", "peer-closed"])
def test_the_proof_is_known_by_the_words_of_the_fault_server(kind: str) -> None:
    event = f"connection 1: {Event(0.0, kind, 'more')}"  # type: ignore[arg-type]
    long = timeline(*[SENT.format(1)] * 20, event, *[SENT.format(1)] * 20)

    assert event in [m[2] for m in shortened(long, lines=3) if not isinstance(m, LeftOut)]
