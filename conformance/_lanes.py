"""Play one case against one adapter: over a socket, which is the authority, or in process."""

from __future__ import annotations

import functools
import secrets
import ssl
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import ExitStack, aclosing, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, Literal, TypeAlias

import anyio

from adapter_sdk.testing import (
    Exchange,
    FaultServer,
    SeenConnection,
    SeenRequest,
    Split,
    run_virtual,
)
from adapter_sdk.testing import scripted_client as new_scripted_client

from ._case import Case
from ._conversations import CONVERSATIONS
from ._judge import Difference, WireFacts, judge, shown
from ._lateness import LoopWitness
from ._observe import Observation, observe
from ._play import Setting, exchanges, speaks_of_elsewhere
from ._target import Target

Backend: TypeAlias = Literal["asyncio", "trio"]

# Far above the milliseconds that loopback takes, far below a person's patience.
IDLE_S = 0.25

# A flood is judged by its size, not by how fast a busy machine moves its megabytes.
FLOOD_IDLE_S = 10.0

# Content that never comes is given up after this many idle limits, or after many more where
# the case is about something else.
PROGRESS_IDLES = 2.0
PROGRESS_IDLES_ELSEWHERE = 20.0

# A call is hung when its case's own time, this many idle limits and this many seconds are over.
PATIENCE_IDLES = 6.0
PATIENCE_S = 3.0

# In process waiting costs no time, but what a server repeats all the while costs memory.
VIRTUAL_PATIENCE_IDLES = 100.0

# What a peer may take to see that a connection was closed.
RELEASE_S = 0.05

# The same where the machine itself woke the kit late during the call.
LATE_RELEASE_S = 0.5

# Closing sockets takes milliseconds; what takes longer waits for something.
CLOSING_LIMIT_S = 2.0

PROGRESS_REQUIREMENT = "progress-timeout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a run works with.

    Attributes:
        backend: The event loop under the adapter.
        library: A module whose ``AsyncClient`` is passed to the adapter, or None for its own.
        idle_s: The adapter's idle limit in seconds, over a socket.
    """

    backend: Backend = "asyncio"
    library: ModuleType | None = None
    idle_s: float = IDLE_S

    @property
    def client(self) -> str:
        """Which HTTP client the adapter uses, in words."""
        return "the adapter's own client" if self.library is None else self.library.__name__


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came of one play.

    Attributes:
        seen: What the caller saw.
        differences: Between that, the wire and the case.
        timeline: Both sides on one clock: seconds, side, what.
        requests: What the server saw; empty in process.
        unreleased: Connections that the adapter left in use.
        trouble: What broke the kit, or empty.
        credential: The one that the adapter was given.
        idle_s: The idle limit that the adapter was given.
        late_s: How late the kit's own event loop woke up, at worst, over a socket.
    """

    seen: Observation
    differences: tuple[Difference, ...]
    timeline: tuple[tuple[float, str, str], ...] = ()
    requests: tuple[SeenRequest, ...] = ()
    unreleased: tuple[SeenConnection, ...] = ()
    trouble: str = ""
    credential: str = ""
    idle_s: float = IDLE_S
    late_s: float = 0.0


def _setting(case: Case, target: Target, idle_s: float, other_origin: str) -> Setting:
    return Setting(
        idle_s=idle_s,
        now=datetime.now(UTC),
        request_id_headers=target.declaration.request_id_headers,
        other_origin=other_origin,
        nonce=secrets.token_hex(6),
    )


def _limits(case: Case, idle_s: float) -> dict[str, float]:
    about_progress = case.requirement == PROGRESS_REQUIREMENT
    idles = PROGRESS_IDLES if about_progress else PROGRESS_IDLES_ELSEWHERE
    return {"idle_timeout": idle_s, "progress_timeout": idles * idle_s}


