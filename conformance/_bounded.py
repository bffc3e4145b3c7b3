"""Run something that may never return: an adapter that blocks its thread must not hang the kit."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class StuckError(Exception):
    """What was run did not return in time; its thread is left behind."""


class ExitCalledError(Exception):
    """What was run called ``sys.exit``; the kit's own exit code is not for it to choose."""


class _Box(Generic[T]):
    result: T
    error: BaseException | None = None


def bounded(run: Callable[[], T], *, limit_s: float) -> T:
    """Return what ``run`` returns, or raise what it raises.

    Raises:
        StuckError: It has not returned within ``limit_s`` seconds.
        ExitCalledError: It called ``sys.exit``.
    """
    box: _Box[T] = _Box()

    def main() -> None:
        try:
            box.result = run()
        except SystemExit as error:
            box.error = ExitCalledError(f"sys.exit({error.code!r}) was called")
        except BaseException as error:  # noqa: BLE001 - why: it is raised again by the caller
            box.error = error

    # A daemon: a thread that is stuck for good must not keep the process alive.
    thread = Thread(target=main, name="dsh-check", daemon=True)
    thread.start()
    thread.join(limit_s)
    if thread.is_alive():
        raise StuckError(f"no return within {limit_s:g} s")
    if box.error is not None:
        raise box.error
    return box.result
