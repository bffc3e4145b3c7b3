"""One run, made by hand, that holds every verdict; its report; and the command that reads it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import click
import pytest

from conformance._catalogue import Level, Requirement
from conformance._reports import Report, report_of
from conformance._reports import _model as model
from conformance._result import Check, Result, Run, Status
from conformance.cli import main

Write: TypeAlias = Callable[[str, Report], Path]
Judged: TypeAlias = Callable[..., Report]

FINISHED = datetime(2026, 10, 17, 12, 30, 5, tzinfo=UTC)


def required(name: str, level: Level, statement: str, needs: str | None = None) -> Requirement:
    return Requirement(name, level, statement, f"Why {name} is asked for.", "S002", needs)


# Like those of the catalogue, but its sentences may change without these snapshots.
REQUIREMENTS = {
    requirement.id: requirement
    for requirement in (
        required("code-auth", "must", "401, 403 and a body that names an invalid key give AUTH."),
        required("code-challenge-page", "should", "A challenge page gives SERVER, not AUTH."),
        required("code-quota", "must", "402 gives QUOTA & a <limit> stays RATE_LIMIT."),
        required("retry-after-date", "must", "Retry-After as a date is a delay.", "http_facts"),
        required("terminal-evidence", "must", "A call succeeds only on terminal evidence."),
        required("usage", "must", "Token counts are disjoint and never negative."),
        required("abort", "must", "The caller's abort ends a call with ABORTED."),
    )
}
FAIL_TIMELINE = (
    (0.0004, "server", "connection 1: accepted"),
    (0.0019, "server", "connection 1: request received: POST /chat/completions, 161 bytes of body"),
    (0.0022, "server", "connection 1: head sent: 200 (64 bytes)"),
    (0.0031, "caller", "text 'Hel'"),
    (0.2541, "server", "connection 1: cut after 212 bytes"),
    (0.2548, "caller", "finish stop"),
)


def verdict(requirement: str, what: str, title: str, status: Status, **more: Any) -> Result:
    found = REQUIREMENTS[requirement]
    check = Check(f"{found.folder}/{what}", found, title)
    return dataclasses.replace(Result(check=check, status=status), **more)


def every_verdict() -> list[Result]:
    return [
        verdict(
            "code-auth",
            "bare_401",
            "A 401 without a body is AUTH",
            Status.WRONG_REASON,
            differences=("code: expected AUTH, got INVALID_REQUEST ('HTTP 401', an empty body)",),
            lane="socket",
            said="INVALID_REQUEST, status 401: HTTP 401 from the provider, an empty body",
            timeline=((0.0004, "server", "connection 1: accepted"),),
            elapsed_s=0.0061,
        ),
        verdict(
            "code-auth",
            "bare_403",
            "A 403 without a body is AUTH",
            Status.PASS,
            lane="socket",
            said="AUTH, status 403: HTTP 403 from the provider",
            timeline=((0.0004, "server", "connection 1: accepted"), (0.002, "caller", "finish")),
            elapsed_s=0.004,
        ),
        verdict(
            "code-challenge-page",
            "cloud_edge",
            "A challenge page is SERVER",
            Status.WARN,
            differences=("code: expected SERVER, got AUTH",),
            lane="socket",
            said="AUTH, status 403",
            elapsed_s=0.005,
        ),
        verdict(
            "code-quota",
            "bare_402",
            "A 402 is QUOTA",
            Status.STALE,
            differences=("known failure: it passes now: delete the entry",),
            lane="socket",
            elapsed_s=0.003,
        ),
        verdict(
            "retry-after-date",
            "asctime",
            "An asctime date is read",
            Status.NA,
            note="the adapter does not declare http_facts",
        ),
        verdict(
            "terminal-evidence",
            "cut_after_text",
            "An answer that is cut off is no success",
            Status.FAIL,
            differences=(
                "outcome: expected failure, got success with the text 'Hel'",
                "two chunks came after the end",
            ),
            lane="in-process, byte by byte",
            said="success, 2 chunks",
            timeline=FAIL_TIMELINE,
            elapsed_s=0.2551,
        ),
        verdict(
            "usage",
            "cached_tokens",
            "Cached tokens are counted",
            Status.XFAIL,
            differences=("usage.cache_read_tokens: expected 7, got None",),
            note="the provider sends them elsewhere (https://tracker.invalid/12)",
            lane="socket",
            said="success, 3 chunks",
            elapsed_s=0.004,
        ),
        verdict(
            "abort",
            "mid_stream",
            "An abort in the middle is ABORTED",
            Status.HARNESS,
            note="RuntimeError: exchange 0 was not delivered (play, line 7)",
        ),
    ]


@pytest.fixture
def run() -> Run:
    return Run(
        "mypkg.adapter:Adapter",
        "2026.1",
        3,
        profile="eu",
        backend="trio",
        client="httpx2",
        dialects=("openai-chat",),
        capabilities=("tools", "usage"),
        results=every_verdict(),
        elapsed_s=4.2049,
    )


@pytest.fixture
def report(run: Run, monkeypatch: pytest.MonkeyPatch) -> Report:
    # Snapshots outlive releases, and editions that gain a requirement.
    monkeypatch.setattr(model, "kit_version", lambda: "1.2.3")
    made = report_of(run, finished=FINISHED)
    return made.model_copy(update={"edition_levels": {"must": 44, "should": 6}})


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a report's JSON to a file of that name."""

    def written(name: str, report: Report) -> Path:
        path = tmp_path / name
        path.write_text(report.to_json(), encoding="utf-8")
        return path

    return written


@pytest.fixture
def judged() -> Judged:
    """Make a report of ``requirement/what=STATUS`` and nothing more, in an edition of that size."""

    def made(*verdicts: str, target: str = "mypkg:Adapter", **more: Any) -> Report:
        results = []
        for text in verdicts:
            name, _, status = text.partition("=")
            requirement, _, what = name.partition("/")
            results.append(verdict(requirement, what, f"The title of {what}", Status(status)))
        edition = more.pop("edition", "2026.1")
        levels = more.pop("edition_levels", None)
        report = report_of(Run(target, edition, 1, results=results, **more), finished=FINISHED)
        return report if levels is None else report.model_copy(update={"edition_levels": levels})

    return made


@dataclass(frozen=True)
class Ran:
    """How one run of the command ended, and what it printed without its colours."""

    exit_code: int
    out: str
    err: str


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    """Run ``dsh-conformance`` with these words, outside of any workflow."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    def run(*words: object) -> Ran:
        with pytest.raises(SystemExit) as leaving:
            main([str(word) for word in words])
        captured = capsys.readouterr()
        assert isinstance(leaving.value.code, int)
        return Ran(leaving.value.code, click.unstyle(captured.out), click.unstyle(captured.err))

    return run
