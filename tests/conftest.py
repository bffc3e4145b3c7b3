"""What holds for every test: both event loops, and no socket that leaves the machine."""

from __future__ import annotations

import ipaddress
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

HostOf: TypeAlias = Callable[[tuple[Any, ...]], object]

_PROXY_VARIABLES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_NAMES_OF_LOOPBACK: Final = frozenset({"", "localhost"})


# A shell hands a command in the background a Ctrl-C that is ignored, and so would every
# process that a test starts to interrupt it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Return the event loop's name; a test marked ``anyio`` runs on each."""
    name: str = request.param
    return name


@pytest.fixture(scope="session", autouse=True)
def no_socket_leaves_the_machine() -> Iterator[None]:
    """Refuse every address but loopback, and forget the proxies of the environment."""
    active = True

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if active and event in _HOST_OF_EVENT:
            host = _HOST_OF_EVENT[event](arguments)
            if not _is_loopback(host):
                raise AssertionError(f"a test opened a socket to {host!r}")

    sys.addaudithook(refuse)  # an audit hook cannot be taken out again, only made to do nothing
    with pytest.MonkeyPatch.context() as patch:
        for name in _PROXY_VARIABLES:
            patch.delenv(name, raising=False)
            patch.delenv(name.lower(), raising=False)
        yield
    active = False


def _host_of_address(arguments: tuple[Any, ...]) -> object:
    address = arguments[1]
    return address[0] if isinstance(address, tuple) else ""  # a string is a Unix socket


_HOST_OF_EVENT: Final[dict[str, HostOf]] = {
    "socket.connect": _host_of_address,
    "socket.getaddrinfo": lambda arguments: arguments[0],
}


def _is_loopback(host: object) -> bool:
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if text is None or text in _NAMES_OF_LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(str(text).partition("%")[0]).is_loopback
    except ValueError:  # a name, and a name is looked up somewhere else
        return False
