"""Several reports as one static page: requirements against adapters. Returns HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .._result import Status
from ._markup import Markup, tag
from ._model import Report, RequirementReport
from ._page import filters, kit_line, nothing, page, pill
from ._words import score, setting, told, verdict


def matrix(reports: Sequence[Report]) -> str:
    """Return a page with a row for each requirement and a column for each report.

    A requirement that a report does not have, because of its edition or selection, is blank.
    """
    editions = sorted({report.edition for report in reports})
    rows = list(_requirements(reports))
    statuses = [[_status(report, row.id) for report in reports] for row in rows]
    # A row counts once for each verdict in it.
    counts = Counter(status for row in statuses for status in set(row) if status is not None)
    columns = len(reports)
    return page(
        f"Conformance of {columns} adapters",
        tag(
            "header",
            kit_line(f"Conformance of LLM adapters, edition {', '.join(editions)}"),
            tag("h1", f"{columns} report{'s' * (columns != 1)}, {len(rows)} requirements"),
            class_="top",
        ),
        filters(counts, of="requirements", groups=False),
        tag(
            "main",
            tag(
                "div",
                tag(
                    "table",
                    tag(
                        "thead", tag("tr", tag("th", "Requirement", scope="col"), *_heads(reports))
                    ),
                    tag("tbody", *(_row(row, reports) for row in rows)),
                ),
                class_="scroll",
                tabindex="0",
                role="region",
                aria_label="Requirements and adapters",
            ),
            nothing(),
            id="ui-verdicts",
        ),
        wide=True,
    )


def _requirements(reports: Sequence[Report]) -> Iterator[RequirementReport]:
    """Yield each requirement once, those of the fullest report first and in its order."""
    seen: set[str] = set()
    for report in sorted(reports, key=lambda report: -len(report.requirements)):
        for requirement in report.requirements:
            if requirement.id not in seen:
                seen.add(requirement.id)
                yield requirement


def _heads(reports: Sequence[Report]) -> Iterator[Markup]:
    for report in reports:
        words, tone = verdict(report)
        yield tag(
            "th",
            report.target,
            tag("small", setting(report)),
            tag("small", score(report)),
            tag("span", words, class_=f"pill {tone}"),
            scope="col",
        )


def _row(requirement: RequirementReport, reports: Sequence[Report]) -> Markup:
    statuses = [_status(report, requirement.id) for report in reports]
    return tag(
        "tr",
        tag(
            "th",
            tag("code", requirement.id),
            " ",
            tag("span", requirement.level, class_="level"),
            tag("small", requirement.statement),
            scope="row",
        ),
        *(_cell(report, requirement.id) for report in reports),
        data_status=" ".join(dict.fromkeys(s.value for s in statuses if s is not None)),
    )


def _cell(report: Report, requirement_id: str) -> Markup:
    found = _found(report, requirement_id)
    if found is None:
        return tag("td", tag("small", "not in this report"))
    return tag("td", pill(found.status), tag("small", told(found)))


def _status(report: Report, requirement_id: str) -> Status | None:
    found = _found(report, requirement_id)
    return None if found is None else found.status


def _found(report: Report, requirement_id: str) -> RequirementReport | None:
    return next((r for r in report.requirements if r.id == requirement_id), None)
