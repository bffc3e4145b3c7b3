"""Look at a target: what it is, what it declares, how it is called, and what comes of a call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, Final

from adapter_sdk.testing import FaultServer

from .._bench import AdapterRaisedError, Bench
from .._bounded import StuckError, bounded
from .._good_streams import GOOD_STREAMS, good_stream
from .._lanes import Backend, Means
from .._loopback_only import loopback_only
from .._observe import Observation
from .._subject._process import SubjectError
from .._target import Target, TargetError, load_target
from ._finding import Finding

KEYWORDS: Final = ("base_url", "api_key", "idle_timeout", "progress_timeout")

# What the contract asks of every request.
_USER_AGENT: Final = "dsh-adapter-sdk"

# Above the idle limit and the patience of one call; an adapter that blocks its thread gets here.
_CALL_LIMIT_S: Final = 30.0
_NOT_BY_KEYWORD: Final = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
)


def target_called(name: str, profile: str | None) -> Iterator[Finding]:
    """Yield what every step finds; none is taken that an earlier one made useless."""
    try:
        target = load_target(name, profile=profile)
    except TargetError as error:
        yield Finding("bad", str(error), stops=True)
        return
    place = f"{getattr(target.factory, '__module__', '?')}:{_called(target.factory)}"
    yield Finding("good", f"{name} is {place}")
    yield from _declaration(target)
    signature = list(_signature(target))
    yield from signature
    if any(finding.stops for finding in signature):
        return
    with loopback_only():
        yield from _calls(target)
    yield from _end_of_input(target)


def _called(factory: Callable[..., Any]) -> str:
    return str(getattr(factory, "__qualname__", type(factory).__name__))


def _declaration(target: Target) -> Iterator[Finding]:
    declared = target.declaration
    capabilities = ", ".join(sorted(map(str, declared.capabilities))) or "none"
    dialects = ", ".join(declared.dialects) or "none"
    yield Finding("good", f"declares {dialects}, ends with {declared.terminal}; {capabilities}")
    if good_stream(declared.dialects) is None:
        known = ", ".join(GOOD_STREAMS)
        remedy = f"the kit has cases of: {known}; of any other dialect it judges errors alone"
        yield Finding("note", f"no dialect that the kit can write: {dialects}", remedy)


def _signature(target: Target) -> Iterator[Finding]:
    try:
        parameters = inspect.signature(target.factory).parameters
    except (TypeError, ValueError):  # written in C, without a signature
        yield Finding("note", "the factory does not tell its parameters")
        return
    by_keyword = {p.name for p in parameters.values() if p.kind not in _NOT_BY_KEYWORD}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    wanted = KEYWORDS if target.profile is None else (*KEYWORDS, "profile")
    lacking = [name for name in wanted if name not in by_keyword and not takes_any]
    for name in lacking:
        remedy = f"give the factory a parameter {name} that can be passed by keyword"
        yield Finding("bad", f"the factory takes no {name}", remedy, stops=True)
    filled = {*wanted, "http_client"}
    for parameter in parameters.values():
        if _is_required(parameter) and parameter.name not in filled:
            remedy = f"give {parameter.name} a default; the kit passes {', '.join(wanted)}"
            yield Finding("bad", f"the factory asks for {parameter.name}", remedy, stops=True)
    if not lacking:
        yield Finding("good", f"the factory takes {', '.join(wanted)}")


def _is_required(parameter: inspect.Parameter) -> bool:
    variadic = (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and parameter.kind not in variadic


def _calls(target: Target) -> Iterator[Finding]:
    made = list(_tried(lambda: _stream(Bench(target, Means(), seed=1)), stops=True))
    yield from made
    if any(finding.mark == "bad" for finding in made) or not _can_answer(target):
        return
    backends: tuple[Backend, ...] = ("asyncio", "trio") if find_spec("trio") else ("asyncio",)
    for backend in backends:
        bench = Bench(target, Means(backend=backend), seed=1)
        yield from _tried(lambda bench=bench: _good_call(bench))  # type: ignore[misc]
    if not target.takes_client:
        remedy = "take http_client, and every split of every answer is judged too"
        if not target.unasked:  # a program behind a pipe cannot take one
            yield Finding("note", "the factory takes no http_client", remedy)
        return
    yield from _tried(lambda: _injected(Bench(target, Means(), seed=1)))


def _end_of_input(target: Target) -> Iterator[Finding]:
    """Yield what a program behind a pipe does at the end of its input; nothing of any other."""
    ends_with_its_input = getattr(target.factory, "ends_with_its_input", None)
    if ends_with_its_input is None:
        return
    try:
        ends = ends_with_its_input()
    except SubjectError as error:  # it cannot be started any more, or has ended meanwhile
        yield Finding("bad", str(error))
        return
    if ends:
        yield Finding("good", "the subject ends with its standard input")
    else:
        remedy = "exit when standard input ends; the kit kills what stays a second longer"
        yield Finding("note", "the subject stays when its standard input has ended", remedy)


def _can_answer(target: Target) -> bool:
    return good_stream(target.declaration.dialects) is not None


def _tried(step: Callable[[], list[Finding]], *, stops: bool = False) -> list[Finding]:
    try:
        return bounded(step, limit_s=_CALL_LIMIT_S)
    except AdapterRaisedError as error:
        return [Finding("bad", str(error), stops=stops)]
    except StuckError as error:
        return [Finding("bad", f"the adapter blocks its thread: {error}", "await in place of it")]


def _stream(bench: Bench) -> list[Finding]:
    async def look() -> list[Finding]:
        async with bench.adapter("http://127.0.0.1:1") as adapter:
            return [Finding("good", "an adapter can be made and closed"), await looked(adapter)]

    async def looked(adapter: Any) -> Finding:
        remedy = "make it a method, not async, that returns an async iterator and context manager"
        stream_of = getattr(adapter, "stream", None)
        if not callable(stream_of):
            return Finding("bad", "the adapter has no stream()", remedy, stops=True)
        try:
            stream = stream_of(bench.request(), None)
        except Exception as error:  # noqa: BLE001 - why: whatever it is, it is the finding
            said = f"{type(error).__name__}: {error}"
            return Finding("bad", f"stream(request, abort) raises {said}", remedy, stops=True)
        if inspect.iscoroutine(stream):
            stream.close()
        lacking = [name for name in ("__aiter__", "__aenter__") if not hasattr(stream, name)]
        if lacking:
            said = f"stream() returns {type(stream).__name__}, which lacks {', '.join(lacking)}"
            return Finding("bad", said, remedy, stops=True)
        async with stream:
            return Finding("good", "stream() returns an async iterator")

    return bench.run(look)


def _good_call(bench: Bench) -> list[Finding]:
    where = f"a good answer over a socket, on {bench.means.backend}"
    with FaultServer([bench.good.answer()]) as server:

        async def call() -> Observation:
            async with bench.adapter(server.base_url) as adapter:
                return await bench.call(adapter)

        found = [_judged(bench, bench.run(call), where)]
        is_asked = "attribution" not in bench.target.unasked
        if bench.means.backend == "asyncio" and server.requests and is_asked:
            found.append(_user_agent(server.requests[0].header("user-agent")))
        return found


def _injected(bench: Bench) -> list[Finding]:
    async def call() -> list[Finding]:
        async with bench.in_process([bench.good.answer()]) as (adapter, scripted):
            found = _judged(bench, await bench.call(adapter), "a good answer over http_client")
            if scripted.requests or found.mark == "bad":
                return [found]
            remedy = "make every request with the http_client that the factory is given"
            return [Finding("bad", "http_client is taken and not used", remedy)]

    return bench.run(call)


def _judged(bench: Bench, seen: Observation, where: str) -> Finding:
    text = "".join(getattr(chunk, "text", "") for _, chunk in seen.chunks)
    if seen.ending == "success" and text == bench.good.text:
        return Finding("good", f"{where}: the whole text came")
    said = seen.error or (str(seen.failure) if seen.failure is not None else "")
    if seen.ending == "success":
        said = f"the text was {text!r} in place of {bench.good.text!r}"
    return Finding("bad", f"{where}: {seen.ending}: {said}", "run the kit: each failure explains")


def _user_agent(sent: str | None) -> Finding:
    if sent and _USER_AGENT in sent:
        return Finding("good", f"User-Agent: {sent}")
    remedy = f"name {_USER_AGENT} in it; configured headers extend it"
    return Finding("bad", f"User-Agent: {sent or 'none'}", remedy)
