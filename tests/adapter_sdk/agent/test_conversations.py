"""Whole conversations at random: failures, retries, aborts, crashes, against a model of them."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from typing_extensions import override

from adapter_sdk import (
    AbortSignal,
    Finish,
    FinishReason,
    LlmFailure,
    Message,
    TextBlock,
    Tool,
    ToolCallBlock,
    ToolResultBlock,
    assistant,
    user,
)
from adapter_sdk.agent import AgentTool
from adapter_sdk.retry import NormalRetry, RetryExecutor, RetryInvariant, check_retry_events
from adapter_sdk.session import (
    AppendOnlyLog,
    Event,
    JsonlLog,
    MemoryLog,
    SqliteLog,
    derive_messages,
    load_events,
    message_from_json,
    progress_of,
    recover,
)
from adapter_sdk.testing import run_virtual

from .playing import Play, Player, calls, fails, for_ever, half, loop_over, says

MAX_RETRIES: Final = 2
NOT_RUN: Final = "The tool was not run: the turn was interrupted."
UNKNOWN: Final = "The turn was interrupted while the tool ran: whether it took effect is unknown."
RETRYABLE: Final = LlmFailure(message="slow", code="RATE_LIMIT", status=429)
REFUSED: Final = LlmFailure(message="no", code="AUTH", status=401)
ABORTED: Final = LlmFailure(message="stop", code="ABORTED")

Kind = Literal["answer", "calls", "retryable", "refused", "foreign", "cancel", "abort"]
KINDS: Final[tuple[Kind, ...]] = (
    *("answer", "calls", "calls", "retryable", "retryable", "retryable", "refused", "foreign"),
    *("cancel", "abort"),
)


@dataclass(frozen=True)
class Attempt:
    """What the provider does with one request."""

    kind: Kind
    text: str
    tools: int = 1


attempts = st.lists(
    st.builds(
        Attempt, st.sampled_from(KINDS), st.text("ab \n", min_size=1, max_size=6), st.integers(1, 3)
    ),
    max_size=5,
).map(lambda some: [*some, Attempt("answer", "That is all.")])
backends = st.sampled_from(["asyncio", "trio"])


class Died(BaseException):
    """The process is gone: nothing after it is written."""


class Dying:
    """A log of a process that dies at its n-th append, and then writes no more."""

    def __init__(self, log: AppendOnlyLog, appends: int) -> None:
        self.events = log.events
        self.log = log
        self.left = appends

    def append(self, type_: str, data: Any, /, **options: Any) -> Event:
        self.left -= 1
        if self.left < 0:
            raise Died
        return self.log.append(type_, data, **options)

    def close(self) -> None:
        self.log.close()


class Conversation(RuleBasedStateMachine):
    """A log in memory; the subclasses keep it on the disk."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.model: list[Message] = []
        self.calls = 0
        self.log: AppendOnlyLog = MemoryLog(invariants=[RetryInvariant()])

    def opened(self) -> AppendOnlyLog:
        """Return the log as a new process would find it."""
        stored = [(event.seq, event) for event in self.log.events]
        return MemoryLog.of(stored, invariants=[RetryInvariant()])

    @override
    def teardown(self) -> None:
        self.log.close()
        shutil.rmtree(self.folder)

    # ---- what happens --------------------------------------------------------------------

    @rule(script=attempts, backend=backends)
    def turn(self, script: list[Attempt], backend: Literal["asyncio", "trio"]) -> None:
        """A turn that its process survives."""
        text = f"question {len(self.model)}"
        expected = list(self._expected(script))
        self.calls -= sum(a.tools for a in script if a.kind == "calls")
        self._run(self.log, text, script, backend)
        self.model += [user(text), *expected]

    @rule(script=attempts, backend=backends, appends=st.integers(0, 40), torn=st.integers(0, 30))
    def crash(
        self,
        script: list[Attempt],
        backend: Literal["asyncio", "trio"],
        appends: int,
        torn: int,
    ) -> None:
        """A turn whose process dies at some append, with a part of the next line on the disk."""
        with contextlib.suppress(Died):
            self._run(Dying(self.log, appends), "and then", script, backend)
        self.model = after_crash(self.log.events)
        self.log.close()
        self.tear(torn)
        self.log = self.opened()
        recover(self.log)

    def tear(self, torn: int) -> None:
        """Leave a part of a line behind, where the backend has lines."""

    @rule()
    def reopen(self) -> None:
        """The process ends well, and another one goes on."""
        self.log.close()
        self.log = self.opened()
        assert recover(self.log) == ()

    # ---- what holds ----------------------------------------------------------------------

    @invariant()
    def the_messages_are_those_of_the_model(self) -> None:
        assert derive_messages(self.log.events) == tuple(self.model)

    @invariant()
    def nothing_is_open_and_every_rule_holds(self) -> None:
        now = progress_of(self.log.events)
        assert (now.turn_open, now.step_open, now.calls) == (False, False, {})
        assert check_retry_events(self.log.events) == []
        assert [event.seq for event in self.log.events] == list(range(len(self.log.events)))

    # ---- a turn --------------------------------------------------------------------------

    def _run(self, log: Any, text: str, script: list[Attempt], backend: Any) -> None:
        async def run() -> None:
            signal = AbortSignal()
            executor = RetryExecutor(log)
            with anyio.CancelScope() as scope:
                player = Player([self._play(a, signal.abort, scope.cancel) for a in script])
                loop = loop_over(
                    log,
                    player,
                    executor.request_error,
                    tools=[AgentTool(Tool("clock"), clock)],
                    retry_policy=NormalRetry(max_retries=MAX_RETRIES),
                )
                await loop.run_turn(text, abort=signal)
            assert executor._waits == set()

        run_virtual(backend, run)

    def _call_blocks(self, attempt: Attempt) -> list[ToolCallBlock]:
        first = self.calls
        self.calls += attempt.tools
        return [ToolCallBlock(f"c{n}", "clock", "{}") for n in range(first, self.calls)]

    def _play(
        self, attempt: Attempt, abort: Callable[[], None], cancel: Callable[[], None]
    ) -> Play:
        partial = half(attempt.text)
        match attempt.kind:
            case "answer":
                return says(attempt.text)
            case "calls":
                return calls(*self._call_blocks(attempt))
            case "retryable":
                return fails(RETRYABLE, *partial)
            case "refused":
                return fails(REFUSED, *partial)
            case "foreign":
                return [*partial, ValueError("odd")]
            case "cancel":
                return [*partial, cancel, for_ever]
            case "abort":
                return [*partial, abort, Finish(FinishReason("aborted", ABORTED))]

    def _expected(self, script: Sequence[Attempt]) -> Iterable[Message]:
        """Yield the messages that a turn adds behind the question."""
        blocks = [self._call_blocks(a) if a.kind == "calls" else [] for a in script]
        retries = 0
        for attempt, own in zip(script, blocks, strict=True):
            match attempt.kind:
                case "answer":
                    yield assistant(attempt.text)
                    return
                case "calls":
                    retries = 0
                    yield assistant(*own)
                    for block in own:
                        yield user(ToolResultBlock(block.id, (TextBlock("noon"),)))
                case "retryable":
                    retries += 1
                    if retries > MAX_RETRIES:
                        return
                case "refused" | "foreign":
                    return
                case "cancel" | "abort":
                    if attempt.text.strip():
                        yield assistant(attempt.text)
                    return


