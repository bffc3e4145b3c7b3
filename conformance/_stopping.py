"""End a command that runs until it is told to stop: Ctrl-C and SIGTERM alike."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def until_stopped() -> Iterator[None]:
    """Run the block; Ctrl-C and SIGTERM leave it quietly, behind all that it has to close."""
    if threading.current_thread() is not threading.main_thread():  # signals go to that one alone
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
