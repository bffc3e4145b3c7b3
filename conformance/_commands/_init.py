"""``dsh-conformance init``: a new adapter package, which passes as it is written."""

from __future__ import annotations

import shlex
from pathlib import Path

import click


@click.command(name="init")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--name", help="What it adapts to, such as acme; the folder's name if left out.")
def init_command(*, folder: Path, name: str | None) -> None:
    """Write a new adapter package to DIR, with its tests and its workflow."""
    from .._scaffold import ScaffoldError, names_of, write_package

    try:
        names = names_of(name, folder)
        for path in write_package(folder, names):
            click.echo(f"wrote {path}")
    except ScaffoldError as error:
        raise click.ClickException(str(error)) from error
    there = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    click.echo(f"next: {there}pytest, or dsh-conformance {names.package}:{names.class_}")
