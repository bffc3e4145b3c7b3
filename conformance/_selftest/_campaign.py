"""Run the units of a selftest, here or in processes of their own; every wait has an end."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Collection, Iterator, Sequence
from threading import Thread
from typing import Final

from .._invariants import INVARIANTS
from .._scenarios import SCENARIOS
from ._judging import Complaint
from ._laws import Proof, broken_laws, proof_of, smallest_cover, unnoticed
from ._mutants import MUTANTS
from ._null import NULLS
from ._units import SEEDS, Outcome, Unit, good_names, judge, mutants_by_name

# The slowest unit takes half a minute on two busy cores.
UNIT_LIMIT_S: Final = 180.0

# Half of a unit is waits, in which another one can use the processor.
PROCESSES_PER_CORE: Final = 2
MOST_PROCESSES: Final = 8

# What mutants leave behind in a process (tasks, sockets, threads that are stuck) ends with it.
TASKS_PER_PROCESS: Final = 24


def default_jobs() -> int:
    """Return how many processes this machine has room for."""
    return min(MOST_PROCESSES, PROCESSES_PER_CORE * (os.cpu_count() or 1))


def all_names() -> list[str]:
    """Return the name of everything that can be judged."""
    return [*mutants_by_name(), *good_names(), *NULLS]


def plan(only: Collection[str], *, quick: bool) -> list[Unit]:
    """Return what is to be judged: first what takes longest.

    Args:
        only: Names; empty: everything.
        quick: The good adapters at one seed, few mutants, and each run cut to the essential.
    """
    seeds = SEEDS[:1] if quick else SEEDS
    mutants = smallest_cover(MUTANTS) if quick and not only else MUTANTS
    # Floods and hundreds of equal calls know no seed: once is enough.
    units = [
        Unit("good", name, seed, brief=quick or seed != SEEDS[0])
        for name in good_names()
        for seed in seeds
    ]
    units += [Unit("null", name, brief=quick) for name in NULLS]
    units += [Unit("mutant", mutant.name, brief=quick) for mutant in mutants]
    return [unit for unit in units if not only or unit.name in only]


def outcomes_of(units: Sequence[Unit], jobs: int) -> Iterator[Outcome]:
    """Yield the outcome of each unit as it comes.

    Args:
        units: What is judged.
        jobs: Processes; 1: none beside this one.
    """
    if jobs <= 1:
        yield from map(judge, units)
        return
    # A fresh interpreter each: no unit finds what another one left behind in this process.
    with multiprocessing.get_context("spawn").Pool(
        min(jobs, len(units) or 1),
        initializer=_end_with_parent,
        maxtasksperchild=TASKS_PER_PROCESS,
    ) as pool:
        left = {unit.title for unit in units}
        results = pool.imap_unordered(judge, units)
        for _ in units:
            try:
                outcome = results.next(UNIT_LIMIT_S)
            except multiprocessing.TimeoutError:  # a process that hangs or was killed
                yield _lost(units, left)
                return  # leaving the pool ends its processes
            left.discard(outcome.unit.title)
            yield outcome


def _end_with_parent() -> None:
    """Leave Ctrl-C to the parent process, and end when it has gone, however it went."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101 - why: a process of the pool has one

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, name="dsh-parent", daemon=True).start()


def _lost(units: Sequence[Unit], left: Collection[str]) -> Outcome:
    said = f"no verdict for {UNIT_LIMIT_S:g} s; still to come: {', '.join(sorted(left))}"
    broken = Complaint("the selftest", "its processes", said, breaks_kit=True)
    return Outcome(unit=units[0], complaints=(broken,))


def selftest(
    only: Collection[str], *, quick: bool, jobs: int, on_outcome: Callable[[Outcome], None]
) -> tuple[list[Complaint], Proof | None]:
    """Judge everything, and return what is wrong and what a whole run proves of the kit.

    Args:
        only: Names; empty: everything.
        quick: See ``plan``.
        jobs: Processes.
        on_outcome: Hears of each outcome as it comes.
    """
    complaints = broken_laws(MUTANTS)
    outcomes: list[Outcome] = []
    for outcome in outcomes_of(plan(only, quick=quick), jobs):
        on_outcome(outcome)
        outcomes.append(outcome)
        complaints += outcome.complaints
    if only or quick:
        return complaints, None
    proof = proof_of(outcomes)
    essential = {scenario.id for scenario in SCENARIOS} | {rule.id for rule in INVARIANTS}
    return [*complaints, *unnoticed(proof, essential)], proof
