"""Read a stream step by step, where a scenario acts between two chunks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from adapter_sdk import AbortSignal, LlmRequest

from .._bench import hung_call
from .._observe import CONTENT, Observation


class Reading:
    """One call, read as far as the scenario says. Notes what comes, exceptions too.

    Args:
        adapter: Any adapter.
        request: What is asked of it.
        signal: The caller's, or None.
        patience_s: When a wait counts as hung, in seconds.

    Raises:
        AdapterRaisedError: From every wait: it has no end.

    Attributes:
        seen: All that has come so far.
        stream: As ``adapter.stream`` returned it; None where it raised.
    """

    def __init__(
        self,
        adapter: Any,
        request: LlmRequest,
        signal: AbortSignal | None = None,
        *,
        patience_s: float,
    ) -> None:
        self.seen = Observation()
        self.stream: Any = None
        self._patience_s = patience_s
        self._content = 0
        try:
            self.stream = adapter.stream(request, signal)
        except Exception as error:  # noqa: BLE001 - why: whatever it is, it is the finding
            self._raised(error)

    async def until_content(self, count: int = 1) -> bool:
        """Read until so many content chunks have come; return whether they have."""
        await self._bounded(lambda: self._read(lambda: self._content >= count))
        return self._content >= count

    async def to_the_end(self) -> Observation:
        """Read to the end and return what was seen in all."""
        await self._bounded(lambda: self._read(lambda: False))
        return self.seen

    async def leave(self) -> None:
        """Close the stream."""
        await self._bounded(lambda: self.stream.aclose())

    async def _bounded(self, act: Callable[[], Awaitable[None]]) -> None:
        if self.stream is None:
            return
        begun = anyio.current_time()
        with anyio.move_on_after(self._patience_s) as limit:
            try:
                await act()
            except Exception as error:  # noqa: BLE001 - why: whatever it is, it is the finding
                self._raised(error)
        if limit.cancelled_caught:
            raise hung_call(self._patience_s)
        self.seen.elapsed_s += anyio.current_time() - begun

    async def _read(self, enough: Callable[[], bool]) -> None:
        seen = self.seen
        begun = anyio.current_time() - seen.elapsed_s
        while not enough():
            try:
                chunk = await anext(self.stream)
            except StopAsyncIteration:
                if not seen.finishes:
                    seen.ending = "no-finish"
                else:
                    seen.ending = "success" if seen.failure is None else "failure"
                return
            seen.chunks.append((anyio.current_time() - begun, chunk))
            self._content += isinstance(chunk, CONTENT)

    def _raised(self, error: Exception) -> None:
        self.seen.ending = "raised"
        self.seen.error = f"{type(error).__module__}.{type(error).__qualname__}: {error}"
