"""Read a stream step by step, where a scenario acts between two chunks."""

from __future__ import annotations

from typing import Any

import anyio

from .._observe import CONTENT, Observation


class Reading:
    """One stream, read as far as the scenario says. Notes what comes and never raises.

    Args:
        stream: As ``adapter.stream`` returned it.
        patience_s: When a wait counts as hung, in seconds.
    """

    def __init__(self, stream: Any, *, patience_s: float) -> None:  # noqa: ANN401 - why: any adapter's
        self.seen = Observation()
        self._stream = stream
        self._patience_s = patience_s
        self._content = 0

    async def until_content(self, count: int = 1) -> bool:
        """Read until so many content chunks have come; return whether they have."""
        await self._read(lambda: self._content >= count)
        return self._content >= count

    async def to_the_end(self) -> Observation:
        """Read to the end and return what was seen in all."""
        await self._read(lambda: False)
        seen = self.seen
        if seen.ending == "hung" and seen.finishes:
            seen.ending = "success" if seen.failure is None else "failure"
        return seen

    async def _read(self, enough: Any) -> None:  # noqa: ANN401 - why: a predicate without arguments
        seen, begun = self.seen, anyio.current_time()
        with anyio.move_on_after(self._patience_s):
            try:
                while not enough():
                    chunk = await self._stream.__anext__()
                    seen.chunks.append((anyio.current_time() - begun, chunk))
                    self._content += isinstance(chunk, CONTENT)
            except StopAsyncIteration:
                if not seen.finishes:
                    seen.ending = "no-finish"
            except Exception as error:  # noqa: BLE001 - why: whatever it is, it is the finding
                seen.ending = "raised"
                seen.error = f"{type(error).__module__}.{type(error).__qualname__}: {error}"
        seen.elapsed_s += anyio.current_time() - begun
