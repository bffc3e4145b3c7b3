"""Faults of adapters that speak messages or responses: what other servers send is not expected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from adapter_sdk import ProtocolFault, codes

from .._altering import PayloadEdit, reading
from .._good import Good, GoodMessages, GoodResponses
from .._mutant import Mutant

_EVENTS_OF_MESSAGES: Final = frozenset(
    {
        "content_block_delta",
        "content_block_start",
        "content_block_stop",
        "error",
        "message_delta",
        "message_start",
        "message_stop",
        "ping",
    }
)
_DELTAS_OF_MESSAGES: Final = frozenset(
    {"input_json_delta", "signature_delta", "text_delta", "thinking_delta"}
)

Refusal = Callable[[dict[str, Any]], bool]


def _refusing(good: type[Good], wrong: Refusal, said: str) -> type[Good]:
    """Return an adapter that takes payloads for which ``wrong`` holds for malformed ones."""

    def edit(payload: Any) -> Iterable[Any]:
        if wrong(payload):
            raise ProtocolFault(codes.MALFORMED_RESPONSE, said)
        return (payload,)

    return reading(lambda: edit, good=good)


def _part(payload: dict[str, Any], *path: str) -> dict[str, Any]:
    """Return an object inside a payload; an empty one where there is none."""
    for key in path:
        value = payload.get(key)
        payload = value if isinstance(value, dict) else {}
    return payload


# ---- messages ----------------------------------------------------------------------------


def _is_unknown_event(payload: dict[str, Any]) -> bool:
    kind, is_error = payload.get("type"), "message" in payload
    return isinstance(kind, str) and kind not in _EVENTS_OF_MESSAGES and not is_error


def _is_unknown_delta(payload: dict[str, Any]) -> bool:
    kind = _part(payload, "delta").get("type")
    return isinstance(kind, str) and kind not in _DELTAS_OF_MESSAGES


def _adds_totals_up() -> PayloadEdit:
    total = 0

    def edit(payload: Any) -> Iterable[Any]:
        nonlocal total
        usage = _part(payload, "usage")
        if payload.get("type") == "message_delta" and type(usage.get("output_tokens")) is int:
            total += usage["output_tokens"]
            usage["output_tokens"] = total
        return (payload,)

    return edit


def _input_of_the_start_stays() -> PayloadEdit:
    known = False

    def edit(payload: Any) -> Iterable[Any]:
        nonlocal known
        known = known or "input_tokens" in _part(payload, "message", "usage")
        if payload.get("type") == "message_delta" and known:
            _part(payload, "usage").pop("input_tokens", None)
        return (payload,)

    return edit


def _one_block_at_a_time() -> PayloadEdit:
    open_indices: set[object] = set()

    def edit(payload: Any) -> Iterable[Any]:
        index = payload.get("index")
        match payload.get("type"):
            case "content_block_start" if index is not None:
                if open_indices - {index}:
                    raise ProtocolFault(codes.MALFORMED_RESPONSE, "two blocks are open at a time")
                open_indices.add(index)
            case "content_block_stop":
                open_indices.discard(index)
        return (payload,)

    return edit


def _has_null_citations(payload: dict[str, Any]) -> bool:
    block = _part(payload, "content_block")
    return "citations" in block and block["citations"] is None


# ---- responses ---------------------------------------------------------------------------


def _reads_every_delta(payload: Any) -> Iterable[Any]:
    kind = payload.get("type")
    if kind == "response.x_unknown.delta":
        payload = {**payload, "type": "response.output_text.delta"}
    return (payload,)


def _obfuscation_is_text(payload: Any) -> Iterable[Any]:
    if isinstance(payload.get("delta"), str) and isinstance(payload.get("obfuscation"), str):
        payload["delta"] += payload["obfuscation"]
    return (payload,)


def _counts_the_events() -> PayloadEdit:
    last: int | None = None

    def edit(payload: Any) -> Iterable[Any]:
        nonlocal last
        number = payload.get("sequence_number")
        if type(number) is int:
            if last is not None and number > last + 1:
                raise ProtocolFault(codes.STREAM_CLOSED, "events are missing")
            last = number
        return (payload,)

    return edit


def _is_unnumbered(payload: dict[str, Any]) -> bool:
    dated = "created_at" in _part(payload, "response")
    return dated and payload["type"] == "response.created" and "sequence_number" not in payload


def _has_null_phase(payload: dict[str, Any]) -> bool:
    item = _part(payload, "item")
    return "phase" in item and item["phase"] is None


def _whole_arguments_alone() -> PayloadEdit:
    """Read a call's arguments from the event that repeats them, and from nowhere else."""
    whole: set[object] = set()

    def edit(payload: Any) -> Iterable[Any]:
        kind = payload.get("type")
        if kind == "response.function_call_arguments.delta":
            return ()
        if kind == "response.function_call_arguments.done":
            whole.add(payload.get("item_id"))
        for item in (_part(payload, "item"), *(_part(payload, "response").get("output") or ())):
            if item.get("type") == "function_call" and item.get("id") not in whole:
                item["arguments"] = ""
        return (payload,)

    return edit


