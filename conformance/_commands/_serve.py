"""``dsh-conformance serve``: one case for any client, in any language."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from .._case import Case
from .._case_file import CaseError, cases_in, merged, shipped_cases
from .._loopback_port import PortError
from .._near import did_you_mean
from .._stopping import until_stopped

# What a person who tries a client by hand can wait for.
_IDLE_S = 1.0

# In one line; some requirements have a hundred.
_MOST_LISTED: Final = 12


@click.command(name="serve")
@click.argument("wanted", metavar="CASE")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Free where left out.")
@click.option(
    "--idle",
    "idle_s",
    type=click.FloatRange(min=0.01, max=3600),
    default=_IDLE_S,
    show_default=True,
    help="The client's idle limit in seconds: the unit of the case's pauses.",
)
@click.option("--times", type=click.IntRange(min=1), help="Rounds; until Ctrl-C where left out.")
@click.option("--cases", type=click.Path(path_type=Path), help="A folder of more case files.")
def serve_command(
    wanted: str, *, port: int, idle_s: float, times: int | None, cases: Path | None
) -> None:
    """Serve CASE to any client and tell what the client does."""
    from .._serve import CaseServer, ServeError, curl_line

    case = case_called(wanted, cases)
    try:
        server = CaseServer(case, port=port, idle_s=idle_s, tell=click.echo)
        with until_stopped(), server:
            click.echo(f"{case.id} ({case.dialect}): {case.title}")
            click.echo(f"  base URL  {server.base_url}")
            click.echo(f"  try       {curl_line(case, server.base_url)}")
            click.echo(f"  expected  {expected_of(case)}")
            click.echo(f"  idle limit {idle_s:g} s; ends " + ends_when(times))
            server.serve(times)
    except (PortError, ServeError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{counted(server.clients, 'client')}, {counted(server.requests, 'request')}")
    if server.requests_elsewhere:
        elsewhere = counted(server.requests_elsewhere, "request")
        click.echo(f"{elsewhere} went to another origin, where the case had pointed")


def case_called(wanted: str, folder: Path | None) -> Case:
    """Return the case with the id ``wanted``.

    Raises:
        click.ClickException: There is none, or a case file that cannot be used.
    """
    try:
        cases = merged(shipped_cases(), () if folder is None else cases_in(folder))
    except CaseError as error:
        raise click.ClickException(str(error)) from error
    for case in cases:
        if case.id == wanted:
            return case
    raise click.ClickException(f"{wanted}: {_no_case(wanted, cases)}")


def _no_case(wanted: str, cases: Sequence[Case]) -> str:
    from .._explain import catalogue_data
    from .._scenarios import SCENARIOS

    requirements = catalogue_data(cases, SCENARIOS)["requirements"]
    checks = [check for requirement in requirements for check in requirement["checks"]]
    if any(check["id"] == wanted for check in checks):
        return f"is a check in code, which cannot be served; see dsh-conformance explain {wanted}"
    name = wanted.strip("/").replace("_", "-")
    names = [requirement["id"] for requirement in requirements]
    own = [case.id for case in cases if case.requirement == name]
    if name in names and not own:
        return "is a requirement without a case: it is checked in code, which cannot be served"
    if name in names:
        rest = len(own) - _MOST_LISTED
        more = f" and {rest} more; see dsh-conformance explain {name}" if rest > 0 else ""
        return f"is a requirement; its cases are {', '.join(own[:_MOST_LISTED])}{more}"
    meant = did_you_mean(wanted, [case.id for case in cases] if "/" in wanted else names)
    return f"no case has this id{meant or '; see dsh-conformance list --json'}"


def expected_of(case: Case) -> str:
    """Return what the client should report, in one line."""
    expect = case.expect
    failure = expect.failure
    stated = {} if failure is None else failure.model_dump(exclude_none=True)
    facts = ", ".join(f"{name} {value}" for name, value in stated.items())
    return f"{expect.outcome}{': ' * bool(facts)}{facts}; {counted(expect.requests, 'request')}"


def ends_when(times: int | None) -> str:
    """Return when serving ends, in words."""
    return "with Ctrl-C" if times is None else f"after {counted(times, 'round')}"


def counted(number: int, noun: str) -> str:
    """Return ``3 requests`` or ``1 request``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
