"""A server on a raw socket: it answers each connection with given bytes, HTTP or not."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Iterator, Sequence
from threading import Event, Thread
from typing import Final, TypeAlias

Piece: TypeAlias = bytes | Event

_PATIENCE_S: Final = 10.0


def anonymous_tls() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return contexts of a server and of a client that need no certificate."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    for context in (server, client):
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers("AECDH-AES256-SHA:@SECLEVEL=0")
    return server, client


@contextlib.contextmanager
def raw_server(
    *answers: Sequence[Piece], tls: ssl.SSLContext | None = None
) -> Iterator[tuple[str, list[bytes]]]:
    """Serve one connection for each of ``answers``; yield the base URL and what was asked.

    An answer is sent piece by piece, a write each, and FIN behind it; an event is waited for.
    """
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(_PATIENCE_S)

        def serve() -> None:
            for answer in answers:
                plain, _ = listening.accept()
                plain.settimeout(_PATIENCE_S)
                try:
                    sock = plain if tls is None else tls.wrap_socket(plain, server_side=True)
                except ssl.SSLError:  # a client that wants another TLS
                    plain.close()
                    continue
                with sock:
                    asked.append(_answered(sock, answer))

        thread = Thread(target=serve, daemon=True)
        thread.start()
        scheme = "http" if tls is None else "https"
        yield f"{scheme}://127.0.0.1:{listening.getsockname()[1]}", asked
        thread.join(_PATIENCE_S)
        assert not thread.is_alive()


def _answered(sock: socket.socket, answer: Sequence[Piece]) -> bytes:
    came = b""
    while b"\r\n\r\n" not in came:
        came += sock.recv(1 << 16)
    with contextlib.suppress(OSError):  # gone meanwhile
        for piece in answer:
            if isinstance(piece, Event):
                piece.wait(_PATIENCE_S)
            else:
                sock.sendall(piece)
        sock.shutdown(socket.SHUT_WR)
        sock.recv(1)
    return came
