"""Request ids lost, confused or unclean."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from adapter_sdk import LlmFailure, ProviderRequestId

from .._altering import KeepsHead, failing, failing_with_head, forged, telling
from .._good import Good
from .._mutant import Mutant, in_every_call


def _replaced(failure: LlmFailure, value: str | None) -> LlmFailure:
    wanted = None if value is None else ProviderRequestId(value)
    return dataclasses.replace(failure, request_id=wanted)


def _unclean(value: str) -> ProviderRequestId:
    """Return an id that its constructor would refuse."""
    return str.__new__(ProviderRequestId, value)


def _in_envelope(payload: Any) -> str | None:
    value = payload.get("request_id") if isinstance(payload, dict) else None
    return value.strip() if isinstance(value, str) and value.isprintable() else None


def _only_first_header(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    if failure.request_id == adapter.line(Good.request_id_headers[1]):
        return _replaced(failure, adapter.line(Good.request_id_headers[0]) or None)
    return failure


def _last_header(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    value = adapter.line(Good.request_id_headers[1])
    return _replaced(failure, value) if value else failure


def _empty_header_decides(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    if adapter.line(Good.request_id_headers[0]) == "":
        return _replaced(failure, None)
    return failure


def _edge_id(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    value = adapter.line("cf-ray")
    return _replaced(failure, value) if value and failure.request_id is None else failure


def _without_envelope(failure: LlmFailure, payload: Any) -> LlmFailure:
    same = failure.request_id is not None and failure.request_id == _in_envelope(payload)
    return _replaced(failure, None) if same else failure


def _envelope_first(failure: LlmFailure, payload: Any) -> LlmFailure:
    value = _in_envelope(payload)
    return _replaced(failure, value) if value else failure


def _lost_after_headers(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    return _replaced(failure, None) if adapter.head_status == 200 else failure


def _cut_long_ids(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    value = adapter.line(Good.request_id_headers[0]) or ""
    return _replaced(failure, value[:256]) if len(value) > 256 else failure


def _any_length(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    value = adapter.line(Good.request_id_headers[0]) or ""
    return forged(failure, request_id=_unclean(value)) if len(value) > 256 else failure


def _any_byte(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    value = adapter.line(Good.request_id_headers[0]) or ""
    return failure if value.isascii() else forged(failure, request_id=_unclean(value))


MUTANTS: Final = (
    Mutant(
        name="only-the-first-id-header",
        broken="Reads only the first of its request id headers.",
        factory=failing_with_head(_only_first_header),
        trips={"request-id": "request_id: expected 'rid-2', got nothing"},
    ),
    Mutant(
        name="the-last-id-header-wins",
        broken="Lets the last of its request id headers win.",
        factory=failing_with_head(_last_header),
        trips={"request-id": "request_id: expected 'rid-1', got 'rid-2'"},
    ),
    Mutant(
        name="an-empty-id-header-decides",
        broken="Stops at a request id header that is empty.",
        factory=failing_with_head(_empty_header_decides),
        trips={"request-id": "request_id: expected 'rid-2', got nothing"},
    ),
    Mutant(
        name="the-id-of-an-edge",
        broken="Takes cf-ray for the provider's request id.",
        factory=failing_with_head(_edge_id),
        trips={"request-id": "request_id: expected 'absent', got '8f00"},
    ),
    Mutant(
        name="the-envelopes-id-is-unread",
        broken="Does not read the request id of an error envelope.",
        factory=failing(_without_envelope),
        trips={
            "request-id": "request_id: expected 'req_body_1', got nothing",
            "code-server": "request_id: expected 'req_7', got nothing",
        },
    ),
    Mutant(
        name="the-envelopes-id-beats-the-header",
        broken="Lets the request id of an error envelope win over the header.",
        factory=failing(_envelope_first),
        trips={"request-id": "request_id: expected 'rid-1', got 'req_body_1'"},
    ),
    Mutant(
        name="the-id-is-lost-behind-the-headers",
        broken="Knows the request id only while it reads the head.",
        factory=failing_with_head(_lost_after_headers),
        trips={
            "request-id-after-headers": "request_id: expected 'req-",
            "terminal-evidence": "request_id: expected 'req-1', got nothing",
        },
    ),
    Mutant(
        name="long-ids-are-cut",
        broken="Cuts a request id at 256 characters.",
        factory=failing_with_head(_cut_long_ids),
        trips={"request-id-hygiene": "request_id: expected 'absent', got 'AAAA"},
    ),
    Mutant(
        name="ids-of-any-length",
        broken="Passes on a request id of any length.",
        factory=telling(_any_length),
        trips={
            in_every_call("failure-payload"): "ValueError: a request id is",
            "request-id-hygiene": "request_id: expected 'absent', got 'AAAA",
        },
    ),
    Mutant(
        name="ids-of-any-byte",
        broken="Passes on a request id with bytes outside ASCII.",
        factory=telling(_any_byte),
        trips={
            in_every_call("failure-payload"): "ValueError: a request id is",
            "request-id-hygiene": "request_id: expected 'absent', got 'req-",
        },
    ),
)
