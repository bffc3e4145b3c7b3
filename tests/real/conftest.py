"""Models are built once a run; servers are shared where a test leaves them as they were."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from .bigram_model import Mode, build
from .llama_server import LlamaServer, ServerOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    StartServer = Callable[[Mode, ServerOptions], LlamaServer]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mode], Path]:
    """Return the file of a mode's model."""
    folder = tmp_path_factory.mktemp("models")
    built: dict[Mode, Path] = {}

    def build_once(mode: Mode) -> Path:
        if mode not in built:
            path = folder / f"{mode}.gguf"
            build(mode, path)
            built[mode] = path
        return built[mode]

    return build_once


@pytest.fixture(scope="session")
def shared_server(
    model: Callable[[Mode], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StartServer]:
    """Return the run's one server of a mode and options, started at its first use."""
    folder = tmp_path_factory.mktemp("shared")
    running: dict[tuple[Mode, ServerOptions], LlamaServer] = {}
    with ExitStack() as stack:

        def start_once(mode: Mode, options: ServerOptions) -> LlamaServer:
            if (mode, options) not in running:
                server = LlamaServer(model(mode), options, folder=folder)
                running[mode, options] = stack.enter_context(server)
            return running[mode, options]

        yield start_once


@pytest.fixture
def own_server(model: Callable[[Mode], Path], tmp_path: Path) -> Iterator[StartServer]:
    """Return a server of this test alone, which may be frozen or killed."""
    with ExitStack() as stack:

        def start(mode: Mode, options: ServerOptions) -> LlamaServer:
            return stack.enter_context(LlamaServer(model(mode), options, folder=tmp_path))

        yield start
