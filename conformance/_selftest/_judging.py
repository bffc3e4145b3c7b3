"""Run the kit against one adapter, and hold what came of it against what must come.

Checks of the requirements that a mutant declares run as in any run. The cases of all others
are played in process under virtual time, where they take milliseconds and no machine is too
busy for their limits; scenarios of all others run as they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from adapter_sdk.testing import run_virtual, whole

from .._case import Case
from .._case_file import shipped_cases
from .._catalogue import load_catalogue
from .._checks import check_of, not_applicable
from .._invariants import INVARIANTS, Invariant
from .._lanes import IDLE_S, Means, Played, fits_in_process, in_process
from .._result import Check, Result, Status
from .._runner import Planned, Runner
from .._scenarios import SCENARIOS
from .._target import Target
from ._mutant import Mutant, in_every_call

# Waits side by side; they cost no processor.
JOBS: Final = 12

# What is not as it should be. NA and PASS are fine; STALE and XFAIL need a known failure.
TRIPPED: Final = frozenset({Status.FAIL, Status.WRONG_REASON, Status.WARN})

# Hundreds of calls each; left to the requirements that are run in full, like floods.
_LONG: Final = frozenset(
    {
        "error_body_robust/plain_bodies_that_claim_gzip",
        "error_body_robust/every_envelope_cut_anywhere",
    }
)

# The note of a check that failed once and passed at a second look.
TWICE: Final = "passes at the second look"

# What a play in process says of a response that was not closed.
_LEFT_OPEN: Final = "responses after the call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How the kit is run.

    Attributes:
        seed: Of the seeded splits.
        idle_s: The adapter's idle limit over a socket, in seconds.
        jobs: Timed checks that run side by side.
        order: Rearranges the planned checks.
    """

    seed: int = 1
    idle_s: float = IDLE_S
    jobs: int = JOBS
    order: Callable[[list[Planned]], Sequence[Planned]] = list


def target_of(name: str, factory: Callable[..., Any]) -> Target:
    """Return the target that ``factory`` is."""
    declared: Any = factory
    return Target(name, factory, declared.declaration(), None, takes_client=True)


def run_kit(target: Target, setup: Setup, *, brief: bool = False) -> list[Result]:
    """Return the verdict of every check, as a run of the command gives it.

    Args:
        target: What is judged.
        setup: How.
        brief: Leave out floods and what takes hundreds of calls.
    """
    runner = _runner(target, setup)
    floods = {check_of(case).id for case in shipped_cases() if case.is_flood}
    left_out = floods | _LONG if brief else frozenset()
    planned = [item for item in runner.plan() if item.check.id not in left_out]
    results = runner.run(setup.order(planned)).results
    return _without_timelines(looked_at_again(planned, results))


def examine(
    target: Target, requirements: Collection[str], setup: Setup, *, others: bool = True
) -> list[Result]:
    """Return the verdicts of ``requirements`` in full, and of all others as the module says.

    Args:
        target: What is judged.
        requirements: Ids of those that are run in full.
        setup: How.
        others: Whether the scenarios of the other requirements are run too.
    """
    runner = _runner(target, setup)
    written = {scenario.id for scenario in SCENARIOS} - _LONG
    planned = [
        item
        for item in runner.plan()
        if item.check.requirement.id in requirements or (others and item.check.id in written)
    ]
    results = runner.run(planned).results
    cases = [case for case in shipped_cases() if case.requirement not in requirements]
    return _without_timelines(_joined([*results, *_glance(cases, target)]))


def _runner(target: Target, setup: Setup) -> Runner:
    return Runner(
        target,
        shipped_cases(),
        SCENARIOS,
        means=Means(idle_s=setup.idle_s),
        seed=setup.seed,
        jobs=setup.jobs,
    )


def looked_at_again(planned: Iterable[Planned], results: Iterable[Result]) -> list[Result]:
    """Return the results, the bad ones after a second look.

    A busy machine lets a limit pass where it must not; a fault is there again.
    """
    by_id = {item.check.id: item for item in planned}
    again = []
    for result in results:
        item = by_id.get(result.check.id)
        if result.status in TRIPPED and item is not None:
            second = item.run()
            passes = second.status is Status.PASS
            again.append(dataclasses.replace(second, note=TWICE) if passes else second)
        else:
            again.append(result)
    return again


def _without_timelines(results: Iterable[Result]) -> list[Result]:
    return [dataclasses.replace(result, timeline=()) for result in results]


# ---- in process --------------------------------------------------------------------------


