"""What the selftest runs, one adapter a unit, and what comes of each.

Units are named, so that another process can find them.
"""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, Final, Literal, TypeAlias

from .._lanes import IDLE_S
from .._result import Result, Status
from .._runner import SECOND_LOOK, Planned
from .._target import ENTRY_POINT_GROUP, load_target
from ._good import GoodByFinishReason, GoodMessages, GoodResponses
from ._judging import (
    TRIPPED,
    TWICE,
    Complaint,
    Setup,
    evidence,
    examine,
    glance,
    run_kit,
    target_of,
    told,
    uncaught,
    undeclared,
)
from ._mutant import Mutant
from ._mutants import MUTANTS
from ._null import LEAST_SHARE, NULLS, share_that_fails
from ._textbook import Textbook

Kind: TypeAlias = Literal["mutant", "good", "null"]

SEEDS: Final = (1, 2, 3)

# A good adapter is judged on a busy machine with room for its waits; the kit's own limit is
# for adapters that are alone on it.
_GOOD_IDLE_S: Final = 0.5
_GOOD_JOBS: Final = 2

_DISTRIBUTION: Final = "dsh-adapter-sdk"
_OWN_GOOD: Final[Mapping[str, Callable[..., Any]]] = {
    "good-by-finish-reason": GoodByFinishReason,
    "good-messages": GoodMessages,
    "good-responses": GoodResponses,
    "textbook": Textbook,
}


@dataclass(frozen=True, slots=True)
class Unit:
    """One adapter to be judged.

    Attributes:
        kind: A mutant, an adapter without fault, or one that does nothing.
        name: Its name.
        seed: Of a good adapter's run.
        brief: Leave out what the quick selftest has no time for.
    """

    kind: Kind
    name: str
    seed: int = 1
    brief: bool = False

    @property
    def title(self) -> str:
        """What a person calls it."""
        return self.name if self.kind != "good" else f"{self.name} at seed {self.seed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a unit.

    Attributes:
        unit: Which one.
        complaints: What is not as it must be.
        evidence: Of a mutant, for each key: the checks that tripped for its reason.
        note: More for the table.
        checks: Every check that gave a verdict, of the good adapter that promises exactly what
            the mutants promise.
        elapsed_s: How long it took.
    """

    unit: Unit
    complaints: tuple[Complaint, ...] = ()
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    note: str = ""
    checks: tuple[str, ...] = ()
    elapsed_s: float = 0.0


def reference_adapters() -> list[str]:
    """Return the installed adapters that ship with the kit: each must pass everything."""
    points = entry_points(group=ENTRY_POINT_GROUP)
    return sorted(p.name for p in points if p.dist is not None and p.dist.name == _DISTRIBUTION)


def good_names() -> list[str]:
    """Return the names of all adapters without fault."""
    return [*reference_adapters(), *_OWN_GOOD]


def mutants_by_name() -> dict[str, Mutant]:
    """Return every mutant under its name."""
    return {mutant.name: mutant for mutant in MUTANTS}


def judge(unit: Unit) -> Outcome:
    """Run the kit on one adapter; an error of the kit is an outcome too."""
    begun = time.monotonic()
    try:
        outcome = _JUDGES[unit.kind](unit)
    except Exception as error:  # noqa: BLE001 - why: the kit failed, and says so
        said = f"{type(error).__name__}: {error}"
        complaint = Complaint(unit.title, "the kit", said, breaks_kit=True)
        outcome = Outcome(unit=unit, complaints=(complaint,))
    return dataclasses.replace(outcome, elapsed_s=time.monotonic() - begun)


def _judge_mutant(unit: Unit) -> Outcome:
    outcome = _judged_mutant(unit, Setup())
    if not outcome.complaints:
        return outcome
    # A busy machine lets a limit pass where it must not; a wrong declaration is wrong again.
    again = _judged_mutant(unit, Setup(idle_s=SECOND_LOOK * IDLE_S))
    return dataclasses.replace(again, note="looked at twice")


def _judged_mutant(unit: Unit, setup: Setup) -> Outcome:
    mutant = mutants_by_name()[unit.name]
    target = target_of(mutant.name, mutant.factory)
    results = examine(target, mutant.requirements, setup, others=not unit.brief)
    return Outcome(
        unit=unit,
        complaints=(*uncaught(mutant, results), *undeclared(mutant, results)),
        evidence=evidence(mutant, results),
    )


def _judge_good(unit: Unit) -> Outcome:
    own = _OWN_GOOD.get(unit.name)
    target = load_target(unit.name) if own is None else target_of(unit.name, own)
    results = run_kit(target, _good_setup(unit.seed), brief=unit.brief)
    bad = [r for r in results if r.status in TRIPPED or r.status is Status.HARNESS]
    ran = tuple(r.check.id for r in results if r.status is not Status.NA)
    twice = sum(r.note == TWICE for r in results)
    return Outcome(
        unit=unit,
        complaints=tuple(told(unit.title, result) for result in bad),
        note=f"{len(ran)} checks" + (f", {twice} of them looked at twice" if twice else ""),
        checks=ran if own is Textbook else (),
    )


def _good_setup(seed: int) -> Setup:
    chance = random.Random(seed)  # noqa: S311 - why: repeatable, not secret

    def in_any_order(planned: list[Planned]) -> Sequence[Planned]:
        return chance.sample(planned, len(planned))

    return Setup(seed=seed, idle_s=_GOOD_IDLE_S, jobs=_GOOD_JOBS, order=in_any_order)


def _judge_null(unit: Unit) -> Outcome:
    target = target_of(unit.name, NULLS[unit.name])
    in_process = unit.name == "never-returns" or unit.brief
    results = glance(target) if in_process else run_kit(target, Setup(), brief=True)
    failing, musts = share_that_fails(results)
    note = f"{failing} of {musts} MUST checks fail ({100 * failing / musts:.0f} %)"
    complaints = [told(unit.title, r) for r in _broken_by(results)]
    if failing < LEAST_SHARE * musts:
        complaints.append(Complaint(unit.title, "MUST checks", f"only {note}"))
    return Outcome(unit=unit, complaints=tuple(complaints), note=note)


def _broken_by(results: Collection[Result]) -> list[Result]:
    return [result for result in results if result.status is Status.HARNESS]


_JUDGES: Final[Mapping[Kind, Callable[[Unit], Outcome]]] = {
    "mutant": _judge_mutant,
    "good": _judge_good,
    "null": _judge_null,
}
