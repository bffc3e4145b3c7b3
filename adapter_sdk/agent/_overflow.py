"""Recover from a context window that is full: shorten the durable history, then ask again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from .. import (
    AbortSignal,
    LlmError,
    LlmRequest,
    LlmRuntime,
    Message,
    codes,
    collect,
    user,
)
from ..session import LogReader, SessionLog, message_to_json
from ..session import vocabulary as words
from ._request_error import CallNext, Decision, RequestError
from ._shrinking import balanced_head, pruned, size_characters, transcript

Summarise: TypeAlias = Callable[[tuple[Message, ...], AbortSignal | None], Awaitable[str]]
"""Returns the gist of some messages; an ``LlmError`` means that there is none to be had."""

# Enough for an error and its trace; a model that needs more can call the tool again.
DEFAULT_MAX_RESULT_CHARACTERS: Final = 2000

_SUMMARY: Final = "Summary of the conversation so far:\n"
_INSTRUCTION: Final = (
    "Sum up the conversation below for whoever continues it: what was asked, decided, found and "
    "done, with names, figures and open points. Answer with the summary alone.\n\n"
)


class ContextOverflowRecovery:
    """A listener for CONTEXT_WINDOW_EXCEEDED, once between two answers that succeed.

    It cuts long tool results, then replaces the longest head in which every tool call has its
    result by a summary. It answers ``retry`` only where the messages of the log have become
    smaller. Every other failure, and a second one in a row, goes to the listeners behind it.

    Args:
        log: The loop's log; what it has done so far is read there.
        summarise: See ``Summarise`` and ``summarise_with``.
        max_result_characters: Most characters that are left of a tool result's text.

    Source: section D of the systems.
    """

    def __init__(
        self,
        log: SessionLog,
        summarise: Summarise,
        *,
        max_result_characters: int = DEFAULT_MAX_RESULT_CHARACTERS,
    ) -> None:
        if type(max_result_characters) is not int or max_result_characters < 0:
            raise ValueError("max_result_characters: a whole number of 0 or more")
        self._log = log
        self._summarise = summarise
        self._max_result_characters = max_result_characters

    async def request_error(self, payload: RequestError, call_next: CallNext) -> Decision:
        """Answer one failed request of an open step; see ``RequestErrorChain``."""
        if payload.failure.code != codes.CONTEXT_WINDOW_EXCEEDED or self._spent():
            return await call_next(payload)
        place = {"turn": payload.turn, "step": payload.step}
        reader = LogReader(self._log.events)
        before = size_characters(reader.messages)
        self._log.append(words.CONTEXT_OVERFLOW, place)
        self._prune(reader, place)
        await self._sum_up(reader, place, payload.signal)
        if size_characters(reader.messages) < before:
            return "retry"
        return await call_next(payload)

    def _spent(self) -> bool:
        """Whether it has run since the last answer that succeeded."""
        for event in reversed(self._log.events):
            if event.type == words.CONTEXT_OVERFLOW:
                return True
            if event.type == words.ASSISTANT_MESSAGE and not event.data.get("interrupted"):
                return False
        return False

    def _prune(self, reader: LogReader, place: dict[str, int]) -> None:
        for seq, message in reader.entries:
            shorter = pruned(message, max_result_characters=self._max_result_characters)
            if size_characters([shorter]) < size_characters([message]):
                self._replace(words.CONTEXT_PRUNED, place, shorter, [seq])

    async def _sum_up(
        self, reader: LogReader, place: dict[str, int], signal: AbortSignal | None
    ) -> None:
        entries = reader.entries
        head = entries[: balanced_head(reader.messages)]
        if not head:
            return
        messages = tuple(message for _, message in head)
        try:
            text = await self._summarise(messages, signal)
        except LlmError:  # what was pruned may be enough
            return
        summary = user(_SUMMARY + text.strip())
        if text.strip() and size_characters([summary]) < size_characters(messages):
            self._replace(words.CONTEXT_SUMMARY, place, summary, sorted(seq for seq, _ in head))

    def _replace(
        self, type_: str, place: dict[str, int], message: Message, seqs: list[int]
    ) -> None:
        data = {**place, "message": message_to_json(message)}
        self._log.append(type_, data, surface_op="replace", source_event_seqs=seqs)


def summarise_with(runtime: LlmRuntime, provider: str, *, model: str) -> Summarise:
    """Return a ``Summarise`` that asks ``model`` of ``provider`` once, without any retry."""

    async def summarise(messages: tuple[Message, ...], signal: AbortSignal | None) -> str:
        request = LlmRequest(
            model=model,
            messages=(user(_INSTRUCTION + transcript(messages)),),
            purpose="context-summary",
        )
        async with runtime.stream(provider, request, abort=signal) as stream:
            return (await collect(stream)).message.text

    return summarise
