"""foreign-exceptions: what a library underneath raises becomes a failure with a code."""

from __future__ import annotations

from typing import Any, Final

from .._bench import IN_PROCESS_URL, Bench
from .._judge import Difference, shown
from .._scenario import Scenario, scenario
from ._raising_client import Place, raising_client
from ._verdicts import ENOUGH, failure_differs

# By class name: httpx and httpx2 use the same names.
_CODE_OF: Final = {
    "ReadTimeout": "TIMEOUT",
    "ConnectTimeout": "TIMEOUT",
    "WriteTimeout": "TIMEOUT",
    "PoolTimeout": "TIMEOUT",
    "ConnectError": "TRANSPORT",
    "ReadError": "TRANSPORT",
    "WriteError": "TRANSPORT",
    "RemoteProtocolError": "TRANSPORT",
    "DecodingError": "TRANSPORT",
    "TooManyRedirects": "TRANSPORT",
}

# What can come behind the headers.
_IN_THE_BODY: Final = ("ReadTimeout", "ReadError", "RemoteProtocolError", "DecodingError")


class UnheardOfError(Exception):
    """An exception of no library, without a text, as broken pipes have none."""


_STRANGERS: Final[tuple[Exception, ...]] = (
    UnheardOfError(),
    RuntimeError("the library is confused"),
    KeyError("choices"),
)


async def _failed(
    bench: Bench, error: Exception, code: str, *, at: Place, **facts: Any
) -> list[Difference]:
    client = raising_client(bench.library, error, at=at)
    async with client, bench.adapter(IN_PROCESS_URL, http_client=client) as adapter:
        seen = await bench.call(adapter)
    where = "in place of an answer" if at == "send" else "inside the body"
    of = f"the call whose client raises {type(error).__name__} {where}"
    return failure_differs(seen, code, of=of, advice="map what the client raises", **facts)


@scenario(
    "foreign-exceptions",
    "Each exception of the HTTP client has its code",
    needs_client=True,
    virtual=True,
)
async def exceptions_of_the_client(bench: Bench) -> list[Difference]:
    """Timeouts are TIMEOUT, everything else that the client knows is TRANSPORT."""
    found: list[Difference] = []
    for name, code in _CODE_OF.items():
        kind = getattr(bench.library, name)
        found += await _failed(bench, kind(""), code, at="send")
        if name in _IN_THE_BODY:
            found += await _failed(bench, kind(""), code, at="body", status=200)
    return found[:ENOUGH]


@scenario(
    "foreign-exceptions",
    "A wait for the client's pool that is given up names the pool",
    needs_client=True,
    virtual=True,
)
async def pool_timeout_names_the_pool(bench: Bench) -> list[Difference]:
    """Nobody finds a leaked connection by the word timeout alone."""
    client = raising_client(bench.library, bench.library.PoolTimeout(""), at="send")
    async with client, bench.adapter(IN_PROCESS_URL, http_client=client) as adapter:
        seen = await bench.call(adapter)
    of = "the call whose client raises PoolTimeout"
    found = failure_differs(seen, "TIMEOUT", of=of)
    said = "" if seen.failure is None else seen.failure.message
    if not found and "pool" not in said.lower():
        found.append(Difference(f"message of {of}", "one that names the pool", shown(said)))
    return found


@scenario(
    "foreign-exceptions",
    "An exception that nobody knows is UNKNOWN and has a message",
    needs_client=True,
    virtual=True,
)
async def unknown_exceptions(bench: Bench) -> list[Difference]:
    """Also where the exception itself has no text."""
    found: list[Difference] = []
    for error in _STRANGERS:
        found += await _failed(bench, error, "UNKNOWN", at="send")
        found += await _failed(bench, error, "UNKNOWN", at="body", status=200)
    return found[:ENOUGH]


SCENARIOS: Final[tuple[Scenario, ...]] = (
    exceptions_of_the_client,
    pool_timeout_names_the_pool,
    unknown_exceptions,
)
