"""The provider of a benchmark: a process of its own that sends what it has made beforehand.

    python -m tests.benchmarks.server

prints its port and serves until its input closes. The path of a request says what it wants:
``/token/chat/10000/…`` is 10,000 events of the chat wire, each in a write of its own.
"""

from __future__ import annotations

import functools
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

BURST_BYTES: Final = 1 << 16

_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"x-request-id: req-bench\r\ntransfer-encoding: chunked\r\n\r\n"
)


def _sse(name: str, payload: dict[str, Any]) -> bytes:
    data = json.dumps(payload, separators=(",", ":")).encode()
    line = f"event: {name}\n".encode() if name else b""
    return line + b"data: " + data + b"\n\n"


def _chat(count: int) -> Iterator[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _sse(
            "",
            {
                "id": "chatcmpl-bench",
                "object": "chat.completion.chunk",
                "created": 1_790_000_000,
                "model": "bench",
                "system_fingerprint": "fp_bench",
                "choices": [choice],
            },
        )

    # It says something, so that the first chunk of every client comes of the first event.
    yield chunk({"role": "assistant", "content": "Here"})
    for number in range(count):
        yield chunk({"content": f" word{number % 10}"})
    yield chunk({}, "stop")
    yield b"data: [DONE]\n\n"


def _messages(count: int) -> Iterator[bytes]:
    usage = {"input_tokens": 9, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "msg_bench",
        "type": "message",
        "role": "assistant",
        "model": "bench",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield _sse("message_start", {"type": "message_start", "message": message})
    block = {"type": "text", "text": ""}
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    yield _sse("content_block_start", start)
    for number in range(count):
        delta = {"type": "text_delta", "text": f" word{number % 10}"}
        yield _sse(
            "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
        )
    yield _sse("content_block_stop", {"type": "content_block_stop", "index": 0})
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    yield _sse("message_delta", {"type": "message_delta", "delta": end, "usage": usage})
    yield _sse("message_stop", {"type": "message_stop"})


_WIRES: Final[dict[str, Callable[[int], Iterator[bytes]]]] = {"chat": _chat, "messages": _messages}


@functools.cache
def writes(mode: str, wire: str, count: int) -> tuple[bytes, ...]:
    """Return the writes of an answer, framed: one an event, or as large as they get."""
    events = list(_WIRES[wire](count))
    if mode == "burst":
        body = b"".join(events)
        events = [body[at : at + BURST_BYTES] for at in range(0, len(body), BURST_BYTES)]
    framed = [b"%x\r\n%b\r\n" % (len(event), event) for event in events]
    return (_HEAD, *framed, b"0\r\n\r\n")


def _serve(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream = connection.makefile("rb")
    with connection, stream:
        while line := stream.readline():
            length = 0
            while (header := stream.readline()) not in (b"\r\n", b""):
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            stream.read(length)
            _, mode, wire, count = line.split(b" ")[1].decode().split("/")[:4]
            try:
                for data in writes(mode, wire, int(count)):
                    connection.sendall(data)
            except OSError:  # a client that leaves at the terminal marker
                return


def main() -> None:
    """Serve on a free port of the loopback interface until the input closes."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        print(listener.getsockname()[1], flush=True)

        def accept() -> None:
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=_serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        sys.stdin.read()


if __name__ == "__main__":
    main()
