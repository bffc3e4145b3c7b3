"""The commands beside a run that need no report: one line here for each."""

from __future__ import annotations

from typing import Final

import click

from ._doctor import doctor_command
from ._fixtures import fixtures_command
from ._init import init_command
from ._record import record_command
from ._repro import repro_command
from ._selftest import selftest_command
from ._serve import serve_command

TOOLS: Final = (
    doctor_command,
    fixtures_command,
    init_command,
    record_command,
    repro_command,
    selftest_command,
    serve_command,
)


def register_tools(group: click.Group) -> None:
    """Add the commands to ``group``."""
    for command in TOOLS:
        group.add_command(command)
