"""``dsh-conformance TARGET``: run the checks and give a verdict."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Final, Literal, NoReturn, cast

import click

from .._case import Case
from .._case_file import CaseError, cases_in, merged, shipped_cases
from .._catalogue import load_catalogue
from .._collector import old_objects_left_alone
from .._known_failures import KnownFailures, KnownFailuresError, read_known_failures
from .._lanes import Backend, Means
from .._loopback_only import loopback_only
from .._near import near
from .._progress import progress_bar
from .._repeat import repeat_of
from .._reports import clean_result
from .._result import Result, Run, Status
from .._runner import Planned, Runner
from .._scenarios import SCENARIOS
from .._selection import SelectionError, selected
from .._target import TERMINALS, Target, TargetError, load_target, try_factory
from .._terminal import check_line, findings, headline, requirement_line
from ._reports import Outputs, Wanted, report_options

NOTHING_RAN: Final = 5


@click.command(name="run")
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
@click.option(
    "-v", "verbose", is_flag=True, help="A line for every check, and a report of every failure."
)
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
    means = Means(backend=_backend(backend), library=_httpx2() if httpx2 else None)
    judged = _target(target, profile)
    runner = Runner(
        judged,
        cases_with(cases, judged),
        SCENARIOS,
        means=means,
        seed=seed,
        jobs=jobs,
        sweep=cast(Literal["smoke", "full"], sweep),
        stop_at_first=stop,
    )
    if known is not None:
        runner.known = _known(known, runner)
    planned = _selected(runner, _narrowed(select, level))
    if not planned:
        click.echo("dsh-conformance: the selection matches no check", err=True)
        sys.exit(NOTHING_RAN)
    with loopback_only(), old_objects_left_alone():
        click.echo(
            f"dsh-conformance {load_catalogue().edition}  {target}  "
            f"{backend}, {means.client}, seed {seed}"
        )
        for dialect in sorted({*judged.declaration.dialects} - {c.dialect for c in runner.cases}):
            known_ones = ", ".join(sorted(TERMINALS))
            click.echo(f"note: there is no case of dialect {dialect!r}; known: {known_ones}")
        with progress_bar(len(planned)) as advance:
            printer = _Printer(planned, verbose=verbose, advance=advance)
            run = runner.run(planned, printer.take)
    run.cases = None if cases is None else str(cases)
    run.known_failures = None if known is None else str(known)
    printer.close(run)
    told = findings([clean_result(r) for r in run.results], repeat_of(run), every=verbose)
    for block in told:
        click.echo("\n" + block)
    code = outputs.deliver(run)
    click.echo(("\n" if told else "") + headline(run))
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
            plays = next((f" ({r.lane})" for r in rules if r.status is Status.PASS), "")
            click.echo(click.style(f"In every call{plays}:", dim=True))
            for result in rules:
                click.echo(check_line(result))


def _target(name: str, profile: str | None) -> Target:
    try:
        target = load_target(name, profile=profile)
        with loopback_only():
            try_factory(target)
    except TargetError as error:
        group = click.get_current_context().find_root().command
        meant = near(name, group.commands) if isinstance(group, click.Group) else []
        hint = f"; did you mean the command {meant[0]}?" if meant else ""
        raise click.ClickException(f"{error}{hint}") from error
    return target


def cases_with(folder: Path | None, target: Target | None = None) -> tuple[Case, ...]:
    """Return the kit's cases and those of another folder, for any command.

    Raises:
        click.ClickException: A case of the folder cannot be used.
    """
    try:
        return merged(shipped_cases(), () if folder is None else cases_in(folder, target=target))
    except CaseError as error:
        raise click.ClickException(str(error)) from error


def _known(path: Path, runner: Runner) -> KnownFailures:
    ids = {item.check.id for item in runner.plan() + runner.plan_invariants()}
    try:
        entries = read_known_failures(path, known_ids=ids)
    except KnownFailuresError as error:
        raise click.ClickException(str(error)) from error
    return KnownFailures(entries, today=datetime.now(UTC).date())


def _narrowed(select: Sequence[str], level: str | None) -> tuple[str, ...]:
    levels = ("must", "should", "may")
    upto = levels[: levels.index(level) + 1] if level else ()
    known = {requirement.level for requirement in load_catalogue().requirements}
    return (*select, *(f"level:{name}" for name in upto if name in known))


def _selected(runner: Runner, select: Sequence[str]) -> list[Planned]:
    planned, rules = runner.plan(), runner.plan_invariants()
    dialects = {case.id: case.dialect for case in runner.cases}
    try:
        checks = selected(
            [item.check for item in planned],
            select,
            dialect_of=dialects,
            rules=[rule.check for rule in rules],
        )
    except SelectionError as error:
        raise click.ClickException(str(error)) from error
    chosen = {check.id for check in checks}
    return [item for item in [*planned, *rules] if item.check.id in chosen]


def _backend(name: str) -> Backend:
    if find_spec(name) is None:
        raise click.ClickException(f"--backend {name}: {name} is not installed; pip install {name}")
    return cast(Backend, name)


def _httpx2() -> ModuleType:
    try:
        return importlib.import_module("httpx2")
    except ModuleNotFoundError as error:
        raise click.ClickException(
            "--httpx2: httpx2 is not installed; pip install 'dsh-adapter-sdk[httpx2]'"
        ) from error
