"""Keep a conversation in a SQLite file, lose the process in mid-answer, and go on where it was.
When: a conversation must outlive the program: a crash, a power cut, kill -9, a new version.
The log is the only state: what was said, tried, withdrawn and answered, each event on the disk.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import anyio

from adapter_sdk import LlmRequest, LlmRuntime
from adapter_sdk.agent import StepLoop
from adapter_sdk.session import SessionLog, SqliteLog, derive_messages, load_events, recover
from adapter_sdk.testing import Exchange, FaultServer, Send
from reference_adapters.deepseek import DeepSeekAdapter

STREAM = (("content-type", "text/event-stream"),)
BEGINNING = Send(b'data: {"choices":[{"index":0,"delta":{"content":"Once upon"}}]}\n\n')
REST = (
    Send(b'data: {"choices":[{"index":0,"delta":{"content":"a time."}}]}\n\n'),
    Send(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'),
    Send(b"data: [DONE]\n\n"),
)
SCRIPT = [
    Exchange(200, STREAM, steps=(BEGINNING,), ending="hold"),
    Exchange(200, STREAM, steps=REST),
]


async def say(log: SessionLog, words: str, base_url: str) -> str:
    """Run one turn and return the answer."""
    runtime = LlmRuntime()
    async with DeepSeekAdapter(base_url=base_url, api_key="any") as adapter:
        runtime.register("deepseek", adapter)
        request = LlmRequest(model="deepseek-v4-flash", messages=())
        turn = await StepLoop(log, runtime, provider="deepseek", request=request).run_turn(words)
    assert turn.message is not None
    return turn.message.text


def crash(path: Path, server: FaultServer) -> None:
    """Let another process begin a turn, and kill it once half the answer is on the disk."""
    command = [sys.executable, __file__, str(path), server.base_url]
    with subprocess.Popen(command) as process:
        assert server.wait_for_requests(1, timeout_s=20)
        while not any("Once upon" in event.line() for event in load_events(path)):
            pass
        process.kill()


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder, FaultServer(SCRIPT) as server:
        path = Path(folder) / "chat.db"
        await anyio.to_thread.run_sync(crash, path, server)
        with SqliteLog(path) as log:
            closed = recover(log)  # keeps the text that had arrived, closes step and turn
            assert [event.type for event in closed] == ["assistant/message", "step/end", "turn/end"]
            assert await say(log, "Go on.", server.base_url) == "a time."
            said = [message.text for message in derive_messages(log.events)]
        assert said == ["Tell me a story.", "Once upon", "Go on.", "a time."]
    print(f"after kill -9 and another process: {said}")


if __name__ == "__main__":
    if len(sys.argv) > 1:  # the process that is killed
        anyio.run(say, SqliteLog(sys.argv[1]), "Tell me a story.", sys.argv[2])
    else:
        anyio.run(main)
