"""``list`` and ``explain``: what is checked, and why. Returns text and plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Any, Final

from adapter_sdk import codes

from ._case import ABSENT, Case
from ._catalogue import Requirement, load_catalogue
from ._invariants import INVARIANTS, Invariant
from ._near import did_you_mean
from ._scenario import Scenario
from ._sweep import sweep_checks

# No id of a requirement or a check: what to ask for where somebody writes a case.
CASE_PAGE: Final = "case"


def catalogue_data(cases: Sequence[Case], scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """Return the catalogue with every check, as JSON data."""
    checks: dict[str, list[dict[str, Any]]] = {}
    for requirement, check in _checks(cases, scenarios):
        checks.setdefault(requirement, []).append(check)
    return {
        "edition": load_catalogue().edition,
        "requirements": [
            {
                "id": r.id,
                "level": r.level,
                "statement": r.statement,
                "why": r.why,
                "source": r.source,
                "needs": r.needs,
                "checks": checks.get(r.id, []),
            }
            for r in load_catalogue().requirements
        ],
    }


def _checks(
    cases: Iterable[Case], scenarios: Iterable[Scenario]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for case in cases:
        yield (
            case.requirement,
            {"id": case.id, "kind": "case", "dialect": case.dialect, "title": case.title},
        )
    for scenario in scenarios:
        yield (
            scenario.requirement,
            {"id": scenario.id, "kind": "scenario", "dialect": "any", "title": scenario.title},
        )
    for check in sweep_checks():
        yield (
            check.requirement.id,
            {"id": check.id, "kind": "sweep", "dialect": "any", "title": check.title},
        )
    for invariant in INVARIANTS:
        yield (
            invariant.requirement,
            {"id": invariant.id, "kind": "every call", "dialect": "any", "title": invariant.title},
        )


def explanation(wanted: str, cases: Sequence[Case], scenarios: Sequence[Scenario]) -> str | None:
    """Return what ``wanted`` means; None where nothing has this id.

    Args:
        wanted: A requirement, a check, a failure code, or ``case``: how a case file is written.
        cases: All that there are.
        scenarios: All checks written as code.
    """
    if wanted == CASE_PAGE:
        return (files(__package__) / "CASES.md").read_text(encoding="utf-8").rstrip("\n")
    if codes.is_code(wanted):
        return _code_text(wanted, cases)
    catalogue = load_catalogue()
    name = wanted.replace("_", "-")
    if "/" not in wanted and name in catalogue:
        return _requirement_text(catalogue[name], cases, scenarios)
    for case in cases:
        if case.id == wanted:
            return _case_text(case)
    for check in sweep_checks():
        if check.id == wanted:
            return _coded_text(check.id, check.title, check.requirement)
    coded: list[Scenario | Invariant] = [*scenarios, *INVARIANTS]
    for item in coded:
        if item.id == wanted:
            return _coded_text(item.id, item.title, catalogue[item.requirement])
    return None


def nothing_called(wanted: str, cases: Sequence[Case], scenarios: Sequence[Scenario]) -> str:
    """Return in one line that nothing has the id ``wanted``, and what has one like it."""
    checks = [check["id"] for _, check in _checks(cases, scenarios)]
    names = [requirement.id for requirement in load_catalogue().requirements]
    ids = checks if "/" in wanted else [*names, CASE_PAGE, *sorted(codes.CODES)]
    meant = did_you_mean(wanted, ids) or "; see dsh-conformance list"
    return f"{wanted}: nothing has this id{meant}"


def _code_text(code: str, cases: Iterable[Case]) -> str:
    failures = ((case.requirement, case.expect.failure) for case in cases)
    expecting = {owner for owner, failure in failures if failure and failure.code == code}
    speaking = [
        requirement
        for requirement in load_catalogue().requirements
        if requirement.id in expecting or re.search(rf"\b{code}\b", requirement.statement)
    ]
    lines = [f"{code}  (a failure code)", ""]
    lines.append("Requirements that speak of it:" if speaking else "No requirement speaks of it.")
    lines += [f"  {r.id}  ({r.level.upper()})\n      {r.statement}" for r in speaking]
    return "\n".join(lines)


def _requirement_head(requirement: Requirement) -> list[str]:
    lines = [
        f"{requirement.id}  ({requirement.level.upper()})",
        "",
        f"  {requirement.statement}",
        f"  Why: {requirement.why}",
    ]
    if requirement.needs:
        lines.append(f"  Applies to adapters that declare: {requirement.needs}")
    return lines


def _requirement_text(
    requirement: Requirement, cases: Sequence[Case], scenarios: Sequence[Scenario]
) -> str:
    lines = [*_requirement_head(requirement), "", "Checks:"]
    lines += [
        f"  {check['id']}\n      {check['title']}"
        for owner, check in _checks(cases, scenarios)
        if owner == requirement.id
    ]
    return "\n".join(lines)


def _coded_text(check_id: str, title: str, requirement: Requirement) -> str:
    return "\n".join([check_id, f"  {title}", "", *_requirement_head(requirement)])


def _case_text(case: Case) -> str:
    lines = [case.id, f"  {case.title}"]
    if case.sources:
        lines.append(f"  Seen in: {', '.join(case.sources)}")
    if case.dialect != "any":
        lines.append(f"  Dialect: {case.dialect}")
    if case.needs:
        lines.append(f"  Needs: {', '.join(case.needs)}")
    lines += ["", *_requirement_head(load_catalogue()[case.requirement]), "", "The caller:"]
    lines.append(f"  asks for the reference conversation `{case.call.request}`")
    for act in ("abort", "cancel", "leave", "think"):
        moment = getattr(case.call, act)
        if moment is not None:
            said = moment.model_dump(exclude_defaults=True)
            lines.append(f"  {act}: " + ", ".join(f"{key} {value}" for key, value in said.items()))
    for number, exchange in enumerate(case.exchange, 1):
        lines += ["", f"The server answers request {number}:"]
        lines += [f"  {line}" for line in _exchange_lines(exchange)]
    lines += ["", "Expected:"]
    lines += [
        f"  {key}: {value}" for key, value in _flat(case.expect.model_dump(exclude_none=True), "")
    ]
    return "\n".join(lines)


def _exchange_lines(exchange: Any) -> Iterator[str]:
    if exchange.status is not None:
        yield f"HTTP/1.1 {exchange.status}"
    for name, value in exchange.headers:
        yield _cut(f"{name}: {value}")
    if exchange.body is not None:
        yield _cut(exchange.body)
    for step in exchange.send:
        yield _cut(f"data: {step}" if isinstance(step, str) else str(step))
    yield f"end: {exchange.end}"


def _flat(value: dict[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        if isinstance(item, dict):
            yield from _flat(item, f"{prefix}{key}.")
        elif item == ABSENT:
            yield f"{prefix}{key}", "must be absent"
        else:
            yield f"{prefix}{key}", _cut(repr(item) if isinstance(item, str) else str(item))


def _cut(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:199]}…"
