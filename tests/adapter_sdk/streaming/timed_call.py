"""One call on a virtual clock, with limits, a signal and a consumer that pauses."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal

import anyio
import httpx

from adapter_sdk import AbortSignal, Chunk, Finish, FinishReason, LlmFailure, ProviderRequestId
from adapter_sdk._clock import running_clock
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.dialects.openai_chat import Terminal
from adapter_sdk.testing import Exchange, Send, Step, run_virtual, scripted_client

from .chat_answer import DONE, HEADERS, REQUEST, STOPPED, USAGE, Example
from .lanes import Backend
from .waiting import until

IDLE_S, PROGRESS_S = 10.0, 25.0

EMPTY = Send(b'data: {"choices":[{"delta":{}}]}\n\n')
COMMENT = Send(b": keep-alive\n\n")
COLON = Send(b":\n\n")
END = (STOPPED, USAGE, DONE)
HELD_BEFORE = Exchange(None, ending="hold-before-headers")

IDLE = "no event and no comment for 10 s, the idle limit"
PROGRESS = "no text, reasoning or arguments for 25 s, the progress limit"


class Lenient(Example):
    dialect = OpenAIChat(terminal="finish-reason")


def answer(*steps: Step, ending: Literal["eof", "hold", "cut"] = "hold") -> Exchange:
    return Exchange(200, HEADERS, steps=steps, ending=ending)


def ended(code: str, message: str, *, status: int | None = 200) -> Finish:
    failure = LlmFailure(
        message=message,
        code=code,
        status=status,
        request_id=None if status is None else ProviderRequestId("req_1"),
    )
    return Finish(FinishReason("aborted" if code == "ABORTED" else "error", failure))


@dataclass
class Call:
    """One call on a virtual clock, and what its consumer does between two chunks."""

    exchange: Exchange
    backend: Backend = "asyncio"
    library: ModuleType = httpx
    terminal: Terminal = "done-sentinel"
    pauses: dict[int, float] = field(default_factory=dict)
    abort_at: float | None = None
    abort_order: Literal["first", "last", "task"] = "first"
    signal: AbortSignal = field(default_factory=AbortSignal)
    options: dict[str, Any] = field(default_factory=dict)

    def run(self) -> tuple[float, list[Chunk], int]:
        """Return when it ended, its chunks, and how many requests were seen."""
        return run_virtual(self.backend, self._run)

    async def _run(self) -> tuple[float, list[Chunk], int]:
        scripted = scripted_client([self.exchange], library=self.library)
        kind = Lenient if self.terminal == "finish-reason" else Example
        limits = {"idle_timeout": IDLE_S, "progress_timeout": PROGRESS_S, **self.options}
        adapter = kind(http_client=scripted.client, api_key="k", **limits)
        async with anyio.create_task_group() as group:
            self._order_abort(group)
            chunks: list[Chunk] = []
            async for chunk in adapter.stream(REQUEST, self.signal):
                chunks.append(chunk)
                if len(chunks) in self.pauses:
                    await until(anyio.current_time() + self.pauses[len(chunks)])
            at = anyio.current_time()
            assert scripted.open_responses == 0
            group.cancel_scope.cancel()
        await scripted.client.aclose()
        return at, chunks, len(scripted.requests)

    def _order_abort(self, group: Any) -> None:
        at = self.abort_at
        if at is None:
            return
        clock = running_clock()

        def order() -> None:
            clock.call_at(at, lambda: self.signal.abort("stop"))

        async def abort() -> None:
            await until(at)
            self.signal.abort("stop")

        if self.abort_order == "first":
            order()
        elif self.abort_order == "last":
            clock.call_at(at / 2, order)
        else:
            group.start_soon(abort)
