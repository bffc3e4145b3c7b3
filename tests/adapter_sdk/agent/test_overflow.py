"""A full context window: prune, summarise, and ask again only where the history shrank."""

from __future__ import annotations

from typing import Any, Final

import anyio
import pytest

from adapter_sdk import (
    AbortSignal,
    ImageBlock,
    LlmError,
    LlmFailure,
    LlmRuntime,
    Message,
    ReasoningBlock,
    TextBlock,
    Tool,
    ToolCallBlock,
    ToolResultBlock,
    assistant,
    user,
)
from adapter_sdk.agent import (
    AgentTool,
    CallNext,
    ContextOverflowRecovery,
    Decision,
    RequestError,
    Turn,
    summarise_with,
)
from adapter_sdk.agent._shrinking import balanced_head, pruned, transcript
from adapter_sdk.retry import Backoff, NormalRetry, RetryExecutor, RetryInvariant
from adapter_sdk.session import MemoryLog, derive_messages, recover

from .playing import (
    BUSY,
    FULL,
    Play,
    Player,
    calls,
    fails,
    for_ever,
    half,
    loop_over,
    says,
    types_of,
)

pytestmark = pytest.mark.anyio

CALL: Final = ToolCallBlock("c1", "read", "{}")
IMAGE: Final = ImageBlock("image/png", "AAAA" * 100)
LONG: Final = "long words " * 300
GIST: Final = user("Summary of the conversation so far:\nThe gist.")


class Summariser:
    """Answers with one text, or raises; notes what it was given."""

    def __init__(self, answer: str | BaseException = "The gist.") -> None:
        self.answer = answer
        self.given: list[tuple[Message, ...]] = []

    async def __call__(self, messages: tuple[Message, ...], _: AbortSignal | None) -> str:
        self.given.append(messages)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


async def read(_: dict[str, Any]) -> str:
    return LONG


READ: Final = AgentTool(Tool("read"), read)


def overflowing(
    log: MemoryLog, scripts: list[Play], summarise: Any, *listeners: Any, **options: Any
) -> tuple[Any, Player]:
    recovery = ContextOverflowRecovery(log, summarise)
    player = Player(scripts)
    loop = loop_over(log, player, recovery.request_error, *listeners, tools=[READ], **options)
    return loop, player


async def told(log: MemoryLog, *texts: str) -> None:
    """Fill a log with turns of long answers."""
    for text in texts:
        await loop_over(log, Player([says(LONG)])).run_turn(text)


async def test_the_head_is_replaced_by_a_summary_and_the_step_runs_again() -> None:
    log = MemoryLog()
    await told(log, "one", "two")
    summarise = Summariser()
    loop, player = overflowing(log, [fails(FULL, *half("x")), says("Fine.")], summarise)
    turn = await loop.run_turn("three")
    assert turn == Turn(3, "complete", assistant("Fine."))
    head = (user("one"), assistant(LONG), user("two"), assistant(LONG))
    assert summarise.given == [head]
    assert player.asked == [(*head, user("three")), (GIST, user("three"))]
    assert derive_messages(log.events) == (GIST, user("three"), assistant("Fine."))
    (event,) = (e for e in log.events if e.type == "context/summary")
    assert event.surface_op == "replace"
    assert len(event.source_event_seqs or ()) == 4


async def test_server_then_overflow_then_success_costs_three_requests_and_one_summary() -> None:
    log = MemoryLog(invariants=[RetryInvariant()])
    await told(log, "one")
    summarise = Summariser()
    executor = RetryExecutor(log)
    policy = NormalRetry(max_retries=1, backoff=Backoff(initial_delay_ms=1, max_delay_ms=1))
    scripts: list[Play] = [fails(BUSY), fails(FULL), says("Fine.")]
    loop, player = overflowing(log, scripts, summarise, executor.request_error, retry_policy=policy)
    assert (await loop.run_turn("two")).reason == "complete"
    assert (len(player.requests), len(summarise.given)) == (3, 1)
    types = types_of(log.events)
    assert [types.count(t) for t in ("llm/retry", "context/overflow")] == [1, 1]


