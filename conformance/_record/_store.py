"""Where recordings go: a file for each exchange, numbered; nothing is ever overwritten."""

from __future__ import annotations

import json
import re
from pathlib import Path
from threading import Lock
from typing import Final

from .._recording._file import recording_text
from ._exchange import Kept

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_]*")
_NUMBERED: Final = re.compile(r"([0-9]{4,})_")
_LONGEST_LABEL: Final = 40
# Not JSON by its name, so that nobody takes it for a recording.
_DAMAGED: Final = ".damaged"


class StoreError(Exception):
    """A folder that cannot be written to; the text says which and why."""


class Store:
    """Writes to ``folder``/``server``/.

    Args:
        folder: Of all recordings.
        server: What answered: lower-case letters, digits, underscores.

    Raises:
        StoreError: The folder cannot be made, or ``server`` is no such name.
    """

    def __init__(self, folder: Path, server: str) -> None:
        if _NAME.fullmatch(server) is None:
            raise StoreError(f"--name {server}: write it with a-z, 0-9 and _")
        self.server = server
        self._folder = folder / server
        self._lock = Lock()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            files = [file.name for file in self._folder.iterdir()]
        except OSError as error:  # a file in its place, no permission, no room
            raise StoreError(f"{self._folder}: {error.strerror}") from error
        numbers = [int(number[1]) for file in files if (number := _NUMBERED.match(file))]
        self._last = max(numbers, default=0)

    def write(self, kept: Kept, status: int | None) -> str:
        """Write an exchange and return its name; a damaged one keeps all that came of it.

        Raises:
            StoreError: The file cannot be written.
        """
        request = kept.values["request"]
        path = str(getattr(request, "path", ""))
        with self._lock:
            self._last += 1
            number = self._last
        name = f"{number:04}_{label(path)}_{'no_answer' if status is None else status}"
        file = self._folder / (name + (_DAMAGED if kept.damage else ".json"))
        text = _damaged_text(kept) if kept.damage else recording_text(kept.recording)
        try:
            with file.open("x", encoding="utf-8") as opened:
                opened.write(text)
        except OSError as error:  # no room, no permission, the folder is gone
            raise StoreError(f"{file}: {error.strerror}") from error
        return f"{self.server}/{file.name}"


def server_name(host: str) -> str:
    """Return what a server at ``host`` is called where nobody gave it a name."""
    return re.sub(r"[^a-z0-9]+", "_", host.lower()).strip("_") or "server"


def label(path: str) -> str:
    """Return the last two words of a request's path, fit for the name of a file."""
    words = [word for word in re.split(r"[^a-z0-9]+", path.partition("?")[0].lower()) if word]
    return "_".join(words[-2:])[:_LONGEST_LABEL].strip("_") or "root"


def _damaged_text(kept: Kept) -> str:
    values = {
        key: value if isinstance(value, (str, float)) else _plain(value)
        for key, value in kept.values.items()
    }
    return json.dumps({"damage": kept.damage, **values}, indent=1, ensure_ascii=False) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(mode="json", exclude_defaults=True)