def play_on_socket(
    case: Case,
    target: Target,
    means: Means,
    *,
    watched: bool = True,
    new_server: Callable[[Sequence[Exchange]], FaultServer] = FaultServer,
) -> Played:
    """Play ``case`` on a loopback server of its own and judge it.

    Args:
        case: What is played.
        target: What is judged.
        means: Backend, library and limits.
        watched: Whether to measure how late the loop wakes up; a tenth of an untimed play.
        new_server: Makes the server; another one proves that the kit sees when it plays nothing.
    """
    idle_s = max(means.idle_s, FLOOD_IDLE_S) if case.is_flood else means.idle_s
    with ExitStack() as stack:
        # Few cases speak of another origin, and a server costs a millisecond.
        elsewhere = stack.enter_context(FaultServer(())) if speaks_of_elsewhere(case) else None
        setting = _setting(case, target, idle_s, elsewhere.base_url if elsewhere else "")
        script = exchanges(case, setting)
        with new_server(script) as server:
            key = f"sk-dsh-{setting.nonce}"
            begun, over = [time.monotonic()], [0.0]
            late_s = 0.0

            async def call() -> tuple[Observation, list[SeenConnection], list[Difference]]:
                nonlocal late_s
                witness = LoopWitness(idle_s)
                client = None if means.library is None else client_of(means.library)
                adapter = target.make(
                    base_url=server.base_url,
                    api_key=key,
                    http_client=client,
                    **_limits(case, idle_s),
                )
                try:
                    begun[:] = [time.monotonic()]
                    async with witness.running() if watched else nullcontext():
                        seen = await _call(case, target, adapter, idle_s, _patience_s(case, idle_s))
                        busy = await _still_busy(server, witness)
                        late_s = witness.late_s
                    over[:] = [time.monotonic()]
                    return seen, busy, await _closed(adapter)
                finally:
                    if client is not None:
                        await client.aclose()

            seen, busy, at_closing = run_on(means.backend, call)
            trouble = _trouble(server, len(script), seen)
            wire = WireFacts(len(server.requests), len(elsewhere.requests) if elsewhere else 0)
            return Played(
                seen=seen,
                differences=(*judge(case, seen, wire), *at_closing),
                timeline=_timeline(seen, _of_the_call(server, over[0]), begun[0]),
                requests=tuple(server.requests),
                unreleased=tuple(busy),
                trouble=trouble,
                credential=key,
                idle_s=idle_s,
                late_s=late_s,
            )


async def _still_busy(server: FaultServer, witness: LoopWitness) -> list[SeenConnection]:
    """Return the connections that the adapter keeps in use behind the end of its call."""
    # A thread costs a millisecond, and most connections are free at once.
    busy = server.wait_until_released(0.0)
    for limit_s in (RELEASE_S, LATE_RELEASE_S if witness.is_late else 0.0):
        if busy and limit_s:
            busy = await anyio.to_thread.run_sync(server.wait_until_released, limit_s)
    return busy


