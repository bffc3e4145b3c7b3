"""An adapter for a dialect of your own: a line of JSON for each event, with cases of its own.
When: your provider speaks neither OpenAI's wires nor Anthropic's, and sends no event stream.
A dialect is pure: a body, and payloads to chunks. The SDK keeps time, facts and the grammar.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterable, Mapping
from pathlib import Path

from typing_extensions import override

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    BaseAdapter,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    InBandError,
    Json,
    LlmRequest,
    ProtocolFault,
    ResponseHead,
    TextBlock,
    TextDelta,
    TokenUsage,
    UsageReport,
    WireRequest,
    codes,
    local_error,
)

NDJSON = "application/x-ndjson"
FINISHES = {"stop": STOP, "length": MAX_TOKENS}


class Lines:
    """`{"say": "Hel"}` … `{"say": "", "end": "stop", "in": 3, "out": 2}`, one call's worth."""

    def __init__(self) -> None:
        self.usage: TokenUsage | None = None
        self.settled = False
        self.text: list[str] = []

    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        if not data.strip():
            return ()
        try:
            payload = json.loads(data)
        except ValueError as error:
            raise ProtocolFault(codes.MALFORMED_RESPONSE, f"no JSON: {error}") from error
        return self.document(payload)

    def document(self, payload: Json) -> Iterable[Chunk]:
        if not isinstance(payload, dict):
            raise ProtocolFault(codes.MALFORMED_RESPONSE, "a line is no object")
        if payload.get("error"):
            raise InBandError(payload)
        if said := payload.get("say"):
            if not self.text:
                yield BlockStart(0, "text")
            self.text.append(said)
            yield TextDelta(0, said)
        if word := payload.get("end"):
            if word not in FINISHES:
                raise ProtocolFault(codes.UNKNOWN, f"the provider ended with {word!r}")
            if not self.text:
                raise ProtocolFault(codes.EMPTY_RESPONSE, "an answer without a word")
            yield BlockEnd(0, TextBlock("".join(self.text)))
            yield UsageReport(TokenUsage(payload.get("in", 0), payload.get("out", 0)))
            yield Finish(FINISHES[word])

    def close(self) -> Iterable[Chunk]:
        raise ProtocolFault(codes.STREAM_CLOSED, "the lines ended before the end was said")


class LineDialect:
    """How this family of providers speaks."""

    name, path, terminal = "lines", "/talk", "end-line"

    def body(self, request: LlmRequest) -> Mapping[str, Json]:
        if request.reasoning_effort is not None:
            raise local_error(codes.UNSUPPORTED_REASONING_EFFORT, "this provider has no efforts")
        turns = [{"who": message.role, "say": message.text} for message in request.messages]
        return {"model": request.model, "turns": turns}

    def credential_headers(self, credential: str) -> Mapping[str, str]:
        return {"x-key": credential}

    def translator(self) -> Lines:
        return Lines()


class LineAdapter(BaseAdapter):
    """The provider itself: what is left of an adapter once its dialect is written."""

    dialect = LineDialect()
    default_base_url = "https://lines.example/v1"
    capabilities = frozenset()

    @override
    async def exchange(
        self, request: LlmRequest
    ) -> AsyncGenerator[WireRequest | ResponseHead | bytes, None]:
        """Give each line of a good answer the frame of an event, which the SDK bounds and reads."""
        framed, first, source = False, b"data: ", super().exchange(request)
        try:
            async for item in source:
                if isinstance(item, ResponseHead) and item.status == 200:
                    kinds = item.values("content-type")  # all else the SDK knows how to judge
                    framed = kinds == [NDJSON] and not item.values("content-encoding")
                if framed and isinstance(item, bytes):
                    yield first + item.replace(b"\n", b"\n\ndata: ")
                    first = b""
                else:
                    yield item
        finally:
            await source.aclose()


CASE = """\
requirement = "{requirement}"
dialect = "lines"
title = "{title}"
[[exchange]]
status = 200
headers = [["content-type", "application/x-ndjson"]]
send = [
  {{raw = '{{"say": "Hel"}}'}}, {{raw = "\\n"}},
  {{raw = '{{"say": "lo"}}'}}, {{raw = "\\n"}},
  {last}
]
end = "{end}"
[expect]
{expect}
"""
CASES = {
    "terminal_stops/lines_end": CASE.format(
        requirement="terminal-stops",
        title="The end is the end although the connection stays open",
        last="""{raw = '{"end": "stop", "in": 3, "out": 2}'}, {raw = "\\n"}""",
        end="hold",
        expect='outcome = "success"\nmessage = {finish = "stop", text = "Hello"}',
    ),
    "terminal_evidence/lines_stop": CASE.format(
        requirement="terminal-evidence",
        title="Lines that stop before the end are no answer",
        last="",
        end="eof",
        expect='outcome = "failure"\nfailure = {code = "STREAM_CLOSED"}',
    ),
}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name, text in CASES.items():
            path = Path(folder, f"{name}.toml")
            path.parent.mkdir()
            path.write_text(text)
        kit = [sys.executable, "-m", "conformance", f"{__file__}:LineAdapter", "--cases", folder]
        ran = subprocess.run([*kit, "code_", *CASES], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    print(ran.stdout.splitlines()[-1].replace(__file__, "this file"))
