"""attribution: every request says who sends it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final

from adapter_sdk.testing import Exchange, FaultServer

from .._bench import AdapterRaisedError, Bench
from .._judge import Difference, shown
from .._scenario import Scenario, scenario
from ._verdicts import outcome

_ANSWER: Final = Exchange(500, body=b"{}")
_CALLS: Final = 3

_PRODUCT: Final = "dsh-adapter-sdk"
_OWN_NAME: Final = "some-app/1.0"


def _wanted() -> str:
    try:
        return f"{_PRODUCT}/{version(_PRODUCT)}"
    except PackageNotFoundError:  # run from a source tree that was never installed
        return f"{_PRODUCT}/"


def _agents(server: FaultServer) -> list[str]:
    return [request.header("user-agent") or "" for request in server.requests]


def _lacking(agent: str, of: str) -> list[Difference]:
    wanted = _wanted()
    words = agent.split()
    if wanted in words or (wanted.endswith("/") and any(w.startswith(wanted) for w in words)):
        return []
    advice = "send the SDK's User-Agent, and your own name behind it"
    return [Difference(f"User-Agent of {of}", f"{wanted} in it ({advice})", shown(agent))]


@scenario("attribution", "Every request names the SDK and its version, always in the same way")
async def every_request_names_the_sdk(bench: Bench) -> list[Difference]:
    """Not the bare name of an HTTP library."""
    with FaultServer((_ANSWER,) * _CALLS) as server:
        async with bench.adapter(server.base_url) as adapter:
            ends = [outcome(await bench.call(adapter)) for _ in range(_CALLS)]
        agents = _agents(server)
    if len(agents) != _CALLS:
        return [Difference("requests of three calls", str(_CALLS), f"{len(agents)}: {ends[0]}")]
    if len(set(agents)) > 1:
        return [Difference("User-Agent of three calls", "the same each time", shown(agents))]
    return _lacking(agents[0], "a request")


@scenario(
    "attribution",
    "An injected client with a name of its own does not hide the SDK's",
    needs_client=True,
)
async def a_client_with_a_name(bench: Bench) -> list[Difference]:
    """Default headers of a client are weaker than the adapter's."""
    with FaultServer((_ANSWER,)) as server:
        async with (
            bench.client(headers={"user-agent": _OWN_NAME}) as client,
            bench.adapter(server.base_url, http_client=client) as adapter,
        ):
            end = outcome(await bench.call(adapter))
        agents = _agents(server)
    if not agents:
        return [Difference("the request", "one that is sent", end)]
    return _lacking(agents[0], f"a request through a client called {_OWN_NAME}")


@scenario("attribution", "A configured User-Agent extends the SDK's and does not replace it")
async def a_configured_name(bench: Bench) -> list[Difference]:
    """For factories that take ``headers``; the others have nothing to configure."""
    with FaultServer((_ANSWER,)) as server:
        try:
            async with bench.adapter(server.base_url, headers={"User-Agent": _OWN_NAME}) as adapter:
                await bench.call(adapter)
        except AdapterRaisedError as raised:
            if isinstance(raised.__cause__, (TypeError, ValueError)):  # no such option, or refused
                return []
            raise
        agents = _agents(server)
    return _lacking(agents[0], f"a request configured with {_OWN_NAME}") if agents else []


SCENARIOS: Final[tuple[Scenario, ...]] = (
    every_request_names_the_sdk,
    a_client_with_a_name,
    a_configured_name,
)
