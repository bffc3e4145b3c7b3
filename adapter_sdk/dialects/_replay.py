"""The envelope in which a dialect finds its own answers again.

Signatures and encrypted reasoning mean something to the provider alone. They travel with the
message, one entry a block, and are used only where envelope and message still fit together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .._assembler import REPLAY_BLOCKS_KEY
from .._dialect import Json
from .._messages import Message, ReplayState

VERSION: Final = 1


def replay_envelope(
    dialect: str, *, response_id: str, stop_reason: str, blocks: Sequence[Mapping[str, Json]]
) -> ReplayState:
    """Return the replay state of an answer.

    Args:
        dialect: Whose answer it is.
        response_id: The provider's id of the answer; may be empty.
        stop_reason: The provider's own word for why it stopped.
        blocks: What stands beside each block, in the order of the blocks.
    """
    return {
        "version": VERSION,
        "dialect": dialect,
        "response_id": response_id,
        "stop_reason": stop_reason,
        REPLAY_BLOCKS_KEY: [dict(entry) for entry in blocks],
    }


def replay_entries(message: Message, *, dialect: str) -> Sequence[Mapping[str, Json]]:
    """Return one entry a block of ``message``; empty ones where its replay state is unusable.

    It is unusable where it is of another dialect or version, or does not fit the blocks.
    """
    nothing: list[Mapping[str, Json]] = [{} for _ in message.content]
    state = message.replay_state
    if not isinstance(state, Mapping):
        return nothing
    if state.get("version") != VERSION or state.get("dialect") != dialect:
        return nothing
    entries: Json = state.get(REPLAY_BLOCKS_KEY)
    if not isinstance(entries, (list, tuple)) or len(entries) != len(message.content):
        return nothing
    return entries if all(isinstance(entry, Mapping) for entry in entries) else nothing


def entry_text(entry: Mapping[str, Json], key: str) -> str:
    """Return the text that an entry holds under ``key``; empty where it holds none."""
    value = entry.get(key)
    return value if isinstance(value, str) else ""
