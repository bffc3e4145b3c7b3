"""``dsh-conformance repro``: one check of a report again, or as a test that stands alone."""

from __future__ import annotations

import dataclasses
import sys
from importlib.resources import files
from pathlib import Path
from typing import Final

import click

from .._case import Case
from .._case_file import CaseError, cases_in, merged, shipped_cases
from .._repeat import repeat_of
from .._reports import Report, ReportError, clean_result, read_report
from .._result import BAD, Result, Status
from .._terminal import check_line, failure_report, is_bad

_CODES: Final = {**dict.fromkeys(BAD, 1), Status.HARNESS: 3, Status.NA: 5}


@click.command(name="repro")
@click.argument("path", metavar="REPORT", type=click.Path(path_type=Path))
@click.argument("check", metavar="CASE")
@click.option("--emit-test", is_flag=True, help="Print a pytest file in place of running it.")
@click.option("--cases", type=click.Path(path_type=Path), help="A folder of more case files.")
def repro_command(*, path: Path, check: str, emit_test: bool, cases: Path | None) -> None:
    """Run CASE of a JSON report again, as the report ran it."""
    from .._repro._again import ReproError, again_of, judged_again
    from .._repro._as_pytest import emitted_test

    try:
        report = read_report(path)
        again = again_of(report, check)
        cases = cases or _folder_of(report)
        every = merged(shipped_cases(), () if cases is None else cases_in(cases))
        if emit_test:
            click.echo(emitted_test(report, again, _case_text(check, every, cases)), nl=False)
            return
        result = clean_result(judged_again(again, every))
    except (CaseError, ReportError, ReproError) as error:
        raise click.ClickException(str(error)) from error
    _print(result, report, None if cases is None else str(cases))
    sys.exit(_CODES.get(result.status, 0))


def _folder_of(report: Report) -> Path | None:
    """Return the folder of more cases that the report names, where it is still there."""
    folder = None if report.cases is None else Path(report.cases)
    return folder if folder is not None and folder.is_dir() else None


def _print(result: Result, report: Report, cases: str | None) -> None:
    if is_bad(result):
        repeat = dataclasses.replace(repeat_of(report), cases=cases)
        click.echo(failure_report(result, repeat))
    else:
        click.echo(check_line(result).strip())
    (then,) = [check for check in report.checks if check.id == result.check.id]
    same = then.status is result.status and then.differences == result.differences
    said = "the same" if same else f"{then.status} {'; '.join(then.differences)}".strip()
    click.echo(f"the report of {report.finished:%Y-%m-%d %H:%M} said {said}")


def _case_text(check: str, cases: tuple[Case, ...], folder: Path | None) -> str | None:
    """Return the case file, or None where the check is written as code."""
    if not any(case.id == check for case in cases):
        return None
    if folder is not None and (own := folder / f"{check}.toml").is_file():
        return own.read_text(encoding="utf-8")
    return (files("conformance") / "cases" / f"{check}.toml").read_text(encoding="utf-8")
