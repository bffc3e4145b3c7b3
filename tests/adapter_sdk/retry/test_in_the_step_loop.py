"""The executor on a real loop and a real log: what is sent, what is written, what is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import anyio
import pytest

from adapter_sdk import AbortSignal, BaseAdapter, LlmRequest, LlmRuntime, codes
from adapter_sdk.agent import RequestErrorChain, StepLoop, Turn
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.retry import (
    AlwaysRetry,
    Backoff,
    NormalRetry,
    RetryExecutor,
    RetryInvariant,
    RetryPolicy,
    check_retry_events,
    plain_lines,
    retry_status,
)
from adapter_sdk.session import MemoryLog, derive_messages
from adapter_sdk.testing import Exchange, Scripted, Send, run_virtual, scripted_client

Backend = Literal["asyncio", "trio"]
lanes = pytest.mark.parametrize("backend", ["asyncio", "trio"])

STREAM: Final = (("content-type", "text/event-stream"),)
HELLO: Final = Exchange(
    200,
    STREAM,
    body=b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n",
)
DRAFT: Final = Exchange(
    200,
    STREAM,
    steps=(Send(b'data: {"choices":[{"index":0,"delta":{"content":"A draft"}}]}\n\n'),),
    ending="reset",
)
SLOW: Final = Exchange(429, (("retry-after", "7"),), body=b'{"error":"slow down"}')
BUSY: Final = Exchange(503, body=b'{"error":"busy"}')
NO_KEY: Final = Exchange(401, body=b'{"error":"who are you?"}')

STEADY: Final = Backoff(jitter_ratio=0)


class Acme(BaseAdapter):
    dialect = OpenAIChat(terminal="done-sentinel")
    default_base_url = "http://acme.invalid"


@dataclass
class Stage:
    """A loop over a script of exchanges, with the executor mounted."""

    scripted: Scripted
    log: MemoryLog
    loop: StepLoop
    executor: RetryExecutor

    def retries(self) -> list[dict[str, Any]]:
        return [dict(e.data) for e in self.log.events if e.type == "llm/retry"]

    def texts(self) -> list[str]:
        return [message.text for message in derive_messages(self.log.events)]


def stage(exchanges: list[Exchange], policy: RetryPolicy) -> Stage:
    scripted = scripted_client(exchanges)
    runtime, chain = LlmRuntime(), RequestErrorChain()
    runtime.register("acme", Acme(api_key="k", http_client=scripted.client))
    # The virtual loop begins at 0, so the log does too.
    log = MemoryLog(
        invariants=[RetryInvariant()], now_ms=lambda: round(anyio.current_time() * 1000)
    )
    loop = StepLoop(
        log,
        runtime,
        provider="acme",
        request=LlmRequest(model="m", messages=()),
        request_error=chain,
        retry_policy=policy,
    )
    return Stage(scripted, log, loop, RetryExecutor(log, register=chain.register))


@lanes
@pytest.mark.parametrize(
    ("exchanges", "policy", "delays", "reason", "line"),
    [
        pytest.param([HELLO], NormalRetry(), [], "complete", None, id="no-failure"),
        pytest.param(
            [SLOW, DRAFT, HELLO],
            NormalRetry(backoff=STEADY),
            [7000, 1000],
            "complete",
            "retry 2/5 acme TRANSPORT 200: started, 7 characters withdrawn",
            id="the-providers-wait-then-ours",
        ),
        pytest.param(
            [BUSY] * 3,
            NormalRetry(max_retries=2, backoff=STEADY),
            [500, 1000],
            "error",
            "retry 2/2 acme gave up: SERVER 503: busy",
            id="exhausted",
        ),
        pytest.param([NO_KEY], NormalRetry(), [], "error", None, id="not-in-the-set"),
        pytest.param(
            [NO_KEY, NO_KEY, HELLO],
            AlwaysRetry(backoff=STEADY),
            [500, 1000],
            "complete",
            "retry 2/∞ acme AUTH 401: started",
            id="always",
        ),
    ],
)
def test_a_turn_is_retried_by_its_policy(
    backend: Backend,
    exchanges: list[Exchange],
    policy: RetryPolicy,
    delays: list[int],
    reason: str,
    line: str | None,
) -> None:
    async def main() -> tuple[Turn, Stage]:
        staged = stage(exchanges, policy)
        turn = await staged.loop.run_turn("Hi")
        await staged.executor.dispose()
        await staged.scripted.client.aclose()
        return turn, staged

    turn, staged = run_virtual(backend, main)
    assert turn.reason == reason
    assert [retry["delayMs"] for retry in staged.retries()] == delays
    assert len(staged.scripted.requests) == len(exchanges)  # one attempt each, no hidden ones
    assert check_retry_events(staged.log.events) == []
    # Partial text stays with its failed attempt and never reaches the model.
    assert staged.texts() == (["Hi", "Hello"] if reason == "complete" else ["Hi"])
    lines = plain_lines(retry_status(staged.log.events), now_ms=0)
    assert lines == ([] if line is None else [line])
    # The body is the same at every attempt: a failed one leaves no trace in the history.
    assert len({request.content for request in staged.scripted.requests}) == 1


@lanes
@pytest.mark.parametrize("stop", ["dispose", "abort", "cancel"])
def test_what_is_stopped_in_its_backoff_asks_no_more(backend: Backend, stop: str) -> None:
    async def main() -> tuple[list[Turn], Stage]:
        staged, abort, turns = stage([SLOW, HELLO], NormalRetry()), AbortSignal(), []

        async def talk() -> None:
            turns.append(await staged.loop.run_turn("Hi", abort=abort))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk)
            await anyio.wait_all_tasks_blocked()
            match stop:
                case "dispose":
                    await staged.executor.dispose()
                case "abort":
                    abort.abort()
                case _:
                    tasks.cancel_scope.cancel()
        assert staged.scripted.open_responses == 0
        await staged.scripted.client.aclose()
        assert anyio.current_time() < 1  # the seven seconds were not waited for
        return turns, staged

    turns, staged = run_virtual(backend, main)
    reasons = {"dispose": ["error"], "abort": ["aborted"], "cancel": []}
    assert [turn.reason for turn in turns] == reasons[stop]
    assert len(staged.scripted.requests) == 1
    assert [event.type for event in staged.log.events][-1] == "turn/end"
    assert "llm/retry-started" not in {event.type for event in staged.log.events}
    (row,) = retry_status(staged.log.events)
    assert (row.state, row.reason, row.error) == ("cancelled", "RATE_LIMIT 429", None)


@lanes
def test_a_new_loop_over_the_same_log_goes_on_counting(backend: Backend) -> None:
    """A second step is a new chain; the first one's retries are not charged to it."""

    async def main() -> Stage:
        staged = stage([BUSY, BUSY, HELLO, BUSY, HELLO], NormalRetry(max_retries=2))
        for _ in range(2):
            assert (await staged.loop.run_turn("Hi")).reason == "complete"
        await staged.scripted.client.aclose()
        return staged

    staged = run_virtual(backend, main)
    assert [(r["turn"], r["retry"]) for r in staged.retries()] == [(1, 1), (1, 2), (2, 1)]
    assert len({r["retryId"] for r in staged.retries()}) == 2


@lanes
def test_a_loop_without_the_executor_asks_once(backend: Backend) -> None:
    async def main() -> tuple[Turn, Stage]:
        staged = stage([BUSY, HELLO], NormalRetry())
        await staged.executor.dispose()
        turn = await staged.loop.run_turn("Hi")
        await staged.scripted.client.aclose()
        return turn, staged

    turn, staged = run_virtual(backend, main)
    assert turn.failure is not None
    assert (turn.reason, turn.failure.code) == ("error", codes.SERVER)
    assert len(staged.scripted.requests) == 1
