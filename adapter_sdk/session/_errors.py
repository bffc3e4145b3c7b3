"""What can go wrong with a log, in the words that a person needs."""

from __future__ import annotations


class SessionLogError(Exception):
    """A log that cannot be opened or written; every error of a backend is one of these."""


class LogDamagedError(SessionLogError):
    """What is stored is no log: the message names the file and the line or row."""


class LogVersionError(SessionLogError):
    """What is stored is of another program or another version; nothing was changed."""


class LogConflictError(SessionLogError):
    """Somebody else writes to this log."""


class LogWriteError(SessionLogError):
    """The event was not acknowledged: disk full, read-only, a failing disk.

    The log takes no more events; open it again. The cause is the operating system's error.
    """


class LogClosedError(SessionLogError):
    """The log was closed, or an earlier write of it failed."""


class InvariantError(SessionLogError):
    """An event that may not stand where it was to be put; nothing was written."""
