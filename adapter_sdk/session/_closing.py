"""Close what is open in a log: after a crash, a cancellation or a fault, by one rule."""

from __future__ import annotations

from typing import Any, Final

from .._assembler import BlockAssembler
from .._content import TextBlock, ToolResultBlock
from .._failure import LlmFailure
from .._messages import Message
from ._event import Event
from ._log import SessionLog
from ._message_json import message_to_json
from ._progress import OpenCall, Progress
from ._reader import LogReader
from .vocabulary import (
    ASSISTANT_MESSAGE,
    STEP_END,
    TOOL_RESULT,
    TURN_END,
    TurnEndReason,
)

NOT_RUN: Final = "The tool was not run: the turn was interrupted."
UNKNOWN_EFFECT: Final = (
    "The turn was interrupted while the tool ran: whether it took effect is unknown."
)

# A person has seen the text of these, and nobody has said that it is void.
_KEEPS_DELIVERED: Final[frozenset[TurnEndReason]] = frozenset({"aborted", "interrupted"})


def recover(log: SessionLog) -> tuple[Event, ...]:
    """Close the turn that a crash left open, and return what was appended for that.

    The text and reasoning that had arrived are kept as an interrupted message; a tool call
    without a result gets one that says so. A log without an open turn stays as it is.

    Raises:
        ValueError: An event is out of order.
        SessionLogError: The log cannot be written.
    """
    return close_turn(log, LogReader(log.events), reason="interrupted")


def close_turn(
    log: SessionLog,
    reader: LogReader,
    *,
    reason: TurnEndReason,
    error: LlmFailure | None = None,
) -> tuple[Event, ...]:
    """Close the open turn, where there is one, and return what was appended.

    Args:
        log: The log.
        reader: Follows ``log``.
        reason: Why it ends. What had arrived is kept for ``aborted`` and ``interrupted`` alone.
        error: The failure that it ends with, or None.
    """
    now = reader.progress
    if not now.turn_open:
        return ()
    first = len(log.events)
    place = {"turn": now.turn, "step": now.step}
    if now.step_open:
        if reason in _KEEPS_DELIVERED:
            _keep_delivered(log, now, place)
        for call in tuple(now.calls.values()):
            _answer(log, call, place)
        log.append(STEP_END, place)
    end: dict[str, Any] = {"turn": now.turn, "reason": reason}
    log.append(TURN_END, end if error is None else {**end, "error": error.to_json()})
    return tuple(log.events[first:])


def _keep_delivered(log: SessionLog, now: Progress, place: dict[str, Any]) -> None:
    failed = now.finish is not None and now.finish.reason.kind == "error"
    if now.committed or failed:
        return
    assembler = BlockAssembler()
    for _, chunk in now.chunks:
        assembler.add(chunk)
    blocks = assembler.interrupted_blocks()
    if blocks:
        message = message_to_json(Message("assistant", blocks))
        log.append(
            ASSISTANT_MESSAGE,
            {**place, "message": message, "interrupted": True},
            surface_op="append",
            source_event_seqs=[seq for seq, _ in now.chunks],
        )


def _answer(log: SessionLog, call: OpenCall, place: dict[str, Any]) -> None:
    text = NOT_RUN if call.start_seq is None else UNKNOWN_EFFECT
    result = ToolResultBlock(call.call.id, (TextBlock(text),), is_error=True)
    sources = (call.message_seq, call.start_seq)
    log.append(
        TOOL_RESULT,
        {**place, "message": message_to_json(Message("user", (result,)))},
        surface_op="append",
        source_event_seqs=[seq for seq in sources if seq is not None],
    )
