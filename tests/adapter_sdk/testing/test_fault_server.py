"""What the fault server puts on the wire, seen by a reader on a plain socket.

Nothing but the kernel stands between the two, and the expected bytes are written out.
"""

from __future__ import annotations

import socket
from typing import Literal

import pytest

from adapter_sdk.testing import (
    Exchange,
    FaultServer,
    Flood,
    Interim,
    Pause,
    Repeat,
    Send,
)

POST = b"POST /v1/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
SSE = (("content-type", "text/event-stream"),)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
SILENCE_S = 0.03

End = Literal["fin", "reset", "silence"]


def connect(server: FaultServer, request: bytes = POST) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", server.port), timeout=5)
    sock.sendall(request)
    return sock


def read_to_end(sock: socket.socket) -> tuple[bytes, End]:
    """Everything up to FIN, RST or silence, and which of them it was."""
    data = bytearray()
    while True:
        try:
            got = sock.recv(1 << 16)
        except ConnectionResetError:
            return bytes(data), "reset"
        except TimeoutError:
            return bytes(data), "silence"
        if not got:
            return bytes(data), "fin"
        data += got


def play(*exchanges: Exchange, request: bytes = POST) -> tuple[bytes, End]:
    """What one request gets from ``exchanges``, and how it ends."""
    with FaultServer(exchanges) as server, connect(server, request) as sock:
        sock.settimeout(SILENCE_S)
        # The first byte may take as long as it likes; silence is what follows the script.
        server.delivered(0, within_s=5)
        return read_to_end(sock)


def read_until(sock: socket.socket, end: bytes) -> bytes:
    data = bytearray()
    while not data.endswith(end):
        got = sock.recv(1 << 16)
        assert got, f"the server ended the connection after {bytes(data)!r}"
        data += got
    return bytes(data)


def chunks_of(body: bytes) -> list[bytes]:
    chunks = []
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        chunks.append(rest[:length])
        assert rest[length : length + 2] == b"\r\n"
        body = rest[length + 2 :]
    return chunks


