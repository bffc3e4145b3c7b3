"""All checks of a target: its cases, the scenarios, and what every call must keep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ._case import Case
from ._case_file import ANY_DIALECT
from ._catalogue import Requirement, load_catalogue
from ._play import request_id_names_needed
from ._result import Check
from ._target import Target

# How the reason begins where a case is of another dialect than the target's.
OTHER_DIALECT: Final = "dialect "


def check_of(case: Case) -> Check:
    """Return the check that a case makes."""
    return Check(case.id, load_catalogue()[case.requirement], case.title)


def missing_capability(requirement: Requirement, needs: Iterable[str], target: Target) -> str:
    """Return why a check does not apply to ``target``, or an empty string."""
    if requirement.id in target.unasked:
        return target.unasked[requirement.id]
    wanted = [*([requirement.needs] if requirement.needs else []), *needs]
    lacking = [need for need in wanted if need not in target.capabilities]
    return f"needs {', '.join(lacking)}, which is not declared" if lacking else ""


def not_applicable(case: Case, target: Target) -> str:
    """Return why a case does not apply to ``target``, or an empty string."""
    declaration = target.declaration
    if case.dialect not in (ANY_DIALECT, *declaration.dialects):
        return f"{OTHER_DIALECT}{case.dialect}"
    reason = missing_capability(load_catalogue()[case.requirement], case.needs, target)
    if reason:
        return reason
    if case.call.request != "text" and case.call.request not in target.capabilities:
        return f"asks for {case.call.request}, which is not declared"
    names = request_id_names_needed(case)
    if names > len(declaration.request_id_headers):
        return f"needs {names} request id header{'s' * (names > 1)}"
    return ""
