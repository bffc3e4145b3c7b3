"""request-shape: what a request must carry, must not carry, and carries the same every time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from adapter_sdk import LlmRequest
from adapter_sdk.testing import Exchange, FaultServer, SeenRequest

from .._bench import Bench
from .._case import RequestName
from .._judge import Difference, shown
from .._scenario import Scenario, scenario
from ._dialect_fields import required_fields
from ._verdicts import outcome

# Any answer: these checks look at the request alone.
_ANSWER: Final = Exchange(500, body=b"{}")
_TIMES: Final = 2

_NAMES: Final[tuple[RequestName, ...]] = ("text", "tools", "reasoning", "images")


def _conversations(bench: Bench) -> tuple[tuple[str, LlmRequest], ...]:
    """Return the reference conversations that the target's capabilities allow."""
    names = (name for name in _NAMES if name == "text" or name in bench.target.capabilities)
    return tuple((name, bench.request(name)) for name in names)


async def _sent(bench: Bench, request: LlmRequest) -> tuple[list[SeenRequest], str]:
    """Send ``request`` twice, by two adapters; return what the server saw and how it ended."""
    with FaultServer((_ANSWER,) * _TIMES) as server:
        ended = ""
        for _ in range(_TIMES):
            async with bench.adapter(server.base_url) as adapter:
                ended = outcome(await bench.call(adapter, request))
        return server.requests, ended


async def _bodies(bench: Bench) -> Iterator[tuple[str, LlmRequest, Any, list[Difference]]]:
    """Return each conversation with its decoded body, or with why there is none."""
    played = []
    for name, request in _conversations(bench):
        of = f"the request for the conversation {name!r}"
        requests, ended = await _sent(bench, request)
        if not requests:
            played.append((of, request, None, [Difference(of, "one that is sent", ended)]))
            continue
        try:
            body = json.loads(requests[0].body)
        except ValueError as error:
            played.append((of, request, None, [Difference(of, "a JSON body", str(error))]))
            continue
        played.append((of, request, body, []))
    return iter(played)


@scenario("request-shape", "Every reference conversation is sent with the dialect's fields")
async def required_by_the_dialect(bench: Bench) -> list[Difference]:
    """Model, messages, tools and the switch that asks for a stream."""
    found: list[Difference] = []
    for of, request, body, trouble in await _bodies(bench):
        found += trouble
        if body is not None:
            found += required_fields(bench.target.declaration.dialects, body, request, of=of)
    return found


@scenario("request-shape", "No request holds a null at any depth")
async def nothing_is_null(bench: Bench) -> list[Difference]:
    """Validators refuse what they would take where it was left out."""
    found: list[Difference] = []
    for of, _, body, trouble in await _bodies(bench):
        found += trouble
        found += [
            Difference(f"{path} of {of}", "left out where there is no value", "null")
            for path in _nulls(body, "")
            if body is not None
        ]
    return found


def _nulls(value: Any, path: str) -> Iterator[str]:
    if value is None:
        yield path or "the body"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _nulls(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _nulls(item, f"{path}[{number}]")


@scenario("request-shape", "The same request is the same bytes, also from another adapter")
async def same_request_same_bytes(bench: Bench) -> list[Difference]:
    """Prefix caches miss where a key moves or a number changes its form."""
    found: list[Difference] = []
    for name, request in _conversations(bench):
        requests, ended = await _sent(bench, request)
        of = f"the request for the conversation {name!r}, sent twice"
        if len(requests) != _TIMES:
            found.append(Difference(of, "sent both times", ended))
            continue
        first, second = ((r.method, r.target, r.body) for r in requests)
        if first != second:
            wanted = f"the same bytes (build it without sets, times and random ids): {first}"
            found.append(Difference(of, shown(wanted), shown(str(second))))
    return found


@scenario("request-shape", "Requests ask for an event stream without compression")
async def asks_for_a_plain_event_stream(bench: Bench) -> list[Difference]:
    """A compressed stream that is cut can pass as whole; an answer that is no stream comes late."""
    requests, ended = await _sent(bench, bench.request())
    if not requests:
        return [Difference("the request", "one that is sent", ended)]
    found: list[Difference] = []
    for name, wanted in (
        ("accept", "text/event-stream"),
        ("accept-encoding", "identity"),
        ("content-type", "application/json"),
    ):
        values = [v for own, v in requests[0].headers if own.lower() == name]
        words = {part.split(";")[0].strip() for value in values for part in value.split(",")}
        good = wanted in words if name == "accept" else words == {wanted}
        if not good:
            told = ", ".join(values) or "no such header"
            found.append(Difference(f"the header {name}", wanted, told))
    return found


SCENARIOS: Final[tuple[Scenario, ...]] = (
    required_by_the_dialect,
    nothing_is_null,
    same_request_same_bytes,
    asks_for_a_plain_event_stream,
)