@pytest.mark.parametrize(
    ("exchange", "wire", "end"),
    [
        pytest.param(
            Exchange(429, (("Retry-After", "7"),), body=b"slow"),
            b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\ncontent-length: 4\r\n\r\nslow",
            "silence",
            id="a-body-has-its-length-and-the-connection-stays",
        ),
        pytest.param(
            Exchange(200, SSE, steps=(Send(b"data: a\n\n"), Send(b"b" * 20))),
            CHUNKED + b"9\r\ndata: a\n\n\r\n14\r\n" + b"b" * 20 + b"\r\n0\r\n\r\n",
            "silence",
            id="each-step-is-a-chunk",
        ),
        pytest.param(
            Exchange(200, SSE, steps=(Send(b"a"), Send(b""), Send(b"b"))),
            CHUNKED + b"1\r\na\r\n1\r\nb\r\n0\r\n\r\n",
            "silence",
            id="an-empty-step-is-not-the-last-chunk",
        ),
        pytest.param(
            Exchange(200, SSE, steps=(Flood(b"ab", 5), Send(b"c"))),
            CHUNKED + b"a\r\nababababab\r\n1\r\nc\r\n0\r\n\r\n",
            "silence",
            id="a-small-flood-is-one-chunk",
        ),
        pytest.param(
            Exchange(520),
            b"HTTP/1.1 520 \r\ncontent-length: 0\r\n\r\n",
            "silence",
            id="an-unknown-status-has-no-phrase-and-no-body-has-length-0",
        ),
        pytest.param(
            Exchange(204),
            b"HTTP/1.1 204 No Content\r\n\r\n",
            "silence",
            id="204-has-no-framing",
        ),
        pytest.param(
            Exchange(304),
            b"HTTP/1.1 304 Not Modified\r\n\r\n",
            "silence",
            id="304-has-no-framing",
        ),
        pytest.param(
            Exchange(200, (("x-raw", b"\xff\xa0 \t"), ("x-text", "é"))),
            b"HTTP/1.1 200 OK\r\nx-raw: \xff\xa0 \t\r\nx-text: \xc3\xa9\r\n"
            b"content-length: 0\r\n\r\n",
            "silence",
            id="header-bytes-go-out-exactly",
        ),
        pytest.param(
            Exchange(
                200, SSE, interim=(Interim(103, (("link", "</a>"),)), Interim(102)), body=b"x"
            ),
            b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
            + HEAD
            + b"content-length: 1\r\n\r\nx",
            "silence",
            id="interim-responses-come-first",
        ),
        pytest.param(
            Exchange(200, (*SSE, ("connection", "close")), steps=(Send(b"a"), Send(b"b"))),
            HEAD + b"connection: close\r\n\r\nab",
            "fin",
            id="connection-close-is-not-chunked-and-fin-ends-it",
        ),
        pytest.param(
            Exchange(200, (*SSE, ("Content-Length", "2")), steps=(Send(b"a"), Send(b"b"))),
            HEAD + b"Content-Length: 2\r\n\r\nab",
            "silence",
            id="a-right-length-of-the-script-stays-open",
        ),
        pytest.param(
            Exchange(200, (*SSE, ("content-length", "9")), steps=(Send(b"ab"),)),
            HEAD + b"content-length: 9\r\n\r\nab",
            "fin",
            id="a-length-too-long-is-kept-and-ends-with-the-connection",
        ),
        pytest.param(
            Exchange(200, (*SSE, ("content-length", "1")), body=b"ab"),
            HEAD + b"content-length: 1\r\n\r\nab",
            "fin",
            id="a-length-too-short-is-kept-and-ends-with-the-connection",
        ),
        pytest.param(
            Exchange(200, (*SSE, ("content-length", "many")), body=b"ab"),
            HEAD + b"content-length: many\r\n\r\nab",
            "fin",
            id="a-length-that-is-no-number-is-kept",
        ),
        pytest.param(
            Exchange(200, (("transfer-encoding", "gzip, chunked"),), steps=(Send(b"a"),)),
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            "silence",
            id="a-transfer-encoding-of-the-script-is-kept",
        ),
        pytest.param(
            Exchange(200, SSE, steps=(Send(b"a"),), ending="cut"),
            CHUNKED + b"1\r\na\r\n",
            "fin",
            id="cut-has-no-last-chunk",
        ),
        pytest.param(Exchange(200, SSE, ending="cut"), CHUNKED, "fin", id="cut-behind-the-head"),
        pytest.param(
            Exchange(503, body=b"slow", ending="cut"),
            b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 5\r\n\r\nslow",
            "fin",
            id="a-body-that-is-cut-misses-a-byte",
        ),
        pytest.param(
            Exchange(200, SSE, steps=(Send(b"ab"), Flood(b"c", 3)), ending="short"),
            HEAD + b"content-length: 6\r\n\r\nabccc",
            "fin",
            id="short-promises-a-byte-more",
        ),
        pytest.param(
            Exchange(200, (*SSE, ("content-length", "99")), steps=(Send(b"a"),), ending="short"),
            HEAD + b"content-length: 99\r\n\r\na",
            "fin",
            id="short-keeps-the-length-of-the-script",
        ),
        pytest.param(
            Exchange(200, SSE, steps=(Send(b"a"),), ending="reset"),
            CHUNKED + b"1\r\na\r\n",
            "reset",
            id="reset-comes-behind-all-bytes",
        ),
        pytest.param(Exchange(None, ending="reset"), b"", "reset", id="reset-before-the-head"),
        pytest.param(
            Exchange(200, SSE, steps=(Send(b"a"),), ending="hold"),
            CHUNKED + b"1\r\na\r\n",
            "silence",
            id="hold-is-silent",
        ),
        pytest.param(
            Exchange(429, body=b"slow", ending="hold"),
            b"HTTP/1.1 429 Too Many Requests\r\ncontent-length: 5\r\n\r\nslow",
            "silence",
            id="a-body-that-is-held-misses-a-byte",
        ),
        pytest.param(
            Exchange(None, SSE, ending="hold-before-headers"),
            b"",
            "silence",
            id="hold-before-headers-sends-nothing",
        ),
        pytest.param(
            Exchange(None, SSE, ending="close-before-headers"),
            b"",
            "fin",
            id="close-before-headers-sends-nothing",
        ),
    ],
)
def test_the_script_goes_out_to_the_byte(exchange: Exchange, wire: bytes, end: End) -> None:
    assert play(exchange) == (wire, end)


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(b"GET / HTTP/1.0\r\n\r\n", id="http-1.0"),
        pytest.param(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", id="connection-close"),
    ],
)
def test_a_request_that_asks_for_the_end_gets_it(request_bytes: bytes) -> None:
    wire = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    assert play(Exchange(200, body=b"ok"), request=request_bytes) == (wire, "fin")


