"""llama.cpp's own HTTP server as a context manager: one process, one model, one loopback port."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_LAUNCHER: Final = Path(__file__).with_name("serve_llama.py")
_HOST: Final = "127.0.0.1"
# Start and load take 0.2 s. 600 looks of at least 50 ms are 30 s, for a machine under load.
_LOOKS: Final = 600
_LOOK_SECONDS: Final = 0.05
_ANSWER_SECONDS: Final = 5.0
_END_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How a server runs; equal options may share one process.

    Attributes:
        slots: Requests that are answered at the same time; the others wait.
        context_tokens: Prompt and answer of one slot together.
        endless: Forget the oldest tokens when the context is full, instead of ending.
        api_key: The key to ask for, or None for an open server.
        held: Stay in the state "loading" until ``finish_loading``.
    """

    slots: int = 1
    context_tokens: int = 2048
    endless: bool = False
    api_key: str | None = None
    held: bool = False


class LlamaServer:
    """A running server. Entering starts it and waits until it answers; leaving ends it.

    Only the process that this object started is ever signalled.

    Args:
        model: The GGUF file.
        options: How it runs.
        folder: An existing directory for the server's log.

    Raises:
        RuntimeError: On entering: it ended or did not answer in time. Carries its log.
    """

    def __init__(self, model: Path, options: ServerOptions, *, folder: Path) -> None:
        self._model = model
        self._options = options
        self._folder = folder

    @property
    def base_url(self) -> str:
        """Where the OpenAI-compatible endpoints are, without a final slash."""
        return f"http://{_HOST}:{self._port}/v1"

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            # Bound, never listening: the port stays ours to the end, also while nobody serves it.
            claim = opened.enter_context(socket.socket())
            claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            claim.bind((_HOST, 0))
            self._port: int = claim.getsockname()[1]
            self._gate = opened.enter_context(ExitStack())
            command = self._command()
            passed: tuple[int, ...] = ()
            if self._options.held:
                reading, writing = os.pipe()
                opened.callback(os.close, reading)
                self._gate.callback(os.close, writing)
                command.append(f"--gate={reading}")
                passed = (reading,)
            self._log = self._folder / f"{self._port}.log"
            with self._log.open("wb") as log:
                self._process = opened.enter_context(
                    subprocess.Popen(
                        command,
                        stdin=subprocess.PIPE,  # its end, also by our death, ends the process
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        pass_fds=passed,
                    )
                )
            opened.callback(self.kill9)
            self._wait_for("an answer", self._is_loading if self._options.held else self._is_ready)
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.close()

    def finish_loading(self) -> None:
        """Let a held server finish loading, and wait until it is ready."""
        self._gate.close()
        self._wait_for("ready", self._is_ready)

    def kill9(self) -> None:
        """End the process at once, as the kernel's out-of-memory killer does."""
        self._process.kill()
        self._process.wait(_END_SECONDS)

    def stop(self) -> None:
        """Freeze the process: its connections stay open and silent. Returns when it is frozen."""
        self._process.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(self._process.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            raise RuntimeError(f"the server ended instead of stopping\n{self._log_end()}")

    def resume(self) -> None:
        """Undo ``stop``."""
        self._process.send_signal(signal.SIGCONT)

    def wait_for_queue(self, requests: int) -> None:
        """Return when so many requests wait for a free slot."""
        self._wait_for(f"{requests} waiting", lambda: self._metric("requests_deferred") == requests)

    def wait_for_idle(self) -> None:
        """Return when no request is being answered."""
        self._wait_for("no request", lambda: self._metric("requests_processing") == 0)

    def _command(self) -> list[str]:
        options = self._options
        command = [sys.executable, str(_LAUNCHER), str(self._model), f"--port={self._port}"]
        command += [f"--slots={options.slots}", f"--context={options.context_tokens}"]
        if options.endless:
            command.append("--endless")
        if options.api_key is not None:
            command.append(f"--api-key={options.api_key}")
        return command

    def _wait_for(self, what: str, condition: Callable[[], bool]) -> None:
        for _ in range(_LOOKS):
            if condition():
                return
            try:  # the pause between two looks ends early where the process does
                self._process.wait(_LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            break
        raise RuntimeError(f"the server never got to: {what}\n{self._log_end()}")

    def _is_ready(self) -> bool:
        return self._get("/health")[0] == http.HTTPStatus.OK

    def _is_loading(self) -> bool:
        return self._get("/health")[0] == http.HTTPStatus.SERVICE_UNAVAILABLE

    def _metric(self, name: str) -> float | None:
        found = re.search(rf"^llamacpp:{name} (\S+)$", self._get("/metrics")[1], re.MULTILINE)
        return None if found is None else float(found[1])

    def _get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection(_HOST, self._port, timeout=_ANSWER_SECONDS)
        key = self._options.api_key
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
            response = connection.getresponse()
            return response.status, response.read().decode()
        except OSError:  # refused: the process has not come as far as to listen
            return 0, ""
        finally:
            connection.close()

    def _log_end(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-20:])
