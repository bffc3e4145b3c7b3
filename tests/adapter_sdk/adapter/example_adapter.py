"""An adapter of the base class that sends to a script, and the request that it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from typing_extensions import override

from adapter_sdk import BaseAdapter, Finish, ImageBlock, LlmRequest, user
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.testing import Exchange, Scripted, Send, scripted_client

REQUEST = LlmRequest(model="m", messages=(user("hi"),))
PIXEL = ImageBlock("image/png", "aGk=")
GOOD = Exchange(
    200,
    (("content-type", "text/event-stream"),),
    steps=(
        Send(b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'),
        Send(b"data: [DONE]\n\n"),
    ),
)

ABSOLUTE = "base_url: an absolute address that begins with http:// or https://"


class Example(BaseAdapter):
    dialect = OpenAIChat(terminal="done-sentinel", reasoning_efforts=("low",))
    default_base_url = "http://api.example/v1"
    api_key_env = "EXAMPLE_API_KEY"
    base_url_env = "EXAMPLE_BASE_URL"
    own_headers: ClassVar[dict[str, str]] = {}

    @override
    def request_headers(self, request: LlmRequest) -> Mapping[str, str]:
        return self.own_headers


def adapter_with(*exchanges: Exchange, **options: Any) -> tuple[Example, Scripted]:
    scripted = scripted_client(exchanges or (GOOD,))
    options = {"api_key": "sk-1", **options}
    return Example(http_client=scripted.client, **options), scripted


async def finish_of(adapter: BaseAdapter, request: LlmRequest = REQUEST) -> Finish:
    (finish,) = [chunk async for chunk in adapter.stream(request) if isinstance(chunk, Finish)]
    return finish
