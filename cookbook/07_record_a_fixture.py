"""Record what a server really sends, byte by byte, and replay it to an adapter as a test.
When: you have a key or a local server, and want its answers in your tests without either.
The recorder keeps no credential, but what was asked and said: read it before you share it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import anyio

from adapter_sdk import Completion, LlmRequest, collect, user
from adapter_sdk.testing import Exchange, FaultServer, Send
from conformance import exchange_of, load_recording, recording_names
from reference_adapters.deepseek import DeepSeekAdapter

KIT = (sys.executable, "-m", "conformance")
ONCE = ("--name", "acme", "--times", "1")
KEY = "sk-of-the-person-who-records"
EVENTS = (("content-type", "text/event-stream"), ("x-request-id", "req-7"))
SAID = (
    Send(b'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n'),
    Send(b'data: {"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\n'),
    Send(b"data: [DONE]\n\n"),
)


async def ask(base_url: str) -> Completion:
    """Call as your program does; only the address is another one."""
    async with DeepSeekAdapter(base_url=base_url, api_key=KEY) as adapter:
        request = LlmRequest(model="deepseek-v4-flash", messages=(user("Hi"),))
        return await collect(adapter.stream(request))


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        FaultServer([Exchange(200, EVENTS, steps=SAID)]) as provider,  # yours: https://api.…/v1
        subprocess.Popen(
            [*KIT, "record", "--upstream", provider.base_url, "--out", folder, *ONCE],
            stdout=subprocess.PIPE,
            text=True,
        ) as recorder,
    ):
        assert recorder.stdout is not None
        said = [recorder.stdout.readline() for _ in range(3)]  # what it does, where, until when
        live = anyio.run(ask, said[1].split()[-1])  # "  base URL  http://127.0.0.1:…"
        assert recorder.wait(10) == 0

        (name,) = recording_names(Path(folder))
        recording = load_recording(name, Path(folder))
        assert KEY not in "".join(path.read_text() for path in Path(folder).rglob("*.*"))
        # Prompts and answers are kept as they are: whose they are, only you can tell.
        assert recording.request.body is not None
        assert '"content":"Hi"' in recording.request.body
        lint = [*KIT, "fixtures", "lint", folder]  # looks for keys once more, not for names
        assert subprocess.run(lint, capture_output=True, check=False).returncode == 0

        with FaultServer([exchange_of(recording)]) as replay:  # no provider, no key, same bytes
            replayed = anyio.run(ask, replay.base_url)
    assert replayed == live
    print(f"recorded and replayed {live.message.text!r}: {len(recording.body)} bytes, no key")


if __name__ == "__main__":
    main()