@functools.cache
def _without_roots() -> ssl.SSLContext:
    """Return a TLS context that trusts nobody: loopback needs none, and roots cost 55 ms."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def client_of(library: ModuleType, **options: Any) -> Any:
    """Return an ``AsyncClient`` of ``library`` for loopback; the caller closes it."""
    return library.AsyncClient(timeout=None, verify=_without_roots(), **options)


def _trouble(server: FaultServer, exchanges_played: int, seen: Observation) -> str:
    """Return why the script did not go out although the adapter waited for it, or nothing."""
    for number in range(min(exchanges_played, len(server.requests))):
        delivery = server.delivered(number, within_s=0.2)
        if delivery.state in ("in-progress", "server-stopped") and seen.ending != "hung":
            return f"exchange {number} was not delivered: {delivery.reason}"
    return ""


def play_at_splits(
    case: Case, target: Target, means: Means, *, splits: Sequence[Split]
) -> list[Played]:
    """Play ``case`` under virtual time, once for each split, until a play differs from it.

    All of them in one loop and on one adapter, for making those costs more than the call. A
    script of several answers needs one each: a call that takes fewer would leave the next
    call the rest.
    """
    if len(case.exchange) > 1:
        groups: list[Sequence[Split]] = [[split] for split in splits]
    else:
        groups = [splits]

    async def plays() -> list[Played]:
        found: list[Played] = []
        for group in groups:
            results = in_process_at_splits(case, target, means, splits=group)
            async with aclosing(results):
                async for played in results:
                    found.append(played)
                    if played.differences:
                        return found
        return found

    return run_virtual(means.backend, plays)


async def in_process(case: Case, target: Target, means: Means, *, split: Split | None) -> Played:
    """Play ``case`` in process once, in a loop under virtual time that is already running.

    Args:
        case: Of a kind that bytes alone can show; see ``fits_in_process``.
        target: What is judged.
        means: Backend and library.
        split: How the bytes are cut into reads; None: its own writes.
    """
    plays = in_process_at_splits(case, target, means, splits=None if split is None else [split])
    async with aclosing(plays):
        return await anext(plays)


async def in_process_at_splits(
    case: Case, target: Target, means: Means, *, splits: Sequence[Split] | None
) -> AsyncGenerator[Played, None]:
    """Yield one play for each split, all of them on one adapter; None: one, with its own writes."""
    idle_s = means.idle_s
    setting = _setting(case, target, idle_s, "http://other-origin.invalid")
    key = f"sk-dsh-{setting.nonce}"
    script = exchanges(case, setting) * (1 if splits is None else len(splits))
    by_request = None if splits is None else [split for split in splits for _ in case.exchange]
    scripted = new_scripted_client(script, split=by_request, library=means.library)
    adapter = target.make(
        base_url="http://in-process.invalid",
        api_key=key,
        http_client=scripted.client,
        **_limits(case, idle_s),
    )
    try:
        for _ in range(1 if splits is None else len(splits)):
            before = len(scripted.requests)
            seen = await _call(case, target, adapter, idle_s, VIRTUAL_PATIENCE_IDLES * idle_s)
            differences = judge(case, seen, WireFacts(len(scripted.requests) - before))
            if scripted.open_responses:
                left = f"{scripted.open_responses} open"
                differences.append(Difference("responses after the call", "closed", left))
            yield Played(
                seen=seen,
                differences=tuple(differences),
                timeline=_timeline(seen, [], 0.0),
                credential=key,
            )
    finally:
        await _closed(adapter)  # what goes wrong there is told by the play over a socket
        await scripted.client.aclose()


def fits_in_process(case: Case) -> bool:
    """Whether a scripted client can play the case: it cannot show a second origin or a 1xx."""
    return not any(
        exchange.interim
        or exchange.end == "refuse"
        or any("@other-origin" in str(value) for _, value in exchange.headers)
        for exchange in case.exchange
    )


async def _call(
    case: Case,
    target: Target,
    adapter: Any,
    idle_s: float,
    patience_s: float,
) -> Observation:
    request = CONVERSATIONS[case.call.request](target.declaration.model)
    return await observe(adapter.stream, request, case.call, idle_s=idle_s, patience_s=patience_s)


async def close(adapter: Any) -> None:
    """Close an adapter that can be closed."""
    aclose = getattr(adapter, "aclose", None)
    if aclose is not None:
        await aclose()


async def _closed(adapter: Any) -> list[Difference]:
    """Close an adapter and return what went wrong."""
    with anyio.move_on_after(CLOSING_LIMIT_S):
        try:
            await close(adapter)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - why: it is the finding
            said = shown(f"{type(error).__name__}: {error}")
            return [Difference("aclose()", "closes and returns None", said)]
        return []
    return [Difference("aclose()", f"returns within {CLOSING_LIMIT_S:g} s", "it still waited")]


def run_on(backend: Backend, call: Callable[[], Awaitable[Any]]) -> Any:
    """Run ``call`` in an event loop of its own and return its result."""
    return anyio.run(call, backend=backend)


def _patience_s(case: Case, idle_s: float) -> float:
    own = sum(_pauses(case.model_dump(exclude_none=True)))
    return PATIENCE_S + (PATIENCE_IDLES + own) * idle_s


def _pauses(value: object) -> list[float]:
    """Return every share of the idle limit that a case names."""
    if isinstance(value, dict):
        own = [
            float(item)
            for key, item in value.items()
            if str(key).endswith("idles") and isinstance(item, (int, float))
        ]
        return own + [pause for item in value.values() for pause in _pauses(item)]
    if isinstance(value, (list, tuple)):
        return [pause for item in value for pause in _pauses(item)]
    return []


def _of_the_call(server: FaultServer, over: float) -> list[tuple[float, str]]:
    """Return what the server did, without the close that ends the adapter and not the call."""
    return [(at, text) for at, text in server.timeline() if at <= over or "peer" not in text]


def _timeline(
    seen: Observation, server: list[tuple[float, str]], begun: float
) -> tuple[tuple[float, str, str], ...]:
    theirs = [(at - begun, "server", text) for at, text in server]
    ours = [(at, "caller", _told(chunk)) for at, chunk in seen.chunks]
    return tuple(sorted(theirs + ours, key=lambda event: event[0]))


def _told(chunk: Any) -> str:
    text = getattr(chunk, "text", None) or getattr(chunk, "arguments_delta", None)
    kind = getattr(chunk, "type", type(chunk).__name__)
    if kind == "finish":
        code = getattr(chunk.reason.failure, "code", "")
        return f"finish {chunk.reason.kind} {code}".rstrip()
    return kind if not text else f"{kind} {text[:40]!r}"
