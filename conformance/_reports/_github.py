"""What a GitHub workflow shows of a run: annotations and the summary of its step. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from .._result import BAD, Status
from ._model import CheckReport, Report
from ._reading_order import in_reading_order
from ._words import facts, repeat_command

# GitHub shows so many annotations of one kind for each step and drops the others.
SHOWN_OF_A_KIND: Final = 10

LONGEST_MESSAGE: Final = 1000


def in_a_workflow(environ: Mapping[str, str]) -> bool:
    """Whether this process runs as a step of a GitHub workflow."""
    return environ.get("GITHUB_ACTIONS") == "true"


def workflow_commands(report: Report) -> list[str]:
    """Return a workflow command for each bad check, at most ten of a kind."""
    checks = [check for requirement in in_reading_order(report) for check in requirement.checks]
    bad = [c for c in checks if c.status in BAD or c.status is Status.HARNESS]
    warned = [c for c in checks if c.status is Status.WARN]
    return [*_commands("error", report, bad), *_commands("warning", report, warned)]


def _commands(kind: str, report: Report, checks: list[CheckReport]) -> Iterator[str]:
    shown = len(checks) if len(checks) <= SHOWN_OF_A_KIND else SHOWN_OF_A_KIND - 1
    for check in checks[:shown]:
        found = facts(check) or [check.title]
        message = "\n".join([found[0], f"repeat: {repeat_command(report, check)}"])
        yield _command(kind, f"{check.status} {check.id}", message)
    if checks[shown:]:
        ids = ", ".join(check.id for check in checks[shown:])
        yield _command(kind, f"{len(checks) - shown} more", ids)


def _command(kind: str, title: str, message: str) -> str:
    cut = message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 1]}…"
    return f"::{kind} title={_property(title)}::{_data(cut)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
