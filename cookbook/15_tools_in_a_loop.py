"""Give a model tools: it asks, the loop runs them, it reads the results and answers.
When: an answer needs what only your program can look up or do.
Tools run only after the message that asks for them is in the log; what they raise, the model reads.
"""

import json
from typing import Any

import anyio

from adapter_sdk import LlmRequest, LlmRuntime, Tool
from adapter_sdk.agent import AgentTool, StepLoop, ToolError
from adapter_sdk.session import MemoryLog
from adapter_sdk.testing import Exchange, FaultServer, Send
from reference_adapters.deepseek import DeepSeekAdapter

STOCK = {"apples": 12}


async def look_up(arguments: dict[str, Any]) -> str:
    """Return how many there are."""
    name = arguments.get("name")
    if name not in STOCK:
        raise ToolError(f"we do not sell {name}")
    return str(STOCK[name])


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
LOOK_UP = AgentTool(Tool("look_up", "How many of an article are left.", SCHEMA), look_up)


def stream(*deltas: dict[str, Any], finish: str) -> Exchange:
    choices = [{"index": 0, "delta": delta} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    events = [b"data: " + json.dumps({"choices": [c]}).encode() + b"\n\n" for c in choices]
    steps = tuple(map(Send, [*events, b"data: [DONE]\n\n"]))
    return Exchange(200, (("content-type", "text/event-stream"),), steps=steps)


def call(index: int, name: str) -> dict[str, Any]:
    function = {"name": "look_up", "arguments": json.dumps({"name": name})}
    return {"tool_calls": [{"index": index, "id": f"c{index}", "function": function}]}


SCRIPT = [
    stream(call(0, "apples"), call(1, "pears"), finish="tool_calls"),
    stream({"content": "12 apples, and no pears."}, finish="stop"),
]


async def main() -> None:
    log, runtime = MemoryLog(), LlmRuntime()
    with FaultServer(SCRIPT) as server:
        async with DeepSeekAdapter(base_url=server.base_url, api_key="any") as adapter:
            runtime.register("deepseek", adapter)
            request = LlmRequest(model="deepseek-v4-flash", messages=())
            loop = StepLoop(log, runtime, provider="deepseek", request=request, tools=[LOOK_UP])
            turn = await loop.run_turn("What is in stock?")
        sent = json.loads(server.requests[1].body)["messages"]

    results = [message["content"] for message in sent if message["role"] == "tool"]
    assert results == ["12", "we do not sell pears"]
    assert turn.message is not None
    assert turn.message.text == "12 apples, and no pears."
    order = [event.type for event in log.events]
    assert order.index("assistant/message") < order.index("tool/start")
    print(f"the model read {results} and answered {turn.message.text!r}")


if __name__ == "__main__":
    anyio.run(main)
