"""A call of the runtime that its consumer leaves early is closed underneath."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from .foreign_adapter import GOOD, HI, REQUEST, Foreign, runtime_with
from .noting_middleware import named

pytestmark = pytest.mark.anyio


@pytest.fixture
def no_generator_is_left_to_the_collector() -> Iterator[None]:
    """Trio warns of async generators that were not closed; here, where it is an error."""
    yield
    gc.collect()


@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.usefixtures("no_generator_is_left_to_the_collector")
async def test_leaving_early_closes_everything_underneath(layers: int) -> None:
    seen: list[str] = []
    adapter = Foreign(tuple(GOOD))
    runtime = runtime_with(adapter, *(named(f"layer {n}", seen) for n in range(layers)))
    async with runtime.stream("example", REQUEST) as stream:
        assert await anext(stream) == HI[0]
    assert adapter.closed == 1
    assert len(seen) == 2 * layers
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    await stream.aclose()


async def test_an_error_of_the_consumer_is_its_own_and_closes_the_call() -> None:
    adapter = Foreign(tuple(GOOD))
    with pytest.raises(ZeroDivisionError):  # noqa: PT012 - why: the block is what is tested
        async with runtime_with(adapter).stream("example", REQUEST) as stream:
            await anext(stream)
            raise ZeroDivisionError
    assert adapter.closed == 1