async def test_budgets_of_disjoint_policies_add_and_neither_grows() -> None:
    log = MemoryLog()
    await told(log, "one")
    summarise = Summariser()
    executor = RetryExecutor(log)
    policy = NormalRetry(max_retries=2, backoff=Backoff(initial_delay_ms=1, max_delay_ms=1))
    scripts: list[Play] = [fails(BUSY), fails(FULL), fails(BUSY), fails(FULL)]
    loop, player = overflowing(log, scripts, summarise, executor.request_error, retry_policy=policy)
    assert await loop.run_turn("two") == Turn(2, "error", None, FULL)
    assert (len(player.requests), len(summarise.given)) == (4, 1)


async def test_its_budget_is_one_until_an_answer_succeeds_also_over_a_restart() -> None:
    log = MemoryLog()
    await told(log, "one", "two")
    summarise = Summariser()
    loop, player = overflowing(log, [fails(FULL), fails(FULL)], summarise)
    assert (await loop.run_turn("three")).failure == FULL
    again, second = overflowing(log, [fails(FULL)], summarise)
    assert (await again.run_turn("four")).failure == FULL
    assert (len(player.requests), len(second.requests), len(summarise.given)) == (2, 1, 1)
    await told(log, "five")
    later, third = overflowing(log, [fails(FULL), says("Fine.")], summarise)
    assert (await later.run_turn("six")).reason == "complete"
    assert (len(third.requests), len(summarise.given)) == (2, 2)


async def test_an_interrupted_answer_is_no_success() -> None:
    log = MemoryLog()
    await told(log, "one")
    summarise = Summariser()
    with anyio.CancelScope() as scope:
        loop, _ = overflowing(log, [fails(FULL), [*half("It"), scope.cancel, for_ever]], summarise)
        await loop.run_turn("two")
    again, _ = overflowing(log, [fails(FULL)], summarise)
    assert (await again.run_turn("three")).failure == FULL
    assert len(summarise.given) == 1


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("", "nothing"),
        ("  \n", "blank"),
        (LONG * 9, "longer than what it sums up"),
        (LlmError(BUSY), "failed"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "",
)
async def test_where_nothing_shrank_nothing_is_asked_again(answer: Any, text: str) -> None:
    log = MemoryLog()
    await told(log, "one")
    before = derive_messages(log.events)
    asked: list[RequestError] = []

    async def behind(payload: RequestError, call_next: CallNext) -> Decision:
        asked.append(payload)
        return await call_next(payload)

    loop, player = overflowing(log, [fails(FULL)], Summariser(answer), behind)
    assert (await loop.run_turn("two")).failure == FULL
    assert derive_messages(log.events) == (*before, user("two"))
    assert (len(player.requests), len(asked)) == (1, 1), text


async def test_pruned_results_alone_are_enough_for_another_request() -> None:
    log = MemoryLog()
    summarise = Summariser(LlmError(BUSY))
    scripts: list[Play] = [calls(CALL), fails(FULL), says("Fine.")]
    loop, player = overflowing(log, scripts, summarise)
    assert (await loop.run_turn("read it")).reason == "complete"
    result = ToolResultBlock("c1", (TextBlock(f"{LONG[:2000]}\n[1300 characters left out]"),))
    assert player.asked[2] == (user("read it"), assistant(CALL), user(result))
    (event,) = (e for e in log.events if e.type == "context/pruned")
    assert event.surface_op == "replace"


async def test_results_are_pruned_before_the_summary_is_made() -> None:
    log = MemoryLog()
    first = overflowing(log, [calls(CALL), says("Read.")], Summariser())[0]
    await first.run_turn("read it")
    summarise = Summariser()
    loop, _ = overflowing(log, [fails(FULL), says("Fine.")], summarise)
    await loop.run_turn("and now")
    (given,) = summarise.given
    (result,) = given[2].content
    assert result.type == "tool-result"
    assert "1300 characters left out" in str(result)


async def test_other_failures_pass_by() -> None:
    log = MemoryLog()
    await told(log, "one")
    summarise = Summariser()
    loop, _ = overflowing(log, [fails(BUSY)], summarise)
    assert (await loop.run_turn("two")).failure == BUSY
    assert summarise.given == []
    assert "context/overflow" not in types_of(log.events)


