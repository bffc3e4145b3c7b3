"""A fault server for a test that stands alone: it plays exchanges, or a case of the kit."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from adapter_sdk.testing import Exchange, FaultServer

from .._case import Case
from .._lanes import IDLE_S
from .._play import Setting, exchanges

# Where a case redirects to another origin: nothing answers there.
_NOWHERE: Final = "http://127.0.0.1:1"


def started(script: Case | Iterable[Exchange], **options: Any) -> FaultServer:
    """Return a server that plays ``script``; enter it to start it.

    Args:
        script: What it answers, in order. The pauses of a case are those of a run: its idle
            limit is a quarter of a second.
        options: See ``FaultServer``.
    """
    if not isinstance(script, Case):
        return FaultServer(list(script), **options)
    setting = Setting(
        idle_s=IDLE_S,
        now=datetime.now(UTC),
        request_id_headers=("x-request-id", "x-trace-id", "x-other-id"),
        other_origin=_NOWHERE,
        nonce="alone",
    )
    return FaultServer(exchanges(script, setting), **options)
