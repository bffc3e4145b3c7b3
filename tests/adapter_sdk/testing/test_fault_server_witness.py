"""What the fault server says it saw and did, and what it leaves behind."""

from __future__ import annotations

import os
import socket
import struct
import threading
from time import monotonic

import httpx
import pytest

from adapter_sdk.testing import (
    Delivery,
    Ending,
    Exchange,
    FaultServer,
    Flood,
    Interim,
    Pause,
    Repeat,
    SeenConnection,
    Send,
    Step,
    _wire,
)

POST = b"POST /v1/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
FOR_EVER = 3600.0


def connect(server: FaultServer, request: bytes = POST) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", server.port), timeout=5)
    sock.sendall(request)
    return sock


def read_until(sock: socket.socket, end: bytes) -> None:
    data = bytearray()
    while end not in data:
        got = sock.recv(1 << 16)
        assert got, f"the server ended the connection after {bytes(data)!r}"
        data += got


def read_to_reset(sock: socket.socket) -> bytes:
    data = bytearray()
    while True:
        try:
            got = sock.recv(1 << 16)
        except ConnectionResetError:
            return bytes(data)
        assert got, "FIN where RST was due"
        data += got


def reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def kinds(seen: SeenConnection) -> list[str]:
    return [event.kind for event in seen.events]


# ---- deliveries ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "until", "delivery"),
    [
        pytest.param(
            (Send(b"a"), Pause(FOR_EVER), Send(b"b")),
            b"a\r\n",
            Delivery("peer-left", "the peer closed before step 2 of 3"),
            id="in-a-pause",
        ),
        pytest.param(
            (Repeat((Send(b"a"),), FOR_EVER),),
            b"a\r\n",
            Delivery("delivered", "every step was written and the ending performed"),
            id="behind-the-first-round-of-endless-steps",
        ),
        pytest.param(
            (Repeat((Send(b"a"), Pause(FOR_EVER), Send(b"b")), 1.0),),
            b"a\r\n",
            Delivery("peer-left", "the peer closed in step 1 of 1, 6 bytes into it"),
            id="in-the-first-round-of-endless-steps",
        ),
    ],
)
def test_a_peer_that_leaves_early_is_told_from_a_fault_that_went_out(
    steps: tuple[Step, ...], until: bytes, delivery: Delivery
) -> None:
    with FaultServer([Exchange(200, steps=steps)]) as server:
        with connect(server) as sock:
            read_until(sock, until)
        assert server.delivered(0, within_s=5) == delivery
        assert server.wait_until_released(5) == []


def test_a_flood_stops_when_the_peer_leaves() -> None:
    gibibyte = Exchange(200, steps=(Flood(b"x", 1 << 30),))
    with FaultServer([gibibyte]) as server:
        with connect(server) as sock:
            read_until(sock, b"x" * 100_000)
        delivery = server.delivered(0, within_s=5)
        assert delivery.state == "peer-left"
        assert delivery.reason.startswith("the peer reset in step 1 of 1, ")
        assert server.connections[0].peer == "reset"


def test_a_fault_is_delivered_once_it_is_performed_not_before() -> None:
    with FaultServer([Exchange(200, steps=(Pause(FOR_EVER),)), Exchange(200)]) as server:
        assert server.delivered(0) == Delivery("not-requested", "no request reached this exchange")
        with connect(server) as sock:
            read_until(sock, b"\r\n\r\n")
            assert server.delivered(0, within_s=0.01).state == "in-progress"
    assert server.delivered(0).state in ("peer-left", "server-stopped")
    assert server.delivered(1).state == "not-requested"


@pytest.mark.parametrize("ending", ["hold", "cut", "reset"])
def test_a_peer_that_leaves_behind_the_fault_changes_nothing(ending: Ending) -> None:
    script = Exchange(200, steps=(Send(b"a"),), ending=ending)
    with FaultServer([script]) as server:
        with connect(server) as sock:
            read_until(sock, b"a\r\n")
            assert server.delivered(0, within_s=5)
        assert server.wait_until_released(5) == []
        assert server.delivered(0)


def test_a_stopped_server_says_so() -> None:
    with FaultServer([Exchange(200, steps=(Send(b"a"), Pause(FOR_EVER)))]) as server:
        sock = connect(server)
        read_until(sock, b"a\r\n")
    with sock:
        assert sock.recv(1) == b""
    assert server.delivered(0) == Delivery(
        "server-stopped", "the server stopped before step 2 of 2"
    )
    assert kinds(server.connections[0])[-1] == "server-closed"


# ---- connections --------------------------------------------------------------------------


