"""Subjects that break the protocol, each in one way: ``broken_subject.py WAY [FILE]``."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

WAY = sys.argv[1]

DECLARATION: dict[str, Any] = {
    "dialects": ["openai-chat"],
    "terminal": "done-sentinel",
    "capabilities": ["http_facts"],
}


def finish(base_url: str) -> dict[str, Any]:
    """Make the one request, of which only its status is looked at."""
    connection = http.client.HTTPConnection(urlsplit(base_url).netloc)
    connection.request("POST", "/chat/completions", "{}")
    status = connection.getresponse().status
    connection.close()
    failure = {"message": "the key is refused", "code": "AUTH", "status": status}
    return {"type": "finish", "reason": {"kind": "error", "failure": failure}}


def say(answer: object) -> None:
    print(json.dumps(answer), flush=True)


def forever() -> None:
    threading.Event().wait()


def first_time() -> bool:
    """Whether the file of the command line is new; it is from now on there."""
    mark = Path(sys.argv[2])
    there = mark.exists()
    mark.touch()
    return not there


def greet() -> None:
    match WAY:
        case "ends-at-once":
            raise SystemExit(7)
        case "greets-in-prose":
            print("ready", flush=True)
        case "speaks-another-protocol":
            say({"protocol": 2, "declaration": DECLARATION})
        case "declares-what-nobody-knows":
            say({"protocol": 1, "declaration": {**DECLARATION, "capabilities": ["telepathy"]}})
        case "declares-nothing":
            say({"protocol": 1})
        case "ends-at-its-second-start" if not first_time():
            raise SystemExit(5)
        case _:
            say({"protocol": 1, "declaration": DECLARATION})


def answer_next(call: int, base_url: str) -> None:
    match WAY:
        case "hangs" | "outlives-the-kit":
            forever()
        case "crashes":
            raise RuntimeError("the engine is on fire")
        case "crashes-once" if first_time():
            raise RuntimeError("only this time")
        case "prints-garbage":
            print("debug: got a request", flush=True)
        case "prints-an-array":
            say([1])
        case "answers-another-call":
            say({"call": call + 90, "chunk": finish(base_url)})
        case "answers-twice":
            chunk = finish(base_url)
            print(*[json.dumps({"call": call, "chunk": chunk})] * 2, sep="\n", flush=True)
        case "sends-no-chunk-that-is-known":
            say({"call": call, "chunk": {"type": "telegram"}})
        case "sends-a-number-for-a-text":
            say({"call": call, "chunk": {"type": "text-delta", "index": 0, "text": 5}})
        case "raises":
            say({"call": call, "raised": "KeyError: 'choices'"})
        case "answers-nothing-of-use":
            say({"call": call})
        case "ends-at-its-second-start":
            raise SystemExit(5)
        case _:
            say({"call": call, "chunk": finish(base_url)})


def main() -> None:
    if WAY in ("stays-after-the-end", "starts-a-child"):
        child = subprocess.Popen(["sleep", "600"])
        Path(sys.argv[2]).write_text(f"{os.getpid()} {child.pid}", encoding="utf-8")
    if WAY == "outlives-the-kit":  # whoever reads the pipe sees its end once both are gone
        pipe = os.open(sys.argv[2], os.O_WRONLY)
        subprocess.Popen(["sleep", "600"], pass_fds=[pipe])
        os.write(pipe, b"begun")
    finished: set[int] = set()
    base_url = ""
    for line in sys.stdin:
        message = json.loads(line)
        call = message.get("call")
        match message["do"]:
            case "hello":
                greet()
            case "call":
                base_url = message["baseUrl"]
            case "next" if call in finished:
                say({"call": call, "end": True})
            case "next":
                finished.add(call)
                answer_next(call, base_url)
            case "close" if WAY == "never-closes" and call is not None:
                pass
            case "close":
                finished.discard(call)
                say({"closed": True} if call is None else {"call": call, "closed": True})
    if WAY == "stays-after-the-end":
        forever()


main()
