"""Play an answer to a profile, in process, and say what its caller was told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from adapter_sdk import BlockAssembler, LlmFailure, LlmRequest, user
from adapter_sdk.testing import Exchange, Split, run_virtual, scripted_client
from reference_adapters.pi import PiAdapter, PiProfiles

# A profile for each api that a dialect speaks: where the answers are from does not matter.
_API: Final = {
    "openai-chat": "openai-completions",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic-messages",
}
_REQUEST: Final = LlmRequest(model="m", messages=(user("Hi"),))
# Virtual seconds: what is held open ends here.
_IDLE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Told:
    """What a caller was told.

    Attributes:
        text: All text, joined.
        calls: Name and arguments of each tool call that may be dispatched.
        finish: The kind of the finish, ``error`` and ``aborted`` for a failure.
        usage: Prompt and answer tokens, the cached ones included, or None.
        failure: Of a call that failed.
    """

    text: str
    calls: tuple[tuple[str, str], ...]
    finish: str
    usage: tuple[int, int] | None
    failure: LlmFailure | None


def profiles_of(api: str) -> PiProfiles:
    row = {"api": _API[api], "base_url": "http://recorded.invalid", "models": [{"id": "m"}]}
    return PiProfiles({"recorded": row})


def play(
    api: str,
    exchanges: Sequence[Exchange],
    *,
    split: Split | None = None,
    profile: str = "recorded",
    profiles: PiProfiles | None = None,
    request: LlmRequest = _REQUEST,
) -> list[Told]:
    """Return what the caller of each exchange was told, all of them on one adapter."""

    async def calls() -> list[Told]:
        scripted = scripted_client(exchanges, split=split)
        adapter = PiAdapter(
            profile=profile,
            profiles=profiles or profiles_of(api),
            api_key="sk-recorded-0123456789",
            idle_timeout=_IDLE_S,
            http_client=scripted.client,
        )
        told = []
        for _ in exchanges:
            assembler = BlockAssembler()
            async for chunk in adapter.stream(request):
                assembler.add(chunk)
            told.append(_told(assembler))
        assert len(scripted.requests) == len(exchanges)
        assert scripted.open_responses == 0
        await scripted.client.aclose()
        return told

    return run_virtual("asyncio", calls)


def _told(assembler: BlockAssembler) -> Told:
    blocks = assembler.blocks()
    reason = assembler.finish_reason
    assert reason is not None
    usage: Any = assembler.usage
    return Told(
        text="".join(block.text for block in blocks if block.type == "text"),
        calls=tuple((b.name, b.arguments) for b in blocks if b.type == "tool-call"),
        finish=reason.kind,
        usage=usage
        and (
            usage.input_tokens + (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0),
            usage.output_tokens,
        ),
        failure=reason.failure,
    )


def same_arguments(calls: Sequence[tuple[str, str]]) -> list[tuple[str, Any]]:
    """Return calls with decoded arguments: a document's are objects, which have no spelling."""
    decoded = []
    for name, arguments in calls:
        try:
            decoded.append((name, json.loads(arguments or "{}")))
        except ValueError:  # cut by a token limit
            decoded.append((name, arguments))
    return decoded
