"""Calls over one route: answers, retries, waits and bounds, on a virtual clock."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from adapter_sdk import STOP, LlmError, TokenUsage, codes
from adapter_sdk.lifecycle import (
    Diagnostic,
    LifecycleEvent,
    Recovery,
    ResponseCommitted,
    ResponseStart,
)

from .calling import (
    AUTH,
    RECOVERY,
    REQUEST,
    SERVER,
    Adapter,
    Backend,
    End,
    Says,
    Seen,
    failure,
    lanes,
    new_client,
    run,
    watch,
)


@lanes
def test_a_good_answer_commits_at_once(backend: Backend) -> None:
    async def main() -> tuple[Seen, Adapter]:
        adapter, client = Adapter([Says("Hello")]), new_client()
        client.register_route("a", "m", adapter=adapter, provider="acme")
        return await watch(client), adapter

    seen, adapter = run(backend, main)
    assert seen.words == ["start r0 a", "text r0 Hello", "usage", "committed r0 Hello"]
    committed = seen.outcome
    assert isinstance(committed, ResponseCommitted)
    assert (committed.finish, committed.usage) == (STOP, TokenUsage(1, 2))
    assert (adapter.asked_s, adapter.closed_s) == ([0.0], [0.0])


@lanes
@pytest.mark.parametrize(
    "end",
    [
        pytest.param(SERVER, id="in-band"),
        pytest.param(LlmError(SERVER), id="thrown"),
    ],
)
def test_thrown_and_in_band_failures_are_alike(backend: Backend, end: End) -> None:
    async def main() -> Seen:
        client = new_client()
        client.register_route("a", "m", adapter=Adapter([Says("Hel", end), Says("Hello")]))
        return await watch(client)

    seen = run(backend, main)
    assert seen.words == [
        "start r0 a",
        "text r0 Hel",
        "interrupted r0 SERVER 200 backoff",
        "start r1 a",
        "text r1 Hello",
        "usage",
        "committed r1 Hello",
    ]
    assert seen.times[2:4] == [0.0, 0.2]


@lanes
@pytest.mark.parametrize(
    ("end", "code"),
    [
        pytest.param(AUTH, codes.AUTH, id="auth"),
        pytest.param(failure(codes.INVALID_REQUEST), codes.INVALID_REQUEST, id="invalid"),
        pytest.param(failure(codes.UNSUPPORTED_OPTION), codes.UNSUPPORTED_OPTION, id="local"),
        pytest.param(failure(codes.MALFORMED_RESPONSE), codes.MALFORMED_RESPONSE, id="protocol"),
        pytest.param("no-finish", codes.STREAM_CLOSED, id="no-finish"),
        pytest.param(RuntimeError("a bug"), codes.UNKNOWN, id="a-bug"),
    ],
)
def test_what_does_not_recover_ends_the_call_and_never_raises(
    backend: Backend, end: End, code: str
) -> None:
    async def main() -> tuple[Seen, Any]:
        client = new_client()
        client.register_route("a", "m", adapter=Adapter([Says("Hel", end), Says("Hello")]))
        client.register_route("b", "m", adapter=Adapter([Says("never asked")]))
        return await watch(client), await client.complete(REQUEST)

    seen, outcome = run(backend, main)
    assert seen.words == ["start r0 a", "text r0 Hel", f"failed r0 {code}"]
    assert outcome.type == "response/committed"  # by then the route answers


@lanes
def test_recovery_is_unbounded_and_its_counts_are_visible(backend: Backend) -> None:
    """Eleven hours of failures, then an answer: the wait doubles up to ten minutes."""

    async def main() -> tuple[Seen, Adapter]:
        adapter, client = Adapter([Says(end=SERVER)] * 80 + [Says("at last")]), new_client()
        client.register_route("a", "m", adapter=adapter)
        return await watch(client), adapter

    seen, adapter = run(backend, main)
    starts = [event for event in seen.events if isinstance(event, ResponseStart)]
    assert [event.response_index for event in starts] == list(range(81))
    waits = [event.scheduled_retry_ms for event in seen.events if event.type[:12] == "response/int"]
    assert waits == [min(200 * 2**n, 600_000) for n in range(80)]
    assert isinstance(seen.outcome, ResponseCommitted)
    assert seen.times[-1] > 11 * 3600
    # Each response was closed before its wait began.
    assert adapter.closed_s == adapter.asked_s


@lanes
@pytest.mark.parametrize(
    ("hint_ms", "words"),
    [
        pytest.param(7_000, "7000 provider", id="a-hint"),
        pytest.param(1, "1 provider", id="a-short-hint"),
        pytest.param(36_000_000, "600000 provider-capped", id="ten-hours"),
    ],
)
def test_the_providers_delay_is_used_and_recorded(
    backend: Backend, hint_ms: int, words: str
) -> None:
    async def main() -> tuple[Seen, list[Diagnostic]]:
        told: list[Diagnostic] = []
        client = new_client()
        slow = failure(codes.RATE_LIMIT, status=429, provider_retry_after_ms=hint_ms)
        client.register_route("a", "m", adapter=Adapter([Says(end=slow), Says("Hello")]))
        client.on_diagnostic(told.append)
        return await watch(client), told

    seen, (note,) = run(backend, main)
    assert seen.words[1] == f"interrupted r0 RATE_LIMIT {words}"
    assert seen.times[2] == pytest.approx(min(hint_ms, 600_000) / 1000)
    assert (note.hint_ms, note.rest_ms, note.rest_source) == (
        hint_ms,
        note.wait_ms,
        words.split()[1],
    )
    assert (note.action, note.next_route_id) == ("retry", "a")


@lanes
@pytest.mark.parametrize(
    ("recovery", "words", "ended_s"),
    [
        pytest.param(
            replace(RECOVERY, max_responses=1), ["start r0 a", "failed r0 SERVER"], 0.0, id="one"
        ),
        pytest.param(
            replace(RECOVERY, max_responses=2),
            ["start r0 a", "interrupted r0 SERVER 200 backoff", "start r1 a", "failed r1 SERVER"],
            0.2,
            id="two-responses",
        ),
        pytest.param(
            replace(RECOVERY, max_elapsed=0.5),
            ["start r0 a", "interrupted r0 SERVER 200 backoff", "start r1 a", "failed r1 SERVER"],
            0.2,  # the next wait would end at 0.6
            id="half-a-second",
        ),
    ],
)
def test_a_provider_that_fails_for_ever_is_given_up_on_under_a_bound(
    backend: Backend, recovery: Recovery, words: list[str], ended_s: float
) -> None:
    async def main() -> Seen:
        client = new_client(recovery)
        client.register_route("a", "m", adapter=Adapter([Says(end=SERVER)]))
        return await watch(client)

    seen = run(backend, main)
    assert (seen.words, seen.times[-1]) == (words, ended_s)


@lanes
def test_complete_is_the_last_event_of_the_same_stream(backend: Backend) -> None:
    async def main() -> list[LifecycleEvent]:
        ends = []
        for script in ([Says(end=SERVER), Says("Hello")], [Says(end=AUTH)]):
            both = []
            for _ in range(2):
                client = new_client()
                client.register_route("a", "m", adapter=Adapter(script))
                both.append(client)
            ends += [(await watch(both[0])).outcome, await both[1].complete(REQUEST)]
        return ends

    committed, completed, failed, refused = run(backend, main)
    assert committed == completed
    assert failed == refused
    assert (committed.type, failed.type) == ("response/committed", "response/failed")