def test_a_large_flood_is_exact() -> None:
    data = b"0123456789abcdef!"
    with (
        FaultServer([Exchange(200, steps=(Flood(data, 200_000),), ending="cut")]) as server,
        connect(server) as sock,
    ):
        wire, end = read_to_end(sock)
        delivery = server.delivered(0, within_s=5)
    body = wire.partition(b"\r\n\r\n")[2]
    assert (b"".join(chunks_of(body)), end, bool(delivery)) == (data * 200_000, "fin", True)
    assert max(map(len, chunks_of(body))) <= 1 << 20


def test_a_reset_waits_for_what_the_kernel_still_has_to_send() -> None:
    flood = Flood(b"x" * 1000, 8000)
    with (
        FaultServer([Exchange(200, steps=(flood,), ending="reset")]) as server,
        connect(server) as sock,
    ):
        wire, end = read_to_end(sock)
        assert server.delivered(0, within_s=5)
    body = b"".join(chunks_of(wire.partition(b"\r\n\r\n")[2]))
    assert (len(body), end) == (8_000_000, "reset")


def test_steps_arrive_before_the_pause_behind_them() -> None:
    script = Exchange(200, SSE, steps=(Send(b"a"), Pause(3600), Send(b"b")))
    with FaultServer([script]) as server, connect(server) as sock:
        assert read_until(sock, b"1\r\na\r\n") == CHUNKED + b"1\r\na\r\n"


def test_repeated_steps_come_again_and_again() -> None:
    script = Exchange(200, SSE, steps=(Repeat((Send(b"a"), Send(b"bc")), 0.001),), ending="hold")
    with FaultServer([script]) as server, connect(server) as sock:
        read_until(sock, b"1\r\na\r\n2\r\nbc\r\n" * 5)


def test_requests_on_one_connection_get_the_exchanges_in_order() -> None:
    script = [
        Exchange(200, body=b"one"),
        Exchange(200, steps=(Send(b"two"),)),
        Exchange(204),
    ]
    chunked = (
        b"POST /2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n"
        b"0\r\nTrailer: t\r\n\r\n"
    )
    with FaultServer(script) as server, connect(server) as sock:
        read_until(sock, b"one")
        sock.sendall(chunked + b"GET /3 HTTP/1.1\r\nX-B: 2\r\nx-a:  1 \r\n\r\n")
        read_until(sock, b"HTTP/1.1 204 No Content\r\n\r\n")
    assert [(r.method, r.target, r.headers, r.body, r.connection) for r in server.requests] == [
        ("POST", "/v1/chat", (("Host", "x"), ("Content-Length", "2")), b"{}", 1),
        ("POST", "/2", (("Transfer-Encoding", "chunked"),), b"abcde", 1),
        ("GET", "/3", (("X-B", "2"), ("x-a", "1")), b"", 1),
    ]
    assert [r.at_s for r in server.requests] == sorted(r.at_s for r in server.requests)


