"""During a run no socket leaves the machine: whatever an adapter tries is refused."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import sys
from collections.abc import Iterator
from typing import Any, Final

_PROXY_VARIABLES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")

_guards = 0
_hooked = False


class NotLoopbackError(ConnectionRefusedError):
    """An adapter under test tried to reach another machine."""


@contextlib.contextmanager
def loopback_only() -> Iterator[None]:
    """Refuse connections to, and look-ups of, anything but this machine; ignore proxies."""
    global _guards, _hooked
    if not _hooked:
        sys.addaudithook(_audit)
        _hooked = True
    names = [name for key in _PROXY_VARIABLES for name in (key, key.lower())]
    saved = {name: os.environ.pop(name) for name in names if name in os.environ}
    _guards += 1
    try:
        yield
    finally:
        _guards -= 1
        os.environ.update(saved)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _guards:
        return
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None  # a string is a Unix socket
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if host is not None and not is_loopback(host):
        shown = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        raise NotLoopbackError(f"a conformance run opens loopback sockets only, not {shown}")


def is_loopback(host: str | bytes) -> bool:
    """Whether ``host`` is this machine, by name or by address."""
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if text in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(text.split("%")[0]).is_loopback
    except ValueError:
        return False
