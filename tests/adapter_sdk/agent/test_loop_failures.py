"""The step loop and failures: what the chain is asked, what it decides, what never reaches it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from adapter_sdk import (
    STOP,
    AbortSignal,
    Chunk,
    LlmRequest,
    LlmRuntime,
    Middleware,
    assistant,
    user,
)
from adapter_sdk.agent import CallNext, Decision, RequestError, StepLoop, Turn
from adapter_sdk.session import MemoryLog, derive_messages

from .playing import BUSY, REQUEST, Player, fails, half, loop_over, says, types_of
from .turning import always_retry, end_of

pytestmark = pytest.mark.anyio


async def test_a_failure_is_asked_about_with_the_whole_payload() -> None:
    asked: list[RequestError] = []
    signal, policy = AbortSignal(), object()

    async def note(payload: RequestError, call_next: CallNext) -> Decision:
        asked.append(payload)
        return await call_next(payload)

    log = MemoryLog()
    loop = loop_over(log, Player([fails(BUSY)]), note, retry_policy=policy)
    assert await loop.run_turn("Hi", abort=signal) == Turn(1, "error", None, BUSY)
    assert asked == [RequestError(1, 1, "example", BUSY, policy, signal)]
    assert end_of(log) == {"turn": 1, "reason": "error", "error": BUSY.to_json()}


async def test_retry_runs_the_same_step_again_over_the_same_history() -> None:
    log = MemoryLog()
    player = Player([fails(BUSY, *half("No")), fails(BUSY), says("Noon.")])
    turn = await loop_over(log, player, always_retry).run_turn("Hi")
    assert turn == Turn(1, "complete", assistant("Noon."))
    assert player.requests[0] == player.requests[1] == player.requests[2]
    headers = [event.data for event in log.events if event.type == "request/header"]
    assert headers == [{"turn": 1, "step": 1, "attempt": n} for n in (1, 2, 3)]
    assert types_of(log.events).count("step/start") == 1
    # Partial chunks stay with the failed attempt.
    assert derive_messages(log.events) == (user("Hi"), assistant("Noon."))
    (committed,) = (e for e in log.events if e.type == "assistant/message")
    third = [e.seq for e in log.events if e.type == "assistant/chunk"][-4:]
    assert committed.source_event_seqs == tuple(third)


async def test_a_provider_failure_commits_nothing() -> None:
    log = MemoryLog()
    await loop_over(log, Player([fails(BUSY, *half("Half of it"))])).run_turn("Hi")
    assert derive_messages(log.events) == (user("Hi"),)
    assert "assistant/message" not in types_of(log.events)


async def test_what_a_foreign_adapter_raises_is_a_failure_that_the_chain_may_retry() -> None:
    log = MemoryLog()
    player = Player([[*half("x"), ValueError("odd")], says("Noon.")])
    turn = await loop_over(log, player, always_retry).run_turn("Hi")
    assert turn.message == assistant("Noon.")


async def test_an_unknown_provider_is_a_failure_like_any_other() -> None:
    log = MemoryLog()
    loop = StepLoop(log, LlmRuntime(), provider="nobody", request=REQUEST)
    turn = await loop.run_turn("Hi")
    assert turn.failure is not None
    assert (turn.reason, turn.failure.code) == ("error", "NO_ADAPTER")


async def test_the_first_listener_is_outermost_and_one_that_is_disposed_of_is_not_asked() -> None:
    seen: list[str] = []

    def named(name: str) -> Callable[[RequestError, CallNext], Any]:
        async def listener(payload: RequestError, call_next: CallNext) -> Decision:
            seen.append(f"{name} in")
            decision = await call_next(payload)
            seen.append(f"{name} out")
            return decision

        return listener

    loop = loop_over(MemoryLog(), Player([fails(BUSY)] * 2), named("a"))
    dispose = loop._chain.register(named("b"))
    await loop.run_turn("Hi")
    assert seen == ["a in", "b in", "b out", "a out"]
    seen.clear()
    dispose()
    dispose()
    await loop.run_turn("Hi")
    assert seen == ["a in", "a out"]


async def raises(_: RequestError, __: CallNext) -> Decision:
    raise LookupError("of the listener")


async def answers_yes(_: RequestError, __: CallNext) -> Any:
    return True


@pytest.mark.parametrize(
    ("listener", "error", "message"),
    [
        (raises, LookupError, "of the listener"),
        (answers_yes, TypeError, "request_error: 'retry' or None, got True"),
    ],
)
async def test_a_listener_that_raises_ends_the_turn(
    listener: Any, error: type[Exception], message: str
) -> None:
    log = MemoryLog()
    player = Player([fails(BUSY, *half("x")), says("Later.")])
    loop = loop_over(log, player, listener)
    with pytest.raises(error, match=message):
        await loop.run_turn("Hi")
    assert end_of(log) == {"turn": 1, "reason": "fault"}
    assert len(player.requests) == 1
    assert (await loop.run_turn("And now?")).reason == "complete"


async def test_direct_callers_of_stream_stay_single_attempt() -> None:
    player = Player([fails(BUSY), says("Noon.")])
    loop = loop_over(MemoryLog(), player, always_retry)
    chunks = [c async for c in loop._runtime.stream("example", LlmRequest(model="m", messages=()))]
    assert chunks == fails(BUSY)
    assert len(player.requests) == 1


async def raises_in_between(request: LlmRequest, call_next: Any) -> AsyncIterator[Chunk]:
    async for chunk in call_next(request):
        yield chunk
        raise LookupError("of the middleware")


async def raises_at_once(request: LlmRequest, call_next: Any) -> AsyncIterator[Chunk]:
    raise LookupError("of the middleware")
    yield STOP


async def bad_prompt(_: LlmRequest) -> LlmRequest:
    raise LookupError("of the prompt")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"middleware": [raises_at_once]}, "of the middleware"),
        ({"middleware": [raises_in_between]}, "of the middleware"),
        ({"prompt": bad_prompt}, "of the prompt"),
    ],
    ids=["middleware at once", "middleware in between", "prompt"],
)
async def test_errors_of_middleware_and_prompts_never_reach_the_chain(
    options: dict[str, Any], message: str
) -> None:
    asked: list[RequestError] = []

    async def note(payload: RequestError, _: CallNext) -> Decision:
        asked.append(payload)
        return "retry"

    log = MemoryLog()
    loop = loop_over(log, Player([says("x")]), note, **options)
    with pytest.raises(LookupError, match=message):
        await loop.run_turn("Hi")
    assert asked == []
    assert end_of(log) == {"turn": 1, "reason": "fault"}
    assert derive_messages(log.events) == (user("Hi"),)


async def test_layers_of_middleware_see_each_attempt() -> None:
    seen: list[int] = []

    async def count(request: LlmRequest, call_next: Any) -> AsyncIterator[Chunk]:
        seen.append(len(request.messages))
        async for chunk in call_next(request):
            yield chunk

    layers: list[Middleware] = [count]
    player = Player([fails(BUSY), says("x")])
    await loop_over(MemoryLog(), player, always_retry, middleware=layers).run_turn("Hi")
    assert seen == [1, 1]
