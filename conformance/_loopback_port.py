"""Listen on this machine alone, at a port that a person named or at a free one."""

from __future__ import annotations

import errno
import os
import socket
from typing import Final

HOST: Final = "127.0.0.1"
_BACKLOG: Final = 128


class PortError(Exception):
    """A port that cannot be had; the text says which and why."""


def bound_port(port: int, *, listens: bool = True) -> socket.socket:
    """Return a non-blocking socket at ``port`` of 127.0.0.1; the caller closes it.

    Args:
        port: 0 takes a free one.
        listens: False keeps the port and refuses every connection.

    Raises:
        PortError: Another program has it, or it may not be opened.
    """
    sock = socket.socket()
    try:
        # A port that was served a moment ago can be taken again; one that is served cannot.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((HOST, port))
        if listens:
            sock.listen(_BACKLOG)
    except OSError as error:  # in use, or below 1024 without the right to it
        sock.close()
        taken = error.errno == errno.EADDRINUSE
        why = "another program listens there" if taken else os.strerror(error.errno or 0)
        raise PortError(f"port {port}: {why}; leave --port out for a free one") from error
    sock.setblocking(False)
    return sock


def url_of(sock: socket.socket) -> str:
    """Return ``http://127.0.0.1:PORT`` of a bound socket."""
    return f"http://{HOST}:{sock.getsockname()[1]}"
