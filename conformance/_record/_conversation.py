"""One client of the recorder: its requests, one after another, and what answers them."""

from __future__ import annotations

import copy
import math
import select
import time
from collections.abc import Callable, Sequence
from typing import Final

from .._recording._values import RecordedEnding
from ._exchange import Watched
from ._framing import MessageEnd
from ._socket import EndedError, Side, Stop, StoppedError
from ._upstream import UnreachableError, Upstream

# A server that has announced the end of the connection performs it by then.
_ANNOUNCED_END_MS: Final = 1000

# A server ends a chunked body along with its content, or in later writes, of which there can be
# several (cpp-httplib: the size and the line behind it) and which a busy machine holds up.
_BODY_END_S: Final = 0.5
# Byte by byte, with trailers; a chunk extension that never ends is no end.
_MOST_READS_OF_AN_END: Final = 256

_NOT_HTTP: Final = "400 Bad Request"
_UNREACHABLE: Final = "502 Bad Gateway"
_SWITCHED: Final = 101

_SERVER_ENDINGS: Final[dict[str, RecordedEnding]] = {"fin": "fin", "rst": "rst"}
_CLIENT_ENDINGS: Final[dict[str, RecordedEnding]] = {"fin": "client-close", "rst": "client-rst"}


class Conversation:
    """Serves one client until it, its upstream or the recorder ends; ``run`` closes both sides.

    Args:
        client: The client's side.
        upstream: Where its requests go, over a connection of its own.
        stop: The recorder's stop signal.
        keep: Takes each exchange once it has ended.
        tell: Hears what becomes no exchange.
    """

    def __init__(
        self,
        client: Side,
        upstream: Upstream,
        stop: Stop,
        *,
        keep: Callable[[Watched], None],
        tell: Callable[[str], None],
    ) -> None:
        self._client, self._upstream, self._stop = client, upstream, stop
        self._keep, self._tell = keep, tell
        self._server: Side | None = None
        self._unread = b""

    def run(self) -> None:
        """Forward until either side ends."""
        try:
            while self._forward_one():
                pass
        except EndedError as ended:  # between two exchanges
            self._pass_on(ended)
        except StoppedError:  # likewise
            pass
        finally:
            self._client.close()
            if self._server is not None:
                self._server.close()

    def _forward_one(self) -> bool:
        """Forward a request and its answer; return whether both connections go on."""
        request = MessageEnd("request")
        came = self._receive_head(request)
        if request.trouble:
            return self._refuse(_NOT_HTTP, f"a client sent no HTTP request: {request.trouble}")
        method, target, _ = request.start_line.split(" ")
        if not target.startswith("/"):
            return self._refuse(_NOT_HTTP, f"{method} {target[:80]}: a path belongs here")
        try:
            if self._server is None:
                self._server = Side(self._upstream.connect(), self._stop)
        except UnreachableError as error:
            return self._refuse(_UNREACHABLE, f"the upstream cannot be reached: {error}")
        seen = Watched(request, MessageEnd("response", of_head_request=method == "HEAD"))
        head, body = came[: request.head_bytes], came[request.head_bytes :]
        return self._exchange(seen, self._server, readdressed(head, self._upstream) + body)

    def _receive_head(self, request: MessageEnd) -> bytes:
        """Return the head, and what has come of the body; the rest is unread."""
        came = b""
        while not (request.head_bytes or request.trouble):
            data = self._unread or self._next_data()
            taken = request.feed(data)
            came, self._unread = came + data[:taken], data[taken:]
        return came

    def _next_data(self) -> bytes:
        """Return what the client sends next, while nothing is asked."""
        while True:
            for side in self._readable(self._sides()):
                data = side.read()
                if data and side is self._client:
                    return data
                if data:  # a farewell without a question, as of a server that is tired of waiting
                    self._tell(f"not kept: {len(data)} bytes came without a request")
                    self._client.write(data)

    def _exchange(self, seen: Watched, server: Side, first: bytes) -> bool:
        try:
            self._send(seen, server, first)
            while not (seen.answer.is_whole and seen.request.is_whole):
                for side in self._readable(self._sides()):
                    if side is server:
                        self._take_answer(seen, server)
                    else:
                        self._take_request(seen, server)
            if _announces_end(seen) and self._readable([server], _ANNOUNCED_END_MS):
                server.read()
            seen.ended("open")
        except EndedError as ended:
            seen.ended(self._ending_of(ended))
            if ended.side is self._client:  # first: told of it, a server may send no more
                self._take_body_end(seen, server)
            self._pass_on(ended)
        except StoppedError:
            self._last_look(seen, server)
            self._keep(seen)
            raise
        self._keep(seen)
        return seen.ending == "open"

    def _last_look(self, seen: Watched, server: Side) -> None:
        """Take what has come by now: the recorder stops, and none of it shall be lost."""
        try:
            ready = _ready(self._sides(), 0)
            if self._client in ready:
                self._client.read()
            if server in ready:
                self._take_answer(seen, server)
            seen.ended("open")
        except EndedError as ended:
            seen.ended(self._ending_of(ended))
        except StoppedError:  # the client takes no more
            seen.ended("open")
        seen.stopped = seen.ending == "open" and not seen.answer.is_whole

    def _take_body_end(self, seen: Watched, server: Side) -> None:
        """Keep the end of a body whose client left at the end of its content, as many do."""
        if not seen.answer.is_chunked:  # nothing but content could come; or no head has
            return
        answer, reads = copy.deepcopy(seen.answer), list[tuple[float, bytes]]()
        give_up_at = time.monotonic() + _BODY_END_S
        try:
            while not answer.is_whole and (left_s := give_up_at - time.monotonic()) > 0:
                if self._readable([server], math.ceil(left_s * 1000)) and (data := server.read()):
                    reads.append((time.monotonic(), data))
                    if answer.feed(data) < len(data):  # bytes behind the end
                        return
                more = answer.content_bytes > seen.answer.content_bytes  # than the client has
                if more or not answer.is_chunked or len(reads) > _MOST_READS_OF_AN_END:
                    return
        except (EndedError, StoppedError):  # so it was not about to end well
            return
        if answer.is_whole:
            seen.answer = answer
            seen.reads += reads
            seen.ended(seen.ending)

    def _take_request(self, seen: Watched, server: Side) -> None:
        data = self._client.read()
        if seen.answer.status == _SWITCHED:  # another protocol now, which only passes
            server.write(data)
            return
        taken = seen.request.feed(data)
        self._unread += data[taken:]
        self._send(seen, server, data[:taken])

    def _send(self, seen: Watched, server: Side, data: bytes) -> None:
        try:
            server.write(data)
        except EndedError:  # it may have answered before it ended: reading tells
            return
        seen.sent()

    def _take_answer(self, seen: Watched, server: Side) -> None:
        data = server.read()
        if data:
            seen.received(data)
            seen.answer.feed(data)
            self._client.write(data)

    # ---- endings -------------------------------------------------------------------------

    def _ending_of(self, ended: EndedError) -> RecordedEnding:
        endings = _CLIENT_ENDINGS if ended.side is self._client else _SERVER_ENDINGS
        return endings[ended.how]

    def _pass_on(self, ended: EndedError) -> None:
        """End the other side as one side has ended."""
        other = self._server if ended.side is self._client else self._client
        if other is None:
            return
        if ended.how == "rst":
            other.reset()
        else:
            other.finish()

    def _refuse(self, status: str, why: str) -> bool:
        self._tell(why)
        text = f"{why}\n".encode("utf-8", "replace")
        head = (
            f"HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\n"
            f"content-length: {len(text)}\r\nconnection: close\r\n\r\n"
        )
        self._client.write(head.encode() + text)
        self._client.finish()
        return False

    def _sides(self) -> list[Side]:
        return [self._client] if self._server is None else [self._client, self._server]

    def _readable(self, sides: Sequence[Side], timeout_ms: int | None = None) -> list[Side]:
        """Wait until one of ``sides`` has something to read, and return those that have.

        Raises:
            StoppedError: The recorder was told to stop.
        """
        ready = _ready((*sides, self._stop), timeout_ms)
        if self._stop in ready:
            raise StoppedError
        return [side for side in sides if side in ready]


def _ready(waited: Sequence[Side | Stop], timeout_ms: int | None) -> list[Side | Stop]:
    """Return those of ``waited`` that can be read, waiting for the first of them."""
    poller = select.poll()
    for one in waited:
        poller.register(one, select.POLLIN)
    # TLS may hold bytes that the socket has given away.
    held = [one for one in waited if isinstance(one, Side) and one.has_more]
    fds = {fd for fd, _ in poller.poll(0 if held else timeout_ms)}
    return [one for one in waited if one in held or one.fileno() in fds]


def readdressed(head: bytes, upstream: Upstream) -> bytes:
    """Return a request's head for ``upstream``: its path and its Host, all else as it came."""
    first, *lines = head.split(b"\r\n")
    method, target, version = first.split(b" ")
    lines = [
        line[:5] + b" " + upstream.authority.encode("idna")
        if line[:5].lower() == b"host:"
        else line
        for line in lines
    ]
    return b"\r\n".join([b" ".join([method, upstream.path.encode() + target, version]), *lines])


def _announces_end(seen: Watched) -> bool:
    heads = (seen.request, seen.answer)
    return any("close" in head.value("connection").lower() for head in heads) or any(
        "HTTP/1.0" in head.start_line for head in heads
    )
