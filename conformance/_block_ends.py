"""A block ends as its deltas said: who shows text as it comes has shown what the end holds.

The end may say what no delta said, for some providers send a block whole. What deltas did say it
does not change, arguments least of all: they are the provider's own characters from end to end
(contract section 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adapter_sdk import (
    BlockEnd,
    Chunk,
    OutputBlock,
    ReasoningDelta,
    TextDelta,
    ToolCallBlock,
    ToolCallDelta,
)

from ._judge import shown


def contradicted_deltas(chunks: Iterable[Chunk]) -> Iterator[str]:
    """Yield, in words, each block end that says something else than the deltas before it.

    Args:
        chunks: In the order of delivery; whatever else is wrong with them is no affair of this.
    """
    said: dict[int, list[TextDelta | ReasoningDelta | ToolCallDelta]] = {}
    for number, chunk in enumerate(chunks):
        match chunk:
            case TextDelta() | ReasoningDelta() | ToolCallDelta():
                said.setdefault(chunk.index, []).append(chunk)
            case BlockEnd(index=index, block=block):
                for field, deltas, end in _fields(said.pop(index, []), block):
                    if deltas and deltas != end:
                        yield (
                            f"chunk {number}: block {index} ends with the {field} {shown(end)}, "
                            f"its deltas said {shown(deltas)}"
                        )


def _fields(
    deltas: list[TextDelta | ReasoningDelta | ToolCallDelta], block: OutputBlock
) -> Iterator[tuple[str, str, str]]:
    """Yield the name of a field, what the deltas say of it, and what the block does."""
    of_calls = [delta for delta in deltas if isinstance(delta, ToolCallDelta)]
    if not isinstance(block, ToolCallBlock):
        texts = [delta.text for delta in deltas if not isinstance(delta, ToolCallDelta)]
        yield "text", "".join(texts), block.text
    elif of_calls:
        # The id is whole on every delta that has it; the rest is in pieces.
        yield "id", next((d.id for d in of_calls if d.id not in ("", block.id)), ""), block.id
        yield "name", "".join(delta.name or "" for delta in of_calls), block.name
        yield "arguments", "".join(delta.arguments_delta for delta in of_calls), block.arguments
