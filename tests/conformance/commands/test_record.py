"""The recorder in front of the fault server: what passes is what is kept, and it replays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import pytest

from adapter_sdk.testing import Exchange, FaultServer, Interim, Pause, Send
from conformance._record import _socket
from conformance._record._conversation import Conversation
from conformance._record._exchange import Watched
from conformance._record._framing import LONGEST_HEAD_BYTES
from conformance._recording._file import exchange_of
from conformance._recording._wire import read_answer

from .raw_client import Answered, RawClient, ask, request_bytes
from .raw_server import raw_server
from .recording_session import PATIENCE_S, recorder_at

EVENTS = (("content-type", "text/event-stream"), ("x-request-id", "req-1"))
CLOSE = ("connection", "close")
PAUSED = (Send(b"data: one\n\n"), Pause(0.02), Send("data: zwölf\n\n".encode()[:9]), Pause(0.02))
REST = (Send("data: zwölf\n\n".encode()[9:]), Send(b"data: [DONE]\n\n"))


ANSWERS = {
    "a-body-with-a-length": (Exchange(200, EVENTS, body=b'{"a": 1}'), "open"),
    "an-error-without-a-body": (Exchange(503, (("retry-after", "7"),)), "open"),
    "no-content": (Exchange(204), "open"),
    "an-announced-end": (Exchange(401, (CLOSE,), body=b"no"), "fin"),
    "a-chunked-stream": (Exchange(200, EVENTS, steps=(*PAUSED, *REST)), "open"),
    "a-body-until-the-end": (Exchange(200, (*EVENTS, CLOSE), steps=(*PAUSED, *REST)), "fin"),
    "bytes-that-are-no-text": (Exchange(200, EVENTS, body=bytes(range(256)) * 300), "open"),
    "an-early-hint": (Exchange(200, interim=(Interim(103, (("link", "x"),)),), body=b"x"), "open"),
    "a-cut": (Exchange(200, EVENTS, steps=PAUSED, ending="cut"), "fin"),
    "a-cut-right-after-the-head": (Exchange(200, EVENTS, ending="cut"), "fin"),
    "a-reset": (Exchange(200, EVENTS, steps=PAUSED, ending="reset"), "rst"),
    "a-short-body": (Exchange(200, EVENTS, steps=PAUSED, ending="short"), "fin"),
    "an-end-before-the-head": (Exchange(None, ending="close-before-headers"), "fin"),
    "a-reset-before-the-head": (Exchange(None, ending="reset"), "rst"),
}


@pytest.mark.parametrize(("exchange", "ending"), ANSWERS.values(), ids=ANSWERS.keys())
def test_what_passes_is_what_is_kept_and_it_replays_byte_for_byte(
    tmp_path: Path, exchange: Exchange, ending: str
) -> None:
    with FaultServer([exchange]) as server:
        direct = ask(server.base_url)
    with (
        FaultServer([exchange]) as server,
        recorder_at(server.base_url, tmp_path, times=1) as session,
    ):
        through = ask(session.base_url)
        session.wait()
    (recording,) = session.recordings()
    with FaultServer([exchange_of(recording)]) as server:
        replayed = ask(server.base_url)

    assert direct.ending == ending
    assert through == direct
    assert b"".join(read.data for read in recording.reads) == direct.data
    assert (recording.origin, recording.ending) == ("recorded", ending)
    assert told(replayed) == told(direct)


def told(answered: Answered) -> tuple[object, ...]:
    """What HTTP tells of an answer; the sizes of chunks are free."""
    answer = read_answer([answered.data] if answered.data else [])
    body = b"".join(answer.pieces)
    return (answer.interim, answer.head, body, answer.framed_by, answer.is_whole, answered.ending)


def close(client: RawClient) -> None:
    client.__exit__()


@pytest.mark.parametrize(
    ("leave", "ending"),
    [
        pytest.param(close, "client-close", id="fin"),
        pytest.param(RawClient.reset, "client-rst", id="rst"),
    ],
)
def test_a_client_that_leaves_a_silent_server_is_told_to_that_server_and_kept(
    tmp_path: Path, leave: Callable[[RawClient], None], ending: str
) -> None:
    exchange = Exchange(200, EVENTS, steps=PAUSED[:1], ending="hold")
    with (
        FaultServer([exchange]) as server,
        recorder_at(server.base_url, tmp_path, times=1) as session,
    ):
        with RawClient(session.base_url) as client:
            client.send(request_bytes())
            came = client.read(until=b"data: one\n\n\r\n")
            leave(client)
        session.wait()
        assert server.wait_until_closed(PATIENCE_S) == []
        (connection,) = server.connections
    (recording,) = session.recordings()

    assert connection.peer == {"client-close": "closed", "client-rst": "reset"}[ending]
    assert b"".join(read.data for read in recording.reads) == came.data
    assert recording.ending == ending
    assert exchange_of(recording).ending == "hold"


HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
DONE = b"e\r\ndata: [DONE]\n\n\r\n"

WHOLE_READS = 1 << 16
# What comes behind the content, in reads of how many bytes, and whether it is the end.
BODY_ENDS = {
    "in-one-read": (b"0\r\n\r\n", WHOLE_READS, True),
    "in-two-reads": (b"0\r\n\r\n", 3, True),
    "byte-by-byte": (b"0\r\n\r\n", 1, True),
    "with-a-trailer": (b"0\r\nx-took: 1\r\n\r\n", WHOLE_READS, True),
    "with-a-trailer-in-reads": (b"0\r\nx-took: 1\r\n\r\n", 3, True),
    "more-content": (b"1\r\nx\r\n0\r\n\r\n", WHOLE_READS, False),
    "more-content-in-reads": (b"1\r\nx\r\n0\r\n\r\n", 3, False),
    "no-end": (b"0\r\n", WHOLE_READS, False),
    "bytes-behind-the-end": (b"0\r\n\r\nHTTP/1.1 200 OK\r\n", WHOLE_READS, False),
}


@pytest.mark.parametrize(
    ("leave", "ending"),
    [
        pytest.param(close, "client-close", id="fin"),
        pytest.param(RawClient.reset, "client-rst", id="rst"),
    ],
)
@pytest.mark.parametrize(
    ("behind", "read_bytes", "is_whole"), BODY_ENDS.values(), ids=BODY_ENDS.keys()
)
def test_a_client_that_leaves_at_the_end_of_the_content_leaves_a_whole_recording(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    behind: bytes,
    read_bytes: int,
    is_whole: bool,
    leave: Callable[[RawClient], None],
    ending: str,
) -> None:
    monkeypatch.setattr(_socket, "_READ_BYTES", read_bytes)
    left = Event()
    with (
        raw_server([HEAD, DONE, left, behind]) as (base_url, _),
        recorder_at(base_url, tmp_path, times=1) as session,
    ):
        with RawClient(session.base_url) as client:
            client.send(request_bytes())
            client.read(until=DONE)
            leave(client)
            left.set()
        session.wait()
    (recording,) = session.recordings()

    assert (recording.ending, recording.body) == (ending, b"data: [DONE]\n\n")
    assert recording.is_whole is is_whole


WITHOUT_CONTENT = {
    "no-content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "an-empty-body": b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
    "an-empty-body-in-chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("answer", WITHOUT_CONTENT.values(), ids=WITHOUT_CONTENT.keys())
def test_an_answer_whose_head_no_client_waited_for_is_not_kept(
    tmp_path: Path, answer: bytes
) -> None:
    left = Event()
    with (
        raw_server([left, answer]) as (base_url, asked),
        recorder_at(base_url, tmp_path, times=1) as session,
    ):
        with RawClient(session.base_url) as client:
            client.send(request_bytes())
        left.set()
        session.wait()
    (recording,) = session.recordings()

    assert (recording.ending, recording.reads) == ("client-close", ())
    assert recording.note == "not a byte came"
    assert len(asked) == 1


ENDLESS = {
    "until-the-connection-ends": b"HTTP/1.1 200 OK\r\n\r\n",
    "a-chunk-extension": HEAD + b"5;x=",
    "a-trailer": HEAD + b"0\r\nx-long: ",
}


@pytest.mark.parametrize("begin", ENDLESS.values(), ids=ENDLESS.keys())
def test_what_has_no_end_is_not_waited_for_once_the_client_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    taken: list[int] = []
    take = Conversation._take_body_end

    def watched(conversation: Conversation, seen: Watched, server: _socket.Side) -> None:
        # What is read later, while the connection closes, is thrown away.
        with pytest.MonkeyPatch.context() as patch:
            read = _socket.Side.read

            def counted(side: _socket.Side) -> bytes:
                data = read(side)
                taken.append(len(data))
                return data

            patch.setattr(_socket.Side, "read", counted)
            take(conversation, seen, server)

    monkeypatch.setattr(Conversation, "_take_body_end", watched)
    left = Event()
    with (
        raw_server([begin, left, *[b"x" * (1 << 16)] * 400]) as (base_url, _),
        recorder_at(base_url, tmp_path, times=1) as session,
    ):
        with RawClient(session.base_url) as client:
            client.send(request_bytes())
            client.read(until=begin)
        left.set()
        session.wait()
    (recording,) = session.recordings()

    assert (recording.ending, recording.is_whole) == ("client-close", False)
    assert b"".join(one.data for one in recording.reads) == begin
    # No more than could still be a line: not the 25 MB that came.
    assert sum(taken) < 2 * LONGEST_HEAD_BYTES


def test_a_recording_that_the_interrupt_cuts_is_kept_as_far_as_it_came(tmp_path: Path) -> None:
    exchange = Exchange(200, EVENTS, steps=PAUSED[:1], ending="hold")
    with FaultServer([exchange]) as server, ExitStack() as clients:
        with recorder_at(server.base_url, tmp_path, times=None) as session:
            client = clients.enter_context(RawClient(session.base_url))
            client.send(request_bytes())
            came = client.read(until=b"data: one\n\n\r\n")
        assert client.read().ending == "fin"
        assert server.wait_until_closed(PATIENCE_S) == []
    (recording,) = session.recordings()

    assert b"".join(read.data for read in recording.reads) == came.data
    assert (recording.ending, recording.is_whole) == ("open", False)
    assert recording.note == "the recorder was stopped before the end"
