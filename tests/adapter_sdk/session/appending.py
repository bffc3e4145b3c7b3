"""Processes that append turns to a log until they are killed. They say what was acknowledged.

Usage: ``python appending.py``. For each path on standard input a process of its own opens the
log; after each append it writes the event's number with one system call, so that the line stands
in the pipe whatever becomes of the process. ``dead`` follows once it is gone.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adapter_sdk.session import Event, open_log, recover


def append_for_ever(path: str) -> None:
    """Open, recover, write whole turns."""
    # By its file, for this is a program, and no part of the package of the tests.
    sys.path.insert(0, str(Path(__file__).parent))
    talking: Any = importlib.import_module("talking")

    log = open_log(path)
    recover(log)
    say(f"{os.getpid()} {len(log.events)}")
    append = log.append

    def noted(type_: str, data: Mapping[str, Any], /, **options: Any) -> Event:
        event = append(type_, data, **options)
        say(str(event.seq))
        return event

    log.append = noted  # type: ignore[method-assign]  # why: the witness of this process
    talk = talking.Talk(log)
    talk.turn = sum(event.type == "turn/start" for event in log.events)
    while True:
        talk.whole_turn()


def say(line: str) -> None:
    """Write a line that no buffer holds back."""
    os.write(1, f"{line}\n".encode())


def main() -> None:
    """Start one process after the other; forked, for it saves the imports."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            append_for_ever(line.rstrip("\n"))
        os.waitpid(child, 0)
        say("dead")


if __name__ == "__main__":
    main()
