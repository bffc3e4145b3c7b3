"""Run the checks of one target. Knows neither pytest nor click."""

from __future__ import annotations

import dataclasses
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from adapter_sdk.testing import Split, byte_by_byte, seeded, whole

from ._bounded import StuckError, bounded
from ._busy_machine import may_be_spoilt, was_late
from ._case import Case
from ._catalogue import load_catalogue
from ._checks import check_of, missing_capability, not_applicable
from ._good_streams import good_stream
from ._invariants import INVARIANTS, Invariant
from ._judge import Difference
from ._known_failures import KnownFailures
from ._lanes import Means, Played, fits_in_process, play_at_splits, play_on_socket
from ._lateness import ThreadWitness
from ._result import BAD, Check, Result, Run, Status
from ._scenario import Bench, Scenario
from ._sweep import Extent, Sweep, sweeps
from ._target import Target
from ._verdict import verdict

# A wait that a busy machine cuts short is measured again with more room; a wrong adapter is
# wrong again.
SECOND_LOOK: Final = 4.0

# A check is looked at again with so much more room: once where it missed a limit, the last times
# where the kit itself was the one that came late, or a connection was still in use.
MORE_ROOM: Final = (SECOND_LOOK, 12.0, 12.0)

# What took so long was not late, it hangs; and all looks together end before a check is stuck.
NO_MORE_LOOKS_S: Final = 12.0

SEEDED_SPLITS: Final = 2

# What ``stop_at_first`` waits for: a verdict that makes the run end other than with 0.
STOPPING: Final = BAD | {Status.HARNESS}

_RULES: Final = frozenset(invariant.id for invariant in INVARIANTS)

# The longest check takes some seconds on a busy machine.
STUCK_S: Final = 60.0
SWEEP_STUCK_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class Planned:
    """A check and how it is run; a check that does not apply has a reason in place of a run."""

    check: Check
    run: Callable[[], Result]
    timed: bool = False


