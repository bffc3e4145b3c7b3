"""The report as one HTML file that works from disk. Returns HTML."""

from __future__ import annotations

from collections.abc import Iterator

from .._result import Status
from ._markup import Markup, joined, tag
from ._model import CheckReport, Report, RequirementReport
from ._page import filters, kit_line, nothing, page, pill
from ._timeline import timeline
from ._words import (
    NOT_FINE,
    TONES,
    counted,
    explain_command,
    repeat_command,
    score,
    told,
    verdict,
)


def html(report: Report) -> str:
    """Return the report as a page of its own: no network, light and dark, searchable."""
    return page(
        f"{verdict(report)[0]}: {report.target}",
        _top(report),
        filters(report.counts, of="checks", groups=True),
        tag(
            "main",
            *(_requirement(report, requirement) for requirement in report.requirements),
            nothing(),
            id="ui-verdicts",
        ),
        tag("footer", "Press / to search and Escape to clear. Select a command to copy it."),
    )


def _top(report: Report) -> Markup:
    words, tone = verdict(report)
    return tag(
        "header",
        kit_line(f"Conformance of an LLM adapter, edition {report.edition}"),
        tag("h1", report.target),
        tag(
            "p",
            tag("strong", words, class_=tone),
            tag("span", score(report)),
            class_="verdict",
        ),
        tag("dl", *_facts(report), class_="facts"),
        class_="top",
    )


def _facts(report: Report) -> Iterator[Markup]:
    for name, value in (
        *([("Profile", report.profile)] if report.profile else []),
        ("Event loop", report.backend),
        ("HTTP client", report.client),
        ("Seed", str(report.seed)),
        ("Kit", report.kit_version),
        ("Finished", f"{report.finished:%Y-%m-%d %H:%M:%S %Z}"),
        ("Took", f"{report.elapsed_s:.1f} s"),
        ("Dialects", ", ".join(report.dialects) or "none"),
    ):
        yield tag("div", tag("dt", name), tag("dd", value))
    for name, value in (
        ("Checks", counted(report)),
        ("Declared capabilities", ", ".join(report.capabilities) or "none"),
    ):
        yield tag("div", tag("dt", name), tag("dd", value), class_="long")


def _requirement(report: Report, requirement: RequirementReport) -> Markup:
    needs = [("Needs", requirement.needs)] if requirement.needs else []
    reasons = [
        tag("p", tag("span", f"{name} "), text)
        for name, text in (("Why", requirement.why), ("Source", requirement.source), *needs)
    ]
    return tag(
        "details",
        tag(
            "summary",
            tag("span", pill(requirement.status)),
            tag("span", requirement.level.upper(), class_="level"),
            tag("h2", requirement.id),
            tag("span", told(requirement), class_="told"),
            tag("span", requirement.statement, class_="statement"),
        ),
        tag(
            "div",
            tag("div", *reasons, class_="reasons"),
            *(_check(report, check) for check in requirement.checks),
            class_="body",
        ),
        class_="requirement",
        id=requirement.id,
        data_group=True,
        open=requirement.status in NOT_FINE,
    )


def _check(report: Report, check: CheckReport) -> Markup:
    took = f"{check.elapsed_s * 1000:.1f} ms" if check.elapsed_s else None
    return tag(
        "details",
        tag(
            "summary",
            pill(check.status),
            tag("span", check.title, tag("code", check.id), class_="title"),
            tag("span", took, class_="took"),
        ),
        tag("div", *_detail(report, check), class_="detail"),
        class_="check",
        id=check.id,
        data_status=check.status.value,
        open=check.status in NOT_FINE,
    )


def _detail(report: Report, check: CheckReport) -> Iterator[Markup]:
    if check.differences:
        rows = [_difference(text, TONES[check.status]) for text in check.differences]
        yield tag("div", tag("h4", "What differs"), tag("ul", *rows, class_="differences"))
    broken = check.status is Status.HARNESS
    facts = [
        joined(tag("dt", name), tag("dd", text))
        for name, text in (
            ("The kit failed" if broken else "Note", check.note),
            ("Answer", check.said),
            ("Lane", check.lane),
        )
        if text
    ]
    if facts:
        yield tag("dl", *facts)
    if check.timeline:
        yield tag("div", tag("h4", "Timeline"), timeline(check.timeline))
    yield tag(
        "div",
        tag("h4", "Repeat"),
        _command(repeat_command(report, check.id)),
        tag("h4", "Explain"),
        _command(explain_command(check.id)),
        class_="commands",
    )


def _command(text: str) -> Markup:
    """Return a command that breaks between its words only, and is copied as it was."""
    first, *others = (tag("span", word) for word in text.split(" "))
    return tag("pre", first, *(joined(" ", word) for word in others), class_="command")


def _difference(text: str, tone: str) -> Markup:
    """Return a difference, in three lines where it has the usual words."""
    field, found, rest = text.partition(": expected ")
    expected, also_found, got = rest.partition(", got ")
    if not (found and also_found):
        return tag("li", text, class_=tone)
    facts = [
        joined(tag("dt", name), tag("dd", value))
        for name, value in (("expected", expected), ("got", got))
    ]
    return tag("li", tag("b", field), tag("dl", *facts), class_=tone)
