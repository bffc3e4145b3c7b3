"""Serve a gateway that the catalogue does not know with nine lines of TOML and no code.
When: your company's proxy or a new provider speaks a known protocol, but not quite as others do.
A profile says where, which key, which models, and how it differs; the kit can judge it too.
"""

import json
import tempfile
from pathlib import Path

import anyio

from adapter_sdk import LlmRequest, collect, system, user
from adapter_sdk.testing import Exchange, FaultServer, Send
from reference_adapters.pi import PiAdapter, PiProfiles, ProfileError

PROFILE = """\
[acme]
api = "openai-completions"
base_url = "https://gateway.acme.example/v1"
api_key_env = "ACME_KEY"
headers = { x-team = "search" }
compat = { system_role = "developer", max_tokens_field = "max_completion_tokens" }
[[acme.models]]
id = "acme/large"
reasoning_efforts = { off = "none", low = "light", high = "deep" }
"""

HELLO = Exchange(
    200,
    (("content-type", "text/event-stream"), ("x-request-id", "req-7")),
    steps=(
        Send(b'data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'),
        Send(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'),
        Send(b"data: [DONE]\n\n"),
    ),
)
REQUEST = LlmRequest(
    model="acme/large",
    messages=(system("Be brief."), user("Hi")),
    reasoning_effort="high",
    max_tokens=100,
)


def profiles(text: str) -> PiProfiles:
    """Read a file as your program would: `PiProfiles.read("profiles.toml")`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profiles.toml"
        path.write_text(text)
        return PiProfiles.read(path)


async def main() -> None:
    known = profiles(PROFILE)
    with FaultServer([HELLO]) as server:
        # Address and key are given here to stay on this machine; else the profile's hold.
        async with PiAdapter(
            profile="acme", profiles=known, base_url=server.base_url, api_key="any"
        ) as acme:
            answer = await collect(acme.stream(REQUEST))
        (sent,) = server.requests
    assert answer.message.text == "Hello"
    body = json.loads(sent.body)
    assert (sent.target, sent.header("x-team")) == ("/chat/completions", "search")
    assert body["messages"][0] == {"role": "developer", "content": "Be brief."}
    assert (body["reasoning_effort"], body["max_completion_tokens"]) == ("deep", 100)

    refusal = ""
    try:  # a set that cannot be used is refused whole; the old one goes on serving
        known.replace({"acme": {"max_retries": 2}})
    except ProfileError as error:
        refusal = str(error)
    assert refusal.startswith("acme: max_retries: ")
    assert list(known.routes["acme"].models) == ["acme/large"]
    print(f"{answer.message.text!r} after {len(PROFILE.splitlines())} lines of TOML; a wrong one:")
    print(refusal)


if __name__ == "__main__":
    anyio.run(main)
