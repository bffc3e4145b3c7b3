"""Ends a subject whose kit is gone, however it went: one that waits for nothing hears of no end."""

from __future__ import annotations

import contextlib
import subprocess
from typing import Final

# The shell waits for the end of a pipe whose other end this process alone holds. A subject that
# reads its input has ended by then: it has the same second as at the end of a run.
_SCRIPT: Final = 'read -r _; sleep 1; kill -s KILL -- "-$1"'

_SHELL: Final = "/bin/sh"


class Guard:
    """A shell that outlives this process by a second, to kill a group of processes.

    No signal for the death of a parent (Linux alone has one): that means the thread that started
    the child, and the kit's threads end with their checks.

    Args:
        group: Id of the group. Where there is no shell nothing watches over it.
    """

    def __init__(self, group: int) -> None:
        self._popen: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):  # there is no shell, or no process is left for it
            self._popen = subprocess.Popen(  # noqa: S603 - why: the shell and the script are ours
                [_SHELL, "-c", _SCRIPT, "dsh-guard", str(group)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the kit, which ends its subjects then
            )

    def dismiss(self) -> None:
        """End the shell; it kills nobody any more."""
        if self._popen is not None:
            self._popen.kill()
            self._popen.communicate()
            self._popen = None