def test_every_event_is_kept_in_order_on_one_clock() -> None:
    began = monotonic()
    script = [
        Exchange(200, interim=(Interim(103),), steps=(Send(b"ab"), Send(b"c"))),
        Exchange(429, body=b"slow", ending="cut"),
    ]
    with FaultServer(script) as server:
        with connect(server) as sock:
            read_until(sock, b"0\r\n\r\n")
            sock.sendall(POST)
            read_until(sock, b"slow")
            assert sock.recv(1) == b""
        server.wait_until_released(5)
        assert [text for _, text in server.timeline()] == [
            "connection 1: accepted",
            "connection 1: request received: POST /v1/chat, 2 bytes of body",
            "connection 1: interim sent: 103 (28 bytes)",
            "connection 1: head sent: 200 (47 bytes)",
            "connection 1: step sent: step 1 of 2 (2 bytes)",
            "connection 1: step sent: step 2 of 2 (1 bytes)",
            "connection 1: body end sent (5 bytes)",
            "connection 1: idle",
            "connection 1: request received: POST /v1/chat, 2 bytes of body",
            "connection 1: head sent: 429 (53 bytes)",
            "connection 1: step sent: step 1 of 1 (4 bytes)",
            "connection 1: fin sent",
            "connection 1: peer closed",
        ]
        times = [at_s for at_s, _ in server.timeline()]
        assert times == sorted(times)
        assert began <= times[0] <= times[-1] <= monotonic()


@pytest.mark.parametrize("ending", ["hold", "hold-before-headers", "eof"])
@pytest.mark.parametrize("leaves", ["closed", "reset"])
def test_how_the_peer_leaves_is_seen(ending: Ending, leaves: str) -> None:
    script = Exchange(None if ending == "hold-before-headers" else 200, ending=ending)
    with FaultServer([script]) as server:
        sock = connect(server)
        assert server.delivered(0, within_s=5)
        if ending != "hold-before-headers":
            read_until(sock, b"\r\n\r\n")  # unread bytes would turn FIN into RST
        assert [seen.peer for seen in server.wait_until_closed(0.001)] == ["open"]
        if leaves == "reset":
            reset(sock)
        else:
            sock.close()
        assert server.wait_until_closed(5) == []
        assert server.connections[0].peer == leaves


@pytest.mark.parametrize(
    ("script", "until", "states"),
    [
        pytest.param(Exchange(200, body=b"ok"), b"ok", [], id="a-whole-body"),
        pytest.param(Exchange(200, steps=(Send(b"a"),)), b"0\r\n\r\n", [], id="a-last-chunk"),
        pytest.param(Exchange(204), b"\r\n\r\n", [], id="no-body"),
        pytest.param(
            Exchange(200, (("content-length", "2"),), body=b"ok", ending="hold"),
            b"ok",
            [],
            id="hold-behind-a-whole-body",
        ),
        pytest.param(
            Exchange(200, steps=(Send(b"a"),), ending="hold"),
            b"a\r\n",
            [(1, "serving")],
            id="hold-in-the-body",
        ),
        pytest.param(
            Exchange(None, ending="hold-before-headers"),
            b"",
            [(1, "serving")],
            id="hold-before-headers",
        ),
        pytest.param(
            Exchange(200, steps=(Send(b"a"),), ending="cut"),
            b"a\r\n",
            [(1, "half-closed")],
            id="cut-and-the-peer-has-not-closed",
        ),
        pytest.param(
            Exchange(200, (("connection", "close"),), body=b"ok"),
            b"ok",
            [(1, "half-closed")],
            id="an-announced-end-and-the-peer-has-not-closed",
        ),
        pytest.param(Exchange(200, ending="reset"), b"\r\n\r\n", [], id="reset"),
    ],
)
def test_a_connection_that_stays_open_is_released_only_behind_a_whole_answer(
    script: Exchange, until: bytes, states: list[tuple[int, str]]
) -> None:
    with FaultServer([script]) as server:
        with connect(server) as sock:
            read_until(sock, until)
            server.delivered(0, within_s=5)
            unreleased = server.wait_until_released(0.02 if states else 5)
            assert [(seen.number, seen.state) for seen in unreleased] == states
        assert server.wait_until_released(5) == []


