"""Make one call as a case's caller would, and note what the adapter tells that caller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import anyio

from adapter_sdk import (
    AbortSignal,
    BlockAssembler,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    LlmFailure,
    LlmRequest,
    ReasoningDelta,
    TextDelta,
    TokenUsage,
    ToolCallDelta,
    UsageReport,
)
from adapter_sdk.codes import UNKNOWN

from ._case import Call, Moment

Ending: TypeAlias = Literal[
    "success", "failure", "cancelled", "left", "raised", "hung", "no-finish"
]

CONTENT: tuple[type, ...] = (TextDelta, ReasoningDelta, ToolCallDelta)
CHUNKS: Final = (
    BlockStart,
    TextDelta,
    ReasoningDelta,
    ToolCallDelta,
    BlockEnd,
    UsageReport,
    Finish,
)

# What still comes once the end was told is a finding; a stream that goes on for ever is left.
MOST_AFTER_FINISH: Final = 64

# A cancelled or aborted caller waits for its next chunk by then.
SOON_IDLES = 0.05


@dataclass(slots=True)
class Observation:
    """What the caller saw.

    Attributes:
        ending: How the call ended for the caller.
        chunks: With the seconds since the call began.
        error: What was raised, in words; only where ``ending`` is ``raised``.
        elapsed_s: Until the caller had its end.
    """

    ending: Ending = "hung"
    chunks: list[tuple[float, Chunk]] = field(default_factory=list)
    error: str = ""
    elapsed_s: float = 0.0

    @property
    def finishes(self) -> list[Finish]:
        """Every finish that was delivered."""
        return [chunk for _, chunk in self.chunks if isinstance(chunk, Finish)]

    @property
    def told_failure(self) -> object:
        """What the first finish carries as its failure, whatever it is."""
        return getattr(self.finishes[0].reason, "failure", None) if self.finishes else None

    @property
    def failure(self) -> LlmFailure | None:
        """The failure of the first finish; UNKNOWN stands for one that is no ``LlmFailure``."""
        told = self.told_failure
        if told is None or isinstance(told, LlmFailure):
            return told
        said = f"the finish carries a {type(told).__name__} and no LlmFailure"
        return LlmFailure(message=said, code=UNKNOWN)

    @property
    def usage(self) -> TokenUsage | None:
        """The last usage that was delivered before the end."""
        reports = [chunk.usage for _, chunk in self.chunks if isinstance(chunk, UsageReport)]
        return reports[-1] if reports else None

    def joined(self, kind: type[TextDelta | ReasoningDelta]) -> str:
        """Return the deltas of one kind, joined."""
        return "".join(chunk.text for _, chunk in self.chunks if isinstance(chunk, kind))

    def assembled(self) -> BlockAssembler:
        """Return the chunks, put together."""
        assembler = BlockAssembler()
        for _, chunk in self.chunks:
            assembler.add(chunk)
        return assembler


async def observe(
    stream_of: Callable[[LlmRequest, AbortSignal | None], Any],
    request: LlmRequest,
    call: Call,
    *,
    idle_s: float,
    patience_s: float,
) -> Observation:
    """Make the call and return what its caller saw, after ``patience_s`` at the latest.

    Args:
        stream_of: The adapter's ``stream``.
        request: What is asked.
        call: What the caller does on the way.
        idle_s: The adapter's idle limit, the unit of the call's moments.
        patience_s: When the call counts as hung.
    """
    seen = Observation()
    begun = anyio.current_time()
    with anyio.move_on_after(patience_s):
        await _Caller(stream_of, request, call, idle_s, seen).run()
    seen.elapsed_s = anyio.current_time() - begun
    return seen


class _Caller:
    def __init__(
        self,
        stream_of: Callable[[LlmRequest, AbortSignal | None], Any],
        request: LlmRequest,
        call: Call,
        idle_s: float,
        seen: Observation,
    ) -> None:
        self.stream_of, self.request, self.call = stream_of, request, call
        self.idle_s, self.seen = idle_s, seen
        self.begun = anyio.current_time()
        self.signal = AbortSignal() if call.abort is not None else None

    async def run(self) -> None:
        call = self.call
        if self.signal is not None and call.abort is not None and call.abort.before:
            self.signal.abort("the caller changed its mind")
        if call.abort is None and call.cancel is None:
            # A group and its end cost a tenth of a play in process.
            await self._consume(None, lambda: None)
            return
        async with anyio.create_task_group() as group:
            if call.cancel is None:
                await self._consume(group, lambda: None)
            else:
                await self._consume_and_be_cancelled(group)
            group.cancel_scope.cancel()

    async def _consume_and_be_cancelled(self, group: anyio.abc.TaskGroup) -> None:
        """Cancel as the backend itself does: a task's ``cancel`` or a scope's."""
        try:
            task = asyncio.current_task()
        except RuntimeError:  # trio: there is no asyncio loop
            task = None
        if task is None:
            with anyio.CancelScope() as scope:
                await self._consume(group, scope.cancel)
            if scope.cancelled_caught:
                self.seen.ending = "cancelled"
            return
        loop = asyncio.get_running_loop()
        own = loop.create_task(self._consume(group, lambda: own.cancel()))
        await asyncio.wait([own])
        if own.cancelled():
            self.seen.ending = "cancelled"
        elif (error := own.exception()) is not None:
            raise error

    async def _consume(
        self, group: anyio.abc.TaskGroup | None, cancel: Callable[[], object]
    ) -> None:
        seen, call = self.seen, self.call
        try:
            stream = self.stream_of(self.request, self.signal)
            self._arm(group, call.abort, 0, self._abort)
            self._arm(group, call.cancel, 0, cancel)
            content = after_finish = 0
            async with stream:
                async for chunk in stream:
                    if not isinstance(chunk, CHUNKS):
                        raise TypeError(f"the stream hands out a {type(chunk).__name__}, no chunk")
                    seen.chunks.append((anyio.current_time() - self.begun, chunk))
                    if after_finish or isinstance(chunk, Finish):
                        after_finish += 1
                        if after_finish > MOST_AFTER_FINISH:
                            break
                    if not isinstance(chunk, CONTENT):
                        continue
                    content += 1
                    self._arm(group, call.abort, content, self._abort)
                    self._arm(group, call.cancel, content, cancel)
                    if call.leave is not None and call.leave.after_chunks == content:
                        seen.ending = "left"
                        return
                    if call.think is not None and call.think.after_chunks == content:
                        await anyio.sleep(call.think.idles * self.idle_s)
        # An adapter that exits the process has raised like any other; Ctrl-C comes elsewhere.
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - why: it is
            # the finding, whatever it is
            seen.ending = "raised"
            seen.error = f"{type(error).__module__}.{type(error).__qualname__}: {error}"
            return
        if not seen.finishes:
            seen.ending = "no-finish"
        else:
            seen.ending = "success" if seen.failure is None else "failure"

    def _abort(self) -> None:
        if self.signal is not None:
            self.signal.abort("the caller stopped it")

    def _arm(
        self,
        group: anyio.abc.TaskGroup | None,
        moment: Moment | None,
        content: int,
        act: Callable[[], object],
    ) -> None:
        if group is None or moment is None:
            return
        if moment.before or (moment.after_chunks or 0) != content:
            return
        delay_s = (moment.at_idles or SOON_IDLES) * self.idle_s

        async def later() -> None:
            await anyio.sleep(delay_s)
            act()

        if moment.at_idles == 0 and act == self._abort:
            act()
        else:
            group.start_soon(later)
