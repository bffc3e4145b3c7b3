"""What holds for every stream of the messages wire."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from adapter_sdk import InBandError, ProtocolFault
from adapter_sdk.testing import at, whole

from .messages_wire import (
    DIALECT,
    PING,
    arguments,
    begin,
    closing,
    signature,
    start,
    stop,
    text,
    thought,
)
from .playing import Good, chunks_of, seen, sse

TYPES: Final = (
    *("message_start", "message_delta", "message_stop", "message", "ping", "error"),
    *("content_block_start", "content_block_delta", "content_block_stop"),
    *("text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "", "odd"),
    *("text_delta", "thinking_delta", "signature_delta", "input_json_delta"),
    *("end_turn", "tool_use", "max_tokens", "refusal"),
)
KEYS: Final = (
    *("type", "index", "delta", "content_block", "message", "content", "usage", "id", "name"),
    *("text", "thinking", "signature", "data", "input", "partial_json", "stop_reason", "error"),
)

scalars = st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(TYPES)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=6,
)


@st.composite
def payloads(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an event that begins well and holds anything."""
    kind = draw(st.sampled_from(TYPES[:9]))
    inner = draw(st.dictionaries(st.sampled_from(KEYS), values, max_size=5))
    around = draw(st.sampled_from(["delta", "content_block", "message", "usage"]))
    return {"type": kind, "index": draw(st.integers(0, 2)), around: inner}


@settings(deadline=None)
@given(events=st.lists(payloads() | values, max_size=8))
def test_no_payload_breaks_the_dialect_or_the_grammar(events: list[Any]) -> None:
    seen(chunks_of(DIALECT, sse(*events, *closing(), named=False)))


@settings(deadline=None)
@given(document=values | payloads())
def test_no_document_breaks_the_dialect(document: Any) -> None:
    try:
        list(DIALECT.translator().document(document))
    except (InBandError, ProtocolFault):
        return


pieces = st.lists(
    st.text(st.sampled_from(["a", '"', "é", "😀", "\n", "\ud83d", "\ude00"]), max_size=4),
    max_size=4,
)


@settings(deadline=None)
@given(said=pieces, hidden=pieces, called=pieces, cuts=st.lists(st.integers(0, 900)))
def test_every_split_gives_what_the_deltas_say(
    said: list[str], hidden: list[str], called: list[str], cuts: list[int]
) -> None:
    body = sse(
        start(),
        begin(0, "thinking", thinking=""),
        *(thought(0, piece) for piece in hidden),
        signature(0, "s"),
        PING,
        begin(1, "text", text=""),
        begin(2, "tool_use", id="t1", name="ls"),
        *(text(1, piece) for piece in said),
        *(arguments(2, piece) for piece in called),
        stop(1),
        *closing("tool_use"),
    )
    answer = seen(chunks_of(DIALECT, body, split=at(*cuts)))
    assert answer == seen(chunks_of(DIALECT, body, split=whole))
    assert isinstance(answer, Good)
    assert (answer.text, answer.reasoning, answer.tools) == (
        repaired(said),
        (repaired(hidden),),
        (("t1", "ls", repaired(called)),),
    )


@settings(deadline=None)
@given(length=st.integers(0, 10_000))
def test_no_beginning_of_a_stream_passes_as_whole(length: int) -> None:
    body = sse(start(), begin(0, "text"), text(0, "Hi"), stop(0), *closing())
    cut = body[: length % len(body)]
    assert not isinstance(seen(chunks_of(DIALECT, cut)), Good)


def repaired(texts: list[str]) -> str:
    """Return the text with its pairs joined and its lone halves replaced."""
    return "".join(texts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
