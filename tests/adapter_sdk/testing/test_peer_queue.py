"""The kernel's own counts of a loopback connection."""

from __future__ import annotations

import socket

from adapter_sdk.testing._peer_queue import PeerQueue, bytes_not_acknowledged, peer_queue


def loopback_pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
    return client, server


def test_arrived_and_unread_bytes_are_told_apart() -> None:
    client, server = loopback_pair()
    with client, server:
        server.sendall(b"x" * 500)
        client.recv(1, socket.MSG_PEEK)  # they are there
        seen = [peer_queue(server, 500), peer_queue(server, 501)]
        client.recv(400)
        seen.append(peer_queue(server, 500))
        client.recv(400)
        seen.append(peer_queue(server, 500))
    assert seen == [
        PeerQueue(arrived=True, waiting=500),
        PeerQueue(arrived=False, waiting=500),
        PeerQueue(arrived=True, waiting=100),
        PeerQueue(arrived=True, waiting=0),
    ]


def test_a_peer_that_is_gone_has_no_queue() -> None:
    client, server = loopback_pair()
    with server:
        client.close()
        server.close()
        assert peer_queue(server, 0) is None


def test_bytes_beyond_the_buffers_are_not_acknowledged() -> None:
    client, server = loopback_pair()
    with client, server:
        assert bytes_not_acknowledged(server) == 0
        server.setblocking(False)
        while True:
            try:
                server.send(b"x" * (1 << 16))
            except BlockingIOError:
                break
        assert bytes_not_acknowledged(server) > 0