MUTANTS: Final = (
    Mutant(
        name="unknown-events-fail",
        broken="Fails for an event of messages whose type it does not know.",
        factory=_refusing(GoodMessages, _is_unknown_event, "an event of no known type"),
        trips={
            "unknown_fields/variant_unknown_events_between_the_events": "an event of no known type"
        },
    ),
    Mutant(
        name="pings-fail",
        broken="Fails for a ping of messages.",
        factory=_refusing(GoodMessages, lambda p: p.get("type") == "ping", "ping: no such event"),
        trips={
            "unknown_fields/variant_pings_between_the_events": "ping: no such event",
            "idle-rearm": "outcome: expected success, got failure MALFORMED_RESPONSE",
            "progress-timeout": "code: expected TIMEOUT, got MALFORMED_RESPONSE",
        },
    ),
    Mutant(
        name="unknown-deltas-fail",
        broken="Fails for a delta of messages whose type it does not know.",
        factory=_refusing(GoodMessages, _is_unknown_delta, "a delta of no known type"),
        trips={"unknown_fields/variant_unknown_deltas_in_every_block": "a delta of no known type"},
    ),
    Mutant(
        name="one-block-at-a-time",
        broken="Fails for a block of messages that begins before the last one was stopped.",
        factory=reading(_one_block_at_a_time, good=GoodMessages),
        trips={
            "chunk_grammar/variant_all_blocks_stopped_at_the_end": "two blocks are open",
            "tool-calls": "two blocks are open",
        },
    ),
    Mutant(
        name="running-totals-add-up",
        broken="Adds up the totals of the message_deltas.",
        factory=reading(_adds_totals_up, good=GoodMessages),
        trips={
            "usage/variant_usage_in_running_totals": "usage.output_tokens",
            "finish-mapping": "usage.output_tokens: expected 1, got 2",
        },
    ),
    Mutant(
        name="input-tokens-of-the-start-stay",
        broken="Keeps the input tokens of message_start, whatever a message_delta says.",
        factory=reading(_input_of_the_start_stays, good=GoodMessages),
        trips={"usage/variant_usage_at_the_end_alone": "usage.input_tokens: expected"},
    ),
    Mutant(
        name="null-citations-fail",
        broken="Fails for citations of null in a block of messages.",
        factory=_refusing(GoodMessages, _has_null_citations, "citations: no list"),
        trips={"unknown_fields/variant_explicit_nulls": "citations: no list"},
    ),
    Mutant(
        name="unknown-keys-of-a-block-fail",
        broken="Fails for a key that it does not know inside a content block of messages.",
        factory=_refusing(
            GoodMessages,
            lambda p: "x_unknown" in _part(p, "content_block"),
            "content_block.x_unknown: no such key",
        ),
        trips={"unknown_fields/variant_unknown_keys_at_every_depth": "no such key"},
    ),
    Mutant(
        name="every-delta-is-text",
        broken="Takes a delta of responses of an unknown type for text.",
        factory=reading(lambda: _reads_every_delta, good=GoodResponses),
        trips={"unknown_fields/variant_unknown_events_between_the_events": "text: expected"},
    ),
    Mutant(
        name="obfuscation-is-text",
        broken="Appends the obfuscation of a delta of responses to its text.",
        factory=reading(lambda: _obfuscation_is_text, good=GoodResponses),
        trips={"unknown_fields/variant_obfuscation_on_every_delta": "aZ3"},
    ),
    Mutant(
        name="sequence-numbers-have-no-gaps",
        broken="Takes a gap in the sequence numbers of responses for lost events.",
        factory=reading(_counts_the_events, good=GoodResponses),
        trips={"unknown_fields/variant_gaps_in_the_sequence_numbers": "events are missing"},
    ),
    Mutant(
        name="sequence-numbers-are-needed",
        broken="Fails where the events of a response with a date have no sequence numbers.",
        factory=_refusing(GoodResponses, _is_unnumbered, "sequence_number is missing"),
        trips={"unknown_fields/variant_no_sequence_numbers": "sequence_number is missing"},
    ),
    Mutant(
        name="null-phases-fail",
        broken="Fails for an item of responses whose phase is null.",
        factory=_refusing(GoodResponses, _has_null_phase, "phase: no such phase"),
        trips={"unknown_fields/variant_explicit_nulls": "phase: no such phase"},
    ),
    Mutant(
        name="unknown-keys-of-an-item-fail",
        broken="Fails for a key that it does not know inside an item of responses.",
        factory=_refusing(
            GoodResponses,
            lambda p: "x_unknown" in _part(p, "item"),
            "item.x_unknown: no such key",
        ),
        trips={"unknown_fields/variant_unknown_keys_at_every_depth": "no such key"},
    ),
    Mutant(
        name="arguments-come-whole-alone",
        broken="Reads arguments of responses from the event that repeats them alone.",
        factory=reading(_whole_arguments_alone, good=GoodResponses),
        trips={"tool_calls/variant_arguments_in_deltas_and_items_alone": "tool calls"},
    ),
)
