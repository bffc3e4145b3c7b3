"""``dsh-conformance doctor``: is it the machine, the target, or neither?"""

from __future__ import annotations

import itertools
import sys
from typing import Final

import click

from .._reports import clean

_MARKS: Final = {"good": ("✓", "green"), "bad": ("✗", "red"), "note": ("!", "yellow")}
_UNFIT = 1
_NO_TARGET = 4


@click.command(name="doctor")
@click.argument("target")
@click.option("--profile", help="A profile that the adapter declares.")
def doctor_command(*, target: str, profile: str | None) -> None:
    """Look at this machine and at TARGET, step by step, and say what to do."""
    from .._doctor._machine import machine
    from .._doctor._target import target_called

    code = 0
    for finding in itertools.chain(machine(), target_called(target, profile)):
        mark, colour = _MARKS[finding.mark]
        click.echo(f"{click.style(mark, fg=colour)} {' '.join(clean(finding.what).split())}")
        if finding.remedy:
            click.echo(f"    {finding.remedy}")
        if finding.mark == "bad":
            code = _NO_TARGET if finding.stops else code or _UNFIT
    click.echo("ready to be judged" if not code else "not ready to be judged")
    sys.exit(code)
