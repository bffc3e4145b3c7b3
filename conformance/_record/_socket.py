"""One side of the recorder: a socket, plain or under TLS, that blocks nobody for ever."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import socket
import ssl
import struct
import termios
import time
from typing import Final, Literal, TypeAlias

How: TypeAlias = Literal["fin", "rst"]

_READ_BYTES: Final = 1 << 16
# l_onoff 1, l_linger 0: close sends RST at once (socket(7), SO_LINGER).
_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)
# RST drops what is still in the send queue; bytes on loopback leave it in microseconds.
_ARRIVAL_LIMIT_S: Final = 2.0
# A peer that has heard FIN and never closes is left after so long.
_CLOSING_LIMIT_S: Final = 2.0
_POLL_MS: Final = 1
_LOOK_MS: Final = 100


class EndedError(Exception):
    """The other side ended the connection, by FIN or by RST."""

    def __init__(self, how: How, side: Side) -> None:
        super().__init__(how)
        self.how: How = how
        self.side = side


class StoppedError(Exception):
    """The recorder was told to stop."""


class Stop:
    """A flag that threads wait for together with their sockets; never lowered."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()

    def fileno(self) -> int:
        """Readable from ``raise_`` on."""
        return self._read_end

    def raise_(self) -> None:
        """Wake everybody who waits, and whoever comes later."""
        os.write(self._write_end, b"!")

    def close(self) -> None:
        """Free both ends, once nobody waits any more."""
        os.close(self._read_end)
        os.close(self._write_end)


class Side:
    """Owns ``sock``; used by one thread. ``close`` or ``reset`` is the owner's last call."""

    def __init__(self, sock: socket.socket, stop: Stop) -> None:
        self._sock = sock
        self._stop = stop
        self._finished = False
        self._broken: How | None = None
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def fileno(self) -> int:
        """For waiting until there is something to read."""
        return self._sock.fileno()

    @property
    def has_more(self) -> bool:
        """Whether TLS holds bytes that no wait on the socket would tell of."""
        return isinstance(self._sock, ssl.SSLSocket) and self._sock.pending() > 0

    def read(self) -> bytes:
        """Return what has come; nothing where nothing has.

        Raises:
            EndedError: The other side has ended the connection.
        """
        try:
            data = self._sock.recv(_READ_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):  # nothing whole
            return b""
        except ssl.SSLError as error:  # a TLS alert, or bytes that are no TLS
            raise EndedError("fin", self) from error
        except OSError as error:  # ECONNRESET; EPIPE where FIN came before RST
            raise EndedError(_how(error), self) from error
        if not data:  # the kernel tells of RST once, and a write may have heard of it
            raise EndedError(self._broken or "fin", self)
        return data

    def write(self, data: bytes) -> None:
        """Write all of ``data``, in one call where the kernel takes it.

        Raises:
            EndedError: The other side has ended the connection.
            StoppedError: The recorder was told to stop while the other side took nothing.
        """
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._sock.send(rest) :]
            except (BlockingIOError, ssl.SSLWantWriteError):  # its buffers are full
                self._wait(select.POLLOUT)
            except ssl.SSLWantReadError:  # TLS has to hear something first
                self._wait(select.POLLIN)
            except OSError as error:  # ECONNRESET, EPIPE
                self._broken = _how(error)
                raise EndedError(self._broken, self) from error

    def finish(self) -> None:
        """Send FIN; ``close`` waits a while until the other side ends too."""
        try:
            self._sock.shutdown(socket.SHUT_WR)  # under TLS too: to say goodbye it would wait
        except OSError:  # ENOTCONN: it is gone
            return
        self._finished = True

    def reset(self) -> None:
        """Send RST, behind the bytes that were written, and close."""
        deadline = time.monotonic() + _ARRIVAL_LIMIT_S
        poller = select.poll()
        while self._unsent_bytes() and time.monotonic() < deadline:
            poller.poll(_POLL_MS)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self.close()

    def close(self) -> None:
        """Free the socket; again is nothing."""
        try:
            # With unread bytes the kernel would send RST, which overtakes what was written.
            deadline = time.monotonic() + _CLOSING_LIMIT_S
            while self._finished and time.monotonic() < deadline:
                self._wait(select.POLLIN, timeout_ms=_LOOK_MS)
                self.read()
        except (EndedError, StoppedError):  # it has ended too, or there is no time for it
            pass
        finally:
            self._finished = False
            self._sock.close()

    def _wait(self, events: int, *, timeout_ms: int | None = None) -> None:
        poller = select.poll()
        poller.register(self._sock, events)
        poller.register(self._stop, select.POLLIN)
        if any(fd == self._stop.fileno() for fd, _ in poller.poll(timeout_ms)):
            raise StoppedError

    def _unsent_bytes(self) -> int:
        try:
            answer = fcntl.ioctl(self._sock, termios.TIOCOUTQ, bytes(4))  # tcp(7), SIOCOUTQ
        except OSError:  # EINVAL, ENOTTY: this system has no such call on sockets
            return 0
        return int(struct.unpack("i", answer)[0])


def _how(error: OSError) -> How:
    # RST behind FIN shows as EPIPE: the peer had closed, and our bytes came too late.
    return "fin" if error.errno == errno.EPIPE else "rst"
