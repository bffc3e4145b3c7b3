"""The step loop, as section D of the systems says, word by word."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import anyio
import pytest

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    AbortSignal,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    LlmRequest,
    LlmRuntime,
    Middleware,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    TokenUsage,
    Tool,
    ToolCallBlock,
    ToolCallDelta,
    ToolResultBlock,
    UsageReport,
    assistant,
    system,
    user,
)
from adapter_sdk.agent import AgentTool, CallNext, Decision, RequestError, StepLoop, ToolError, Turn
from adapter_sdk.session import (
    Event,
    InvariantError,
    LogClosedError,
    LosslessError,
    MemoryLog,
    derive_messages,
    recover,
)

from .playing import (
    BUSY,
    REQUEST,
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

ABORTED: Final = LlmFailure(message="the caller aborted the turn", code="ABORTED")
CLOCK: Final = ToolCallBlock("c1", "clock", '{"zone":"UTC"}')


def end_of(log: MemoryLog) -> dict[str, Any]:
    event = log.events[-1]
    assert event.type == "turn/end"
    return dict(event.data)


async def always_retry(_: RequestError, __: CallNext) -> Decision:
    return "retry"


# ---- a good answer -----------------------------------------------------------------------


async def test_a_turn_is_written_event_by_event() -> None:
    log = MemoryLog()
    usage = TokenUsage(3, 2)
    answer = says("Noon.")
    player = Player([[*answer[:-1], UsageReport(usage), answer[-1]]])
    turn = await loop_over(log, player).run_turn("What time is it?")
    assert turn == Turn(1, "complete", assistant("Noon."))
    assert types_of(log.events) == [
        "turn/start",
        "user/message",
        "step/start",
        "request/header",
        *["assistant/chunk"] * 5,
        "assistant/message",
        "step/end",
        "turn/end",
    ]
    committed = log.events[9]
    assert committed.data == {
        "turn": 1,
        "step": 1,
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Noon."}]},
        "finish": {"kind": "stop"},
        "usage": {"inputTokens": 3, "outputTokens": 2},
    }
    assert (committed.surface_op, committed.source_event_seqs) == ("append", (4, 5, 6, 7, 8))
    assert log.events[2].data == {"turn": 1, "step": 1, "provider": "example", "model": "m"}
    assert end_of(log) == {"turn": 1, "reason": "complete"}
    assert player.closed == 1


async def test_the_request_is_built_from_the_durable_history() -> None:
    log = MemoryLog()
    request = LlmRequest(model="m", messages=(system("Be brief."),), max_tokens=7)
    player = Player([says("Hello."), says("Fine.")])
    loop = loop_over(log, player, request=request)
    await loop.run_turn("Hi")
    await loop.run_turn("How are you?")
    assert player.requests[1] == dataclasses.replace(
        request,
        messages=(system("Be brief."), user("Hi"), assistant("Hello."), user("How are you?")),
    )


async def test_a_new_loop_over_the_same_log_goes_on() -> None:
    log = MemoryLog()
    await loop_over(log, Player([says("Hello.")])).run_turn("Hi")
    player = Player([says("Fine.")])
    turn = await loop_over(log, player).run_turn("How are you?")
    assert turn.turn == 2
    assert player.asked == [(user("Hi"), assistant("Hello."), user("How are you?"))]


async def test_an_answer_without_content_is_no_message_of_the_next_request() -> None:
    log = MemoryLog()
    player = Player([[Finish(MAX_TOKENS)], says("Fine.")])
    loop = loop_over(log, player)
    assert await loop.run_turn("Hi") == Turn(1, "complete", assistant())
    await loop.run_turn("Again")
    assert player.asked[1] == (user("Hi"), user("Again"))


# ---- request_error -----------------------------------------------------------------------


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


# ---- what never reaches the chain --------------------------------------------------------


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


async def test_a_prompt_changes_what_is_sent_and_nothing_else() -> None:
    async def prompt(request: LlmRequest) -> LlmRequest:
        return dataclasses.replace(request, messages=(system("Now."), *request.messages))

    log = MemoryLog()
    player = Player([says("Noon.")])
    await loop_over(log, player, prompt=prompt).run_turn("Hi")
    assert player.asked == [(system("Now."), user("Hi"))]
    assert derive_messages(log.events) == (user("Hi"), assistant("Noon."))


SURROGATE: Final = [BlockStart(0, "text"), TextDelta(0, "\ud83d"), Finish(STOP)]


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        (
            SURROGATE,
            "MALFORMED_RESPONSE",
            "the adapter's chunk cannot be stored: data.chunk.text: "
            "a lone surrogate, which UTF-8 cannot carry",
        ),
        (
            [*half("x"), Finish(STOP, {"n": float("nan")})],
            "MALFORMED_RESPONSE",
            "the adapter's chunk cannot be stored: data.chunk.replayState.n: "
            "nan is no number of JSON",
        ),
        (
            ["a word", Finish(STOP)],
            "MALFORMED_RESPONSE",
            "the adapter's chunk cannot be stored: str is no chunk",
        ),
        (
            calls(CLOCK, CLOCK),
            "MALFORMED_RESPONSE",
            "two tool calls of the answer have one id, or one has none",
        ),
        (
            calls(ToolCallBlock("", "clock", "{}")),
            "MALFORMED_RESPONSE",
            "two tool calls of the answer have one id, or one has none",
        ),
    ],
    ids=["surrogate", "nan", "no chunk", "one id twice", "no id"],
)
async def test_an_answer_that_cannot_be_stored_is_a_failure(
    script: Any, code: str, message: str
) -> None:
    log = MemoryLog()
    player = Player([script, says("Noon.")])
    failure = LlmFailure(message=message, code=code)
    loop = loop_over(log, player)
    assert await loop.run_turn("Hi") == Turn(1, "error", None, failure)
    assert derive_messages(log.events) == (user("Hi"),)
    assert player.closed == 1
    assert (await loop.run_turn("Hi")).reason == "complete"


async def test_a_finish_that_middleware_swallows_is_a_closed_stream() -> None:
    async def swallow(request: LlmRequest, call_next: Any) -> AsyncIterator[Chunk]:
        async for chunk in call_next(request):
            if chunk.type != "finish":
                yield chunk

    log = MemoryLog()
    turn = await loop_over(log, Player([says("x")]), middleware=[swallow]).run_turn("Hi")
    assert turn.failure == LlmFailure(
        message="the stream ended without a finish", code="STREAM_CLOSED"
    )


# ---- tools -------------------------------------------------------------------------------


def tool(name: str, run: Any) -> AgentTool:
    return AgentTool(Tool(name), run)


async def test_tools_run_only_after_their_message_is_committed() -> None:
    log = MemoryLog()
    stood: list[list[str]] = []

    async def clock(arguments: dict[str, Any]) -> str:
        stood.append(types_of(log.events)[-2:])
        return f"noon in {arguments['zone']}"

    player = Player([calls(CLOCK), says("Noon.")])
    turn = await loop_over(log, player, tools=[tool("clock", clock)]).run_turn("Time?")
    assert stood == [["assistant/message", "tool/start"]]
    assert turn == Turn(1, "complete", assistant("Noon."))
    result = user(ToolResultBlock("c1", (TextBlock("noon in UTC"),)))
    assert player.asked[1] == (user("Time?"), assistant(CLOCK), result)
    assert player.requests[0].tools == (Tool("clock"),)
    (event,) = (e for e in log.events if e.type == "tool/result")
    sources = [e.seq for e in log.events if e.type in ("assistant/message", "tool/start")][:2]
    assert event.source_event_seqs == tuple(sources)


@pytest.mark.parametrize("kind", ["max-tokens", "error"])
async def test_calls_of_an_answer_that_was_cut_are_never_run(kind: str) -> None:
    ran: list[object] = []

    async def clock(arguments: dict[str, Any]) -> None:
        ran.append(arguments)

    reason = FinishReason(kind, BUSY if kind == "error" else None)
    script: Play = [
        BlockStart(0, "tool-call"),
        ToolCallDelta(0, "c1", "{", "clock"),
        Finish(reason),
    ]
    log = MemoryLog()
    await loop_over(log, Player([script]), tools=[tool("clock", clock)]).run_turn("Time?")
    assert ran == []
    assert "tool/start" not in types_of(log.events)


async def boom(_: dict[str, Any]) -> str:
    raise ZeroDivisionError("by nought")


async def refuse(_: dict[str, Any]) -> str:
    raise ToolError("not on a Sunday")


async def number(_: dict[str, Any]) -> Any:
    return 7


async def echo(arguments: dict[str, Any]) -> str:
    return str(arguments)


async def broken_text(_: dict[str, Any]) -> str:
    return "a\ud83d\udc4d\udcff"


async def nothing(_: dict[str, Any]) -> None:
    return None


TOOLS: Final = [
    tool("boom", boom),
    tool("refuse", refuse),
    tool("number", number),
    tool("echo", echo),
    tool("broken", broken_text),
    tool("nothing", nothing),
]
KNOWN: Final = "boom, refuse, number, echo, broken, nothing"


@pytest.mark.parametrize(
    ("name", "arguments", "text", "is_error"),
    [
        ("boom", "{}", "ZeroDivisionError: by nought", True),
        ("refuse", "{}", "not on a Sunday", True),
        ("number", "{}", "TypeError: 'int' object is not iterable", True),
        ("unknown", "{}", f"no tool is called 'unknown'; there are: {KNOWN}", True),
        ("echo", '{"a', "the arguments are no JSON object", True),
        ("echo", "[1]", "the arguments are no JSON object", True),
        ("echo", "[" * 100_000, "the arguments are no JSON object", True),
        ("echo", "", "{}", False),
        ("echo", '{"a":1}', "{'a': 1}", False),
        ("broken", "{}", "a\U0001f44d\ufffd", False),
        ("nothing", "{}", None, False),
    ],
)
async def test_whatever_a_tool_does_is_a_result_that_the_model_reads(
    name: str, arguments: str, text: str | None, *, is_error: bool
) -> None:
    asked: list[RequestError] = []

    async def note(payload: RequestError, _: CallNext) -> Decision:
        asked.append(payload)
        return None

    log = MemoryLog()
    player = Player([calls(ToolCallBlock("c1", name, arguments)), says("Sorry.")])
    turn = await loop_over(log, player, note, tools=TOOLS).run_turn("Go")
    content = () if text is None else (TextBlock(text),)
    assert player.asked[1][-1] == user(ToolResultBlock("c1", content, is_error=is_error))
    assert (turn.reason, asked) == ("complete", [])


async def test_calls_run_one_after_the_other_in_their_order() -> None:
    ran: list[str] = []

    async def note(arguments: dict[str, Any]) -> str:
        ran.append(arguments["n"])
        return ran[-1]

    two = [ToolCallBlock(f"c{n}", "note", f'{{"n":"{n}"}}') for n in (1, 2)]
    log = MemoryLog()
    await loop_over(log, Player([calls(*two), says("x")]), tools=[tool("note", note)]).run_turn(
        "Go"
    )
    assert ran == ["1", "2"]
    assert types_of(log.events).count("tool/result") == 2


async def test_a_model_that_calls_for_ever_is_stopped_at_the_limit() -> None:
    log = MemoryLog()
    scripts = [calls(ToolCallBlock(f"c{n}", "echo", "{}")) for n in range(9)]
    player = Player(scripts)
    turn = await loop_over(log, player, tools=TOOLS, max_steps=3).run_turn("Go")
    assert (turn.reason, len(player.requests)) == ("step-limit", 3)
    assert end_of(log) == {"turn": 1, "reason": "step-limit"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tools": [tool("a", echo), tool("a", boom)]}, "tools: each name once"),
        ({"max_steps": 0}, "max_steps: a whole number of 1 or more"),
        ({"max_steps": True}, "max_steps: a whole number of 1 or more"),
    ],
)
async def test_a_loop_that_cannot_work_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        loop_over(MemoryLog(), Player([]), **options)


# ---- abort and cancellation --------------------------------------------------------------

DELIVERED: Final[list[Chunk]] = [
    BlockStart(0, "reasoning"),
    ReasoningDelta(0, "Hm"),
    BlockStart(1, "text"),
    TextDelta(1, "It is"),
    BlockStart(2, "tool-call"),
    ToolCallDelta(2, "c1", "{", "clock"),
]


def interrupted_message(log: MemoryLog) -> Event:
    (event,) = (e for e in log.events if e.type == "assistant/message")
    return event


async def test_cancellation_commits_what_was_delivered_and_cites_exactly_its_chunks() -> None:
    log = MemoryLog()
    with anyio.CancelScope() as scope:
        player = Player([fails(BUSY, *half("No")), [*DELIVERED, scope.cancel, for_ever]])
        loop = loop_over(log, player, always_retry)
        await loop.run_turn("Time?")
    assert scope.cancelled_caught
    assert player.closed == 2
    event = interrupted_message(log)
    chunks = [e.seq for e in log.events if e.type == "assistant/chunk"]
    assert event.source_event_seqs == tuple(chunks[-6:])
    assert event.data["interrupted"] is True
    assert event.data["message"]["content"] == [
        {"type": "reasoning", "text": "Hm"},
        {"type": "text", "text": "It is"},
    ]
    assert end_of(log) == {"turn": 1, "reason": "interrupted"}
    assert recover(log) == ()


async def test_cancellation_before_anything_was_delivered_commits_nothing() -> None:
    log = MemoryLog()
    with anyio.CancelScope() as scope:
        await loop_over(log, Player([[scope.cancel, for_ever]])).run_turn("Time?")
    assert derive_messages(log.events) == (user("Time?"),)
    assert end_of(log) == {"turn": 1, "reason": "interrupted"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
async def test_what_is_no_exception_is_an_interruption_too(error: type[BaseException]) -> None:
    async def stop(_: RequestError, __: CallNext) -> Decision:
        raise error

    log = MemoryLog()
    with pytest.raises(error):
        await loop_over(log, Player([fails(BUSY, *half("x"))]), stop).run_turn("Hi")
    assert end_of(log) == {"turn": 1, "reason": "interrupted"}
    assert derive_messages(log.events) == (user("Hi"),)  # the attempt had failed


async def test_an_abort_in_the_stream_commits_what_was_delivered() -> None:
    signal = AbortSignal()
    failure = LlmFailure(message="stop", code="ABORTED")
    script = [*half("It is"), Finish(FinishReason("aborted", failure))]
    asked: list[RequestError] = []

    async def note(payload: RequestError, _: CallNext) -> Decision:
        asked.append(payload)
        return "retry"

    log = MemoryLog()
    player = Player([script, says("Noon.")])
    loop = loop_over(log, player, note)
    turn = await loop.run_turn("Time?", abort=signal)
    assert turn == Turn(1, "aborted", assistant("It is"), failure)
    assert asked == []
    assert interrupted_message(log).data["interrupted"] is True
    assert end_of(log) == {"turn": 1, "reason": "aborted", "error": failure.to_json()}
    await loop.run_turn("Go on")
    assert player.asked[1] == (user("Time?"), assistant("It is"), user("Go on"))


async def test_an_abort_before_the_turn_sends_nothing() -> None:
    signal = AbortSignal()
    signal.abort()
    log = MemoryLog()
    player = Player([])
    assert await loop_over(log, player).run_turn("Hi", abort=signal) == Turn(
        1, "aborted", None, ABORTED
    )
    assert types_of(log.events) == [
        "turn/start",
        "user/message",
        "step/start",
        "step/end",
        "turn/end",
    ]


@pytest.mark.parametrize("decision", ["retry", None])
async def test_an_abort_while_the_chain_thinks_ends_the_turn_as_aborted(decision: Any) -> None:
    signal = AbortSignal()

    async def abort(_: RequestError, __: CallNext) -> Decision:
        signal.abort()
        answer: Decision = decision
        return answer

    log = MemoryLog()
    player = Player([fails(BUSY, *half("x"))])
    turn = await loop_over(log, player, abort).run_turn("Hi", abort=signal)
    assert turn == Turn(1, "aborted", None, ABORTED)
    assert len(player.requests) == 1


NOT_RUN: Final = "The tool was not run: the turn was interrupted."
UNKNOWN: Final = "The turn was interrupted while the tool ran: whether it took effect is unknown."


@pytest.mark.parametrize("how", ["abort", "cancel", "crash"])
async def test_tools_that_are_broken_off_get_a_result_that_says_so(how: str) -> None:
    signal = AbortSignal()
    with anyio.CancelScope() as scope:

        async def stop(_: dict[str, Any]) -> str:
            if how == "abort":
                signal.abort()
            elif how == "cancel":
                scope.cancel()
            else:
                raise KeyboardInterrupt
            await for_ever()
            return "never"

        log = MemoryLog()
        two = [ToolCallBlock(f"c{n}", "stop", "{}") for n in (1, 2)]
        player = Player([calls(*two), says("Fine.")])
        loop = loop_over(log, player, tools=[tool("stop", stop)])
        if how == "crash":
            with pytest.raises(KeyboardInterrupt):
                await loop.run_turn("Go", abort=signal)
        else:
            turn = await loop.run_turn("Go", abort=signal)
            assert turn == Turn(1, "aborted", assistant(*two), ABORTED)
    assert end_of(log)["reason"] == ("aborted" if how == "abort" else "interrupted")
    results = (
        user(ToolResultBlock("c1", (TextBlock(UNKNOWN),), is_error=True)),
        user(ToolResultBlock("c2", (TextBlock(NOT_RUN),), is_error=True)),
    )
    assert derive_messages(log.events) == (user("Go"), assistant(*two), *results)
    # And the conversation goes on: every call has its result.
    assert (await loop.run_turn("Again")).reason == "complete"


async def test_an_abort_between_two_tools_runs_no_other() -> None:
    signal = AbortSignal()

    async def stop(_: dict[str, Any]) -> str:
        signal.abort()
        return "done"

    log = MemoryLog()
    two = [ToolCallBlock(f"c{n}", "stop", "{}") for n in (1, 2)]
    await loop_over(log, Player([calls(*two)]), tools=[tool("stop", stop)]).run_turn(
        "Go", abort=signal
    )
    texts = [m.content[0].content[0].text for m in derive_messages(log.events)[2:]]  # type: ignore[union-attr]  # why: tool results of one text
    assert texts == ["done", NOT_RUN]


# ---- one turn at a time, one log ---------------------------------------------------------


async def test_a_second_turn_at_once_is_refused_and_harms_the_first_in_nothing() -> None:
    log = MemoryLog()
    refused: list[str] = []
    box: list[StepLoop] = []

    async def another(_: dict[str, Any]) -> None:
        try:
            await box[0].run_turn("Me too")
        except RuntimeError as error:
            refused.append(str(error))

    two = Player([calls(ToolCallBlock("c1", "another", "{}")), says("x")])
    box.append(loop_over(log, two, tools=[tool("another", another)]))
    assert (await box[0].run_turn("Hi")).reason == "complete"
    assert refused == ["turn 1 is open: wait for it, or recover the log"]


async def test_a_log_that_was_not_recovered_is_refused() -> None:
    log = MemoryLog()
    log.append("turn/start", {"turn": 1})
    loop = loop_over(log, Player([says("x")]))
    with pytest.raises(RuntimeError, match="recover the log"):
        await loop.run_turn("Hi")
    recover(log)
    assert (await loop.run_turn("Hi")).turn == 2


async def test_words_that_json_would_lose_are_refused() -> None:
    log = MemoryLog()
    loop = loop_over(log, Player([says("x")]))
    with pytest.raises(LosslessError):
        await loop.run_turn("\ud83d")
    assert end_of(log) == {"turn": 1, "reason": "fault"}
    assert (await loop.run_turn("Hi")).reason == "complete"


async def test_a_log_that_fails_in_the_turn_says_so_itself() -> None:
    log = MemoryLog()
    player = Player([[*half("x"), log.close, *says("y")[2:]]])
    with pytest.raises(LogClosedError, match="the log is closed"):
        await loop_over(log, player).run_turn("Hi")
    assert player.closed == 1


async def test_an_invariant_of_the_products_that_breaks_ends_the_turn() -> None:
    def quiet(events: Any) -> list[str]:
        return ["too loud"] if any(e.type == "assistant/message" for e in events) else []

    log = MemoryLog(invariants=[quiet])
    with pytest.raises(InvariantError, match="too loud"):
        await loop_over(log, Player([says("x")])).run_turn("Hi")
    assert end_of(log) == {"turn": 1, "reason": "fault"}
    assert log.events[-2].type == "step/end"


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


async def test_a_block_end_wins_over_its_deltas_in_the_committed_message() -> None:
    script = [*half("It si"), BlockEnd(0, TextBlock("It is")), Finish(STOP)]
    turn = await loop_over(MemoryLog(), Player([script])).run_turn("Hi")
    assert turn.message == assistant("It is")