async def test_cancelled_in_the_summary_it_leaves_a_whole_log() -> None:
    log = MemoryLog()
    await told(log, "one")

    async def stuck(_: object, __: object) -> str:
        scope.cancel()
        await for_ever()
        return "never"

    with anyio.CancelScope() as scope:
        await overflowing(log, [fails(FULL)], stuck)[0].run_turn("two")
    assert scope.cancelled_caught
    assert log.events[-1].data == {"turn": 2, "reason": "interrupted"}
    assert recover(log) == ()


async def test_a_bug_of_the_summariser_ends_the_turn() -> None:
    log = MemoryLog()
    await told(log, "one")
    loop, _ = overflowing(log, [fails(FULL)], Summariser(LookupError("a bug")))
    with pytest.raises(LookupError, match="a bug"):
        await loop.run_turn("two")
    assert log.events[-1].data == {"turn": 2, "reason": "fault"}


async def test_the_summary_is_one_request_of_plain_text() -> None:
    player = Player([says("The gist."), fails(BUSY)])
    runtime = LlmRuntime()
    runtime.register("example", player)
    summarise = summarise_with(runtime, "example", model="small")
    assert await summarise((user("one"), assistant("two")), None) == "The gist."
    (request,) = player.requests
    assert (request.model, request.purpose, request.tools) == ("small", "context-summary", ())
    assert request.messages[0].text.endswith("\n\nuser: one\nassistant: two")
    with pytest.raises(LlmError) as caught:
        await summarise((user("one"),), None)
    assert (caught.value.failure, len(player.requests)) == (BUSY, 2)


# ---- the pure parts ----------------------------------------------------------------------

RESULT: Final = ToolResultBlock("c1", (TextBlock("noon"),))


@pytest.mark.parametrize(
    ("messages", "head"),
    [
        ([], 0),
        ([user("a")], 0),
        ([user("a"), user("b")], 1),
        ([user("a"), assistant("b"), user("c")], 2),
        ([user("a"), assistant(CALL), user(RESULT)], 1),
        ([user("a"), assistant(CALL), user(RESULT), user("b")], 3),
        ([user("a"), assistant(CALL), user("b")], 1),
        ([user("a"), assistant(CALL, ToolCallBlock("c2", "f", "")), user(RESULT), user("b")], 1),
        ([assistant(CALL), user(RESULT), assistant(CALL), user(RESULT)], 2),
    ],
)
async def test_the_longest_head_in_which_each_call_has_its_result(
    messages: list[Message], head: int
) -> None:
    assert balanced_head(messages) == head


@pytest.mark.parametrize(
    ("content", "left"),
    [
        ((TextBlock("12345"),), (TextBlock("12345"),)),
        ((TextBlock("123456"),), (TextBlock("12345\n[1 characters left out]"),)),
        ((TextBlock("123"), TextBlock("4567")), (TextBlock("12345\n[2 characters left out]"),)),
        ((IMAGE,), (TextBlock("[1 image left out]"),)),
        (
            (TextBlock("1234567"), IMAGE, IMAGE),
            (TextBlock("12345\n[2 characters and 2 images left out]"),),
        ),
        ((), ()),
    ],
)
async def test_a_long_result_is_cut_and_says_so(content: Any, left: Any) -> None:
    message = user("kept", ToolResultBlock("c1", content, is_error=True))
    assert pruned(message, max_result_characters=5) == user(
        "kept", ToolResultBlock("c1", left, is_error=True)
    )


async def test_a_transcript_holds_what_was_said_and_done() -> None:
    messages = [
        user("Time?", IMAGE),
        assistant(ReasoningBlock("hm"), CALL),
        user(RESULT),
        user(ToolResultBlock("c2")),
        assistant("Noon."),
    ]
    assert transcript(messages).splitlines() == [
        "user: Time?",
        "user: (an image)",
        "assistant calls read: {}",
        "tool answers: noon",
        "tool answers: (no output)",
        "assistant: Noon.",
    ]


async def test_a_bound_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="max_result_characters: a whole number of 0 or more"):
        ContextOverflowRecovery(MemoryLog(), Summariser(), max_result_characters=-1)


async def test_facts_of_the_failure_stay_in_the_log() -> None:
    log = MemoryLog()
    failure = LlmFailure(message="too long", code="CONTEXT_WINDOW_EXCEEDED", status=400)
    loop, _ = overflowing(log, [fails(failure)], Summariser())
    await loop.run_turn("one")
    assert log.events[-1].data["error"] == failure.to_json()
