"""The command ``dsh-conformance``."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import click
from typing_extensions import override

from ._commands._reports import register
from ._commands._run import cases_with, run_command
from ._commands._tools import register_tools
from ._explain import catalogue_data, explanation, nothing_called
from ._reports import FORMATS
from ._scenarios import SCENARIOS
from ._terminal import catalogue_lines

PROGRAM: Final = "dsh-conformance"

INTERRUPTED: Final = 2
USAGE: Final = 4

# A pipe's reader looks for words in lines: no line is cut for it.
WHOLE_LINES: Final = 10_000


class _TargetFirst(click.Group):
    """A group whose first word may be a target: then it is a run."""

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            return "run", self.commands["run"], args
        return super().resolve_command(ctx, args)

    @override
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # An option before the target belongs to the run, not to the group.
        if args and args[0].startswith("-") and args[0] not in ("--help", "--version"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_TargetFirst, context_settings={"help_option_names": ["--help"]})
@click.version_option(package_name="dsh-adapter-sdk", prog_name=PROGRAM)
def command() -> None:
    """Judge an LLM adapter, offline: dsh-conformance TARGET [SELECT...].

    TARGET is package.module:factory, path.py:factory, the name of an installed adapter, or
    'exec:COMMAND' for a program in any language.
    SELECT is an id or the beginning of one, level:must, or dialect:openai-chat.
    """


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("-v", "verbose", is_flag=True, help="Every check of each requirement too.")
@click.option("--cases", type=click.Path(path_type=Path), help="A folder of more case files.")
def list_command(*, as_json: bool, verbose: bool, cases: Path | None) -> None:
    """List every requirement: its level, its id, how many checks it has, what it asks for."""
    data = catalogue_data(cases_with(cases), SCENARIOS)
    if as_json:
        click.echo(json.dumps(data, indent=1, ensure_ascii=False))
        return
    columns = shutil.get_terminal_size().columns if _in_a_terminal() else WHOLE_LINES
    for line in catalogue_lines(data, columns=columns, every_check=verbose):
        click.echo(line)


@command.command(name="explain")
@click.argument("wanted", metavar="ID")
@click.option("--cases", type=click.Path(path_type=Path), help="A folder of more case files.")
def explain_command(*, wanted: str, cases: Path | None) -> None:
    """Explain a requirement, a check, a failure code, or (ID is "case") how to write a case."""
    every = cases_with(cases)
    text = explanation(wanted, every, SCENARIOS)
    if text is None:
        raise click.ClickException(nothing_called(wanted, every, SCENARIOS))
    click.echo(text)


command.add_command(run_command)
register(command)
register_tools(command)


def _in_a_terminal() -> bool:
    return sys.stdout.isatty()


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit with its code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        # Nothing was judged, so this is no 0.
        command.main(args=given or ["--help"], prog_name=PROGRAM, standalone_mode=False)
        code = 0 if given else USAGE
    except click.exceptions.Exit as leaving:
        code = leaving.exit_code if given else USAGE
    except click.ClickException as error:
        click.echo(_told(error), err=True)
        code = USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo(f"{PROGRAM}: interrupted", err=True)
        code = INTERRUPTED
    sys.exit(code)


def _told(error: click.ClickException) -> str:
    """Return a mistake of the person at the keyboard in one line, or a group's whole help."""
    said = error.format_message()
    if said.startswith("Usage:"):
        return said
    if isinstance(error, click.NoSuchOption):
        kind = error.option_name.lstrip("-")
        if kind in FORMATS:
            said = f"No such option '{error.option_name}'. A report is --report {kind}=FILE"
    return f"{PROGRAM}: {said}"
