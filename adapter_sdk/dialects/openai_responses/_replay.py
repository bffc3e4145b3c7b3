"""What stands beside the blocks of a response in its replay state."""

from __future__ import annotations

from collections.abc import Iterable

from ._item import Item


def add_replay_entries(items: Iterable[Item]) -> None:
    """Give the block of each item what its replay needs.

    Reasoning goes back encrypted, with its id. The provider checks that reasoning and the items
    after it belong together, by their ids; so the others keep theirs only where all reasoning
    of the response can go back. Without reasoning no id is needed.
    """
    items = list(items)
    reasoning = [item for item in items if item.kind == "reasoning"]
    with_ids = bool(reasoning) and all(item.encrypted and item.wire_id for item in reasoning)
    for item in items:
        if item.held is None:
            continue
        entry = item.held.replay
        if with_ids and item.wire_id:
            entry["id"] = item.wire_id
        if item.kind == "reasoning" and with_ids:
            entry["encrypted_content"] = item.encrypted
        phase = item.wire.get("phase")
        if item.kind == "message" and isinstance(phase, str) and phase:
            entry["phase"] = phase  # commentary or final answer: the model expects it back
