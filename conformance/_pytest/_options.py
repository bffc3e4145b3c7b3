"""From the options of a pytest run to the suite that they ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from .._case_file import CaseError
from .._known_failures import KnownFailuresError
from .._selection import SelectionError
from .._target import TargetError, load_target
from ._suite import Suite, suite_for

_SUITE: pytest.StashKey[Suite] = pytest.StashKey()


def suite_asked_for(config: pytest.Config) -> Suite:
    """Return the suite of ``--dsh-adapter``, planned once a process.

    Raises:
        pytest.UsageError: No adapter named, or an option that cannot be used.
    """
    if _SUITE not in config.stash:
        target = config.getoption("--dsh-adapter")
        if not target:
            raise pytest.UsageError(
                "name the adapter to judge: --dsh-adapter package.module:factory"
            )
        cases = config.getoption("--dsh-cases")
        known = config.getoption("--dsh-known-failures")
        try:
            config.stash[_SUITE] = suite_for(
                load_target(target, profile=config.getoption("--dsh-profile")),
                config,
                cases=Path(cases) if cases else None,
                known_failures=Path(known) if known else None,
            )
        except (CaseError, KnownFailuresError, SelectionError, TargetError) as error:
            raise pytest.UsageError(str(error)) from error
    return config.stash[_SUITE]
