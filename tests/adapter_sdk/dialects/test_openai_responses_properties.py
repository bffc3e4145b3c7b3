"""What holds for every stream of the responses wire."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from adapter_sdk import InBandError, ProtocolFault
from adapter_sdk.testing import at, whole

from .playing import Good, chunks_of, seen, sse
from .responses_wire import (
    BEGUN,
    DIALECT,
    HI,
    added,
    arguments,
    call,
    done,
    end,
    event,
    message,
    reasoning,
    response,
    text,
    thought,
)

EVENTS: Final = (
    *("created", "completed", "incomplete", "failed", "output_item.added", "output_item.done"),
    *("output_text.delta", "output_text.done", "refusal.delta", "reasoning_text.delta"),
    *("reasoning_summary_text.delta", "reasoning_summary_text.done", "odd"),
    *("function_call_arguments.delta", "function_call_arguments.done"),
)
WORDS: Final = (
    *("message", "reasoning", "function_call", "web_search_call", "output_text", "refusal", ""),
    *("completed", "incomplete", "failed", "queued", "max_output_tokens", "a", "b"),
)
KEYS: Final = (
    *("type", "id", "call_id", "name", "arguments", "content", "summary", "text", "refusal"),
    *("encrypted_content", "status", "output", "usage", "error", "incomplete_details", "reason"),
)

scalars = st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(WORDS)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=6,
)


@st.composite
def payloads(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an event that begins well and holds anything."""
    inner = draw(st.dictionaries(st.sampled_from(KEYS), values, max_size=5))
    return {
        "type": "response." + draw(st.sampled_from(EVENTS)),
        draw(st.sampled_from(["item", "response"])): inner,
        draw(st.sampled_from(["delta", "text", "arguments"])): draw(values),
        "item_id": draw(st.sampled_from(["a", "b", None])),
        "output_index": draw(st.sampled_from([0, 1, None])),
    }


@settings(deadline=None)
@given(events=st.lists(payloads() | values, max_size=8))
def test_no_payload_breaks_the_dialect_or_the_grammar(events: list[Any]) -> None:
    seen(chunks_of(DIALECT, sse(*events, end(), named=False)))


@settings(deadline=None)
@given(document=values | st.dictionaries(st.sampled_from(KEYS), values))
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
@given(
    said=pieces,
    hidden=pieces,
    called=pieces,
    repeats=st.sets(st.sampled_from(["part", "item", "response"])),
    cuts=st.lists(st.integers(0, 1500)),
)
def test_every_split_and_every_repeat_gives_what_the_deltas_say(
    said: list[str], hidden: list[str], called: list[str], repeats: set[str], cuts: list[int]
) -> None:
    items = [
        reasoning(joined(hidden), encrypted_content="x"),
        message(joined(said)),
        call(joined(called)),
    ]
    parts = [
        event("reasoning_summary_text.done", item_id="rs_1", summary_index=0, text=joined(hidden)),
        event("output_text.done", item_id="msg_1", content_index=0, text=joined(said)),
        event("function_call_arguments.done", item_id="fc_1", arguments=joined(called)),
    ]
    body = sse(
        BEGUN,
        added(reasoning()),
        *(thought(piece) for piece in hidden),
        done(items[0]),
        added(message()),
        added(call()),
        *(text(piece) for piece in said),
        *(arguments(piece) for piece in called),
        *(parts if "part" in repeats else []),
        *([done(item) for item in items[1:]] if "item" in repeats else []),
        end(*(items if "response" in repeats else [])),
    )
    answer = seen(chunks_of(DIALECT, body, split=at(*cuts)))
    assert answer == seen(chunks_of(DIALECT, body, split=whole))
    assert isinstance(answer, Good)
    assert (answer.text, answer.reasoning, answer.tools) == (
        repaired(said),
        (repaired(hidden),),
        (("call_1", "ls", repaired(called)),),
    )


@settings(deadline=None)
@given(length=st.integers(0, 10_000))
def test_no_beginning_of_a_stream_passes_as_whole(length: int) -> None:
    body = sse(*HI, end(message("Hi")))
    assert not isinstance(seen(chunks_of(DIALECT, body[: length % len(body)])), Good)


@settings(deadline=None)
@given(output=st.permutations([reasoning("hm"), message("Hi"), call("{}")]))
def test_items_come_in_the_order_of_the_response(output: list[Any]) -> None:
    chunks = chunks_of(DIALECT, sse(end(*output)))
    kinds = [chunk.block_type for chunk in chunks if chunk.type == "block-start"]
    names = {"reasoning": "reasoning", "message": "text", "function_call": "tool-call"}
    assert kinds == [names[item["type"]] for item in response(*output)["output"]]


def joined(texts: list[str]) -> str:
    """Return the texts as one."""
    return "".join(texts)


def repaired(texts: list[str]) -> str:
    """Return the text with its pairs joined and its lone halves replaced."""
    return "".join(texts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
