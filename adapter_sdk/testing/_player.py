"""Play one exchange on one connection, and witness how far it came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias, assert_never

from ._framing import LAST_CHUNK, Framing, framing_of, interim_bytes
from ._script import Exchange, Flood, Pause, Repeat, Send, Step
from ._seen import DELIVERED, Delivery
from ._wire import PeerLeftError, ServerStoppedError, Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._journal import ConnectionLog

# Between the 64 KiB that make a write worth its call and the 1 MiB that starve other threads.
_FLOOD_BLOCK_BYTES: Final = 1 << 18

After: TypeAlias = Literal["reuse", "await-close", "gone"]
"""What the connection does next: the next request, wait for the peer's end, nothing."""


class Player:
    """Plays ``exchange`` once.

    Args:
        exchange: The script.
        wire: The connection's socket.
        log: The connection's log.
        report: Told how far the exchange has come.
        closes: The connection ends with this exchange whatever its headers say.

    """

    def __init__(
        self,
        exchange: Exchange,
        *,
        wire: Wire,
        log: ConnectionLog,
        report: Callable[[Delivery], None],
        closes: bool,
    ) -> None:
        self._exchange = exchange
        self._framing = None if exchange.status is None else framing_of(exchange)
        self._wire = wire
        self._log = log
        self._report = report
        self._closes = closes
        self._body_bytes = 0
        self._last_chunk_sent = False
        self._place = ""
        self._place_began_at = 0
        self._delivered = False

    def play(self) -> After:
        """Send everything and perform the ending.

        Raises:
            PeerLeftError: The peer left; where, is reported, unless all was delivered.
            ServerStoppedError: Likewise.

        """
        try:
            self._enter("the head")
            self._send_interims()
            if self._framing is not None:
                self._send_head_and_body(self._framing)
            self._enter("the ending")
            return self._end()
        except PeerLeftError as left:
            self._interrupted("peer-left", left.words)
            raise
        except ServerStoppedError:
            self._interrupted("server-stopped", "the server stopped")
            raise

    def _send_interims(self) -> None:
        for interim in self._exchange.interim:
            data = interim_bytes(interim)
            self._wire.write(data)
            self._log.record("interim-sent", str(interim.status), sent_bytes=len(data))

    def _send_head_and_body(self, framing: Framing) -> None:
        self._wire.write(framing.head)
        self._log.record("head-sent", str(self._exchange.status), sent_bytes=len(framing.head))
        body = self._exchange.body
        steps = self._exchange.steps if body is None else (Send(body),)
        for number, step in enumerate(steps, 1):
            place = f"step {number} of {len(steps)}"
            self._enter(place)
            self._play_step(step, framing, place)

    def _play_step(self, step: Step, framing: Framing, place: str) -> None:
        match step:
            case Send(data):
                self._send(data, framing)
                self._log.record("step-sent", place, sent_bytes=len(data))
            case Pause(seconds):
                self._wire.pause(seconds)
            case Flood(data, times):
                self._flood(data, times, framing)
                self._log.record("step-sent", place, sent_bytes=len(data) * times)
            case Repeat():
                self._repeat(step, framing, place)
            case _:
                assert_never(step)

    def _send(self, data: bytes, framing: Framing) -> None:
        if data:  # a chunk of no bytes would be the last one
            self._wire.write(framing.wrap(data))
            self._body_bytes += len(data)

    def _flood(self, data: bytes, times: int, framing: Framing) -> None:
        if not (data and times):
            return
        per_block = min(times, max(1, _FLOOD_BLOCK_BYTES // len(data)))
        blocks, rest = divmod(times, per_block)
        block = framing.wrap(data * per_block)
        for _ in range(blocks):
            self._wire.write(block)
        self._body_bytes += len(data) * per_block * blocks
        self._send(data * rest, framing)

    def _repeat(self, repeat: Repeat, framing: Framing, place: str) -> NoReturn:
        number = 1
        while True:
            for part, step in enumerate(repeat.steps, 1):
                self._play_step(step, framing, f"{place}, round {number}, part {part}")
            self._done()
            self._wire.pause(repeat.every_seconds)
            number += 1

    def _end(self) -> After:
        ending = self._exchange.ending
        match ending:
            case "eof":
                return self._end_message()
            case "cut" | "short" | "close-before-headers":
                return self._finish()
            case "reset":
                self._wire.reset()
                self._log.record("rst-sent", state="closed")
                self._done()
                return "gone"
            case "hold" | "hold-before-headers":
                return self._hold()
            case "refuse":
                raise ValueError("a refused connection has no request to answer")
            case _:
                assert_never(ending)

    def _end_message(self) -> After:
        if self._framing is not None and self._framing.kind == "chunked":
            self._wire.write(LAST_CHUNK)
            self._last_chunk_sent = True
            self._log.record("body-end-sent", sent_bytes=len(LAST_CHUNK))
        if self._closes or self._announced_close() or not self._is_whole():
            # Not whole: the end of the connection is its end, or a wrong length spoilt it.
            return self._finish()
        self._done()
        self._log.record("idle", state="idle")
        return "reuse"

    def _finish(self) -> After:
        # Who has a whole body and heard no announcement keeps the connection in a pool
        # and learns of FIN when it next looks: idle, not a leak.
        idle = self._is_whole() and not self._announced_close()
        self._wire.finish()
        self._log.record("fin-sent", state="idle" if idle else "half-closed")
        self._done()
        return "await-close"

    def _hold(self) -> After:
        self._done()
        if not self._is_whole() or self._closes:
            self._log.record("holding")
            self._wire.hold()
        self._log.record("holding", "behind a whole body", state="idle")
        return "reuse"

    def _is_whole(self) -> bool:
        if self._framing is None:
            return False
        return self._last_chunk_sent or self._framing.is_complete(self._body_bytes)

    def _announced_close(self) -> bool:
        return self._framing is not None and self._framing.closes

    def _enter(self, place: str) -> None:
        self._place = place
        self._place_began_at = self._wire.sent_bytes
        self._report(Delivery("in-progress", f"at {place}"))

    def _done(self) -> None:
        if not self._delivered:
            self._delivered = True
            self._report(DELIVERED)

    def _interrupted(self, state: Literal["peer-left", "server-stopped"], who: str) -> None:
        if self._delivered:
            return
        sent = self._wire.sent_bytes - self._place_began_at
        where = f"in {self._place}, {sent} bytes into it" if sent else f"before {self._place}"
        self._report(Delivery(state, f"{who} {where}"))
