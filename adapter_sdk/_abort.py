"""The caller's way to stop a call."""

from __future__ import annotations

from collections.abc import Callable


class AbortSignal:
    """Stops every call that it was given to. The first reason wins and is kept.

    Not thread-safe: call ``abort`` in the loop's own thread (from another one through
    ``loop.call_soon_threadsafe`` or ``trio.from_thread``).
    """

    def __init__(self) -> None:
        self._reason: str | None = None
        self._listeners: dict[object, Callable[[], None]] = {}

    @property
    def aborted(self) -> bool:
        """Whether ``abort`` was called."""
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        """What the first ``abort`` gave as its reason, or None before it."""
        return self._reason

    def abort(self, reason: str = "the caller aborted the call") -> None:
        """Stop the calls; a second abort changes nothing."""
        if self._reason is not None:
            return
        self._reason = reason
        listeners, self._listeners = self._listeners, {}
        for listener in listeners.values():
            listener()

    def on_abort(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` at the abort, at once where it has come; it does not raise.

        Returns:
            A function that takes the listener away again.
        """
        if self._reason is not None:
            listener()
            return lambda: None
        key = object()
        self._listeners[key] = listener
        return lambda: void(self._listeners.pop(key, None))


def void(_: object) -> None:
    """Drop a value where a function must return None."""
