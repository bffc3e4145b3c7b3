"""Which requirements a reader should see first: those that explain why others fail. Pure."""

from __future__ import annotations

from .._causes import Finding, Group, groups_of
from .._result import BAD
from ._model import Report, RequirementReport
from ._words import NOT_FINE


def causes(report: Report) -> list[str]:
    """Return a sentence for each fault that fails several requirements: how often, where to begin.

    The words are those of the terminal.
    """
    groups = _groups(report)
    failures = sum(finding.status in BAD for group in groups for finding in group.findings)
    return [said for group in groups if (said := group.sentence(failures))]


def in_reading_order(report: Report) -> list[RequirementReport]:
    """Return every requirement: those that are not kept first, and of these the causes first."""
    order: dict[str, int] = {}
    for group in _groups(report):
        for finding in group.findings:
            order.setdefault(finding.requirement, len(order))
    return sorted(report.requirements, key=lambda r: order.get(r.id, len(order)))


def _groups(report: Report) -> list[Group]:
    bad = [
        (requirement, check)
        for requirement in report.requirements
        for check in requirement.checks
        if check.status in NOT_FINE
    ]
    return groups_of(
        [
            Finding(
                number=number,
                requirement=requirement.id,
                status=check.status,
                differences=check.differences,
                has_timeline=bool(check.timeline),
            )
            for number, (requirement, check) in enumerate(bad)
        ]
    )
