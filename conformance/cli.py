"""The command ``dsh-conformance``."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal, NoReturn, cast

import click
from typing_extensions import override

from ._case import Case
from ._case_file import CaseError, cases_in, merged, shipped_cases
from ._catalogue import load_catalogue
from ._collector import old_objects_left_alone
from ._commands._reports import Outputs, Wanted, register, report_options
from ._commands._tools import register_tools
from ._explain import catalogue_data, explanation
from ._known_failures import KnownFailures, KnownFailuresError, read_known_failures
from ._lanes import Means
from ._loopback_only import loopback_only
from ._progress import progress_bar
from ._reports import clean_result
from ._result import Result, Run
from ._runner import Planned, Runner
from ._scenarios import SCENARIOS
from ._selection import SelectionError, selected
from ._target import Target, TargetError, load_target
from ._terminal import check_line, failure_report, headline, is_bad, requirement_line

INTERRUPTED: Final = 2
USAGE: Final = 4
NOTHING_RAN: Final = 5


class UsageError(click.ClickException):
    """A mistake of the person at the keyboard: one line, exit 4."""

    exit_code = USAGE

    @override
    def show(self, file: Any = None) -> None:
        """Print the one line."""
        click.echo(f"dsh-conformance: {self.format_message()}", err=True)


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
@click.version_option(package_name="dsh-adapter-sdk", prog_name="dsh-conformance")
def command() -> None:
    """Judge an LLM adapter, offline: dsh-conformance TARGET [SELECT...].

    TARGET is package.module:factory, path.py:factory, the name of an installed adapter, or
    'exec:COMMAND' for a program in any language.
    SELECT is an id or the beginning of one, level:must, or dialect:openai-chat.
    """


@command.command(name="run")
@click.argument("target")
@click.argument("select", nargs=-1)
@click.option("--profile", help="A profile that the adapter declares.")
@click.option("--level", type=click.Choice(["must", "should", "may"]), help="Up to this level.")
@click.option("--cases", type=click.Path(path_type=Path), help="A folder of more case files.")
@click.option(
    "--known-failures",
    "known",
    type=click.Path(path_type=Path),
    help="A TOML file of failures that are known; always strict.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the seeded splits.")
@click.option(
    "--sweep",
    type=click.Choice(["smoke", "full"]),
    default="smoke",
    help="How much of each sweep over splits and variants.",
)
@click.option("--backend", type=click.Choice(["asyncio", "trio"]), default="asyncio")
@click.option("--httpx2", is_flag=True, help="Pass an httpx2 client to the adapter.")
@click.option("-j", "jobs", type=click.IntRange(1, 64), default=8, help="Waits side by side.")
@report_options
@click.option("-x", "stop", is_flag=True, help="Stop at the first failure.")
@click.option("-v", "verbose", is_flag=True, help="A line for every check.")
def run_command(
    target: str,
    select: tuple[str, ...],
    *,
    profile: str | None,
    level: str | None,
    cases: Path | None,
    known: Path | None,
    seed: int,
    sweep: str,
    backend: str,
    httpx2: bool,
    jobs: int,
    reports: tuple[Wanted, ...],
    open_html: bool,
    stop: bool,
    verbose: bool,
) -> NoReturn:
    """Run the checks and give a verdict."""
    outputs = Outputs(reports, open_html=open_html)
    judged = _target(target, profile)
    library = _httpx2() if httpx2 else None
    means = Means(backend=cast(Literal["asyncio", "trio"], backend), library=library)
    runner = Runner(
        judged,
        _cases(cases),
        SCENARIOS,
        means=means,
        seed=seed,
        jobs=jobs,
        sweep=cast(Literal["smoke", "full"], sweep),
        stop_at_first=stop,
    )
    if known is not None:
        runner.known = _known(known, runner)
    planned = _selected(runner.plan(), _narrowed(select, level), runner.cases)
    if not planned:
        click.echo("dsh-conformance: the selection matches no check", err=True)
        sys.exit(NOTHING_RAN)
    click.echo(
        f"dsh-conformance {load_catalogue().edition}  {target}  "
        f"{backend}, {means.client}, seed {seed}"
    )
    with loopback_only(), old_objects_left_alone(), progress_bar(len(planned)) as advance:
        _probe(judged)
        printer = _Printer(planned, verbose=verbose, advance=advance)
        run = runner.run(planned, printer.take)
    printer.close(run)
    bad = [clean_result(result) for result in run.results if is_bad(result)]
    for result in bad:
        click.echo("\n" + failure_report(result, target=target, profile=profile))
    code = outputs.deliver(run)
    click.echo(("\n" if bad else "") + headline(run))
    sys.exit(code)


class _Printer:
    """Prints a line for each requirement as soon as it and all before it are judged."""

    def __init__(
        self, planned: Sequence[Planned], *, verbose: bool, advance: Callable[[Result], None]
    ) -> None:
        self.verbose, self.advance = verbose, advance
        self.order: list[str] = []
        self.left: dict[str, int] = {}
        self.results: dict[str, list[Result]] = {}
        for item in planned:
            requirement = item.check.requirement.id
            if requirement not in self.left:
                self.order.append(requirement)
            self.left[requirement] = self.left.get(requirement, 0) + 1

    def take(self, result: Result) -> None:
        result = clean_result(result)
        self.advance(result)
        requirement = result.check.requirement.id
        self.results.setdefault(requirement, []).append(result)
        if requirement in self.left:
            self.left[requirement] -= 1
        while self.order and self.left[self.order[0]] == 0:
            self._print(self.results[self.order.pop(0)])

    def _print(self, results: list[Result]) -> None:
        click.echo(requirement_line(results))
        if self.verbose:
            for result in sorted(results, key=lambda r: r.check.id):
                click.echo(check_line(result))

    def close(self, run: Run) -> None:
        """Print what was judged over the whole run."""
        rules = [r for r in run.results if r.check.id.endswith("/in_every_call")]
        if rules:
            click.echo(click.style(f"In every call ({rules[0].lane}):", dim=True))
            for result in rules:
                click.echo(check_line(result))


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--cases", type=click.Path(path_type=Path), help="A folder of more case files.")
def list_command(*, as_json: bool, cases: Path | None) -> None:
    """List every requirement and its checks."""
    data = catalogue_data(_cases(cases), SCENARIOS)
    if as_json:
        click.echo(json.dumps(data, indent=1, ensure_ascii=False))
        return
    for requirement in data["requirements"]:
        count = len(requirement["checks"])
        click.echo(f"{requirement['level']:<7}{requirement['id']:<28}{count:>4}  ", nl=False)
        click.echo(requirement["statement"])


@command.command(name="explain")
@click.argument("wanted", metavar="ID")
@click.option("--cases", type=click.Path(path_type=Path), help="A folder of more case files.")
def explain_command(*, wanted: str, cases: Path | None) -> None:
    """Explain a requirement or a check."""
    text = explanation(wanted, _cases(cases), SCENARIOS)
    if text is None:
        raise UsageError(f"{wanted}: nothing has this id; see dsh-conformance list")
    click.echo(text)


register(command)
register_tools(command)


def _target(name: str, profile: str | None) -> Target:
    try:
        return load_target(name, profile=profile)
    except TargetError as error:
        raise UsageError(str(error)) from error


def _probe(target: Target) -> None:
    """Make one adapter, so that a factory that cannot be called is no finding of every check."""
    try:
        target.make(
            base_url="http://127.0.0.1:1",
            api_key="sk-dsh-probe",
            idle_timeout=1.0,
            progress_timeout=3.0,
        )
    except Exception as error:
        said = " ".join(str(error).split())
        raise UsageError(
            f"{target.name}: the factory cannot be called with base_url, api_key, idle_timeout and "
            f"progress_timeout: {type(error).__name__}: {said}"
        ) from error


def _cases(folder: Path | None) -> tuple[Case, ...]:
    try:
        return merged(shipped_cases(), () if folder is None else cases_in(folder))
    except CaseError as error:
        raise UsageError(str(error)) from error


def _known(path: Path, runner: Runner) -> KnownFailures:
    ids = {item.check.id for item in runner.plan() + runner.plan_invariants()}
    try:
        entries = read_known_failures(path, known_ids=ids)
    except KnownFailuresError as error:
        raise UsageError(str(error)) from error
    return KnownFailures(entries, today=datetime.now(UTC).date())


def _narrowed(select: Sequence[str], level: str | None) -> tuple[str, ...]:
    levels = ("must", "should", "may")
    upto = levels[: levels.index(level) + 1] if level else ()
    known = {requirement.level for requirement in load_catalogue().requirements}
    return (*select, *(f"level:{name}" for name in upto if name in known))


def _selected(
    planned: Sequence[Planned], select: Sequence[str], cases: Sequence[Case]
) -> list[Planned]:
    dialects = {case.id: case.dialect for case in cases}
    try:
        checks = selected([item.check for item in planned], select, dialect_of=dialects)
    except SelectionError as error:
        raise UsageError(str(error)) from error
    chosen = {check.id for check in checks}
    return [item for item in planned if item.check.id in chosen]


def _httpx2() -> ModuleType:
    try:
        return importlib.import_module("httpx2")
    except ModuleNotFoundError as error:
        raise UsageError(
            "--httpx2: httpx2 is not installed; pip install 'dsh-adapter-sdk[httpx2]'"
        ) from error


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit with its code."""
    try:
        command.main(
            args=None if arguments is None else list(arguments),
            prog_name="dsh-conformance",
            standalone_mode=False,
        )
    except click.exceptions.Exit as leaving:
        sys.exit(leaving.exit_code)
    except UsageError as error:
        error.show()
        sys.exit(USAGE)
    except click.ClickException as error:
        click.echo(f"dsh-conformance: {error.format_message()}", err=True)
        sys.exit(USAGE)
    except (click.Abort, KeyboardInterrupt):
        click.echo("dsh-conformance: interrupted", err=True)
        sys.exit(INTERRUPTED)
    sys.exit(0)
