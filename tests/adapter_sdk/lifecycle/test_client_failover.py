"""Calls over several routes: who is asked next, and which models may stand in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapter_sdk import LlmFailure, Tool, codes
from adapter_sdk.lifecycle import Diagnostic, ResponseStart, RouteCapabilities

from .calling import (
    AUTH,
    RECOVERY,
    REQUEST,
    SERVER,
    TIMEOUT,
    Adapter,
    Backend,
    Says,
    Seen,
    failure,
    lanes,
    new_client,
    run,
    watch,
)


@lanes
def test_failover_goes_to_the_next_route_at_once(backend: Backend) -> None:
    async def main() -> tuple[Seen, list[Diagnostic]]:
        told: list[Diagnostic] = []
        client = new_client()
        client.on_diagnostic(told.append)
        client.register_route("a", "m", adapter=Adapter([Says("Hel", SERVER)]), priority=1)
        client.register_route("b", "m", adapter=Adapter([Says("Hello")]))
        return await watch(client), told

    seen, (note,) = run(backend, main)
    assert seen.words == [
        "start r0 a",
        "text r0 Hel",
        "interrupted r0 SERVER",
        "start r1 b",
        "text r1 Hello",
        "usage",
        "committed r1 Hello",
    ]
    assert set(seen.times) == {0.0}
    assert (note.action, note.route_id, note.next_route_id) == ("failover", "a", "b")
    assert note.reason == "the route rests 200 ms, our own backoff; the provider named no delay"


@lanes
def test_each_failed_route_rests_and_the_first_rested_is_asked(backend: Backend) -> None:
    async def main() -> tuple[Seen, Adapter, Adapter]:
        slow = failure(codes.RATE_LIMIT, status=429, provider_retry_after_ms=5_000)
        a = Adapter([Says(end=slow), Says("Hello")])
        b = Adapter([Says(end=SERVER)])
        client = new_client()
        client.register_route("a", "m", adapter=a, priority=1)
        client.register_route("b", "m", adapter=b)
        return await watch(client), a, b

    seen, a, b = run(backend, main)
    # b backs off 0.2, 0.4, 0.8, 1.6, 3.2 s; at 5 s the provider of a said yes again.
    assert b.asked_s == pytest.approx([0.0, 0.2, 0.6, 1.4, 3.0])
    assert a.asked_s == [0.0, 5.0]
    assert seen.words[-1] == "committed r6 Hello"
    assert "interrupted r5 SERVER 2000 provider" in seen.words


def covers(*names: str) -> RouteCapabilities:
    return RouteCapabilities(**dict.fromkeys(names, True))


@lanes
@pytest.mark.parametrize(
    ("end", "asked"),
    [
        pytest.param(SERVER, ["a", "same", "other"], id="unavailable"),
        pytest.param(failure(codes.RATE_LIMIT, status=429), ["a", "same", "a"], id="rate-limit"),
        pytest.param(TIMEOUT, ["a", "same", "a"], id="timeout"),
        pytest.param(AUTH, ["a"], id="auth"),
    ],
)
def test_failover_stays_within_its_scope_and_the_requests_needs(
    backend: Backend, end: LlmFailure, asked: list[str]
) -> None:
    async def main() -> Seen:
        client = new_client(replace(RECOVERY, max_responses=3), compatible_models={"m": ["m-mini"]})
        tools = covers("tools")
        for route_id, model, capabilities in (
            ("a", "m", tools),
            ("text-only", "m", covers("images", "stop")),
            ("same", "m", tools),
            ("foreign", "another-model", tools),
            ("other-text-only", "m-mini", covers()),
            ("other", "m-mini", tools),
        ):
            client.register_route(
                route_id, model, adapter=Adapter([Says("x", end)]), capabilities=capabilities
            )
        return await watch(client, replace(REQUEST, tools=(Tool("f"),)))

    seen = run(backend, main)
    assert [e.route_id for e in seen.events if isinstance(e, ResponseStart)] == asked


@lanes
def test_a_model_that_stands_in_may_be_asked_again(backend: Backend) -> None:
    """What only its own model may answer is asked of it, and of the model that was wanted."""

    async def main() -> Seen:
        down = failure(status=503, provider_retry_after_ms=60_000)
        slow = failure(codes.RATE_LIMIT, status=429, provider_retry_after_ms=1_000)
        client = new_client(compatible_models={"m": ("m-mini", "m-nano")})
        client.register_route("a", "m", adapter=Adapter([Says(end=down)]))
        client.register_route("b", "m-mini", adapter=Adapter([Says(end=slow), Says("Hello")]))
        client.register_route("c", "m-nano", adapter=Adapter([Says("never asked")]))
        return await watch(client)

    seen = run(backend, main)
    assert seen.words[:4] == [
        "start r0 a",
        "interrupted r0 SERVER",
        "start r1 b",
        "interrupted r1 RATE_LIMIT 1000 provider",
    ]
    assert seen.words[-1] == "committed r2 Hello"


@lanes
def test_without_a_word_of_the_caller_no_other_model_answers(backend: Backend) -> None:
    async def main() -> Seen:
        client = new_client(replace(RECOVERY, max_responses=2))
        client.register_route("a", "m", adapter=Adapter([Says(end=SERVER)]))
        client.register_route("b", "m-mini", adapter=Adapter([Says("Hello")]))
        return await watch(client)

    assert run(backend, main).words[-1] == "failed r1 SERVER"


@lanes
def test_a_compatible_model_commits_under_its_own_name(backend: Backend) -> None:
    async def main() -> Seen:
        client = new_client(compatible_models={"m": ("m-mini",)})
        client.register_route("a", "m", adapter=Adapter([Says(end=SERVER)]))
        client.register_route("b", "m-mini", adapter=Adapter([Says("Hello")]), wire_model="v/mini")
        return await watch(client)

    committed = run(backend, main).outcome
    assert committed.route.to_json() == {
        "routeId": "b",
        "model": "m-mini",
        "wireModel": "v/mini",
        "provider": "b",
    }
