"""One accepted connection, from its first byte to its end, on a thread of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._player import Player
from ._request_parser import BadRequestError, ParsedRequest, RequestParser
from ._wire import PeerLeftError, ServerStoppedError, Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._journal import ConnectionLog
    from ._script import Exchange
    from ._seen import Delivery

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Turn:
    """What answers a request.

    Args:
        exchange: The script.
        report: Told how far it has come.
        is_last: Nothing listens behind it, so the connection ends with it too.

    """

    exchange: Exchange
    report: Callable[[Delivery], None]
    is_last: bool


class Connection:
    """Serves ``wire`` until either side ends it; ``run`` closes it."""

    def __init__(
        self,
        wire: Wire,
        log: ConnectionLog,
        next_turn: Callable[[ParsedRequest, ConnectionLog], Turn],
    ) -> None:
        self._wire = wire
        self._log = log
        self._next_turn = next_turn
        self._parser = RequestParser()

    def run(self) -> None:
        """Answer requests, one after another; return once the connection has ended."""
        try:
            while self._serve_one():
                pass
        except PeerLeftError as left:
            self._log.record(left.how, state="closed")
        except ServerStoppedError:
            self._log.record("server-closed")
        finally:
            self._wire.close()

    def _serve_one(self) -> bool:
        try:
            request = self._receive_request()
        except BadRequestError as error:
            self._log.record("bad-request", str(error))
            self._wire.write(_BAD_REQUEST)
            self._wire.finish()
            self._log.record("fin-sent", state="half-closed")
            self._await_close()
            return False
        turn = self._next_turn(request, self._log)
        player = Player(
            turn.exchange,
            wire=self._wire,
            log=self._log,
            report=turn.report,
            closes=turn.is_last or not request.keeps_alive,
        )
        after = player.play()
        if after == "await-close":
            self._await_close()
        return after == "reuse"

    def _receive_request(self) -> ParsedRequest:
        while (request := self._parser.next_request()) is None:
            if self._parser.wants_continue():
                self._wire.write(_CONTINUE)
                self._log.record("continue-sent", sent_bytes=len(_CONTINUE))
            self._parser.feed(self._wire.receive())
            self._log.next_request_began()
        return request

    def _await_close(self) -> None:
        """Wait for the peer's end; answer data with RST, as a socket does that is closed."""
        self._wire.inbox.clear()
        self._wire.receive()
        self._wire.reset()
        self._log.record("rst-sent", "the peer sent bytes after FIN", state="closed")
