"""``--report`` and ``--open`` of a run, and the commands that read reports."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

import click

from .._reports import (
    FORMATS,
    Report,
    ReportError,
    badge,
    changes,
    check_writable,
    diff_lines,
    got_worse,
    in_a_workflow,
    markdown,
    matrix,
    read_report,
    report_of,
    workflow_commands,
    write,
)
from .._result import Run

USAGE: Final = 4

Command = TypeVar("Command", bound=Callable[..., Any])
Wanted: TypeAlias = tuple[str, Path]


def _wanted(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[Wanted, ...]:
    """Read each ``KIND=FILE``, and find out whether the file can be written."""
    wanted: list[Wanted] = []
    for value in values:
        kind, equals, name = value.partition("=")
        if kind not in FORMATS:
            known = ", ".join(FORMATS)
            raise click.BadParameter(f"{value}: there is no report {kind!r}; there are: {known}")
        if not (equals and name):
            raise click.BadParameter(f"{value}: name the file too: {kind}=FILE")
        try:
            check_writable(Path(name))
        except ReportError as error:
            raise click.BadParameter(str(error)) from error
        wanted.append((kind, Path(name)))
    return tuple(wanted)


def report_options(command: Command) -> Command:
    """Add ``--report`` and ``--open`` to a command, as ``reports`` and ``open_html``."""
    command = click.option(
        "--open", "open_html", is_flag=True, help="Open the HTML report in a browser."
    )(command)
    return click.option(
        "--report",
        "reports",
        metavar="KIND=FILE",
        callback=_wanted,
        multiple=True,
        help=f"Write a report too: {', '.join(FORMATS)}. May be repeated.",
    )(command)


@dataclass(frozen=True, slots=True)
class Outputs:
    """The reports that a run was asked for. Made before the run, so that a mistake costs nothing.

    Args:
        wanted: Formats and files.
        open_html: Whether a browser shows the HTML report.
    """

    wanted: tuple[Wanted, ...]
    open_html: bool

    def __post_init__(self) -> None:
        files = [path.resolve() for _, path in self.wanted]
        for (kind, path), file in zip(self.wanted, files, strict=True):
            if files.count(file) > 1:
                raise click.ClickException(f"--report {kind}={path}: two reports in one file")
        if self.open_html and "html" not in dict(self.wanted):
            raise click.ClickException("--open needs a report to open: --report html=FILE")

    def deliver(self, run: Run) -> int:
        """Write every report, tell GitHub where it listens, and return the exit code."""
        report = report_of(run)
        code = run.exit_code
        for kind, path in self.wanted:
            try:
                write(path, FORMATS[kind](report))
            except ReportError as error:
                click.echo(f"dsh-conformance: {error}", err=True)
                code = code or USAGE
        if in_a_workflow(os.environ):
            _tell_github(report)
        if self.open_html:
            _open(dict(self.wanted)["html"])
        return code


def _tell_github(report: Report) -> None:
    # Workflow commands are read from both streams; this one leaves the report of the run alone.
    for line in workflow_commands(report):
        click.echo(line, err=True)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(markdown(report) + "\n")
        except OSError as error:  # not the adapter's fault: the verdict stands
            click.echo(f"dsh-conformance: {summary}: no summary: {error.strerror}", err=True)


def _open(path: Path) -> None:
    if not webbrowser.open(path.resolve().as_uri()):
        click.echo(f"dsh-conformance: found no browser to open {path}", err=True)


_FILE: Final = click.Path(path_type=Path)


@click.command(name="matrix")
@click.argument("reports", metavar="REPORT...", nargs=-1, required=True, type=_FILE)
@click.option("-o", "output", type=_FILE, help="Write the page here, not to standard output.")
def matrix_command(*, reports: tuple[Path, ...], output: Path | None) -> None:
    """Show several JSON reports on one page: requirements against adapters."""
    _put(matrix([_read(path) for path in reports]), output)


@click.command(name="badge")
@click.argument("report", type=_FILE)
@click.option("-o", "output", type=_FILE, help="Write the badge here, not to standard output.")
def badge_command(*, report: Path, output: Path | None) -> None:
    """Draw the SVG badge of a JSON report."""
    _put(badge(_read(report)), output)


@click.command(name="diff")
@click.argument("old", type=_FILE)
@click.argument("new", type=_FILE)
def diff_command(*, old: Path, new: Path) -> NoReturn:
    """Compare two JSON reports; exit with 1 if a check got worse."""
    before, after = _read(old), _read(new)
    for line in diff_lines(before, after):
        click.echo(line)
    sys.exit(int(got_worse(changes(before, after))))


def register(group: click.Group) -> None:
    """Add the commands of this module to ``group``."""
    for command in (matrix_command, badge_command, diff_command):
        group.add_command(command)


def _read(path: Path) -> Report:
    try:
        return read_report(path)
    except ReportError as error:
        raise click.ClickException(str(error)) from error


def _put(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        write(output, text)
    except ReportError as error:
        raise click.ClickException(str(error)) from error
