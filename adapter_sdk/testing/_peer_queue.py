"""Ask the kernel how far bytes have come at the other end of a loopback connection.

An acknowledgement is no answer: Linux delays it by 40 ms and more once a connection
is interactive. But both ends of a loopback connection are this kernel's, and
``sock_diag(7)`` tells the receiver's own counts in some 30 µs.
"""

from __future__ import annotations

import fcntl
import socket
import struct
import sys
import termios
from dataclasses import dataclass
from typing import Final

# linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h, linux/tcp.h
_NETLINK_SOCK_DIAG: Final = 4
_SOCK_DIAG_BY_FAMILY: Final = 20
_NLM_F_REQUEST: Final = 1
_ATTRIBUTE_INFO: Final = 2  # INET_DIAG_INFO; asked for as bit 1
_ALL_STATES: Final = 0xFFF
_NO_COOKIE: Final = (0xFFFFFFFF, 0xFFFFFFFF)
_HEADER: Final = struct.Struct("=IHHII")  # nlmsghdr
_QUERY: Final = struct.Struct("=BBBBI")  # inet_diag_req_v2 up to the addresses
_PORTS: Final = struct.Struct("!HH")
_INTERFACE_AND_COOKIE: Final = struct.Struct("=III")
_ADDRESS_BYTES: Final = 16
_QUEUES_AT: Final = _HEADER.size + 4 + 48 + 4  # inet_diag_msg: idiag_rqueue
_ATTRIBUTES_AT: Final = _HEADER.size + 72
_BYTES_RECEIVED_AT: Final = 128  # tcp_info.tcpi_bytes_received, since Linux 4.1


@dataclass(frozen=True, slots=True)
class PeerQueue:
    """Whether all bytes have arrived, and how many the peer has not read (bytes)."""

    arrived: bool
    waiting: int


def peer_queue(sock: socket.socket, sent_bytes: int) -> PeerQueue | None:
    """Return how far ``sent_bytes`` have come, or None where the kernel cannot say.

    None: not Linux, no ``inet_diag``, or a peer that is gone or on another machine.
    """
    if sys.platform != "linux":
        return None
    try:
        answer = _ask(_question(sock))
    except OSError:  # no netlink here (EPROTONOSUPPORT, EPERM), or ENOTCONN: RST from the peer
        return None
    (message_type,) = struct.unpack_from("=H", answer, 4)
    if message_type != _SOCK_DIAG_BY_FAMILY:
        return None
    received = _bytes_received(answer)
    if received is None:
        return None
    (waiting,) = struct.unpack_from("=I", answer, _QUEUES_AT)
    return PeerQueue(received >= sent_bytes, waiting)


def bytes_not_acknowledged(sock: socket.socket) -> int:
    """Return the bytes in the send queue: not yet sent, or sent and not acknowledged."""
    try:
        answer = fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4))  # tcp(7), SIOCOUTQ
    except OSError:  # EINVAL, ENOTTY: this system has no such call on sockets
        return 0
    return int(struct.unpack("i", answer)[0])


def _question(sock: socket.socket) -> bytes:
    # The peer's socket: its local address is what we call remote.
    here, there = sock.getsockname(), sock.getpeername()
    addresses = b"".join(
        socket.inet_pton(sock.family, end[0]).ljust(_ADDRESS_BYTES, b"\0") for end in (there, here)
    )
    body = (
        _QUERY.pack(sock.family, socket.IPPROTO_TCP, 1 << (_ATTRIBUTE_INFO - 1), 0, _ALL_STATES)
        + _PORTS.pack(there[1], here[1])
        + addresses
        + _INTERFACE_AND_COOKIE.pack(0, *_NO_COOKIE)
    )
    size = _HEADER.size + len(body)
    return _HEADER.pack(size, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 1, 0) + body


def _ask(question: bytes) -> bytes:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(1.0)  # the kernel answers within the call; this is for the impossible
        kernel.sendto(question, (0, 0))
        return kernel.recv(1 << 16)


def _bytes_received(answer: bytes) -> int | None:
    at = _ATTRIBUTES_AT
    while at + 4 <= len(answer):
        size, kind = struct.unpack_from("=HH", answer, at)
        if kind == _ATTRIBUTE_INFO and size >= 4 + _BYTES_RECEIVED_AT + 8:
            return int(struct.unpack_from("=Q", answer, at + 4 + _BYTES_RECEIVED_AT)[0])
        at += max(4, (size + 3) & ~3)
    return None
