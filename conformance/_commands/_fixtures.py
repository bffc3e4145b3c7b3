"""``dsh-conformance fixtures lint``: refuse recordings that nobody should keep."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ._serve import counted

_FOUND = 1
_NOTHING = 5


@click.group(name="fixtures")
def fixtures_command() -> None:
    """Look after recorded fixtures."""


@fixtures_command.command(name="lint")
@click.argument("folders", metavar="[DIR...]", nargs=-1, type=click.Path(path_type=Path))
def lint_command(*, folders: tuple[Path, ...]) -> None:
    """Check the recordings in DIR, or in ./recordings: one line for each problem."""
    from .._fixtures_lint import linted

    for folder in folders or (folders := (Path("recordings"),)):
        if not folder.is_dir():
            raise click.ClickException(f"{folder}: there is no such folder")
    found = [linted(folder) for folder in folders]
    for line in (line for result in found for line in result.problems):
        click.echo(line)
    for folder, result in zip(folders, found, strict=True):
        if not result.count:
            click.echo(f"dsh-conformance: {folder}: holds no recording", err=True)
    problems = sum(len(result.problems) for result in found)
    count = sum(result.count for result in found)
    if problems:
        click.echo(f"{counted(problems, 'problem')} in {counted(count, 'recording')}")
        sys.exit(_FOUND)
    if not all(result.count for result in found):
        sys.exit(_NOTHING)
    click.echo(f"{counted(count, 'recording')}, no problem")
