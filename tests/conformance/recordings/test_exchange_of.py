"""A recording becomes an exchange that a server of the tests can play."""

from __future__ import annotations

from typing import Final

import pytest

from adapter_sdk.testing import Exchange, Interim, Pause, Send
from conformance._recording._file import exchange_of
from conformance._recording._values import Recording

from .made_recordings import CHUNKED, LENGTH_4, UNTIL_CLOSE, recording

TYPE: Final = ("Content-Type", b"Text/Event-Stream; charset=utf-8")


@pytest.mark.parametrize(
    ("it", "exchange"),
    [
        pytest.param(
            recording(CHUNKED + b"1\r\na\r\n", b"1\r\nb\r\n0\r\n\r\n"),
            Exchange(
                200,
                (TYPE, ("Transfer-Encoding", b"chunked")),
                steps=(Send(b"a"), Send(b"b")),
            ),
            id="whole",
        ),
        pytest.param(
            recording(CHUNKED, b"1\r\na\r\n"),
            Exchange(
                200, (TYPE, ("Transfer-Encoding", b"chunked")), steps=(Send(b"a"),), ending="cut"
            ),
            id="cut",
        ),
        pytest.param(
            recording(CHUNKED, b"1\r\na\r\n", ending="rst"),
            Exchange(
                200, (TYPE, ("Transfer-Encoding", b"chunked")), steps=(Send(b"a"),), ending="reset"
            ),
            id="reset",
        ),
        pytest.param(
            recording(CHUNKED, ending="client-close"),
            Exchange(200, (TYPE, ("Transfer-Encoding", b"chunked")), ending="hold"),
            id="the client left",
        ),
        pytest.param(
            recording(LENGTH_4 + b"ab"),
            Exchange(200, (TYPE, ("Content-Length", b"4")), steps=(Send(b"ab"),), ending="short"),
            id="short",
        ),
        pytest.param(
            recording(UNTIL_CLOSE + b"ab"),
            Exchange(200, (TYPE, ("connection", b"close")), steps=(Send(b"ab"),)),
            id="until it closes",
        ),
        pytest.param(
            recording(b"HTTP/1.1 100 Continue\r\nA: b\r\n\r\n" + LENGTH_4 + b"abcd"),
            Exchange(
                200,
                (TYPE, ("Content-Length", b"4")),
                interim=(Interim(100, (("A", "b"),)),),
                steps=(Send(b"abcd"),),
            ),
            id="an interim head",
        ),
        pytest.param(
            recording(b"HTTP/1.1 200 OK\r\nA: \xe9\r\nContent-Length: 0\r\n\r\n"),
            Exchange(200, (("A", b"\xe9"), ("Content-Length", b"0"))),
            id="header bytes",
        ),
        pytest.param(
            recording(ending="fin", note="why"),
            Exchange(None, ending="close-before-headers"),
            id="closed before the head",
        ),
        pytest.param(
            recording(ending="rst", note="why"),
            Exchange(None, ending="reset"),
            id="reset before the head",
        ),
        pytest.param(
            recording(ending="open", note="why"),
            Exchange(None, ending="hold-before-headers"),
            id="silent before the head",
        ),
        pytest.param(
            recording(ending="client-rst", note="why"),
            Exchange(None, ending="hold-before-headers"),
            id="the client left before the head",
        ),
    ],
)
def test_a_recording_becomes_an_exchange(it: Recording, exchange: Exchange) -> None:
    assert exchange_of(it) == exchange


@pytest.mark.parametrize(
    ("it", "steps"),
    [
        pytest.param(
            recording(CHUNKED, b"1\r\na\r\n", b"1\r\nb\r\n", b"0\r\n\r\n", end_at_ms=99.0),
            (Pause(0.01), Send(b"a"), Pause(0.01), Send(b"b")),
            id="silences between reads",
        ),
        pytest.param(
            recording(b"HTTP/1.1 100 Continue\r\n\r\n", CHUNKED + b"1\r\na\r\n", end_at_ms=60.0),
            (Send(b"a"), Pause(0.05)),
            id="none before the head, one before a cut",
        ),
    ],
)
def test_a_timed_exchange_keeps_the_silences(it: Recording, steps: tuple[object, ...]) -> None:
    assert exchange_of(it, timed=True).steps == steps
