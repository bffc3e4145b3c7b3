"""Go on at another provider when one breaks off in the middle of its answer.
When: the same model can be had in two places, and half an answer must never be taken for one.
The text on screen is withdrawn, never continued: the second response begins at its own beginning.
"""

import io

import anyio
from rich.console import Console

from adapter_sdk import LlmRequest, user
from adapter_sdk.lifecycle import (
    Diagnostic,
    LiveResponses,
    LlmClient,
    ResponseCommitted,
    ResponseFold,
    RouteCapabilities,
)
from adapter_sdk.testing import Exchange, FaultServer, Send
from reference_adapters.deepseek import DeepSeekAdapter

STREAM = (("content-type", "text/event-stream"),)
BREAKS_OFF = Exchange(
    200,
    STREAM,
    steps=(
        Send(b'data: {"choices":[{"index":0,"delta":{"content":"Three primes: 2, 3"}}]}\n\n'),
        Send(b'data: {"error":{"message":"the model is overloaded","code":503}}\n\n'),
    ),
    ending="hold",
)
ANSWERS = Exchange(
    200,
    STREAM,
    body=b'data: {"choices":[{"index":0,"delta":{"content":"5, 7 and 11."},'
    b'"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
)
REQUEST = LlmRequest(model="primes", messages=(user("Name three primes."),))


async def main() -> None:
    screen = io.StringIO()  # Console() draws in your own terminal
    console = Console(file=screen, width=80, force_terminal=True, color_system=None)
    client, why, shown = LlmClient(), list[Diagnostic](), list[str]()
    client.on_diagnostic(why.append)
    with FaultServer([BREAKS_OFF]) as first, FaultServer([ANSWERS]) as second:
        async with (
            DeepSeekAdapter(base_url=first.base_url, api_key="any") as eu,
            DeepSeekAdapter(base_url=second.base_url, api_key="any") as us,
        ):
            tools = RouteCapabilities(tools=True)
            client.register_route("eu", "primes", adapter=eu, priority=1, capabilities=tools)
            client.register_route("us", "primes", adapter=us, wire_model="primes-2026")

            fold, outcome = ResponseFold(), None
            with LiveResponses(console=console) as live:
                async for event in client.stream(REQUEST):
                    live.add(event)
                    fold.add(event, now_ms=0)
                    shown.append(fold.text)
                    outcome = event
        assert first.wait_until_released(2) == []  # the broken response was closed

    assert isinstance(outcome, ResponseCommitted)
    assert (outcome.message.text, outcome.route.route_id) == ("5, 7 and 11.", "us")
    # On screen, then withdrawn, and nothing of it in the answer.
    assert list(dict.fromkeys(shown)) == ["", "Three primes: 2, 3", "5, 7 and 11."]
    assert "18 characters withdrawn" in screen.getvalue()
    (decision,) = why
    assert (decision.action, decision.next_route_id) == ("failover", "us")
    broken, whole = fold.rows
    print(f"{broken.route_id}: {broken.reason}; {broken.withdrawn_characters} characters withdrawn")
    print(f"{whole.route_id}: {whole.state} {outcome.message.text!r}")


if __name__ == "__main__":
    anyio.run(main)
