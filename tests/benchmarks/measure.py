"""Run clients in rounds, each in a process of its own, and keep what each round cost."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .clients import CLIENTS

_CHECKOUT: Final = Path(__file__).parents[2]

# The last thing that a process is asked; what does not end by then is ended.
_PATIENCE_S: Final = 10.0


class NotInstalled(Exception):
    """A client cannot be made here."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one client cost in one mode: medians over the rounds.

    Attributes:
        client: Its name, with ``@trio`` where it ran on trio.
        mode: ``token`` or ``burst``.
        events: Of one stream.
        streams: Side by side.
        rounds: That count.
        cpu_us: Processor time of its process for an event, microseconds.
        ratio: That, divided by the reference's in the same round.
        quartiles: The first and the third quartile of the ratio.
        first_ms: Time to the first event, milliseconds.
        wall_s: Of a round, seconds; the server can be what it waits for.
    """

    client: str
    mode: str
    events: int
    streams: int
    rounds: int
    cpu_us: float
    ratio: float
    quartiles: tuple[float, float]
    first_ms: float
    wall_s: float


def compare(
    clients: Sequence[str],
    *,
    mode: str,
    events: int,
    streams: int,
    rounds: int,
    tell: Callable[[str], None],
) -> list[Row]:
    """Return a row for each client; the first one is what the others are divided by.

    Clients that are not installed are told and left out.
    """
    with ExitStack() as running:
        port = running.enter_context(_server())
        workers: dict[str, _Worker] = {}
        for client in clients:
            try:
                workers[client] = running.enter_context(_worker(client))
            except NotInstalled as missing:
                if client == clients[0]:
                    raise
                tell(str(missing))
        found: dict[str, list[dict[str, float]]] = {client: [] for client in workers}
        for number in range(rounds + 1):
            for client, worker in workers.items():
                wire = CLIENTS[client.partition("@")[0]][0]
                url = f"http://127.0.0.1:{port}/{mode}/{wire}/{events}/v1"
                cost = worker.read(url, streams)
                if number:  # the first round warms
                    found[client].append(cost)
            tell(f"{mode}: round {number} of {rounds}")
    reference = found[clients[0]]
    return [
        _row(client, mode, events, streams, costs, reference) for client, costs in found.items()
    ]


def _row(
    client: str,
    mode: str,
    events: int,
    streams: int,
    costs: list[dict[str, float]],
    reference: list[dict[str, float]],
) -> Row:
    ratios = [own["cpu_us"] / raw["cpu_us"] for own, raw in zip(costs, reference, strict=True)]
    quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [ratios[0]] * 3
    return Row(
        client,
        mode,
        events,
        streams,
        len(costs),
        statistics.median(cost["cpu_us"] for cost in costs),
        statistics.median(ratios),
        (quartiles[0], quartiles[2]),
        statistics.median(cost["first_ms"] for cost in costs),
        statistics.median(cost["wall_s"] for cost in costs),
    )


class _Worker:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def read(self, base_url: str, streams: int) -> dict[str, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"base_url": base_url, "streams": streams}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a client broke; {self._process.args!r} says why")
        cost: dict[str, float] = json.loads(line)
        return cost


@contextmanager
def _worker(client: str) -> Iterator[_Worker]:
    name, _, backend = client.partition("@")
    if name not in CLIENTS:
        raise NotInstalled(f"{name}: no such client; there are {', '.join(CLIENTS)}")
    with _process("worker", name, backend or "asyncio") as process:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise NotInstalled(f"{client}: left out, its package is not installed")
        yield _Worker(process)


@contextmanager
def _server() -> Iterator[int]:
    with _process("server") as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())


@contextmanager
def _process(module: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command: list[Any] = [sys.executable, "-W", "ignore", "-m", f"tests.benchmarks.{module}"]
    process = subprocess.Popen(
        [*command, *arguments],
        cwd=_CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