@dataclass(slots=True)
class Runner:
    """Plans and runs checks.

    Args:
        target: What is judged.
        cases: All cases of the run, whatever their dialect.
        scenarios: All checks written as code.
        means: Backend, client and limits.
        seed: Of the seeded splits.
        jobs: Timed checks that run side by side.
        in_process: Whether byte-exact cases are also played in process.
        known: Failures that are known.
        sweep: How much of each sweep is played.
        stop_at_first: Whether the first bad verdict ends the run.
    """

    target: Target
    cases: Sequence[Case]
    scenarios: Sequence[Scenario]
    means: Means = field(default_factory=Means)
    seed: int = 1
    jobs: int = 8
    in_process: bool = True
    sweep: Extent = "smoke"
    stop_at_first: bool = False
    known: KnownFailures = field(default_factory=lambda: KnownFailures((), today=date.max))
    _violations: dict[str, tuple[str, Difference]] = field(default_factory=dict, init=False)
    _plays: int = field(default=0, init=False)
    _played: set[str] = field(default_factory=set, init=False)

    def plan(self) -> list[Planned]:
        """Return all cases and scenarios in the order of the catalogue."""
        planned = [self._plan_case(case) for case in self.cases]
        planned += [self._plan_scenario(scenario) for scenario in self.scenarios]
        planned += self._plan_sweeps()
        order = {r.id: number for number, r in enumerate(load_catalogue().requirements)}
        return sorted(planned, key=lambda p: (order[p.check.requirement.id], p.check.id))

    def plan_invariants(self) -> list[Planned]:
        """Return what holds for every call, for callers that run check by check, in any process.

        Each plays the cases that this process has not played, so that its verdict is the one
        that ``run`` gives.
        """
        return [
            Planned(
                Check(i.id, load_catalogue()[i.requirement], i.title),
                lambda invariant=i: self._invariant_over_all(invariant),  # type: ignore[misc]
            )
            for i in INVARIANTS
        ]

    def _invariant_over_all(self, invariant: Invariant) -> Result:
        missing = [p for p in map(self._plan_case, self.cases) if p.check.id not in self._played]
        with ThreadPoolExecutor(max_workers=max(1, self.jobs)) as pool:
            for future in [pool.submit(p.run) for p in missing]:
                future.result()
        self._played.update(p.check.id for p in missing)
        return self._invariant_result(invariant)

    def run(
        self, planned: Iterable[Planned], on_result: Callable[[Result], None] = lambda _: None
    ) -> Run:
        """Run ``planned`` and return every verdict; ``on_result`` hears of each as it falls.

        A rule for every call is judged over these calls; one that is alone, over every case.
        """
        begun = time.monotonic()
        planned = list(planned)
        run = Run(
            self.target.name,
            load_catalogue().edition,
            self.seed,
            profile=self.target.profile,
            backend=self.means.backend,
            client=self.means.client,
            dialects=self.target.declaration.dialects,
            capabilities=tuple(sorted(self.target.capabilities)),
        )

        def take(result: Result) -> bool:
            """Keep the verdict of a check; return whether the run goes on."""
            result = self.known.judge(result)
            run.results.append(result)
            on_result(result)
            return not (self.stop_at_first and result.status in STOPPING)

        rules = [p for p in planned if p.check.id in _RULES]
        planned = [p for p in planned if p.check.id not in _RULES]
        if self._run_each(planned, take):
            named = {p.check.requirement.id for p in planned}
            for result in self._invariant_results(rules, named):
                take(result)
            for result in self.known.left_over():
                run.results.append(result)
                on_result(result)
        else:
            run.not_run = len(planned) + len(rules) - len(run.results)
        order = {r.id: number for number, r in enumerate(load_catalogue().requirements)}
        run.results.sort(key=lambda r: (order[r.check.requirement.id], r.check.id))
        run.elapsed_s = time.monotonic() - begun
        return run

    def _run_each(self, planned: Sequence[Planned], take: Callable[[Result], bool]) -> bool:
        """Run ``planned``, the timed ones side by side; return False where ``take`` said stop."""
        with ThreadPoolExecutor(max_workers=max(1, self.jobs)) as pool:
            waiting: list[Future[Result]] = [pool.submit(p.run) for p in planned if p.timed]
            try:
                return all(take(item.run()) for item in planned if not item.timed) and all(
                    take(future.result()) for future in as_completed(waiting)
                )
            finally:
                for future in waiting:  # what has begun ends; nothing where all have ended
                    future.cancel()

    # ---- cases ---------------------------------------------------------------------------

    def _plan_case(self, case: Case) -> Planned:
        check = check_of(case)
        reason = not_applicable(case, self.target)
        if not reason and case.is_tie and not self.target.takes_client:
            reason = "a tie is exact on a virtual clock only, which needs http_client"
        if reason:
            return Planned(check, lambda: Result(check=check, status=Status.NA, note=reason))
        return Planned(check, lambda: self._guarded(check, lambda: self._play(case)), case.is_timed)

    def _play(self, case: Case) -> Result:
        check = check_of(case)
        if case.is_tie:
            return self._play_in_process(case, Result(check=check, status=Status.PASS))
        played = self._played_on_socket(case)
        self._keep_invariants(check.id, played)
        result = verdict(check, played, "socket")
        if result.status is not Status.PASS or not self._plays_in_process(case):
            return result
        return self._play_in_process(case, result)

    def _played_on_socket(self, case: Case) -> Played:
        """Return the first play that a busy machine cannot have spoilt, or the last of them."""
        # Where no limit is near, only a limit that ran out all the same shows a late machine.
        played = play_on_socket(case, self.target, self.means, watched=case.is_timed)
        for look, factor in enumerate(MORE_ROOM):
            spoilt = may_be_spoilt(case, played) and (look == 0 or was_late(played))
            if not played.unreleased and not spoilt:
                break
            slower = dataclasses.replace(self.means, idle_s=self.means.idle_s * factor)
            played = play_on_socket(case, self.target, slower)
        return played

    def _play_in_process(self, case: Case, result: Result) -> Result:
        """Return ``result``, or the first verdict of another split that differs from it."""
        check = result.check
        names, splits = zip(*self._splits(), strict=True)
        for name, inner in zip(
            names, play_at_splits(case, self.target, self.means, splits=splits), strict=False
        ):
            self._keep_invariants(check.id, inner)
            if inner.differences:
                return verdict(check, inner, f"in-process, {name}")
        return result

    def _plays_in_process(self, case: Case) -> bool:
        # A flood is megabytes, which the socket has shown already, and no split shows more.
        fits = fits_in_process(case) and not case.is_flood
        return self.in_process and self.target.takes_client and fits

    def _splits(self) -> list[tuple[str, Split]]:
        splits: list[tuple[str, Split]] = [("whole", whole), ("byte by byte", byte_by_byte)]
        for number in range(SEEDED_SPLITS):
            seed = self.seed * 1000 + number
            splits.append((f"split with seed {seed}", seeded(seed)))
        return splits

    # ---- scenarios -----------------------------------------------------------------------

    def _plan_scenario(self, scenario: Scenario) -> Planned:
        requirement = load_catalogue()[scenario.requirement]
        check = Check(scenario.id, requirement, scenario.title)
        reason = missing_capability(requirement, scenario.needs, self.target)
        if not reason and scenario.needs_client and not self.target.takes_client:
            reason = "needs a factory that takes http_client"
        if (
            not reason
            and scenario.needs_good_stream
            and good_stream(self.target.declaration.dialects) is None
        ):
            reason = (
                f"dialect {', '.join(self.target.declaration.dialects)} has no reference answer"
            )
        if reason:
            return Planned(check, lambda: Result(check=check, status=Status.NA, note=reason))
        return Planned(
            check,
            lambda: self._guarded(check, lambda: self._perform(check, scenario)),
            scenario.timed,
        )

    def _perform(self, check: Check, scenario: Scenario) -> Result:
        begun = time.monotonic()
        differences = tuple(scenario.run(Bench(self.target, self.means, self.seed, self.sweep)))
        late = True  # a busy machine lets a limit pass in any of them: that needs no witness
        for factor in MORE_ROOM:
            if not (differences and late) or time.monotonic() - begun > NO_MORE_LOOKS_S:
                break
            slower = dataclasses.replace(self.means, idle_s=self.means.idle_s * factor)
            with ThreadWitness(slower.idle_s) as witness:
                differences = tuple(scenario.run(Bench(self.target, slower, self.seed, self.sweep)))
            late = witness.is_late
        status = Status.PASS
        if differences:
            status = Status.FAIL if check.requirement.level == "must" else Status.WARN
        return Result(
            check=check,
            status=status,
            differences=tuple(str(difference) for difference in differences),
            lane="code",
            elapsed_s=time.monotonic() - begun,
        )

    # ---- sweeps --------------------------------------------------------------------------

    def _plan_sweeps(self) -> list[Planned]:
        applicable = [case for case in self.cases if not not_applicable(case, self.target)]
        planned = sweeps(applicable, self.target, self.means, extent=self.sweep, seed=self.seed)
        return [self._plan_sweep(sweep) for sweep in planned]

    def _plan_sweep(self, sweep: Sweep) -> Planned:
        check = sweep.check
        reason = missing_capability(check.requirement, (), self.target)
        if not self.target.takes_client or not self.in_process:
            reason = "sweeps are played in process, which needs a factory that takes http_client"
        if reason:
            return Planned(check, lambda: Result(check=check, status=Status.NA, note=reason))
        return Planned(
            check, lambda: self._guarded(check, lambda: self._swept(sweep), SWEEP_STUCK_S)
        )

    def _swept(self, sweep: Sweep) -> Result:
        begun = time.monotonic()
        differences = tuple(str(difference) for difference in sweep.run())
        bad = Status.FAIL if sweep.check.requirement.level == "must" else Status.WARN
        return Result(
            check=sweep.check,
            status=bad if differences else Status.PASS,
            differences=differences,
            lane=f"in-process, {self.sweep} sweep",
            elapsed_s=time.monotonic() - begun,
        )

    # ---- what holds for every call -------------------------------------------------------

    def _keep_invariants(self, check_id: str, played: Played) -> None:
        self._plays += 1
        self._played.add(check_id)
        for invariant in INVARIANTS:
            if invariant.id not in self._violations:
                for difference in invariant.differences(played):
                    self._violations[invariant.id] = (check_id, difference)
                    break

    def _invariant_results(self, asked: Sequence[Planned], named: set[str]) -> list[Result]:
        if not self._plays:
            return [rule.run() for rule in asked]
        named |= {rule.check.requirement.id for rule in asked}
        chosen = (i for i in INVARIANTS if i.requirement in named or i.id in self._violations)
        return [self._invariant_result(invariant) for invariant in chosen]

    def _invariant_result(self, invariant: Invariant) -> Result:
        requirement = load_catalogue()[invariant.requirement]
        check = Check(invariant.id, requirement, invariant.title)
        violation = self._violations.get(invariant.id)
        if violation is None:
            return Result(check=check, status=Status.PASS, lane=f"{self._plays} plays")
        where, difference = violation
        return Result(
            check=check,
            status=Status.FAIL if requirement.level == "must" else Status.WARN,
            differences=(f"{difference} (in {where})",),
            lane=where,
        )

    def _guarded(self, check: Check, run: Callable[[], Result], limit_s: float = STUCK_S) -> Result:
        """A kit that fails says so and blames nobody."""
        try:
            return bounded(run, limit_s=limit_s)
        except StuckError as error:
            status = Status.FAIL if check.requirement.level == "must" else Status.WARN
            said = f"the call: expected an end, got {error}: it blocks its thread"
            return Result(check=check, status=status, differences=(said,), elapsed_s=limit_s)
        except Exception as error:  # noqa: BLE001 - why: the verdict HARNESS is for all of them
            last = traceback.extract_tb(error.__traceback__)[-1]
            note = f"{type(error).__name__}: {error} ({last.name}, line {last.lineno})"
            return Result(check=check, status=Status.HARNESS, note=note)
