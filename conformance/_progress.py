"""A progress bar for the person who waits; nothing where the output goes elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final

from ._result import BAD, Result, Status

# A run that is over by then needs no bar, and a bar that flashes only disturbs.
SHOWN_AFTER_S: Final = 0.7


@contextlib.contextmanager
def progress_bar(total: int) -> Iterator[Callable[[Result], None]]:
    """Yield what to call with each result; it draws only where both streams are a terminal.

    Args:
        total: How many results are awaited.
    """
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield lambda _: None
        return
    # Only here: nobody pays for this import where nobody sees the bar.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if console.is_dumb_terminal:
        yield lambda _: None
        return
    bar = Progress(
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task("checks", total=total)
    begun = time.monotonic()
    bad = 0

    def advance(result: Result) -> None:
        nonlocal bad
        bad += result.status in BAD or result.status is Status.HARNESS
        words = f"checks, {bad} bad" if bad else "checks"
        bar.update(task, advance=1, description=words)
        if not bar.live.is_started and time.monotonic() - begun >= SHOWN_AFTER_S:
            bar.start()

    try:
        yield advance
    finally:
        bar.stop()
