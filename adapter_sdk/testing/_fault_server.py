"""A loopback HTTP/1.1 server that plays a script of answers and faults, and witnesses them.

Threads, not a loop: it serves clients of asyncio, trio and none alike, from beside them.
"""

from __future__ import annotations

from functools import partial
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final, Self

from ._connection import Connection, Turn
from ._journal import ConnectionLog, Journal
from ._listener import Listener
from ._script import BEYOND_THE_SCRIPT, Exchange
from ._seen import DELIVERED, Delivery, SeenConnection, SeenRequest
from ._wire import Signal, Wire

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence
    from types import TracebackType

    from ._request_parser import ParsedRequest

# Every wait of a thread watches the stop signal, so this is never reached; a bug must not hang.
_STOP_LIMIT_S: Final = 0.5

_BEYOND: Final = Exchange(500, (("content-type", "text/plain"),), body=BEYOND_THE_SCRIPT)


class FaultServer:
    """Answers the n-th request, over all connections, with the n-th exchange.

    A context manager: it listens from ``__enter__`` to ``__exit__``, which closes every
    connection and joins every thread. What was seen stays readable afterwards. A request
    beyond the script gets a 500 and is counted like any other.

    Args:
        exchanges: The script. ``refuse`` must be the last: the kernel answers it, unseen.
            Where something comes before it, listening ends before that is answered.
        host: A loopback address.

    Raises:
        ValueError: An exchange follows ``refuse``.
        OSError: From ``__enter__``: the address cannot be bound.

    Example:
        >>> with FaultServer([Exchange(429, (("retry-after", "7"),))]) as server:
        ...     server.base_url.startswith("http://127.0.0.1:")
        True

    """

    def __init__(self, exchanges: Sequence[Exchange], *, host: str = "127.0.0.1") -> None:
        self._exchanges = tuple(exchanges)
        self._answered = tuple(e for e in self._exchanges if e.ending != "refuse")
        self._refuses = len(self._answered) < len(self._exchanges)
        if self._answered != self._exchanges[: len(self._answered)] or (
            len(self._exchanges) - len(self._answered) > 1
        ):
            raise ValueError("no exchange behind a refused connection is ever reached")
        self._host = host
        self._journal = Journal(len(self._exchanges))
        self._lock = Lock()
        self._threads: list[Thread] = []
        self._stop: Signal | None = None
        self._listener: Listener | None = None
        self._other: FaultServer | None = None

    def __enter__(self) -> Self:
        listens = bool(self._answered) or not self._refuses
        self._stop = Signal()
        try:
            self._listener = Listener(
                self._host, self._accepted, holds_port=self._refuses, listens=listens
            )
        except OSError:  # no such address, or no free port
            self._stop.close()
            raise
        if not listens:
            self._journal.report(0, DELIVERED)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._other is not None:
            self._other.__exit__(None, None, None)
        if self._stop is None or self._listener is None:
            return
        deadline = monotonic() + _STOP_LIMIT_S
        self._stop.raise_()
        self._join(deadline)
        self._listener.close()
        self._join(deadline)  # those accepted meanwhile
        self._stop.close()

    @property
    def port(self) -> int:
        """The port, also while nothing listens at it."""
        if self._listener is None:
            raise RuntimeError("the server is not started: use it as a context manager")
        return self._listener.port

    @property
    def base_url(self) -> str:
        """``http://127.0.0.1:PORT``, without a slash at the end."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}"

    @property
    def other_origin(self) -> str:
        """A second origin that answers 500 and counts; it listens once it is asked for."""
        with self._lock:
            if self._other is None:
                self._other = FaultServer((), host=self._host).__enter__()
            return self._other.base_url

    @property
    def other_origin_requests(self) -> int:
        """How many requests the other origin saw."""
        return 0 if self._other is None else len(self._other.requests)

    @property
    def other_origin_connections(self) -> int:
        """How many connections the other origin accepted."""
        return 0 if self._other is None else len(self._other.connections)

    @property
    def requests(self) -> list[SeenRequest]:
        """Every request so far, in order, over all connections."""
        return self._journal.requests()

    @property
    def connections(self) -> list[SeenConnection]:
        """Every connection so far, as it stands now."""
        return self._journal.connections()

    def timeline(self) -> list[tuple[float, str]]:
        """Return all events of all connections in order: ``time.monotonic()`` and words."""
        events = [(event, seen.number) for seen in self.connections for event in seen.events]
        events.sort(key=lambda pair: pair[0].at_s)
        return [(event.at_s, f"connection {number}: {event}") for event, number in events]

    def delivered(self, exchange: int, *, within_s: float = 0.0) -> Delivery:
        """Return whether exchange number ``exchange``, from 0, really went out.

        The last bytes reach the client a moment before the server has noted so:
        ``within_s`` waits for the verdict, and returns as soon as there is one.
        """
        return self._journal.delivery(exchange, within_s=within_s)

    def wait_for_requests(self, count: int, timeout_s: float) -> bool:
        """Wait until ``count`` requests have come, whole; return whether they have."""
        return self._journal.wait_for_requests(count, timeout_s)

    def wait_until_released(self, timeout_s: float) -> list[SeenConnection]:
        """Wait until no connection is in use; return those that still are after ``timeout_s``.

        Released is: closed by the peer, ended by RST, or idle behind a whole answer and
        reusable. Behind an answer that is cut or held only the first two count.
        """
        return self._journal.wait_while_any(lambda seen: not seen.is_released, timeout_s)

    def wait_until_closed(self, timeout_s: float) -> list[SeenConnection]:
        """Wait until every connection is closed, idle ones too; return those that are not."""
        return self._journal.wait_while_any(lambda seen: seen.state != "closed", timeout_s)

    def _accepted(self, sock: socket.socket) -> None:
        if self._stop is None:
            raise RuntimeError("accepted before the server was started")
        log = self._journal.open_connection()
        connection = Connection(Wire(sock, self._stop), log, self._next_turn)
        name = f"fault-server-connection-{log.number}"
        thread = Thread(target=connection.run, name=name, daemon=True)
        thread.start()
        with self._lock:
            self._threads.append(thread)

    def _next_turn(self, request: ParsedRequest, log: ConnectionLog) -> Turn:
        number = self._journal.take_turn(request, log)
        if number >= len(self._answered):
            return Turn(_BEYOND, _report_to_nobody, is_last=False)
        is_last = self._refuses and number == len(self._answered) - 1
        if is_last and self._listener is not None:
            self._listener.stop_listening()
            self._journal.report(number + 1, DELIVERED)
        return Turn(self._exchanges[number], partial(self._journal.report, number), is_last=is_last)

    def _join(self, deadline: float) -> None:
        with self._lock:
            threads, self._threads = self._threads, []
        for thread in threads:
            thread.join(max(0.0, deadline - monotonic()))


def _report_to_nobody(delivery: Delivery) -> None:
    """Drop the verdict on an answer that no script holds."""
