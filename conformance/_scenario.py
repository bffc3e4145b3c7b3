"""Checks written as code: behaviours that one exchange cannot show."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from adapter_sdk.testing import run_virtual

from ._bench import UNHURRIED_S, AdapterRaisedError, Bench
from ._judge import Difference

__all__ = ["Bench", "RunScenario", "Scenario", "scenario"]

RunScenario: TypeAlias = Callable[[Bench], Iterable[Difference]]
AsyncScenario: TypeAlias = Callable[[Bench], Coroutine[Any, Any, list[Difference]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One check written as code.

    Attributes:
        name: The last part of its id.
        requirement: Id of what it shows.
        title: The right behaviour, in the present tense.
        run: Returns every difference from it; empty where there is none.
        needs: Capabilities beyond those of the requirement.
        needs_good_stream: Whether it needs a good answer in the target's dialect.
        needs_client: Whether it passes an ``http_client`` of its own.
        timed: Whether it waits for limits, and runs beside others.
    """

    name: str
    requirement: str
    title: str
    run: RunScenario
    needs: tuple[str, ...] = ()
    needs_good_stream: bool = False
    needs_client: bool = False
    timed: bool = False

    @property
    def id(self) -> str:
        """The check's id."""
        return f"{self.requirement.replace('-', '_')}/{self.name}"


def scenario(
    requirement: str,
    title: str,
    *,
    needs: tuple[str, ...] = (),
    needs_good_stream: bool = False,
    needs_client: bool = False,
    timed: bool = False,
    virtual: bool = False,
) -> Callable[[AsyncScenario], Scenario]:
    """Make a ``Scenario`` of an async function, which gives it its name.

    Args:
        requirement: See ``Scenario``, like the rest.
        title: See ``Scenario``.
        needs: See ``Scenario``.
        needs_good_stream: See ``Scenario``.
        needs_client: See ``Scenario``.
        timed: See ``Scenario``.
        virtual: Run it under virtual time; it opens no socket.
    """

    def made(check: AsyncScenario) -> Scenario:
        def run(bench: Bench) -> list[Difference]:
            try:
                if virtual:
                    return run_virtual(bench.means.backend, check, bench)
                calm = bench if timed else _unhurried(bench)
                return calm.run(lambda: check(calm))
            except AdapterRaisedError as raised:
                return [raised.difference]
            except BaseExceptionGroup as group:  # why: raised in a task group of the scenario
                raised_there, others = group.split(AdapterRaisedError)
                if raised_there is None or others is not None:
                    raise
                return _differences(raised_there)

        return Scenario(
            name=check.__name__,
            requirement=requirement,
            title=title,
            run=run,
            needs=needs,
            needs_good_stream=needs_good_stream,
            needs_client=needs_client,
            timed=timed,
        )

    return made


def _differences(group: BaseExceptionGroup[AdapterRaisedError]) -> list[Difference]:
    found: list[Difference] = []
    for error in group.exceptions:
        if isinstance(error, AdapterRaisedError):
            found.append(error.difference)
        else:
            found += _differences(error)
    return list(dict.fromkeys(found))


def _unhurried(bench: Bench) -> Bench:
    idle_s = max(bench.idle_s, UNHURRIED_S)
    means = dataclasses.replace(bench.means, idle_s=idle_s)
    return dataclasses.replace(bench, means=means, unhurried=True)
