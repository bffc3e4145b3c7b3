"""A whole adapter to a provider that speaks the chat completions dialect, in twelve lines.
When: the provider calls itself OpenAI-compatible; its address, key and headers are all that differ.
Then judge it: dsh-conformance cookbook/01_adapter_in_twelve_lines.py:AcmeAdapter says what holds.
"""

import anyio

from adapter_sdk import BaseAdapter, LlmRequest, collect, user
from adapter_sdk.dialects.openai_chat import OpenAIChat
from adapter_sdk.testing import Exchange, FaultServer, Send


class AcmeAdapter(BaseAdapter):
    """Acme, which always ends its streams with [DONE]: without it an answer was cut off."""

    dialect = OpenAIChat(terminal="done-sentinel")
    default_base_url = "https://api.acme.example/v1"
    api_key_env = "ACME_API_KEY"
    request_id_headers = ("x-acme-request-id",)


HELLO = Exchange(
    200,
    (("content-type", "text/event-stream"),),
    steps=(
        Send(b'data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'),
        Send(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'),
        Send(b"data: [DONE]\n\n"),
    ),
)


async def main() -> None:
    with FaultServer([HELLO]) as server:
        async with AcmeAdapter(base_url=server.base_url, api_key="any") as acme:
            answer = await collect(acme.stream(LlmRequest(model="acme-1", messages=(user("Hi"),))))

    (sent,) = server.requests
    assert (sent.method, sent.target) == ("POST", "/chat/completions")
    assert sent.header("authorization") == "Bearer any"
    assert answer.message.text == "Hello"
    print(f"acme-1 answered {answer.message.text!r}, finish: {answer.finish.kind}")


if __name__ == "__main__":
    anyio.run(main)
