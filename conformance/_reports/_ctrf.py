"""CTRF, the Common Test Report Format (ctrf.io): one JSON shape that many dashboards read. Pure."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

from .._result import Status
from ._model import CheckReport, Report, RequirementReport
from ._words import explain_command, facts, repeat_command, timeline_lines, verdict

SPEC_VERSION: Final = "0.1.0"

# The format knows no error apart from a failure; `rawStatus` keeps the kit's own word. A kit that
# failed must not look green, so it is not `other`.
STATUSES: Final = {
    Status.PASS: "passed",
    Status.WARN: "passed",
    Status.FAIL: "failed",
    Status.WRONG_REASON: "failed",
    Status.STALE: "failed",
    Status.HARNESS: "failed",
    Status.NA: "skipped",
    Status.XFAIL: "skipped",
}

TIMELINE_LINES: Final = 40


def ctrf(report: Report) -> str:
    """Return the report as CTRF JSON; its times are milliseconds since 1970."""
    given = Counter(STATUSES[check.status] for check in report.checks)
    stop = round(report.finished.timestamp() * 1000)
    data = {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "timestamp": report.finished.isoformat(),
        "generatedBy": "dsh-conformance",
        "results": {
            "tool": {"name": "dsh-conformance", "version": report.kit_version},
            "summary": {
                "tests": len(report.checks),
                **{name: given[name] for name in ("passed", "failed", "skipped")},
                "pending": 0,
                "other": 0,
                "suites": len(report.requirements),
                "start": stop - round(report.elapsed_s * 1000),
                "stop": stop,
                "extra": {"verdict": verdict(report)[0], "exit_code": report.exit_code},
            },
            "tests": [
                _test(report, requirement, check)
                for requirement in report.requirements
                for check in requirement.checks
            ],
            "environment": {
                "appName": report.target,
                "extra": {
                    "edition": report.edition,
                    "profile": report.profile,
                    "backend": report.backend,
                    "client": report.client,
                    "seed": report.seed,
                    "dialects": list(report.dialects),
                    "capabilities": list(report.capabilities),
                },
            },
        },
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _test(report: Report, requirement: RequirementReport, check: CheckReport) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": check.id,
        "status": STATUSES[check.status],
        "rawStatus": check.status.value,
        "duration": round(check.elapsed_s * 1000),
        "suite": [requirement.id],
        "tags": [requirement.level],
        "extra": {
            "title": check.title,
            "statement": requirement.statement,
            "repeat": repeat_command(report, check),
            "explain": explain_command(report, check),
        },
    }
    if check.status is not Status.PASS:
        test["message"] = "\n".join(facts(check))
        if check.timeline:
            test["trace"] = "\n".join(timeline_lines(check.timeline, lines=TIMELINE_LINES))
    return test
