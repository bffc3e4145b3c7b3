"""Run one check of a report again: the same target, seed, event loop and client."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final

from .._case import Case
from .._lanes import Backend, Means
from .._loopback_only import loopback_only
from .._reports import Report
from .._result import Result
from .._runner import Runner
from .._scenarios import SCENARIOS
from .._sweep import Extent
from .._target import Target, TargetError, load_target, try_factory

_BACKENDS: Final[dict[str, Backend]] = {"asyncio": "asyncio", "trio": "trio"}
# A report names a client in words; whatever else it names is not imported on its word.
_LIBRARIES: Final = {Means().client: None, "httpx2": "httpx2"}


class ReproError(Exception):
    """A check that cannot be run again; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """What is run again, and how.

    Attributes:
        target: As it was asked for.
        check: Its id.
        profile: The profile that was judged, or None.
        seed: Of the seeded splits.
        backend: The event loop.
        client: Which HTTP client the adapter used, in words.
        sweep: How much of a sweep was played.
        cases: The folder of more case files, as it was given, or None.
        known_failures: The file of known failures, as it was given, or None.
    """

    target: str
    check: str
    profile: str | None = None
    seed: int = 1
    backend: str = "asyncio"
    client: str = Means().client
    sweep: Extent = "smoke"
    cases: str | None = None
    known_failures: str | None = None


def again_of(report: Report, check_id: str) -> Again:
    """Return how ``report`` ran a check.

    Raises:
        ReproError: The check is not in the report.
    """
    for check in report.checks:
        if check.id == check_id:
            return Again(
                target=report.target,
                check=check_id,
                profile=report.profile,
                seed=report.seed,
                backend=report.backend,
                client=report.client,
                sweep="full" if "full sweep" in check.lane else "smoke",
                cases=report.cases,
                known_failures=report.known_failures,
            )
    near = [check.id for check in report.checks if check.id.startswith(check_id)]
    also = f"; it has {', '.join(near[:3])}" if near else ""
    raise ReproError(f"{check_id}: not among the {len(report.checks)} checks of the report{also}")


def judged_again(again: Again, cases: Sequence[Case]) -> Result:
    """Run the check again and return its verdict; known failures are not taken into account.

    Args:
        again: What, and how.
        cases: All that there are, whatever their dialect.

    Raises:
        ReproError: The target, the client or the event loop cannot be had, or no check has the id.
    """
    target = _target(again)
    means = Means(backend=_backend(again.backend), library=_library(again.client))
    runner = Runner(target, cases, SCENARIOS, means=means, seed=again.seed, sweep=again.sweep)
    for planned in runner.plan() + runner.plan_invariants():
        if planned.check.id == again.check:
            with loopback_only():
                return planned.run()
    raise ReproError(f"{again.check}: this kit has no such check; if it came with --cases, name it")


def _target(again: Again) -> Target:
    try:
        target = load_target(again.target, profile=again.profile)
        with loopback_only():
            try_factory(target)
    except TargetError as error:
        raise ReproError(str(error)) from error
    return target


def _backend(name: str) -> Backend:
    if name not in _BACKENDS:
        raise ReproError(f"there is no event loop {name!r}; there are: {', '.join(_BACKENDS)}")
    if find_spec(name) is None:
        raise ReproError(f"{name} is not installed; pip install {name}")
    return _BACKENDS[name]


def _library(client: str) -> Any:
    if client not in _LIBRARIES:
        raise ReproError(f"there is no HTTP client {client!r} that a run passes to an adapter")
    name = _LIBRARIES[client]
    try:
        return None if name is None else importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ReproError(f"{name} is not installed; pip install {name}") from error
