"""Requests are read the same, however their bytes are split."""

from __future__ import annotations

import pytest

from adapter_sdk.testing._request_parser import BadRequestError, ParsedRequest, RequestParser

LENGTH = b"POST /a?b=c HTTP/1.1\r\nHost: x\r\ncontent-LENGTH: 5\r\n\r\nhello"
CHUNKED = (
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhel\r\n\r\nB ; a=b\r\n0123456789a\r\n0\r\nTrailer: t\r\n\r\n"
)
PLAIN = b"\r\nGET /\xe9 HTTP/1.1\r\nX: \t1 \r\nX: 2\r\n\r\n"

READ = [
    ParsedRequest("POST", "/a?b=c", (("Host", "x"), ("content-LENGTH", "5")), b"hello", True),
    ParsedRequest("POST", "/", (("Transfer-Encoding", "chunked"),), b"hel\r\n0123456789a", True),
    ParsedRequest("GET", "/é", (("X", "1"), ("X", "2")), b"", True),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_requests_are_read_the_same_however_their_bytes_are_split(size: int) -> None:
    data = LENGTH + CHUNKED + PLAIN
    parser = RequestParser()
    read = []
    for at in range(0, len(data), size):
        parser.feed(data[at : at + size])
        while (request := parser.next_request()) is not None:
            read.append(request)
    assert read == READ


@pytest.mark.parametrize(
    ("head", "keeps_alive"),
    [
        (b"GET / HTTP/1.1\r\n", True),
        (b"GET / HTTP/1.1\r\nConnection: Close\r\n", False),
        (b"GET / HTTP/1.0\r\n", False),
        (b"GET / HTTP/1.0\r\nconnection: keep-alive\r\n", True),
    ],
)
def test_whether_the_connection_goes_on(head: bytes, *, keeps_alive: bool) -> None:
    parser = RequestParser()
    parser.feed(head + b"\r\n")
    request = parser.next_request()
    assert request is not None
    assert request.keeps_alive is keeps_alive


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"hello\r\n\r\n", "no request line: 'hello'", id="no-request-line"),
        pytest.param(b"GET / SPDY\r\n\r\n", "no request line", id="another-protocol"),
        pytest.param(b"GET / HTTP/1.1\r\nx\r\n\r\n", "no header: 'x'", id="no-colon"),
        pytest.param(
            b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "no content-length", id="length"
        ),
        pytest.param(
            b"GET / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
            "no content-length",
            id="more-digits-than-int-takes",
        ),
        pytest.param(
            b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
            "no chunk size",
            id="chunk-size",
        ),
        pytest.param(
            b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
            "a chunk without a line break",
            id="chunk-end",
        ),
        pytest.param(b"G" * ((1 << 20) + 1), "no end of the head", id="endless-head"),
    ],
)
def test_bytes_that_are_no_request_are_refused(data: bytes, message: str) -> None:
    parser = RequestParser()
    parser.feed(data)
    with pytest.raises(BadRequestError, match=message):
        parser.next_request()


@pytest.mark.parametrize(
    ("data", "wants"),
    [
        pytest.param(
            b"Expect: 100-Continue\r\nContent-Length: 1\r\n\r\n", [True, False], id="waits"
        ),
        pytest.param(
            b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\nx", [False, False], id="did-not-wait"
        ),
        pytest.param(b"Content-Length: 1\r\n\r\n", [False, False], id="expects-nothing"),
        pytest.param(b"Expect: 100-continue\r\n", [False, False], id="head-not-whole"),
    ],
)
def test_a_peer_that_waits_is_told_to_continue_once(data: bytes, wants: list[bool]) -> None:
    parser = RequestParser()
    parser.feed(b"POST / HTTP/1.1\r\n" + data)
    assert parser.next_request() is None
    assert [parser.wants_continue(), parser.wants_continue()] == wants
