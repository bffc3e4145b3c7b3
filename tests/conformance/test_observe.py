"""What the kit's caller sees of streams that no adapter should hand out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Self

import pytest
from typing_extensions import override

from adapter_sdk import STOP, AbortSignal, Chunk, Finish, LlmRequest, UsageReport, user
from adapter_sdk import TokenUsage as Counts
from conformance._case import Call
from conformance._observe import MOST_AFTER_FINISH, observe

REQUEST = LlmRequest(model="m", messages=(user("Hi"),))


class Endless:
    """Hands out ``first``, then ``again`` for ever, without ever waiting."""

    def __init__(self, first: Chunk, again: Chunk) -> None:
        self.next, self.again = first, again

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        chunk, self.next = self.next, self.again
        return chunk

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        pass


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(Finish(STOP), id="finishes"),
        pytest.param(UsageReport(Counts(1, 1)), id="usage"),
    ],
)
@pytest.mark.anyio
async def test_a_stream_that_goes_on_after_its_finish_for_ever_is_left(again: Chunk) -> None:
    def stream_of(request: LlmRequest, abort: AbortSignal | None) -> Any:
        return Endless(Finish(STOP), again)

    seen = await observe(stream_of, REQUEST, Call(), idle_s=1.0, patience_s=5.0)
    assert (seen.ending, len(seen.chunks)) == ("success", MOST_AFTER_FINISH + 1)


@pytest.mark.anyio
async def test_what_comes_after_the_finish_is_seen() -> None:
    async def two() -> AsyncIterator[Chunk]:
        yield Finish(STOP)
        yield UsageReport(Counts(1, 1))

    class Two(Endless):
        def __init__(self) -> None:
            self.chunks = two()

        @override
        async def __anext__(self) -> Chunk:
            return await anext(self.chunks)

    seen = await observe(lambda *_: Two(), REQUEST, Call(), idle_s=1.0, patience_s=5.0)
    assert [chunk.type for _, chunk in seen.chunks] == ["finish", "usage"]
