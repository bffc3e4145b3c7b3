"""The report as one HTML file that works from disk. Returns HTML."""

from __future__ import annotations

from collections.abc import Iterator

from .._in_words import is_of_another_dialect, played
from .._result import Status
from ._markup import Markup, joined, tag
from ._model import CheckReport, Report, RequirementReport
from ._page import filters, kit_line, nothing, page, pill
from ._reading_order import causes, in_reading_order
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
            *(_requirement(report, requirement) for requirement in in_reading_order(report)),
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
        *(tag("p", sentence, class_="cause") for sentence in _first_words(report)),
        tag("dl", *_facts(report), class_="facts"),
        class_="top",
    )


def _first_words(report: Report) -> list[str]:
    """Return what a reader of failures has to know before the first of them."""
    bad = sum(requirement.status in NOT_FINE for requirement in report.requirements)
    if not 0 < bad < len(report.requirements):
        return causes(report)
    them = "The requirement that is" if bad == 1 else f"The {bad} requirements that are"
    comes = "comes" if bad == 1 else "come"
    return [*causes(report), f"{them} not kept {comes} first."]


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
        tag("p", tag("span", f"{name} "), text) for name, text in (("Why", requirement.why), *needs)
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
            *_checks(report, requirement),
            class_="body",
        ),
        class_="requirement",
        id=requirement.id,
        data_group=True,
        open=requirement.status in NOT_FINE,
    )


def _checks(report: Report, requirement: RequirementReport) -> Iterator[Markup]:
    """Yield a row for each check, the bad ones first.

    Those of other dialects are behind one line with their number.
    """
    elsewhere: list[CheckReport] = []
    for check in sorted(requirement.checks, key=lambda check: check.status not in NOT_FINE):
        if is_of_another_dialect(check.status, check.note):
            elsewhere.append(check)
        else:
            yield _check(report, check)
    if elsewhere:
        number = len(elsewhere)
        yield tag(
            "details",
            tag("summary", f"{number} check{'s' * (number != 1)} of other dialects"),
            *(_elsewhere(check) for check in elsewhere),
            class_="elsewhere",
            data_fold=True,
        )


def _elsewhere(check: CheckReport) -> Markup:
    return tag(
        "div",
        tag("code", check.id),
        tag("span", f"{check.status.value}, {check.note}"),
        id=check.id,
        data_status=check.status.value,
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
            ("Played", played(check.id, check.lane)),
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
        _command(repeat_command(report, check)),
        tag("h4", "Explain"),
        _command(explain_command(report, check)),
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
