"""The table of outcomes, and what a caller was told in its words.

The table says of every recording how a call to the DeepSeek adapter ends that meets it.
"""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Any, Final, TypeAlias

from adapter_sdk import (
    BlockAssembler,
    Chunk,
    Finish,
    LlmRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    UsageReport,
    user,
)
from conformance._recording._file import load_recording, recording_names
from reference_adapters.deepseek import DeepSeekAdapter

Outcome: TypeAlias = dict[str, Any]

TABLE: Final[dict[str, Outcome]] = tomllib.loads(
    Path(__file__).parent.with_name("recorded_outcomes.toml").read_text(encoding="utf-8")
)
RECORDINGS: Final = {name: load_recording(name) for name in recording_names()}
REPLAYED: Final = [name for name, outcome in TABLE.items() if "not_replayed" not in outcome]

# What the table says beside the outcome itself.
_ASIDE: Final = frozenset({"not_replayed", "in_band_code", "said"})
# A longer text stands in the table by its head, its length and its hash.
_LONG: Final = 200

REQUEST: Final = LlmRequest(model="deepseek-v4-flash", messages=(user("Hi"),))


def expected(name: str) -> Outcome:
    return {key: value for key, value in TABLE[name].items() if key not in _ASIDE}


def observed(chunks: list[Chunk]) -> Outcome:
    """What the caller was told, in the words of the table."""
    assembler = BlockAssembler()
    for chunk in chunks:
        assembler.add(chunk)
    last = chunks[-1] if chunks else None
    told: Outcome = {"outcome": "left"}
    kept: list[list[str]] = []
    if isinstance(last, Finish) and last.failure is not None:
        told = {
            "outcome": "failure",
            **{
                key: value
                for key in ("code", "status", "provider_retry_after_ms", "request_id")
                if (value := getattr(last.failure, key)) is not None
            },
        }
    elif isinstance(last, Finish):
        told = {"outcome": "success", "finish": last.reason.kind}
        kept = [
            [block.id, block.name, block.arguments]
            for block in assembler.message().content
            if block.type == "tool-call"
        ]
    begun = _calls_of_deltas(chunks)
    usage = [chunk.usage for chunk in chunks if isinstance(chunk, UsageReport)]
    parts: Outcome = {
        "text": _in_short("".join(c.text for c in chunks if isinstance(c, TextDelta))),
        "reasoning": _in_short("".join(c.text for c in chunks if isinstance(c, ReasoningDelta))),
        "tools": kept,
        "cut_tools": [] if kept == begun else begun,
        "usage": {
            key: value
            for report in usage
            for key in report.__slots__
            if (value := getattr(report, key)) is not None
        },
    }
    return told | {key: value for key, value in parts.items() if value}


def _calls_of_deltas(chunks: list[Chunk]) -> list[list[str]]:
    calls: dict[int, list[str]] = {}
    for chunk in chunks:
        if isinstance(chunk, ToolCallDelta):
            call = calls.setdefault(chunk.index, [chunk.id, "", ""])
            call[1] += chunk.name or ""
            call[2] += chunk.arguments_delta
    return list(calls.values())


def _in_short(text: str) -> str | Outcome:
    if len(text) <= _LONG:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"head": text[:48], "length": len(text), "sha256": digest}


async def read(adapter: DeepSeekAdapter, name: str) -> list[Chunk]:
    """All chunks of one call; the caller of a recording that was left leaves at its last text."""
    leaves_at = expected(name)["text"] if TABLE[name]["outcome"] == "left" else None
    chunks: list[Chunk] = []
    async with adapter.stream(REQUEST) as stream:
        async for chunk in stream:
            chunks.append(chunk)
            if leaves_at is not None and observed(chunks).get("text") == leaves_at:
                break
    return chunks


def assert_as_recorded(name: str, chunks: list[Chunk]) -> None:
    assert observed(chunks) == expected(name)
    said = TABLE[name].get("said")
    if said is not None:
        last = chunks[-1]
        assert isinstance(last, Finish)
        assert last.failure is not None
        assert said in last.failure.message
