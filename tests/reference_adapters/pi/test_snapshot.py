"""A call keeps the profile that it began with; a change reaches the next one."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from adapter_sdk import Finish, LlmFailure, LlmRequest, codes, user
from adapter_sdk.testing import Exchange, FaultServer, Send
from reference_adapters.pi import PiAdapter, PiProfiles, ProfileError

from .answers import EVENT_STREAM, events, finish_of, good

pytestmark = pytest.mark.anyio

ASK: Final = LlmRequest(model="m", messages=(user("Hi"),))
GOOD: Final = good("openai-completions")


def profile(server: FaultServer, **changes: Any) -> dict[str, Any]:
    row = {
        "api": "openai-completions",
        "base_url": server.base_url,
        "api_key_env": "PI_TEST_KEY",
        "models": [{"id": "m"}],
    }
    return {"mine": {**row, **changes}}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_TEST_KEY", "sk-first")


async def test_a_change_after_stream_was_called_does_not_reach_that_call() -> None:
    with FaultServer((GOOD,)) as old, FaultServer((GOOD,)) as new:
        profiles = PiProfiles(profile(old))
        async with PiAdapter(profile="mine", profiles=profiles) as adapter:
            stream = adapter.stream(ASK)  # not awaited yet, so nothing is sent
            profiles.replace(profile(new, models=[{"id": "other"}]))
            chunks = [chunk async for chunk in stream]
            assert isinstance(chunks[-1], Finish)
            assert chunks[-1].failure is None
            assert (len(old.requests), len(new.requests)) == (1, 0)
            # The next call is the new profile's, which has another model.
            refused = await finish_of(adapter, ASK)
        assert refused.failure == LlmFailure(
            code=codes.UNKNOWN_MODEL, message="mine has no model 'm'; it has other"
        )
        assert (len(old.requests), len(new.requests)) == (1, 0)


async def test_a_call_in_flight_goes_on_while_the_next_one_is_elsewhere() -> None:
    first = Exchange(
        200,
        EVENT_STREAM,
        steps=(*GOOD.steps[:1], Send(b": wait\n\n"), *GOOD.steps[1:]),
    )
    with FaultServer((first,)) as old, FaultServer((GOOD,)) as new:
        profiles = PiProfiles(profile(old))
        async with PiAdapter(profile="mine", profiles=profiles) as adapter:
            stream = adapter.stream(ASK)
            begun = [await anext(stream)]
            profiles.replace(profile(new))
            assert (await finish_of(adapter, ASK)).failure is None
            begun += [chunk async for chunk in stream]
        assert isinstance(begun[-1], Finish)
        assert begun[-1].failure is None
        assert (len(old.requests), len(new.requests)) == (1, 1)


async def test_a_refused_set_leaves_the_next_call_as_it_was() -> None:
    with FaultServer((GOOD,)) as server:
        profiles = PiProfiles(profile(server))
        async with PiAdapter(profile="mine", profiles=profiles) as adapter:
            with pytest.raises(ProfileError, match="max_retries"):
                profiles.replace(profile(server, max_retries=3))
            assert (await finish_of(adapter, ASK)).failure is None


async def test_a_profile_that_was_taken_out_refuses_calls_until_it_is_back() -> None:
    with FaultServer((GOOD,)) as server:
        profiles = PiProfiles(profile(server))
        async with PiAdapter(profile="mine", profiles=profiles) as adapter:
            profiles.replace({})
            failure = (await finish_of(adapter, ASK)).failure
            profiles.replace(profile(server))
            assert (await finish_of(adapter, ASK)).failure is None
    assert failure == LlmFailure(
        code=codes.NO_ADAPTER, message="the profile 'mine' was taken out of the set"
    )


async def test_the_named_variable_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer((GOOD, GOOD)) as server:
        async with PiAdapter(profile="mine", profiles=PiProfiles(profile(server))) as adapter:
            assert (await finish_of(adapter, ASK)).failure is None
            monkeypatch.setenv("PI_TEST_KEY", "sk-second")
            assert (await finish_of(adapter, ASK)).failure is None
            monkeypatch.delenv("PI_TEST_KEY")
            failure = (await finish_of(adapter, ASK)).failure
        sent = [dict(request.headers)["authorization"] for request in server.requests]
    assert sent == ["Bearer sk-first", "Bearer sk-second"]
    assert failure == LlmFailure(
        code=codes.MISSING_CREDENTIAL, message="there is no API key: $PI_TEST_KEY gives none"
    )


async def test_the_idle_limit_is_the_profile_s_unless_the_caller_has_one() -> None:
    with FaultServer(()) as server:
        profiles = PiProfiles(profile(server, idle_timeout=7))
    assert PiAdapter(profile="mine", profiles=profiles).idle_timeout == 7.0
    assert PiAdapter(profile="mine", profiles=profiles, idle_timeout=9).idle_timeout == 9.0
    assert PiAdapter(profile="openai", profiles=profiles).idle_timeout == 300.0


async def test_one_body_serves_many_routes_of_the_same_protocol() -> None:
    with FaultServer((GOOD, GOOD)) as server:
        rows = {**profile(server), "also": profile(server)["mine"]}
        bodies = []
        for name in ("mine", "also"):
            async with PiAdapter(profile=name, profiles=PiProfiles(rows)) as adapter:
                await finish_of(adapter, ASK)
        bodies = [json.loads(request.body) for request in server.requests]
    assert bodies[0] == bodies[1]


async def test_the_tail_of_a_stream_needs_its_terminal() -> None:
    """Where a route says that [DONE] always comes, a stream without it was cut."""
    without = Exchange(
        200,
        EVENT_STREAM,
        steps=events({"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}),
    )
    told = []
    with FaultServer((without, without)) as server:
        for compat in ({}, {"terminal": "done-sentinel"}):
            profiles = PiProfiles(profile(server, compat=compat))
            async with PiAdapter(profile="mine", profiles=profiles) as adapter:
                failure = (await finish_of(adapter, ASK)).failure
                told.append(failure and failure.code)
    assert told == [None, codes.STREAM_CLOSED]