def test_a_connection_without_a_whole_request_is_not_released() -> None:
    with (
        FaultServer([Exchange(200, body=b"ok"), Exchange(204)]) as server,
        connect(server) as sock,
    ):
        read_until(sock, b"ok")
        assert server.wait_until_released(5) == []
        sock.sendall(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
        read_until(sock, b"HTTP/1.1 100 Continue\r\n\r\n")
        assert [seen.state for seen in server.wait_until_released(0.02)] == ["waiting"]
        sock.sendall(b"x")
        read_until(sock, b"HTTP/1.1 204 No Content\r\n\r\n")
        assert server.wait_until_released(5) == []


def test_bytes_behind_fin_are_answered_with_rst() -> None:
    with (
        FaultServer([Exchange(200, ending="cut"), Exchange(200)]) as server,
        connect(server) as sock,
    ):
        read_until(sock, b"\r\n\r\n")
        assert sock.recv(1) == b""
        sock.sendall(POST)
        assert server.wait_until_released(5) == []
        assert kinds(server.connections[0])[-2:] == ["fin-sent", "rst-sent"]
        assert len(server.requests) == 1


def test_a_request_can_be_waited_for() -> None:
    with FaultServer([Exchange(200, ending="hold")]) as server:
        assert not server.wait_for_requests(1, 0.001)
        with connect(server):
            assert server.wait_for_requests(1, 5)
            assert not server.wait_for_requests(2, 0.001)


# ---- stopping -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(Exchange(200, steps=(Pause(FOR_EVER),)), id="in-a-pause"),
        pytest.param(Exchange(200, ending="hold"), id="holding"),
        pytest.param(Exchange(200, ending="cut"), id="waiting-for-the-peer-to-close"),
        pytest.param(Exchange(200, body=b"ok"), id="idle"),
        pytest.param(
            Exchange(200, steps=(Flood(b"x", 1 << 30),)), id="writing-to-a-peer-that-does-not-read"
        ),
        pytest.param(
            Exchange(200, steps=(Flood(b"x", 1 << 30),), ending="reset"), id="flood-and-reset"
        ),
    ],
)
def test_stopping_takes_no_time(script: Exchange) -> None:
    with FaultServer([script]) as server:
        sock = connect(server)
        read_until(sock, b"\r\n\r\n")
        began = monotonic()
    took_s = monotonic() - began
    sock.close()
    assert took_s < 0.5


def open_fds() -> list[str]:
    return sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208


def test_many_servers_leave_no_thread_and_no_file_descriptor() -> None:
    scripts = [
        Exchange(200, body=b"ok"),
        Exchange(200, ending="hold"),
        Exchange(200, ending="reset"),
        Exchange(200, ending="cut"),
    ]
    before = open_fds()
    for number in range(200):
        script = [scripts[number % 4], Exchange(None, ending="refuse")][: 1 + number % 2]
        with FaultServer(script) as server, connect(server) as sock:
            assert server.other_origin
            read_until(sock, b"\r\n\r\n")
    names = [thread.name for thread in threading.enumerate()]
    assert [name for name in names if name.startswith("fault-server")] == []
    assert open_fds() == before


# ---- elsewhere ----------------------------------------------------------------------------


@pytest.mark.parametrize("repetition", range(20))
def test_a_reset_is_reliable_where_the_kernel_tells_nothing_of_the_peer(
    repetition: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_wire, "peer_queue", lambda _sock, _sent_bytes: None)
    flood = Flood(b"x", 1_000_000 + repetition)
    with (
        FaultServer([Exchange(200, steps=(flood,), ending="reset")]) as server,
        connect(server) as sock,
    ):
        assert read_to_reset(sock).count(b"x") == 1_000_000 + repetition


@pytest.mark.anyio
async def test_a_client_of_either_backend_is_served_from_beside_it() -> None:
    script = [
        Exchange(200, (("content-type", "text/event-stream"),), steps=(Send(b"a"), Send(b"b"))),
        Exchange(503, (("retry-after", "7"),), body=b"slow"),
    ]
    with FaultServer(script) as server:
        async with httpx.AsyncClient(base_url=server.base_url, trust_env=False) as client:
            first = await client.post("/v1/chat", json={"stream": True})
            second = await client.get("/v1/models")
        assert server.wait_until_released(5) == []
    assert (first.content, second.status_code, second.headers["retry-after"]) == (b"ab", 503, "7")
    assert [(r.method, r.target, r.connection) for r in server.requests] == [
        ("POST", "/v1/chat", 1),
        ("GET", "/v1/models", 1),
    ]
    assert server.requests[0].header("CONTENT-TYPE") == "application/json"
    assert server.requests[0].header("cookie") is None


def test_ipv6_is_served_too() -> None:
    with FaultServer([Exchange(200, ending="reset")], host="::1") as server:
        assert server.base_url == f"http://[::1]:{server.port}"
        with socket.create_connection(("::1", server.port), timeout=5) as sock:
            sock.sendall(POST)
            assert read_to_reset(sock).startswith(b"HTTP/1.1 200 OK\r\n")
        assert server.delivered(0, within_s=5)


def test_a_server_that_is_not_started_has_no_port() -> None:
    with pytest.raises(RuntimeError, match="context manager"):
        _ = FaultServer([]).base_url
