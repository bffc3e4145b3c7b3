"""Names and prepared calls of the runtime: what is found, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adapter_sdk import AbortSignal, LlmError, LlmFailure, LlmRuntime, PreparedCall

from .foreign_adapter import GOOD, REQUEST, Foreign, chunks_of, failed, runtime_with

pytestmark = pytest.mark.anyio


class NoStream:
    stream = "a word"


@pytest.mark.parametrize(
    ("name", "adapter", "code", "message"),
    [
        pytest.param(
            "",
            Foreign(),
            "INVALID_ADAPTER",
            "an adapter needs a name that is not blank",
            id="empty",
        ),
        pytest.param(
            " \t",
            Foreign(),
            "INVALID_ADAPTER",
            "an adapter needs a name that is not blank",
            id="blank",
        ),
        pytest.param(
            5,
            Foreign(),
            "INVALID_ADAPTER",
            "an adapter needs a name that is not blank",
            id="number",
        ),
        pytest.param(
            "b", object(), "INVALID_ADAPTER", "b: object has no stream method", id="no-stream"
        ),
        pytest.param(
            "b", NoStream(), "INVALID_ADAPTER", "b: NoStream has no stream method", id="no-method"
        ),
        pytest.param(
            "taken",
            Foreign(),
            "DUPLICATE_ADAPTER",
            "taken: an adapter has this name; dispose of it first",
            id="taken",
        ),
    ],
)
async def test_what_cannot_be_registered_is_refused(
    name: Any, adapter: Any, code: str, message: str
) -> None:
    runtime = LlmRuntime()
    first = Foreign(tuple(GOOD))
    runtime.register("taken", first)
    with pytest.raises(LlmError) as caught:
        runtime.register(name, adapter)
    assert caught.value.failure == LlmFailure(message=message, code=code)
    assert await chunks_of(runtime.stream("taken", REQUEST)) == GOOD
    assert len(first.calls) == 1


async def test_a_name_is_free_again_after_dispose() -> None:
    runtime = LlmRuntime()
    first = runtime.register("example", Foreign())
    first.dispose()
    second = runtime.register("example", Foreign(tuple(GOOD)))
    first.dispose()  # takes nothing away from the second
    assert (first.disposed, second.disposed, second.provider) == (True, False, "example")
    assert await chunks_of(runtime.stream("example", REQUEST)) == GOOD


async def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    runtime = LlmRuntime()
    none = "no adapter is called 'x'; there are: none"
    assert await chunks_of(runtime.stream("x", REQUEST)) == [failed("NO_ADAPTER", none)]
    runtime.register("b", Foreign())
    runtime.register("a", Foreign())
    known = "no adapter is called 'x'; there are: a, b"
    assert await chunks_of(runtime.stream("x", REQUEST)) == [failed("NO_ADAPTER", known)]
    with pytest.raises(LlmError) as caught:
        runtime.prepare("x", REQUEST)
    assert caught.value.failure == LlmFailure(message=known, code="NO_ADAPTER")


async def test_a_prepared_call_keeps_its_adapter_and_its_request() -> None:
    adapter = Foreign(tuple(GOOD))
    runtime = runtime_with(adapter)
    call = runtime.prepare("example", REQUEST)
    assert adapter.calls == []
    signal = AbortSignal()
    assert await chunks_of(runtime.stream(call, abort=signal)) == GOOD
    assert adapter.calls == [(REQUEST, signal)]
    assert repr(call) == f"PreparedCall(request={REQUEST!r})"


MISUSE = "a call is what this runtime's prepare returned, alone"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(
            lambda runtime: ("example",),
            "INVALID_PREPARED_CALL",
            "example: a name needs a request beside it",
            id="a-name-alone",
        ),
        pytest.param(lambda runtime: (None, REQUEST), "INVALID_PREPARED_CALL", MISUSE, id="none"),
        pytest.param(lambda runtime: (REQUEST,), "INVALID_PREPARED_CALL", MISUSE, id="a-request"),
        pytest.param(
            lambda runtime: (runtime.prepare("example", REQUEST), REQUEST),
            "INVALID_PREPARED_CALL",
            MISUSE,
            id="a-call-and-a-request",
        ),
        pytest.param(
            lambda runtime: (runtime_with(Foreign()).prepare("example", REQUEST),),
            "INVALID_PREPARED_CALL",
            MISUSE,
            id="a-call-of-another-runtime",
        ),
    ],
)
async def test_a_call_that_was_not_prepared_here_is_refused(
    arguments: Callable[[LlmRuntime], Any], code: str, message: str
) -> None:
    adapter = Foreign(tuple(GOOD))
    runtime = runtime_with(adapter)
    assert await chunks_of(runtime.stream(*arguments(runtime))) == [failed(code, message)]
    assert adapter.calls == []


async def test_a_call_whose_adapter_was_taken_out_is_refused_and_one_in_flight_goes_on() -> None:
    adapter = Foreign(tuple(GOOD))
    runtime = LlmRuntime()
    registration = runtime.register("example", adapter)
    call: PreparedCall = runtime.prepare("example", REQUEST)
    running = runtime.stream("example", REQUEST)
    begun = await anext(running)
    registration.dispose()
    assert [begun, *await chunks_of(running)] == GOOD
    assert await chunks_of(runtime.stream(call)) == [
        failed("REGISTRATION_DISPOSED", "example: the adapter was taken out after prepare")
    ]
    assert len(adapter.calls) == 1


async def test_a_prepared_call_never_goes_to_the_successor_of_its_adapter() -> None:
    successor = Foreign(tuple(GOOD))
    runtime = LlmRuntime()
    registration = runtime.register("example", Foreign(tuple(GOOD)))
    call = runtime.prepare("example", REQUEST)
    registration.dispose()
    runtime.register("example", successor)
    assert await chunks_of(runtime.stream(call)) == [
        failed("REGISTRATION_DISPOSED", "example: the adapter was taken out after prepare")
    ]
    assert successor.calls == []
