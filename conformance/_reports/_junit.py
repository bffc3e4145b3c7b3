"""JUnit XML: a suite for each requirement, a test case for each check. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias
from xml.etree import ElementTree

from .._result import Status
from ._model import CheckReport, Report, RequirementReport
from ._words import explain_command, facts, repeat_command, setting, timeline_lines, verdict

Outcome: TypeAlias = Literal["passed", "failure", "error", "skipped"]

# The four outcomes that every reader of this format knows. A SHOULD that is not kept breaks no
# build; a kit that failed is an error and not the adapter's failure.
OUTCOMES: Final[dict[Status, Outcome]] = {
    Status.PASS: "passed",
    Status.WARN: "passed",
    Status.FAIL: "failure",
    Status.WRONG_REASON: "failure",
    Status.STALE: "failure",
    Status.HARNESS: "error",
    Status.NA: "skipped",
    Status.XFAIL: "skipped",
}

TIMELINE_LINES: Final = 40


def junit(report: Report) -> str:
    """Return the report as JUnit XML."""
    root = ElementTree.Element(
        "testsuites",
        {
            "name": f"dsh-conformance {report.target}",
            "time": _time(report.elapsed_s),
            **_tallies(report.checks),
        },
    )
    for requirement in report.requirements:
        _suite(root, report, requirement)
    ElementTree.indent(root, " ")
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(root: ElementTree.Element, report: Report, requirement: RequirementReport) -> None:
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        {
            "name": requirement.id,
            "time": _time(sum(check.elapsed_s for check in requirement.checks)),
            "timestamp": report.finished.strftime("%Y-%m-%dT%H:%M:%S"),
            **_tallies(requirement.checks),
        },
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (
        ("level", requirement.level),
        ("statement", requirement.statement),
        ("edition", report.edition),
        ("kit", report.kit_version),
        ("setting", setting(report)),
        ("verdict", verdict(report)[0]),
    ):
        ElementTree.SubElement(properties, "property", name=name, value=value)
    for check in requirement.checks:
        _case(suite, report, requirement, check)


def _case(
    suite: ElementTree.Element,
    report: Report,
    requirement: RequirementReport,
    check: CheckReport,
) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname=requirement.id, name=check.id, time=_time(check.elapsed_s)
    )
    outcome = OUTCOMES[check.status]
    if outcome in ("failure", "error"):
        bad = ElementTree.SubElement(
            case, outcome, type=check.status.value, message=_message(check)
        )
        bad.text = "\n".join(_told(report, requirement, check))
    elif outcome == "skipped":
        ElementTree.SubElement(case, "skipped", message=f"{check.status}: {check.note}")
    if check.status is Status.WARN:
        out = ElementTree.SubElement(case, "system-out")
        out.text = "\n".join([f"{check.status}", *_told(report, requirement, check)])


def _message(check: CheckReport) -> str:
    found = facts(check)
    return found[0] if found else check.title


def _told(report: Report, requirement: RequirementReport, check: CheckReport) -> list[str]:
    return [
        f"{requirement.level}: {requirement.statement}",
        f"case: {check.title}",
        *facts(check),
        *timeline_lines(check.timeline, lines=TIMELINE_LINES),
        f"repeat: {repeat_command(report, check)}",
        f"explain: {explain_command(report, check)}",
    ]


def _tallies(checks: Sequence[CheckReport]) -> dict[str, str]:
    given = Counter(OUTCOMES[check.status] for check in checks)
    return {
        "tests": str(len(checks)),
        "failures": str(given["failure"]),
        "errors": str(given["error"]),
        "skipped": str(given["skipped"]),
    }


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
