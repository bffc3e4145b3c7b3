"""The checks of one target as a suite of pytest, and each verdict in pytest's words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click
import pytest

from .._case_file import cases_in, merged, shipped_cases
from .._known_failures import KnownFailure, KnownFailures, read_known_failures
from .._lanes import Means
from .._loopback_only import loopback_only
from .._repeat import Repeat
from .._reports import clean_result
from .._result import BAD, Check, Result, Status
from .._runner import Planned, Runner
from .._scenarios import SCENARIOS
from .._selection import selected
from .._target import Target
from .._terminal import failure_report


@dataclass(frozen=True, slots=True)
class Suite:
    """The checks of one target.

    Attributes:
        target: What is judged.
        planned: Its checks, in the order of the catalogue.
        known: Failures that are known.
        repeat: How a run of the command asks for the same.
    """

    target: Target
    planned: tuple[Planned, ...]
    known: KnownFailures
    repeat: Repeat

    def judge(self, planned: Planned) -> None:
        """Run one check and tell pytest its verdict."""
        with loopback_only():
            result = planned.run()
        if result.status is not Status.STALE:  # which is a verdict on what is known
            result = self.known.judge(result)
        tell_pytest(result, self.repeat)


def tell_pytest(result: Result, repeat: Repeat | None) -> None:
    """Pass, skip with the reason, expect the failure, or fail with the command's report."""
    if result.status is Status.PASS:
        return
    if result.status is Status.NA:
        pytest.skip(result.note)
    if result.status is Status.XFAIL:
        pytest.xfail(result.note)
    if result.status in BAD or result.status is Status.HARNESS:
        report = failure_report(clean_result(result), repeat)
        pytest.fail(click.unstyle(report), pytrace=False)
    pytest.skip(f"{result.status}: {'; '.join(result.differences)}")


def suite_for(
    target: Target,
    config: pytest.Config,
    *,
    cases: Path | None = None,
    known_failures: Path | None = None,
    select: Sequence[str] = (),
) -> Suite:
    """Return the suite of ``target``, under the options of this run.

    Args:
        target: What is judged.
        config: Where the event loop, the seed and what is selected stand.
        cases: A folder of more case files.
        known_failures: A file of failures that are known.
        select: Ids and the like; what the options select is taken out of these.

    Raises:
        CaseError, KnownFailuresError, SelectionError: One of them cannot be used.
    """
    own = () if cases is None else cases_in(cases, target=target)
    all_cases = merged(shipped_cases(), own)
    backend = config.getoption("--dsh-backend", default="asyncio")
    seed = config.getoption("--dsh-seed", default=1)
    runner = Runner(target, all_cases, SCENARIOS, means=Means(backend=backend), seed=seed)
    plan = runner.plan() + runner.plan_invariants()
    known: tuple[KnownFailure, ...] = ()
    if known_failures is not None:
        ids = {item.check.id for item in plan}
        known = read_known_failures(known_failures, known_ids=ids)
    dialects = {case.id: case.dialect for case in all_cases}
    for selection in (select, config.getoption("--dsh-select", default=())):
        chosen = selected([item.check for item in plan], selection, dialect_of=dialects)
        ids = {check.id for check in chosen}
        plan = [item for item in plan if item.check.id in ids]
    plan += _left_over(known, plan)
    repeat = Repeat(
        target=target.name,
        profile=target.profile,
        backend=backend,
        seed=seed,
        cases=None if cases is None else str(cases),
        known_failures=None if known_failures is None else str(known_failures),
    )
    return Suite(target, tuple(plan), _judge_of(known), repeat)


def _judge_of(entries: Iterable[KnownFailure]) -> KnownFailures:
    return KnownFailures(tuple(entries), today=datetime.now(UTC).date())


def _left_over(known: Iterable[KnownFailure], plan: Sequence[Planned]) -> list[Planned]:
    """Return a check for each entry of a whole requirement: something under it still fails.

    It runs what the entry speaks of once more, so that any process can judge it alone.
    """
    checks = []
    for entry in known:
        covered = [item for item in plan if item.check.requirement.id == entry.requirement]
        if entry.requirement is not None and covered:
            requirement = covered[0].check.requirement
            title = "The known failure still fails"
            check = Check(f"{requirement.folder}/known_failure", requirement, title)
            checks.append(Planned(check, partial(_still_fails, check, entry, covered)))
    return checks


def _still_fails(check: Check, entry: KnownFailure, covered: list[Planned]) -> Result:
    judge = _judge_of([entry])
    for item in covered:
        judge.judge(item.run())
    return next(judge.left_over(), Result(check=check, status=Status.PASS))
