"""Where a conversation stands: which turn, step, attempt and tool calls are open."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from .._chunks import Chunk, Finish
from .._content import ToolCallBlock, ToolResultBlock
from .._messages import Message
from . import vocabulary as words
from ._chunk_json import chunk_from_json
from ._event import Event
from ._message_json import message_from_json

_REASONS: Final = frozenset(get_args(words.TurnEndReason))


class OutOfOrder(ValueError):
    """An event where it may not stand; the message says why."""


@dataclass(slots=True)
class OpenCall:
    """A tool call that has no result yet.

    Attributes:
        call: What the model asked for.
        message_seq: The event that committed it.
        start_seq: Its ``tool/start``, or None where the tool was not begun.
    """

    call: ToolCallBlock
    message_seq: int
    start_seq: int | None = None


@dataclass(slots=True)
class Progress:
    """What is open after the events so far. An invariant: it refuses what is out of order.

    Attributes:
        turn: Number of the last turn, 0 before the first.
        turn_open: Whether it has not ended.
        step: Number of the last step of this turn, 0 before its first.
        step_open: Whether it has not ended.
        attempt: Number of the last attempt of this step, 0 before its first.
        chunks: The chunks of that attempt, each with its event's number.
        finish: Its last chunk, or None while it runs.
        committed: Whether the step's message is in the log.
        calls: The message's tool calls that have no result, by id, in order.
    """

    turn: int = 0
    turn_open: bool = False
    step: int = 0
    step_open: bool = False
    attempt: int = 0
    chunks: list[tuple[int, Chunk]] = field(default_factory=list)
    finish: Finish | None = None
    committed: bool = False
    calls: dict[str, OpenCall] = field(default_factory=dict)
    _read: tuple[Event, Any] | None = None

    def problems(self, event: Event) -> Iterable[str]:
        """See ``Invariant``."""
        rule = _RULES.get(event.type)
        if rule is None:
            return ()
        try:
            self._read = (event, rule(self, event))
        except ValueError as error:  # out of order, or data without their form
            return (str(error),)
        return ()

    def take(self, event: Event) -> None:
        """See ``Invariant``."""
        effect = _EFFECTS.get(event.type)
        if effect is None:
            return
        read = self._read
        value = (
            read[1] if read is not None and read[0] is event else _RULES[event.type](self, event)
        )
        self._read = None
        effect(self, event, value)


def progress_of(events: Iterable[Event]) -> Progress:
    """Return where a log stands.

    Raises:
        ValueError: An event is out of order.
    """
    progress = Progress()
    for event in events:
        for problem in progress.problems(event):
            raise OutOfOrder(f"event {event.seq}: {problem}")
        progress.take(event)
    return progress


# ---- rules: each returns what it has read, or raises ValueError --------------------------------


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise OutOfOrder(otherwise)


def _in_turn(now: Progress, event: Event) -> None:
    # Plain ifs, for every chunk comes by here: no sentence is made that nobody reads.
    if not now.turn_open:
        raise OutOfOrder(f"{event.type} outside a turn")
    if event.data.get("turn") != now.turn:
        raise OutOfOrder(f"{event.type} of another turn than {now.turn}")


def _in_step(now: Progress, event: Event) -> None:
    _in_turn(now, event)
    if not now.step_open:
        raise OutOfOrder(f"{event.type} outside a step")
    if event.data.get("step") != now.step:
        raise OutOfOrder(f"{event.type} of another step than {now.step}")


def _before_commit(now: Progress, event: Event) -> None:
    _in_step(now, event)
    if now.committed:
        raise OutOfOrder(f"{event.type} after the step's message")


def _turn_start(now: Progress, event: Event) -> None:
    _require(not now.turn_open, f"turn/start while turn {now.turn} is open")
    _require(event.data.get("turn") == now.turn + 1, f"turn/start: the next is {now.turn + 1}")


def _user_message(now: Progress, event: Event) -> None:
    _in_turn(now, event)
    _require(not now.step_open, "user/message in a step")
    _require(event.surface_op == "append", "user/message: appends to the surface")
    message = message_from_json(event.data.get("message"))
    _require(message.role == "user", "user/message: role user")


def _step_start(now: Progress, event: Event) -> None:
    _in_turn(now, event)
    _require(not now.step_open, f"step/start while step {now.step} is open")
    _require(event.data.get("step") == now.step + 1, f"step/start: the next is {now.step + 1}")
    for name in ("provider", "model"):
        _require(type(event.data.get(name)) is str, f"step/start.{name}: a string")


def _request_header(now: Progress, event: Event) -> None:
    _before_commit(now, event)
    due = now.attempt + 1
    _require(event.data.get("attempt") == due, f"request/header: the next attempt is {due}")


def _chunk(now: Progress, event: Event) -> Chunk:
    data = event.data
    # The usual case in one line, for every chunk of a log comes by here.
    if not (now.step_open and data.get("step") == now.step and data.get("turn") == now.turn):
        _in_step(now, event)
    if now.committed:
        _before_commit(now, event)
    if now.attempt == 0:
        raise OutOfOrder("assistant/chunk before a request/header")
    if now.finish is not None:
        raise OutOfOrder("assistant/chunk after the attempt's finish")
    return chunk_from_json(data.get("chunk"))


def _assistant_message(now: Progress, event: Event) -> Message:
    _before_commit(now, event)
    message = message_from_json(event.data.get("message"))
    _require(message.role == "assistant", "assistant/message: role assistant")
    cited = event.source_event_seqs or ()
    own = tuple(seq for seq, _ in now.chunks)
    _require(cited == own, "assistant/message cites exactly the chunks of its attempt")
    kind = "" if now.finish is None else now.finish.reason.kind
    _require(kind != "error", "assistant/message of an attempt that failed")
    interrupted = event.data.get("interrupted", False)
    _require(
        (interrupted is True) if kind in ("", "aborted") else type(interrupted) is bool,
        "assistant/message.interrupted: true where the attempt did not end well",
    )
    _require(event.surface_op != "replace", "assistant/message: appends to the surface")
    _require(
        (event.surface_op == "append") == bool(message.content),
        "assistant/message: on the surface where it has content, and only there",
    )
    calls = [block.id for block in message.content if block.type == "tool-call"]
    _require(not (interrupted and calls), "assistant/message: interrupted, with a tool call")
    _require(len({*calls}) == len(calls), "assistant/message: two tool calls with one id")
    return message


def _tool_start(now: Progress, event: Event) -> str:
    _in_step(now, event)
    call_id = event.data.get("toolCallId")
    call = now.calls.get(call_id) if isinstance(call_id, str) else None
    _require(call is not None, "tool/start for no open call of the step's message")
    _require(call is None or call.start_seq is None, "tool/start for a call that was begun")
    return str(call_id)


def _tool_result(now: Progress, event: Event) -> str:
    _in_step(now, event)
    _require(event.surface_op == "append", "tool/result: appends to the surface")
    message = message_from_json(event.data.get("message"))
    (block,) = message.content if len(message.content) == 1 else (None,)
    if message.role != "user" or not isinstance(block, ToolResultBlock):
        raise OutOfOrder("tool/result: a user message of one tool result")
    _require(block.tool_call_id in now.calls, "tool/result for no open call of the step's message")
    return block.tool_call_id


def _step_end(now: Progress, event: Event) -> None:
    _in_step(now, event)
    _require(not now.calls, f"step/end while tool calls wait: {', '.join(now.calls)}")


def _turn_end(now: Progress, event: Event) -> None:
    _in_turn(now, event)
    _require(not now.step_open, f"turn/end while step {now.step} is open")
    _require(event.data.get("reason") in _REASONS, "turn/end.reason: none of the known words")


_RULES: Final[dict[str, Callable[[Progress, Event], Any]]] = {
    words.TURN_START: _turn_start,
    words.USER_MESSAGE: _user_message,
    words.STEP_START: _step_start,
    words.REQUEST_HEADER: _request_header,
    words.ASSISTANT_CHUNK: _chunk,
    words.ASSISTANT_MESSAGE: _assistant_message,
    words.TOOL_START: _tool_start,
    words.TOOL_RESULT: _tool_result,
    words.STEP_END: _step_end,
    words.TURN_END: _turn_end,
    words.CONTEXT_OVERFLOW: _before_commit,
    words.CONTEXT_PRUNED: _before_commit,
    words.CONTEXT_SUMMARY: _before_commit,
}


# ---- effects: each gets what its rule has read ------------------------------------------------


def _begin_turn(now: Progress, _: Event, __: Any) -> None:
    now.turn, now.turn_open, now.step = now.turn + 1, True, 0


def _begin_step(now: Progress, _: Event, __: Any) -> None:
    now.step, now.step_open = now.step + 1, True
    now.attempt, now.chunks, now.finish, now.committed = 0, [], None, False


def _begin_attempt(now: Progress, _: Event, __: Any) -> None:
    now.attempt, now.chunks, now.finish = now.attempt + 1, [], None


def _add_chunk(now: Progress, event: Event, chunk: Chunk) -> None:
    now.chunks.append((event.seq, chunk))
    if isinstance(chunk, Finish):
        now.finish = chunk


def _commit(now: Progress, event: Event, message: Message) -> None:
    now.committed = True
    now.calls = {
        block.id: OpenCall(block, event.seq)
        for block in message.content
        if isinstance(block, ToolCallBlock)
    }


def _begin_call(now: Progress, event: Event, call_id: str) -> None:
    now.calls[call_id].start_seq = event.seq


def _end_call(now: Progress, _: Event, call_id: str) -> None:
    del now.calls[call_id]


def _end_step(now: Progress, _: Event, __: Any) -> None:
    now.step_open = False


def _end_turn(now: Progress, _: Event, __: Any) -> None:
    now.turn_open = False


_EFFECTS: Final[dict[str, Callable[[Progress, Event, Any], None]]] = {
    words.TURN_START: _begin_turn,
    words.STEP_START: _begin_step,
    words.REQUEST_HEADER: _begin_attempt,
    words.ASSISTANT_CHUNK: _add_chunk,
    words.ASSISTANT_MESSAGE: _commit,
    words.TOOL_START: _begin_call,
    words.TOOL_RESULT: _end_call,
    words.STEP_END: _end_step,
    words.TURN_END: _end_turn,
}
