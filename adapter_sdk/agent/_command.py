"""``python -m adapter_sdk.agent``: a conversation in a terminal, kept in a log file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from importlib.metadata import entry_points
from typing import Any, Final

import anyio
import anyio.to_thread

from .. import LlmRequest, LlmRuntime
from ..retry import RetryExecutor, RetryInvariant
from ..session import (
    MemoryLog,
    SessionLog,
    SessionLogError,
    derive_messages,
    open_log,
    recover,
)
from ._loop import StepLoop, Turn
from ._observed import ObservedLog
from ._overflow import ContextOverflowRecovery, summarise_with
from ._request_error import RequestErrorChain
from ._screens import LiveScreen, PlainScreen, Screen

ENTRY_POINT_GROUP: Final = "dsh.adapters"


class CommandError(Exception):
    """An argument that cannot be used; the text says which and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0; 1 where the last turn of a script failed; 2 for what cannot be done; 130 for Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    if options.adapter is None and not options.demo:
        _parser().error("name an installed adapter with --adapter, or watch --demo")
    try:
        last = anyio.run(_run, options)
    except (CommandError, SessionLogError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    # A person has seen it and may have gone on from there; a script has only this.
    failed = last is not None and last.failure is not None
    return 1 if failed and not sys.stdin.isatty() else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m adapter_sdk.agent",
        description="Talk to a model; every event is kept in a log, every failure is shown.",
    )
    parser.add_argument("--adapter", help="an installed adapter, for example deepseek")
    parser.add_argument("--model", help="the model's id; the adapter's own choice without it")
    parser.add_argument(
        "--session",
        metavar="FILE",
        help="the log: JSON lines for .jsonl, SQLite for any other name; in memory without it",
    )
    parser.add_argument(
        "--demo", action="store_true", help="watch failures and retries; needs no key, no network"
    )
    parser.add_argument(
        "--plain", action="store_true", help="lines only, as where the output is no terminal"
    )
    return parser


async def _run(options: argparse.Namespace) -> Turn | None:
    screen = _screen(plain=options.plain)
    async with AsyncExitStack() as opened:
        log = _log(options.session)
        opened.callback(log.close)
        if options.demo:
            return await _demonstrate(log, screen, opened)
        adapter = _adapter(options.adapter)
        opened.push_async_callback(adapter.aclose)
        model = options.model or adapter.declaration().model
        loop = _conversation(log, screen, options.adapter, adapter, model, opened)
        return await _converse(loop, screen)


async def _demonstrate(log: SessionLog, screen: Screen, opened: AsyncExitStack) -> Turn:
    from ..testing import FaultServer
    from ._demo import QUESTION, DemoAdapter, script

    server = opened.enter_context(FaultServer(script()))
    adapter = DemoAdapter(base_url=server.base_url, api_key="no-key")
    opened.push_async_callback(adapter.aclose)
    loop = _conversation(log, screen, "demo", adapter, adapter.reference_model, opened)
    screen.say(f"you> {QUESTION}")
    with screen.turn():
        turn = await loop.run_turn(QUESTION)
    chunks = sum(event.type == "assistant/chunk" for event in log.events)
    messages = derive_messages(log.events)
    screen.say(
        f"[{len(server.requests)} requests, {chunks} chunks in the log, "
        f"{len(messages)} messages for the next request]"
    )
    return turn


def _conversation(
    log: SessionLog,
    screen: Screen,
    provider: str,
    adapter: Any,
    model: str,
    opened: AsyncExitStack,
) -> StepLoop:
    """Mount the parts, each of which could stay away: recovery, retries, overflow, the screen."""
    if recover(log):
        screen.say("[the last turn was interrupted; it was closed]")
    if messages := derive_messages(log.events):
        screen.say(f"[goes on after {len(messages)} messages]")
    runtime = LlmRuntime()
    runtime.register(provider, adapter)
    observed = ObservedLog(log, screen.show)
    chain = RequestErrorChain()
    executor = RetryExecutor(observed, register=chain.register)
    opened.push_async_callback(executor.dispose)
    overflow = ContextOverflowRecovery(observed, summarise_with(runtime, provider, model=model))
    chain.register(overflow.request_error)
    return StepLoop(
        observed,
        runtime,
        provider=provider,
        request=LlmRequest(model=model, messages=()),
        request_error=chain,
        retry_policy=getattr(adapter, "retry_policy", None),
    )


async def _converse(loop: StepLoop, screen: Screen) -> Turn | None:
    last = None
    async for line in _lines():
        with screen.turn():
            last = await loop.run_turn(line)
    return last


async def _lines() -> AsyncIterator[str]:
    """Yield what the person types, line by line, until the end of the input."""
    while True:
        if sys.stdin.isatty():
            print("you> ", end="", flush=True)
        line = await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
        if not line:
            return
        if line.strip():
            yield line.strip()


def _log(path: str | None) -> SessionLog:
    if path is None:
        return MemoryLog(invariants=[RetryInvariant()])
    return open_log(path, invariants=[RetryInvariant()])


def _adapter(name: str) -> Any:
    points = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in points:
        known = ", ".join(sorted(points)) or "none"
        raise CommandError(f"--adapter {name}: not installed; there are: {known}")
    try:
        return points[name].load()()
    except ImportError as error:  # an extra that is missing
        raise CommandError(f"--adapter {name}: {error}") from error
    except ValueError as error:  # a configuration from the environment that is no good
        raise CommandError(f"--adapter {name}: {error}") from error


def _screen(*, plain: bool) -> Screen:
    if not plain and sys.stdout.isatty():
        try:
            from rich.console import Console
        except ImportError:  # an extra; lines do without it
            pass
        else:
            return LiveScreen(Console())
    return PlainScreen(lambda line: print(line, flush=True))