def glance(target: Target) -> list[Result]:
    """Return one verdict for each case that bytes alone can show, and for rules of every call.

    In process, under virtual time: a call that never ends costs nothing.
    """
    return _without_timelines(_joined(_glance(shipped_cases(), target)))


def _glance(cases: Iterable[Case], target: Target) -> Iterator[Result]:
    """Yield a verdict for each case that bytes alone can show, and for each rule of every call.

    Floods are left to the requirements that are run in full: they move gigabytes.
    """
    fitting = [
        case
        for case in cases
        if not case.is_flood and fits_in_process(case) and not not_applicable(case, target)
    ]

    async def play_all() -> list[Played]:
        # One loop for all of them: making one takes longer than a play.
        return [await in_process(case, target, Means(), split=whole) for case in fitting]

    for case, played in zip(fitting, run_virtual("asyncio", play_all), strict=True):
        own = tuple(str(d) for d in played.differences if d.field != _LEFT_OPEN)
        yield _result(check_of(case), own)
        for invariant in INVARIANTS:
            broken = tuple(f"{d} (in {case.id})" for d in _breaches(invariant, played))
            if broken:
                requirement = load_catalogue()[invariant.requirement]
                yield _result(Check(invariant.id, requirement, invariant.title), broken[:1])


def _breaches(invariant: Invariant, played: Played) -> Iterator[object]:
    yield from invariant.differences(played)
    if invariant.id == in_every_call("connection-released"):
        yield from (d for d in played.differences if d.field == _LEFT_OPEN)


def _result(check: Check, differences: tuple[str, ...]) -> Result:
    bad = Status.FAIL if check.requirement.level == "must" else Status.WARN
    return Result(
        check=check,
        status=bad if differences else Status.PASS,
        differences=differences,
        lane="in-process, whole",
    )


def _joined(results: Iterable[Result]) -> list[Result]:
    """Return one result a check: a bad one where there are several."""
    by_id: dict[str, Result] = {}
    for result in results:
        kept = by_id.get(result.check.id)
        if kept is None or (kept.status not in TRIPPED and kept.status is not Status.HARNESS):
            by_id[result.check.id] = result
    return list(by_id.values())


# ---- one mutant --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something that is not as it must be.

    Attributes:
        subject: The adapter that was judged, or the law.
        about: A requirement or a check.
        reason: What is wrong, in plain words.
        breaks_kit: Whether the kit itself failed.
    """

    subject: str
    about: str
    reason: str
    breaks_kit: bool = False

    @override
    def __str__(self) -> str:
        return f"{self.subject}: {self.about}: {self.reason}"


def holds_key(result: Result, key: str) -> bool:
    """Whether ``key``, a requirement or a check, is about this result."""
    return key in (result.check.id, result.check.requirement.id)


def evidence(mutant: Mutant, results: Iterable[Result]) -> dict[str, tuple[str, ...]]:
    """Return for each key of the mutant the checks that tripped over it for its reason."""
    results = list(results)
    return {
        key: tuple(
            result.check.id
            for result in results
            if holds_key(result, key)
            and result.status in TRIPPED
            and any(words in difference for difference in result.differences)
        )
        for key, words in mutant.trips.items()
    }


def uncaught(mutant: Mutant, results: Iterable[Result]) -> list[Complaint]:
    """Return what the mutant declares and does not trip, or not for its reason (law 2)."""
    results = list(results)
    found = []
    for key, checks in evidence(mutant, results).items():
        if checks:
            continue
        tripped = [r for r in results if holds_key(r, key) and r.status in TRIPPED]
        said = [difference for result in tripped for difference in result.differences]
        reason = (
            f"not for its reason, {mutant.trips[key]!r}, but with: {said[0]}"
            if said
            else "it passes, and must not"
        )
        found.append(Complaint(mutant.name, key, reason))
    return found


def undeclared(mutant: Mutant, results: Iterable[Result]) -> list[Complaint]:
    """Return what the mutant trips and does not declare, and what broke the kit (law 3)."""
    return [
        told(mutant.name, result, "not declared: ")
        for result in results
        if result.status is Status.HARNESS
        or (result.status in TRIPPED and result.check.requirement.id not in mutant.requirements)
    ]


def told(subject: str, result: Result, how: str = "") -> Complaint:
    """Return a bad result as a complaint."""
    said = result.note or "; ".join(result.differences[:2])
    return Complaint(
        subject, result.check.id, f"{how}{result.status}: {said}", result.status is Status.HARNESS
    )
