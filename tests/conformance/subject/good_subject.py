"""A good adapter behind a pipe: what an author of a subject in another language writes anew."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import fields, replace
from typing import Any

from typing_extensions import override

from adapter_sdk import (
    AbortSignal,
    BaseAdapter,
    ChunkStream,
    ContentBlock,
    ImageBlock,
    LlmFailure,
    LlmRequest,
    Message,
    ReasoningBlock,
    TextBlock,
    Tool,
    ToolCallBlock,
    ToolResultBlock,
    codes,
)
from adapter_sdk.dialects import OpenAIChat

BLOCKS: dict[str, Any] = {
    "text": TextBlock,
    "reasoning": ReasoningBlock,
    "tool-call": ToolCallBlock,
    "image": ImageBlock,
    "tool-result": ToolResultBlock,
}


class Good(BaseAdapter):
    """Keeps every promise."""

    dialect = OpenAIChat(terminal="done-sentinel", reasoning_efforts=("low", "high"))
    default_base_url = "https://api.good.invalid/v1"
    request_id_headers = ("x-request-id", "x-trace-id")


class AuthAsInvalidRequest(Good):
    """Reports a refused key as a refused request."""

    @override
    def refine_failure(self, failure: LlmFailure, payload: object) -> LlmFailure:
        if failure.code != codes.AUTH:
            return failure
        return replace(failure, code=codes.INVALID_REQUEST)


def snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def with_snakes(value: dict[str, Any]) -> dict[str, Any]:
    return {snake(key): item for key, item in value.items()}


def block_of(value: dict[str, Any]) -> ContentBlock:
    arguments = with_snakes(value)
    if value["type"] == "tool-result":
        arguments["content"] = tuple(block_of(part) for part in value["content"])
    block: ContentBlock = BLOCKS[value["type"]](**arguments)
    return block


def request_of(value: dict[str, Any]) -> LlmRequest:
    arguments = with_snakes(value)
    arguments["messages"] = tuple(
        Message(message["role"], tuple(block_of(block) for block in message["content"]))
        for message in value["messages"]
    )
    arguments["tools"] = tuple(Tool(**with_snakes(tool)) for tool in value["tools"])
    arguments["stop"] = tuple(value["stop"])
    return LlmRequest(**arguments)


def json_of(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "__dataclass_fields__"):
        found = {camel(field.name): getattr(value, field.name) for field in fields(value)}
        return {key: json_of(item) for key, item in found.items() if item is not None}
    return dict(value) if isinstance(value, dict) else value


class Subject:
    """Answers the kit; one adapter at a time, its calls side by side."""

    def __init__(self, adapter_class: type[BaseAdapter]) -> None:
        self.adapter_class = adapter_class
        self.adapter: BaseAdapter | None = None
        self.calls: dict[int, tuple[ChunkStream, AbortSignal]] = {}
        self.tasks: dict[int, asyncio.Task[None]] = {}

    def say(self, **answer: Any) -> None:
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()

    def declaration(self) -> dict[str, Any]:
        declared = self.adapter_class.declaration()
        return {
            "dialects": list(declared.dialects),
            "terminal": declared.terminal,
            "requestIdHeaders": list(declared.request_id_headers),
            "capabilities": sorted(declared.capabilities),
            "model": declared.model,
        }

    async def hear(self, message: dict[str, Any]) -> None:
        call: Any = message.get("call")
        match message["do"]:
            case "hello":
                self.say(protocol=1, declaration=self.declaration())
            case "call":
                self.begin(call, message)
            case "next":
                self.tasks[call] = asyncio.create_task(self.next(call))
            case "abort":
                self.calls[call][1].abort(message["reason"])
            case "close" if call is None:
                if self.adapter is not None:
                    await self.adapter.aclose()
                self.adapter = None
                self.say(closed=True)
            case "close":
                await self.close(call)

    def begin(self, call: int, message: dict[str, Any]) -> None:
        if self.adapter is None:
            self.adapter = self.adapter_class(
                base_url=message["baseUrl"],
                api_key=message["apiKey"],
                idle_timeout=message["idleTimeoutS"],
                progress_timeout=message["progressTimeoutS"],
            )
        signal = AbortSignal()
        stream = self.adapter.stream(request_of(message["request"]), signal)
        self.calls[call] = stream, signal

    async def next(self, call: int) -> None:
        try:
            self.say(call=call, chunk=json_of(await anext(self.calls[call][0])))
        except StopAsyncIteration:
            self.say(call=call, end=True)
        except Exception as error:  # noqa: BLE001 - why: the kit is told of every one
            self.say(call=call, raised=repr(error))

    async def close(self, call: int) -> None:
        stream, _ = self.calls.pop(call)
        task = self.tasks.pop(call, None)
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task])
        await stream.aclose()
        self.say(call=call, closed=True)

    async def run(self) -> None:
        reader = asyncio.StreamReader(limit=1 << 26)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            await self.hear(json.loads(line))


if __name__ == "__main__":
    broken = sys.argv[1:] == ["auth-as-invalid-request"]
    asyncio.run(Subject(AuthAsInvalidRequest if broken else Good).run())
