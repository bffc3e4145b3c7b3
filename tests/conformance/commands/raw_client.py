"""A client on a raw socket: it shows every byte of an answer, and how the connection ended."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

from conformance._record._framing import MessageEnd

# Far above what loopback takes; a test that gets here fails.
_PATIENCE_S: Final = 10.0
_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Answered:
    """What came, and how it ended: ``open``, ``fin`` or ``rst``; ``left`` where we left."""

    data: bytes
    ending: str


class RawClient:
    """One connection to ``base_url``; a context manager."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        self._socket = socket.create_connection((parts.hostname, parts.port), _PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def read(self, *, until: bytes | None = None, head: bool = False) -> Answered:
        """Read until the answer is whole or ends; for ``close``, until the connection ends."""
        answer, came = MessageEnd("response", of_head_request=head), b""
        while until is None or not came.endswith(until):
            if answer.is_whole and "close" not in answer.value("connection"):
                return Answered(came, "open")
            try:
                data = self._socket.recv(1 << 16)
            except ConnectionResetError:
                return Answered(came, "rst")
            if not data:
                return Answered(came, "fin")
            came += data
            answer.feed(data)
        return Answered(came, "left")

    def reset(self) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._socket.close()


def request_bytes(
    body: bytes = b'{"stream": true}',
    *,
    method: str = "POST",
    path: str = "/v1/chat/completions",
    headers: tuple[tuple[str, str], ...] = (),
) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def ask(base_url: str, request: bytes | None = None, *, until: bytes | None = None) -> Answered:
    """Ask once, on a connection of its own."""
    with RawClient(base_url) as client:
        client.send(request_bytes() if request is None else request)
        return client.read(until=until)
