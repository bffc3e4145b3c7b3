"""What every call must keep, whatever its case is about. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from adapter_sdk import BlockEnd, LlmFailure

from ._grammar import grammar_errors
from ._judge import Difference, shown
from ._lanes import Played

LONGEST_MESSAGE_BYTES: Final = 2048

# Endings after which the stream was read to its end.
_READ_TO_THE_END: Final = ("success", "failure", "no-finish")


def _grammar(played: Played) -> Iterator[Difference]:
    chunks = [chunk for _, chunk in played.seen.chunks]
    ended = played.seen.ending in _READ_TO_THE_END
    for error in grammar_errors(chunks, ended=ended):
        yield Difference("the chunks", "the grammar of chunks", error)


def _payload(played: Played) -> Iterator[Difference]:
    seen = played.seen
    if seen.ending not in _READ_TO_THE_END:
        return
    if len(seen.finishes) != 1:
        yield Difference("terminal finishes", "1", str(len(seen.finishes)))
    failure = seen.told_failure
    if failure is None:
        return
    if not isinstance(failure, LlmFailure):
        yield Difference("the failure", "an LlmFailure", type(failure).__name__)
        return
    yield from _stored(failure)
    kind = seen.finishes[0].reason.kind
    if (kind == "aborted") != (failure.code == "ABORTED"):
        yield Difference("the finish", "aborted for ABORTED, else error", f"{kind} {failure.code}")


def _stored(failure: LlmFailure) -> Iterator[Difference]:
    try:
        again = LlmFailure.from_json(failure.to_json())
    except Exception as error:  # noqa: BLE001 - why: an adapter's own kind of failure may raise
        said = shown(f"{type(error).__name__}: {error}")
        yield Difference("storing the failure as JSON and reading it again", "no error", said)
        return
    if again != failure:
        yield Difference("the failure after JSON", shown(failure), shown(again))


def _message(played: Played) -> Iterator[Difference]:
    failure = played.seen.failure
    text = played.seen.error if failure is None else failure.message
    if failure is not None:
        if not text.strip() or not text.isprintable():
            yield Difference("the message", "non-empty and printable", shown(text))
        if len(text.encode(errors="replace")) > LONGEST_MESSAGE_BYTES:
            size = len(text.encode(errors="replace"))
            yield Difference("the message", f"at most {LONGEST_MESSAGE_BYTES} bytes", f"{size}")
    if played.credential and played.credential in text:
        yield Difference("the message", "no credential in it", "the credential")


def _exceptions(played: Played) -> Iterator[Difference]:
    if played.seen.ending == "raised":
        yield Difference("the end of the call", "a finish", shown(played.seen.error))


def _released(played: Played) -> Iterator[Difference]:
    for connection in played.unreleased:
        yield Difference(
            "the connection", "closed, or idle and reusable, within 50 ms", connection.state
        )


def _one_attempt(played: Played) -> Iterator[Difference]:
    if len(played.requests) > 1:
        yield Difference("HTTP requests", "at most 1", str(len(played.requests)))


def _dispatchable(played: Played) -> Iterator[Difference]:
    if played.seen.failure is None:
        return
    for _, chunk in played.seen.chunks:
        if isinstance(chunk, BlockEnd) and chunk.block.type == "tool-call":
            yield Difference("tool calls that a failed call completes", "none", shown(chunk.block))


@dataclass(frozen=True, slots=True)
class Invariant:
    """One rule for every call."""

    requirement: str
    title: str
    differences: Callable[[Played], Iterator[Difference]]

    @property
    def id(self) -> str:
        """The check's id."""
        return f"{self.requirement.replace('-', '_')}/in_every_call"


INVARIANTS: Final = (
    Invariant("failure-payload", "Every call of the run ends in one well-formed finish", _payload),
    Invariant(
        "failure-message", "Every message of the run is short, printable and shows no key", _message
    ),
    Invariant("single-attempt", "No call of the run makes a second request", _one_attempt),
    Invariant(
        "chunk-grammar",
        "Every stream of the run keeps the grammar of chunks, and blocks end as their deltas said",
        _grammar,
    ),
    Invariant(
        "tool-calls-not-dispatchable",
        "No failed call of the run completes a tool call",
        _dispatchable,
    ),
    Invariant(
        "connection-released",
        "Every call of the run leaves its connection closed or reusable within 50 ms",
        _released,
    ),
    Invariant("foreign-exceptions", "No call of the run raises", _exceptions),
)
