"""Calls under other policies, and what listeners of diagnostics are told."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from typing_extensions import override

from adapter_sdk import codes
from adapter_sdk.lifecycle import Diagnostic, FailedResponse, GiveUp, Recovery
from adapter_sdk.retry import Delay, Random

from .calling import (
    AUTH,
    RECOVERY,
    SERVER,
    Adapter,
    Backend,
    End,
    Says,
    Seen,
    lanes,
    new_client,
    run,
    watch,
)


class TwiceThenStop(Recovery):
    """A policy of somebody else: retries a bad key once, at once, and nothing else."""

    @override
    def decide(self, failed: FailedResponse, *, random: Random) -> Delay | GiveUp:
        if failed.failure.code == codes.AUTH and failed.route_failures == 1:
            return Delay(0, "backoff")
        return GiveUp("not ours")


@lanes
def test_another_policy_takes_the_place_of_the_default(backend: Backend) -> None:
    async def main() -> list[list[str]]:
        words = []
        for end in (AUTH, SERVER):
            client = new_client(TwiceThenStop())
            client.register_route("a", "m", adapter=Adapter([Says(end=end)]))
            words.append((await watch(client)).words)
        return words

    assert run(backend, main) == [
        ["start r0 a", "interrupted r0 AUTH", "start r1 a", "failed r1 AUTH"],
        ["start r0 a", "failed r0 SERVER"],
    ]


@lanes
def test_a_listener_that_raises_is_logged_and_changes_nothing(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> tuple[Seen, list[Diagnostic]]:
        told: list[Diagnostic] = []
        client = new_client()

        def broken(_: Diagnostic) -> None:
            raise ZeroDivisionError("a bug of the listener")

        client.on_diagnostic(broken)
        dispose = client.on_diagnostic(told.append)
        script = [Says(end=SERVER), Says("Hello")] * 2
        client.register_route("a", "m", adapter=Adapter(script))
        seen = await watch(client)
        dispose()
        await watch(client)
        return seen, told

    with caplog.at_level(logging.ERROR, "adapter_sdk.lifecycle"):
        seen, told = run(backend, main)
    assert seen.words[-1] == "committed r1 Hello"
    assert [note.action for note in told] == ["retry"]
    assert [record.message for record in caplog.records] == ["a listener of diagnostics raised"] * 2


@lanes
@pytest.mark.parametrize(
    ("recovery", "end", "reason"),
    [
        pytest.param(RECOVERY, AUTH, "auth is not recovered from", id="never"),
        pytest.param(replace(RECOVERY, max_responses=1), SERVER, "max_responses is 1", id="bound"),
        pytest.param(
            replace(RECOVERY, max_elapsed=0.1),
            SERVER,
            "a wait of 200 ms ends after the call's time",
            id="time",
        ),
        pytest.param(
            replace(RECOVERY, max_elapsed=0.1),
            "hang",
            "the time of the whole call is over",
            id="time-is-over",
        ),
    ],
)
def test_a_diagnostic_says_why_the_call_was_given_up(
    backend: Backend, recovery: Recovery, end: End, reason: str
) -> None:
    async def main() -> list[Diagnostic]:
        told: list[Diagnostic] = []
        client = new_client(recovery)
        client.on_diagnostic(told.append)
        client.register_route("a", "m", adapter=Adapter([Says(end=end)]))
        await watch(client)
        return told

    (note,) = run(backend, main)
    assert (note.action, note.next_route_id, note.reason) == ("give-up", None, reason)
    assert (note.response_id, note.response_index, note.route_id) == ("r0", 0, "a")
