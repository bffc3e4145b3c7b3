"""Compare clients side by side: ``python -m tests.benchmarks``.

Every client runs in a process of its own; in each round each reads the same stream once, and
its cost is divided by that of raw httpx in the same round. Medians of ratios are reported: they
hold on another machine, times do not.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .clients import CLIENTS
from .measure import NotInstalled, Row, compare
from .report import against, as_json, as_svg, as_table

REFERENCE = "httpx"


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    names = ", ".join(CLIENTS)
    parser.add_argument(
        "--clients", default="", help=f"comma-separated, NAME or NAME@trio, of: {names}"
    )
    parser.add_argument("--modes", default="token,burst", help="token, burst or both")
    parser.add_argument("--events", type=int, default=10_000, help="events of a stream")
    parser.add_argument("--streams", type=int, default=1, help="streams side by side")
    parser.add_argument("--rounds", type=int, default=9, help="rounds that count; one more warms")
    parser.add_argument("--out", type=Path, help="folder for benchmarks.json, .md and .svg")
    parser.add_argument("--against", type=Path, help="an earlier benchmarks.json")
    asked = parser.parse_args()
    clients = asked.clients.split(",") if asked.clients else [REFERENCE, *_all()]
    if clients[0] != REFERENCE:
        clients.insert(0, REFERENCE)
    rows: list[Row] = []
    for mode in asked.modes.split(","):
        rows += compare(
            clients,
            mode=mode,
            events=asked.events,
            streams=asked.streams,
            rounds=asked.rounds,
            tell=lambda line: print(line, file=sys.stderr, flush=True),
        )
    table = as_table(rows)
    print(table)
    if asked.against is not None:
        print(against(rows, asked.against.read_text()))
    if asked.out is not None:
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / "benchmarks.md").write_text(table + "\n")
        (asked.out / "benchmarks.json").write_text(as_json(rows))
        (asked.out / "benchmarks.svg").write_text(as_svg(rows))
    return 0


def _all() -> list[str]:
    return [name for name in CLIENTS if name != REFERENCE] + ["sdk@trio"]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except NotInstalled as missing:
        sys.exit(str(missing))
