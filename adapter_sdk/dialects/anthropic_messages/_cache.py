"""Marks for the provider's prompt cache."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from ..._dialect import Json

CacheTtl: TypeAlias = Literal["5m", "1h"]

# The provider's default, and left out like every default.
_DEFAULT_TTL: Final = "5m"


def with_cache_markers(body: dict[str, Json], *, ttl: CacheTtl) -> dict[str, Json]:
    """Return ``body`` with a mark at each place where a later request may part from it.

    The cache holds tools, system text and turns, in this order, up to a mark: the first ends
    what all conversations share, the second this conversation so far.
    """
    mark: dict[str, Json] = {"type": "ephemeral"}
    if ttl != _DEFAULT_TTL:
        mark["ttl"] = ttl
    marked = dict(body)
    shared = "system" if marked.get("system") else "tools"
    if marked.get(shared):
        marked[shared] = _last_marked(marked[shared], mark)
    turns = list(marked["messages"])
    for position in range(len(turns) - 1, -1, -1):
        if turns[position]["role"] == "user":
            turn = turns[position]
            turns[position] = {**turn, "content": _last_marked(turn["content"], mark)}
            break
    marked["messages"] = turns
    return marked


def _last_marked(blocks: list[Json], mark: dict[str, Json]) -> list[Json]:
    return [*blocks[:-1], {**blocks[-1], "cache_control": mark}]
