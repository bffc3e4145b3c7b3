"""From a subclass of ``AdapterConformance`` to its suite."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from .._case_file import CaseError
from .._known_failures import KnownFailuresError
from .._selection import SelectionError
from .._target import Target, TargetError, load_target
from ._adapter_conformance import AdapterConformance
from ._suite import Suite, suite_for

_SUITES: pytest.StashKey[dict[type, Suite]] = pytest.StashKey()


def suite_of(cls: type[AdapterConformance], config: pytest.Config) -> Suite:
    """Return the suite of ``cls``, planned once a process.

    Raises:
        pytest.UsageError: An attribute of the class, or an option, that cannot be used.
    """
    suites = config.stash.setdefault(_SUITES, {})
    if cls not in suites:
        here = Path(inspect.getfile(cls)).parent
        try:
            suites[cls] = suite_for(
                _target(cls),
                config,
                cases=None if cls.cases is None else here / cls.cases,
                known_failures=None if cls.known_failures is None else here / cls.known_failures,
                select=cls.select,
            )
        except (CaseError, KnownFailuresError, SelectionError, TargetError) as error:
            raise pytest.UsageError(f"{cls.__name__}: {error}") from error
    return suites[cls]


def _target(cls: type[AdapterConformance]) -> Target:
    adapter: Any = cls.adapter
    if adapter is None:
        raise TargetError("name what is judged: adapter = MyAdapter")
    if isinstance(adapter, str):
        return load_target(adapter, profile=cls.profile)
    place = getattr(adapter, "__qualname__", None)
    if place is None or "<" in place:  # a lambda, a partial, or something inside a function
        raise TargetError(f"adapter: a class or function at the top of a module, not {adapter!r}")
    return load_target(f"{adapter.__module__}:{place}", profile=cls.profile)