async def clock(_: dict[str, Any]) -> str:
    return "noon"


def after_crash(events: Sequence[Event]) -> list[Message]:
    """Say in the plainest way what a person is owed of a log that stops somewhere."""
    messages: list[Message] = []
    text, begun, answered = "", set(), set()
    alive = False
    for event in events:
        match event.type:
            case "request/header":
                text, alive = "", True
            case "assistant/chunk":
                chunk = event.data["chunk"]
                text += chunk.get("text", "")
                alive = alive and chunk.get("reason", {}).get("kind") != "error"
            case "tool/start":
                begun.add(event.data["toolCallId"])
            case "user/message" | "assistant/message" | "tool/result":
                messages.append(message_from_json(event.data["message"]))
                answered |= {
                    b.tool_call_id for b in messages[-1].content if b.type == "tool-result"
                }
                alive = False
            case "step/end" | "turn/end":
                alive = False
            case _:
                pass
    if alive and text.strip():
        messages.append(assistant(text))
    waiting = [b.id for m in messages for b in m.content if b.type == "tool-call"]
    for call_id in waiting:
        if call_id not in answered:
            said = UNKNOWN if call_id in begun else NOT_RUN
            messages.append(user(ToolResultBlock(call_id, (TextBlock(said),), is_error=True)))
    return messages


class OnJsonLines(Conversation):
    """The same, in a file of JSON lines."""

    @initialize()
    def begin(self) -> None:
        self.log = self.opened()

    @override
    def opened(self) -> AppendOnlyLog:
        return JsonlLog(self.folder / "log.jsonl", invariants=[RetryInvariant()])

    @override
    def tear(self, torn: int) -> None:
        with (self.folder / "log.jsonl").open("ab") as file:
            file.write(b'{"type":"assistant/chunk","seq":'[:torn])

    @invariant()
    def what_is_in_memory_is_in_the_file(self) -> None:
        path = self.folder / "log.jsonl"
        if path.exists():
            assert list(load_events(path)) == list(self.log.events)


class OnSqlite(Conversation):
    """The same, in a database."""

    @initialize()
    def begin(self) -> None:
        self.log = self.opened()

    @override
    def opened(self) -> AppendOnlyLog:
        return SqliteLog(self.folder / "log.db", invariants=[RetryInvariant()])


@pytest.fixture(autouse=True)
def nobody_cuts_the_power(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of appends, each synced, would take minutes and show nothing more."""
    monkeypatch.setattr("os.fsync", lambda _: None)


SOME: Final = settings(max_examples=25, stateful_step_count=6, deadline=None)
InMemory = Conversation.TestCase
InMemory.settings = SOME
InJsonLines = OnJsonLines.TestCase
InJsonLines.settings = SOME
InSqlite = OnSqlite.TestCase
InSqlite.settings = settings(SOME, max_examples=8)
