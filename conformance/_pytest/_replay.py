"""One check as a test: what ``dsh_replay`` calls."""

from __future__ import annotations

import pytest

from .._case_file import CaseError, merged, read_case, shipped_cases
from .._repeat import repeat_of
from .._repro._again import Again, ReproError, judged_again
from .._sweep import Extent
from ._suite import tell_pytest


def replay(
    target: str,
    check: str,
    *,
    case: str | None = None,
    profile: str | None = None,
    seed: int = 1,
    backend: str = "asyncio",
    client: str | None = None,
    sweep: Extent = "smoke",
) -> None:
    """Judge ``target`` by one check and tell pytest the verdict of the command.

    Args:
        target: As the command takes it.
        check: The check's id.
        case: The text of a case file; None takes the one that ships with the kit.
        profile: A profile that the adapter declares.
        seed: Of the seeded splits.
        backend: The event loop.
        client: ``httpx2`` passes such a client to the adapter; None leaves it its own.
        sweep: How much of a sweep is played.
    """
    plain = Again(target=target, check=check)
    again = Again(
        target=target,
        check=check,
        profile=profile,
        seed=seed,
        backend=backend,
        client=plain.client if client is None else client,
        sweep=sweep,
    )
    try:
        shipped = shipped_cases()
        cases = [other for other in shipped if case is None or other.id != check]
        own = () if case is None else (read_case(case, case_id=check, where=check),)
        result = judged_again(again, merged(cases, own))
    except (CaseError, ReproError) as error:
        pytest.fail(str(error), pytrace=False)
    # No command knows a case that this test alone holds.
    alone = case is not None and all(other.id != check for other in shipped)
    tell_pytest(result, None if alone else repeat_of(again))