def test_requests_on_two_connections_share_the_script() -> None:
    script = [Exchange(200, body=b"one"), Exchange(200, body=b"two")]
    with FaultServer(script) as server, connect(server) as first:
        read_until(first, b"one")
        with connect(server) as second:
            read_until(second, b"two")
    assert [r.connection for r in server.requests] == [1, 2]


def test_a_request_that_expects_100_is_told_to_continue() -> None:
    request = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
    with FaultServer([Exchange(200, body=b"ok")]) as server, connect(server, request) as sock:
        assert read_until(sock, b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(b"abc")
        assert read_until(sock, b"ok") == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    assert server.requests[0].body == b"abc"


def test_a_request_beyond_the_script_fails_plainly_and_is_counted() -> None:
    with FaultServer([Exchange(204)]) as server, connect(server, POST + POST) as sock:
        wire = read_until(sock, b"\r\n\r\none request more than this test expects")
    assert wire.startswith(b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 500 Internal Server Error")
    assert len(server.requests) == 2


def test_bytes_that_are_no_request_get_400_and_no_exchange() -> None:
    with FaultServer([Exchange(200)]) as server, connect(server, b"hello\r\n\r\n") as sock:
        wire, end = read_to_end(sock)
        assert (wire.splitlines()[0], end) == (b"HTTP/1.1 400 Bad Request", "fin")
    assert (server.requests, server.delivered(0).state) == ([], "not-requested")


def test_refuse_has_nothing_listening() -> None:
    with FaultServer([Exchange(None, ending="refuse")]) as server:
        with pytest.raises(ConnectionRefusedError):
            connect(server)
        assert (server.requests, server.connections, bool(server.delivered(0))) == ([], [], True)


def test_refuse_behind_an_answer_ends_the_listening_with_it() -> None:
    script = [Exchange(200, body=b"ok"), Exchange(None, ending="refuse")]
    with FaultServer(script) as server:
        assert not server.delivered(1)
        with connect(server) as sock:
            wire = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
            assert read_to_end(sock) == (wire, "fin")
            assert server.wait_until_released(5) == []
        with pytest.raises(ConnectionRefusedError):
            connect(server)
        assert server.delivered(1)


def test_an_exchange_behind_refuse_is_refused() -> None:
    with pytest.raises(ValueError, match="behind a refused connection"):
        FaultServer([Exchange(None, ending="refuse"), Exchange(200)])


def test_the_other_origin_counts_what_reaches_it() -> None:
    with FaultServer([]) as server:
        assert (server.other_origin_connections, server.other_origin_requests) == (0, 0)
        assert server.other_origin != server.base_url
        port = int(server.other_origin.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
            sock.sendall(POST)
            read_until(sock, b"one request more than this test expects")
        assert (server.other_origin_connections, server.other_origin_requests) == (1, 1)
    assert server.requests == []


@pytest.mark.parametrize("repetition", range(200))
@pytest.mark.parametrize(
    ("ending", "end"), [pytest.param("reset", "reset", id="reset"), pytest.param("cut", "fin")]
)
def test_all_bytes_arrive_before_the_end(
    repetition: int, ending: Literal["reset", "cut"], end: End
) -> None:
    # The second request makes the connection interactive, so the kernel delays its
    # acknowledgements: a server that waited for those, or for nothing, would show here.
    steps = tuple(Send(b"data: %d\n\n" % number) for number in range(repetition % 5 + 1))
    script = [Exchange(200, body=b"ok"), Exchange(200, steps=steps, ending=ending)]
    with FaultServer(script) as server, connect(server) as sock:
        read_until(sock, b"ok")
        sock.sendall(POST)
        wire, seen_end = read_to_end(sock)
        assert server.delivered(1, within_s=5)
    chunks = chunks_of(wire.partition(b"\r\n\r\n")[2])
    assert (chunks, seen_end) == ([step.data for step in steps], end)
