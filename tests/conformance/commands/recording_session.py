"""A recorder in front of a server, for the length of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Final

from conformance._record._proxy import Recorder
from conformance._record._store import Store
from conformance._record._upstream import Upstream, upstream_of
from conformance._recording._file import load_recording, recording_names
from conformance._recording._values import Recording

# Far above what loopback takes; a test that gets here fails.
PATIENCE_S: Final = 10.0


@dataclass
class Session:
    """A running recorder and what it said."""

    recorder: Recorder
    folder: Path
    said: list[str]
    serving: Thread

    @property
    def base_url(self) -> str:
        return self.recorder.base_url

    def wait(self) -> None:
        self.serving.join(PATIENCE_S)
        assert not self.serving.is_alive()

    def recordings(self) -> list[Recording]:
        return [load_recording(name, self.folder) for name in recording_names(self.folder)]


@contextmanager
def recorder_at(upstream: str | Upstream, folder: Path, *, times: int | None) -> Iterator[Session]:
    said: list[str] = []
    where = upstream_of(upstream) if isinstance(upstream, str) else upstream
    with Recorder(where, Store(folder, "local"), port=0, tell=said.append) as recorder:
        serving = Thread(target=recorder.serve, args=(times,), daemon=True)
        serving.start()
        yield Session(recorder, folder, said, serving)
        if times is None:
            recorder.stop()
        serving.join(PATIENCE_S)
    assert not serving.is_alive()
