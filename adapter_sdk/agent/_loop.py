"""The step loop: from a person's words to an answer, every event of it in the log first."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import anyio

from .. import (
    AbortSignal,
    ImageBlock,
    LlmFailure,
    LlmRequest,
    LlmRuntime,
    Message,
    TextBlock,
    ToolCallBlock,
    codes,
    user,
)
from ..session import (
    LogReader,
    SessionLog,
    SessionLogError,
    TurnEndReason,
    close_turn,
    message_from_json,
    message_to_json,
)
from ..session import vocabulary as words
from ._attempt import Attempt
from ._request_error import RequestError, RequestErrorChain
from ._tools import AgentTool, run_call

Prompt = Callable[[LlmRequest], Awaitable[LlmRequest]]
"""Returns the request that is sent, made from the one that the history gave."""

# A model that calls tools for ever costs money for ever.
DEFAULT_MAX_STEPS: Final = 100


@dataclass(frozen=True, slots=True)
class Turn:
    """How a turn ended.

    Attributes:
        turn: Its number in the log, from 1.
        reason: See ``TurnEndReason``.
        message: The last message that the model committed in it, or None.
        failure: Set for ``error`` and ``aborted``, else None.
    """

    turn: int
    reason: TurnEndReason
    message: Message | None = None
    failure: LlmFailure | None = None


class StepLoop:
    """Runs turns of one conversation, one after the other.

    Each step is one request, repeated where the ``request_error`` chain says so; its message is
    committed whole or not at all, and its tools run only after that. The log is the only state:
    a new loop over the same log goes on where the old one was.

    Args:
        log: Where everything is written; without an open turn, see ``recover``.
        runtime: Knows the adapter.
        provider: The adapter's name there.
        request: What every request is made from. Its messages stand before the conversation.
        prompt: Changes a request before it is sent, or None.
        tools: What the model may call.
        request_error: Asked about failed requests; without one nothing is repeated.
        retry_policy: Handed on to the chain: the policy of the provider's profile.
        max_steps: Most steps of one turn, 1 or more.

    Raises:
        ValueError: Two tools with one name, or a ``max_steps`` below 1.

    Source: section D of the systems.
    """

    def __init__(
        self,
        log: SessionLog,
        runtime: LlmRuntime,
        *,
        provider: str,
        request: LlmRequest,
        prompt: Prompt | None = None,
        tools: Iterable[AgentTool] = (),
        request_error: RequestErrorChain | None = None,
        retry_policy: Any = None,
        max_steps: int = DEFAULT_MAX_STEPS,
    ) -> None:
        offered = tuple(tools)
        self._tools = {tool.tool.name: tool for tool in offered}
        if len(self._tools) < len(offered):
            raise ValueError("tools: each name once")
        if type(max_steps) is not int or max_steps < 1:
            raise ValueError("max_steps: a whole number of 1 or more")
        self._log = log
        self._runtime = runtime
        self._provider = provider
        self._request = dataclasses.replace(
            request, tools=(*request.tools, *(tool.tool for tool in offered))
        )
        self._prompt = prompt
        self._chain = request_error or RequestErrorChain()
        self._retry_policy = retry_policy
        self._max_steps = max_steps
        self._reader = LogReader(log.events)
        self._running = False

    async def run_turn(
        self, *content: str | TextBlock | ImageBlock, abort: AbortSignal | None = None
    ) -> Turn:
        """Say ``content`` to the model and return how the turn ended, whatever was asked of it.

        Cancelled, it commits what had arrived, closes the turn and lets the cancellation go on.

        Raises:
            RuntimeError: Another turn is open.
            ValueError: ``content`` holds what JSON would lose.
            SessionLogError: The log failed; it is to be opened again.
            Exception: What middleware, the prompt or a listener raised; the turn is closed.
        """
        now = self._reader.progress
        if self._running or now.turn_open:
            raise RuntimeError(f"turn {now.turn} is open: wait for it, or recover the log")
        message = message_to_json(user(*content))
        self._running = True
        try:
            turn = now.turn + 1
            self._log.append(words.TURN_START, {"turn": turn})
            self._log.append(
                words.USER_MESSAGE, {"turn": turn, "message": message}, surface_op="append"
            )
            return await self._run_steps(turn, abort)
        except Exception:  # why: the caller's middleware, tools or log; the turn still ends
            self._close("fault")
            raise
        except BaseException:  # why: cancelled; synchronous work only, and on it goes
            self._close("interrupted")
            raise
        finally:
            self._running = False

    def _close(self, reason: TurnEndReason) -> None:
        # Where the log itself is what failed, the first error says so.
        with contextlib.suppress(SessionLogError):
            close_turn(self._log, self._reader, reason=reason)

    # ---- steps -------------------------------------------------------------------------------

    async def _run_steps(self, turn: int, abort: AbortSignal | None) -> Turn:
        message: Message | None = None
        for step in range(1, self._max_steps + 1):
            done = await self._run_step(turn, step, abort)
            if isinstance(done, LlmFailure):
                reason: TurnEndReason = "aborted" if done.code == codes.ABORTED else "error"
                close_turn(self._log, self._reader, reason=reason, error=done)
                return Turn(turn, reason, self._last_answer(), done)
            message = done
            if not any(block.type == "tool-call" for block in message.content):
                return self._ended(turn, "complete", message)
        return self._ended(turn, "step-limit", message)

    def _last_answer(self) -> Message | None:
        """Return the last message that this turn committed, an interrupted one too."""
        for event in reversed(self._log.events):
            if event.type == words.ASSISTANT_MESSAGE:
                return message_from_json(event.data["message"])
            if event.type == words.TURN_START:
                break
        return None

    def _ended(self, turn: int, reason: TurnEndReason, message: Message | None) -> Turn:
        self._log.append(words.TURN_END, {"turn": turn, "reason": reason})
        return Turn(turn, reason, message)

    async def _run_step(
        self, turn: int, step: int, abort: AbortSignal | None
    ) -> Message | LlmFailure:
        """Return the step's message, its tools run, or the failure that nobody retried."""
        place = {"turn": turn, "step": step}
        model = self._request.model
        self._log.append(words.STEP_START, {**place, "provider": self._provider, "model": model})
        number = 0
        while True:
            number += 1
            attempt = Attempt(self._log, {**place}, number)
            failure = _aborted(abort)
            if failure is None:
                request = await self._next_request()
                failure = await attempt.run(
                    self._runtime.stream(self._provider, request, abort=abort)
                )
            if failure is None:
                break
            if failure.code == codes.ABORTED:
                return failure
            decision = await self._chain.ask(
                RequestError(turn, step, self._provider, failure, self._retry_policy, abort)
            )
            if decision != "retry":
                return _aborted(abort) or failure
        message, seq = attempt.commit()
        failure = await self._run_tools(message, seq, place, abort)
        if failure is not None:
            return failure
        self._log.append(words.STEP_END, place)
        return message

    async def _next_request(self) -> LlmRequest:
        messages = (*self._request.messages, *self._reader.messages)
        request = dataclasses.replace(self._request, messages=messages)
        return request if self._prompt is None else await self._prompt(request)

    # ---- tools -------------------------------------------------------------------------------

    async def _run_tools(
        self, message: Message, seq: int, place: dict[str, Any], abort: AbortSignal | None
    ) -> LlmFailure | None:
        """Run the calls of a committed message in order; return a failure only for an abort."""
        for call in message.content:
            if not isinstance(call, ToolCallBlock):
                continue
            if (failure := _aborted(abort)) is not None:
                return failure
            start = self._log.append(
                words.TOOL_START, {**place, "toolCallId": call.id, "name": call.name}
            )
            with anyio.CancelScope() as scope:
                release = abort.on_abort(scope.cancel) if abort is not None else None
                try:
                    result = await run_call(self._tools, call)
                finally:
                    if release is not None:
                        release()
            if scope.cancelled_caught:
                return _aborted(abort)
            self._log.append(
                words.TOOL_RESULT,
                {**place, "message": message_to_json(user(result))},
                surface_op="append",
                source_event_seqs=(seq, start.seq),
            )
        return None


def _aborted(abort: AbortSignal | None) -> LlmFailure | None:
    if abort is None or not abort.aborted:
        return None
    return LlmFailure(message="the caller aborted the turn", code=codes.ABORTED)
