"""From a pytest configuration to the checks of one target; from a verdict to pytest's words."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from .._case_file import CaseError, cases_in, merged, shipped_cases
from .._known_failures import KnownFailures, KnownFailuresError, read_known_failures
from .._lanes import Means
from .._loopback_only import loopback_only
from .._result import BAD, Result, Status
from .._runner import Planned, Runner
from .._scenarios import SCENARIOS
from .._selection import SelectionError, selected
from .._target import TargetError, load_target
from .._terminal import failure_report

_KNOWN: pytest.StashKey[KnownFailures] = pytest.StashKey()
_PLANS: pytest.StashKey[list[Planned]] = pytest.StashKey()


def planned_checks(config: pytest.Config) -> list[Planned]:
    """Return the checks that the options of this run ask for, planned once a process.

    Raises:
        pytest.UsageError: No adapter named, or an option that cannot be used.
    """
    if _PLANS not in config.stash:
        target = config.getoption("--dsh-adapter")
        if not target:
            raise pytest.UsageError(
                "name the adapter to judge: --dsh-adapter package.module:factory"
            )
        folder = config.getoption("--dsh-cases")
        try:
            cases = merged(shipped_cases(), () if not folder else cases_in(Path(folder)))
            runner = Runner(
                load_target(target, profile=config.getoption("--dsh-profile")),
                cases,
                SCENARIOS,
                means=Means(backend=config.getoption("--dsh-backend")),
                seed=config.getoption("--dsh-seed"),
            )
            plan = runner.plan() + runner.plan_invariants()
            known = config.getoption("--dsh-known-failures")
            if known:
                entries = read_known_failures(Path(known), known_ids={p.check.id for p in plan})
                runner.known = KnownFailures(entries, today=datetime.now(UTC).date())
            checks = selected(
                [item.check for item in plan],
                config.getoption("--dsh-select"),
                dialect_of={case.id: case.dialect for case in cases},
            )
            config.stash[_KNOWN] = runner.known
        except (KnownFailuresError, TargetError, CaseError, SelectionError) as error:
            raise pytest.UsageError(str(error)) from error
        chosen = {check.id for check in checks}
        config.stash[_PLANS] = [item for item in plan if item.check.id in chosen]
    return config.stash[_PLANS]


def judge_item(planned: Planned, config: pytest.Config) -> None:
    """Run one check and tell pytest: pass, skip with its reason, warn, or fail with the report."""
    with loopback_only():
        result = config.stash[_KNOWN].judge(planned.run())
    if result.status is Status.NA:
        pytest.skip(result.note)
    if result.status is Status.PASS:
        return
    if result.status is Status.XFAIL:
        pytest.xfail(result.note)
    report = report_of(result, config)
    if result.status in BAD or result.status is Status.HARNESS:
        pytest.fail(report, pytrace=False)
    pytest.skip(f"{result.status}: {'; '.join(result.differences)}")


def report_of(result: Result, config: pytest.Config) -> str:
    """Return the report that the command prints for the same verdict."""
    return failure_report(
        result,
        target=config.getoption("--dsh-adapter"),
        profile=config.getoption("--dsh-profile"),
    )
