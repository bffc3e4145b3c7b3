"""Calls whose route is disposed of while they run."""

from __future__ import annotations

from typing import Any

import pytest

from adapter_sdk import codes
from adapter_sdk.lifecycle import (
    AssistantChunk,
    Diagnostic,
    LifecycleEvent,
    ResponseInterrupted,
    ResponseStart,
)

from .calling import REQUEST, SERVER, Adapter, Backend, Says, Seen, lanes, new_client, run, watch


@lanes
def test_a_route_that_is_disposed_of_while_it_serves_goes_on_serving(backend: Backend) -> None:
    async def main() -> tuple[Seen, Any]:
        client = new_client()
        dispose = client.register_route("a", "m", adapter=Adapter([Says("Hello")]))

        async def on_event(event: LifecycleEvent) -> None:
            if isinstance(event, ResponseStart):
                dispose()

        return await watch(client, on_event=on_event), await client.complete(REQUEST)

    seen, after = run(backend, main)
    assert seen.words[-1] == "committed r0 Hello"
    assert after.failure.code == codes.UNKNOWN_MODEL


@lanes
@pytest.mark.parametrize("other", [False, True], ids=["the-last-route", "another-is-left"])
def test_a_route_that_is_disposed_of_in_its_wait_is_not_asked_again(
    backend: Backend, other: bool
) -> None:
    async def main() -> tuple[Seen, Adapter]:
        client, adapter = new_client(), Adapter([Says(end=SERVER)])
        dispose = client.register_route("a", "m", adapter=adapter)

        async def on_event(event: LifecycleEvent) -> None:
            if isinstance(event, ResponseInterrupted):
                dispose()
                if other:
                    client.register_route("b", "m", adapter=Adapter([Says("Hello")]))

        return await watch(client, on_event=on_event), adapter

    seen, adapter = run(backend, main)
    assert seen.words[-1] == ("committed r1 Hello" if other else "failed None SERVER")
    assert adapter.asked_s == [0.0]


@lanes
def test_the_last_route_disposed_of_while_its_response_fails_ends_the_call(
    backend: Backend,
) -> None:
    async def main() -> tuple[Seen, list[Diagnostic]]:
        told: list[Diagnostic] = []
        client = new_client()
        client.on_diagnostic(told.append)
        dispose = client.register_route("a", "m", adapter=Adapter([Says("Hel", SERVER)]))

        async def on_event(event: LifecycleEvent) -> None:
            if isinstance(event, AssistantChunk):
                dispose()

        return await watch(client, on_event=on_event), told

    seen, (note,) = run(backend, main)
    assert seen.words == ["start r0 a", "text r0 Hel", "failed r0 SERVER"]
    assert note.reason == "no route that fits is left"
