"""A subject in the place of an adapter: the kit's calls become lines, its lines become chunks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from itertools import count
from typing import Any, Final, Self

import anyio
from typing_extensions import override

from adapter_sdk import AbortSignal, Chunk, LlmRequest

from .._judge import shown
from ._process import SubjectError, SubjectProcess
from ._values import chunk_of, request_json

# What a subject may take to close a call; no check waits for it, a wedged one is ended then.
CLOSING_LIMIT_S: Final = 3.0

# The number of the adapter itself among the numbers of its calls, which begin with 1.
_WHOLE_ADAPTER: Final = 0

_log = logging.getLogger(__name__)


class _Answers:
    """Hands each answer to the call that waits for it. One waiter reads for all of them."""

    def __init__(self, process: SubjectProcess) -> None:
        self._process = process
        self._asked: set[Hashable] = set()
        self._came: dict[Hashable, dict[str, Any]] = {}
        self._closing: set[int] = set()
        self._changed = anyio.Event()
        self._reading = False
        self.trouble = ""

    def is_asked(self, call: int) -> bool:
        """Whether a call still waits for its next chunk."""
        return call in self._asked

    async def chunk(self, call: int) -> dict[str, Any]:
        """Return the answer to ``next``."""
        return await self._wait(call)

    async def closed(self, call: int) -> None:
        """Wait for the answer to ``close``; chunks that cross it are dropped."""
        self._closing.add(call)
        await self._wait(("closed", call))

    async def _wait(self, key: Hashable) -> dict[str, Any]:
        self._asked.add(key)
        while key not in self._came:
            if self.trouble:
                raise SubjectError(self.trouble)
            if self._reading:
                await self._changed.wait()
                continue
            self._reading = True
            try:
                await self._process.wait()
                self._take()
            except SubjectError as error:
                self.trouble = str(error)
            finally:
                self._reading = False
                changed, self._changed = self._changed, anyio.Event()
                changed.set()
        return self._came.pop(key)

    def _take(self) -> None:
        for answer in self._process.answers():
            call = answer.get("call", _WHOLE_ADAPTER)
            key: Hashable = ("closed", call) if answer.get("closed") is True else call
            if key in self._asked:
                self._asked.discard(key)
                self._came[key] = answer
            elif call not in self._closing:
                raise SubjectError(f"answered what was not asked: {shown(str(answer))}")


class SubjectAdapter:
    """Stands for the adapter inside a subject; see ``SUBJECT.md``.

    Args:
        process: The subject, or in words why there is none: then every call raises them.
        settings: What each call tells the subject beside its request.

    Attributes:
        give_back: Takes the process at the end; with False where it must not be used again.
    """

    give_back: Callable[[bool], None]

    def __init__(
        self,
        process: SubjectProcess | SubjectError,
        settings: dict[str, Any],
    ) -> None:
        self._process, self._settings = process, settings
        self._answers = None if isinstance(process, SubjectError) else _Answers(process)
        self._numbers = count(_WHOLE_ADAPTER + 1)
        self._over = False

    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> SubjectStream:
        """Return the stream of one call; the subject hears of it when it is begun."""
        return SubjectStream(self, request, abort)

    async def aclose(self) -> None:
        """Close the adapter in the subject.

        Raises:
            SubjectError: It has ended, does not close, or says what was not asked.
        """
        if self._over or isinstance(self._process, SubjectError) or self._answers is None:
            return
        self._over = True
        healthy = False
        try:
            if self._answers.trouble:  # a call has told it
                return
            self.send({"do": "close"})
            with anyio.move_on_after(CLOSING_LIMIT_S):
                await self._answers.closed(_WHOLE_ADAPTER)
                healthy = True
        finally:
            for line in self._process.new_error_lines():
                _log.debug("standard error of the subject: %s", line)
            self.give_back(healthy)
        if not healthy:
            raise SubjectError(f"close: no answer within {CLOSING_LIMIT_S:g} s")

    # ---- what its streams use ------------------------------------------------------------

    def begin(self, request: LlmRequest) -> int:
        """Tell the subject of a call and return the call's number."""
        number = next(self._numbers)
        told = {"do": "call", "call": number, **self._settings, "request": request_json(request)}
        self.send(told)
        return number

    def send(self, message: dict[str, Any]) -> None:
        """Write one line, or raise ``SubjectError``."""
        self._running().send(message)

    async def next_chunk(self, call: int) -> dict[str, Any]:
        """Ask for the next chunk and wait for it."""
        answers = self._heard()
        self.send({"do": "next", "call": call})
        return await answers.chunk(call)

    async def close_call(self, call: int) -> None:
        """Close a call; a subject that does not is ended, and the next call says so."""
        answers = self._heard()
        was_asked = answers.is_asked(call)
        closed = False
        with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSING_LIMIT_S):
            self.send({"do": "close", "call": call})
            await answers.closed(call)
            closed = True
        if not closed:
            answers.trouble = f"close: no answer within {CLOSING_LIMIT_S:g} s"
            if not was_asked:  # else that it hangs is told by whoever waited for its chunk
                raise SubjectError(answers.trouble)

    def _running(self) -> SubjectProcess:
        if isinstance(self._process, SubjectError):
            raise self._process
        return self._process

    def _heard(self) -> _Answers:
        self._running()
        assert self._answers is not None  # noqa: S101 - why: there is a process
        if self._answers.trouble:
            raise SubjectError(self._answers.trouble)
        return self._answers


class SubjectStream:
    """The chunks of one call, one for each time that the kit asks."""

    def __init__(
        self, adapter: SubjectAdapter, request: LlmRequest, abort: AbortSignal | None
    ) -> None:
        self._adapter, self._request, self._abort = adapter, request, abort
        self._call: int | None = None
        self._over = False
        self._forget: Callable[[], None] | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        if self._over:
            raise StopAsyncIteration
        if self._call is None:
            self._call = self._adapter.begin(self._request)
            if self._abort is not None:
                self._forget = self._abort.on_abort(self._tell_of_the_abort)
        answer = await self._adapter.next_chunk(self._call)
        if "chunk" in answer:
            return chunk_of(answer["chunk"])
        if answer.get("end") is True:
            raise StopAsyncIteration
        if "raised" in answer:
            raise SubjectError(f"the adapter raised {shown(str(answer['raised']))}")
        raise SubjectError(f"answered without chunk, end or raised: {shown(str(answer))}")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the call."""
        if self._over:
            return
        self._over = True
        if self._forget is not None:
            self._forget()
        if self._call is not None:
            await self._adapter.close_call(self._call)

    def _tell_of_the_abort(self) -> None:
        reason = (self._abort.reason if self._abort else None) or ""
        try:
            self._adapter.send({"do": "abort", "call": self._call, "reason": reason})
        except SubjectError as error:  # it has ended, which whoever waits for it is told as well
            _log.debug("the abort reached nobody: %s", error)

    @override
    def __repr__(self) -> str:
        return f"<SubjectStream of call {self._call}>"
