"""Compare what a case expects with what happened, in plain words. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import override

from adapter_sdk import LlmFailure, ReasoningDelta, TextDelta, TokenUsage

from ._case import ABSENT, Case, ExpectedFailure, ExpectedMessage, ExpectedUsage, Text
from ._observe import Observation

# A date has whole seconds, and the moment between sending and reading it is lost.
DATE_TOLERANCE_MS = 1000

# Between writing the date and the call a busy machine starts a server and an adapter.
SETTING_UP_MS = 500

LONGEST_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that is not as expected."""

    field: str
    expected: str
    got: str

    @override
    def __str__(self) -> str:
        return f"{self.field}: expected {self.expected}, got {self.got}"


@dataclass(frozen=True, slots=True)
class WireFacts:
    """What the other side of the wire saw."""

    requests: int
    other_origin_requests: int = 0


def shown(value: object) -> str:
    """Return a value as a report shows it, cut to a readable length."""
    text = repr(value) if isinstance(value, str) else str(value)
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[: LONGEST_SHOWN // 2]} … {text[-20:]} ({len(text)} characters)"


def judge(case: Case, seen: Observation, wire: WireFacts) -> list[Difference]:
    """Return every difference between the expectation of ``case`` and what happened."""
    return list(_judge(case, seen, wire))


def _judge(case: Case, seen: Observation, wire: WireFacts) -> Iterator[Difference]:
    expect = case.expect
    if wire.requests != expect.requests:
        yield Difference("HTTP requests", str(expect.requests), str(wire.requests))
    if wire.other_origin_requests:
        yield Difference("requests to another origin", "0", str(wire.other_origin_requests))
    if seen.ending != expect.outcome:
        yield Difference("outcome", expect.outcome, _ending(seen))
        if seen.ending in ("hung", "raised", "no-finish"):
            return
    for field, text, kind in (
        ("partial_text", expect.partial_text, TextDelta),
        ("partial_reasoning", expect.partial_reasoning, ReasoningDelta),
    ):
        if text is not None and seen.joined(kind) != str(text):
            yield Difference(field, shown(str(text)), shown(seen.joined(kind)))
    if expect.failure is not None and seen.failure is not None:
        late_ms = DATE_TOLERANCE_MS + 1000 * seen.elapsed_s + SETTING_UP_MS
        dated = any(
            name.lower() == "retry-after" and not isinstance(value, str)
            for exchange in case.exchange
            for name, value in exchange.headers
        )
        yield from _failure(expect.failure, seen.failure, dated=dated, late_ms=late_ms)
    if expect.failure is not None and expect.failure.usage is not None:
        yield from _usage(expect.failure.usage, seen.usage)
    if expect.message is not None and seen.ending == "success":
        yield from _message(expect.message, seen)
    if seen.ending in ("failure", "success"):
        yield from _dispatchable(seen)


def _ending(seen: Observation) -> str:
    if seen.ending == "raised":
        return f"an exception: {shown(seen.error)}"
    if seen.ending == "hung":
        return f"no end within {seen.elapsed_s:.1f} s"
    if seen.ending == "failure" and seen.failure is not None:
        return f"failure {seen.failure.code}: {shown(seen.failure.message)}"
    if seen.ending == "success":
        return f"success with the text {shown(seen.joined(TextDelta))}"
    return seen.ending


def _failure(
    expected: ExpectedFailure, failure: LlmFailure, *, dated: bool, late_ms: float
) -> Iterator[Difference]:
    if expected.code is not None and failure.code != expected.code:
        yield Difference("code", expected.code, f"{failure.code} ({shown(failure.message)})")
    for field in ("status", "provider_retry_after_ms", "request_id"):
        wanted, got = getattr(expected, field), getattr(failure, field)
        if wanted is None or (wanted == ABSENT and got is None):
            continue
        near = field == "provider_retry_after_ms" and dated and isinstance(wanted, int)
        if near and got is not None and wanted - late_ms <= got <= wanted:
            continue
        if got != wanted:
            yield Difference(field, shown(wanted), "nothing" if got is None else shown(got))
    if expected.message is not None and expected.message not in failure.message:
        yield Difference("message", f"{shown(expected.message)} in it", shown(failure.message))


def _usage(expected: ExpectedUsage, got: TokenUsage | None) -> Iterator[Difference]:
    if got is None:
        yield Difference("usage", shown(expected.model_dump(exclude_none=True)), "no usage")
        return
    for field, wanted in expected.model_dump(exclude_none=True).items():
        count = getattr(got, field)
        if count != (None if wanted == ABSENT else wanted):
            yield Difference(f"usage.{field}", str(wanted), str(count))


def _message(expected: ExpectedMessage, seen: Observation) -> Iterator[Difference]:
    assembled = seen.assembled()
    blocks = assembled.blocks()
    finish = assembled.finish_reason
    if expected.finish is not None and (finish is None or finish.kind != expected.finish):
        yield Difference("finish", expected.finish, "none" if finish is None else finish.kind)
    texts: tuple[tuple[str, Text | None, str], ...] = (
        ("text", expected.text, "".join(b.text for b in blocks if b.type == "text")),
        ("reasoning", expected.reasoning, "".join(b.text for b in blocks if b.type == "reasoning")),
    )
    for field, wanted, got in texts:
        if wanted == ABSENT:
            if any(block.type == field for block in blocks):
                yield Difference(field, "no block", f"a block with {shown(got)}")
        elif wanted is not None and str(wanted) != got:
            yield Difference(field, shown(str(wanted)), shown(got))
    if expected.tools is not None:
        calls = [(b.id, b.name, b.arguments) for b in blocks if b.type == "tool-call"]
        yield from _tools(expected.tools, calls)
    if expected.usage is not None:
        yield from _usage(expected.usage, seen.usage)


def _tools(
    expected: tuple[tuple[str, str, str], ...], got: list[tuple[str, str, str]]
) -> Iterator[Difference]:
    ids = [call[0] for call in got]
    if "" in ids or len(set(ids)) != len(ids):
        yield Difference("tool call ids", "non-empty and unique", shown(ids))
    masked = [
        ("*" if position < len(expected) and expected[position][0] == "*" else call[0], *call[1:])
        for position, call in enumerate(got)
    ]
    if masked != list(expected):
        yield Difference("tool calls", shown(list(expected)), shown(got))


def _dispatchable(seen: Observation) -> Iterator[Difference]:
    assembled = seen.assembled()
    reason = assembled.finish_reason
    if reason is not None and reason.kind in ("error", "aborted"):
        calls = [b for _, b in enumerate(assembled.blocks()) if b.type == "tool-call"]
        if calls:
            yield Difference("tool calls to dispatch", "none", shown(calls))
