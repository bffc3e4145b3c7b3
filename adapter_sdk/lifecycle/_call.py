"""One call: responses, one after the other, until one commits or the failure is final."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing

from .. import (
    AbortSignal,
    BlockAssembler,
    Finish,
    LlmError,
    LlmFailure,
    LlmRequest,
    classify_failure,
    codes,
    local_error,
)
from .._clock import running_clock
from ..retry import Delay, Random
from ..retry._pause import pause
from ._diagnostics import Action, Diagnostic, Listeners
from ._events import (
    AssistantChunk,
    LifecycleEvent,
    ResponseCommitted,
    ResponseFailed,
    ResponseInterrupted,
    ResponseStart,
    RouteInfo,
)
from ._failover import failover_scope
from ._limited import Interrupted, ResponseStream
from ._policy import FailedResponse, GiveUp, RecoveryPolicy
from ._rests import Choice, Rests
from ._routes import Route, RouteRegistry


class Call:
    """One call's state. Every response is closed before the event that tells of its end."""

    def __init__(
        self,
        request: LlmRequest,
        *,
        routes: RouteRegistry,
        recovery: RecoveryPolicy,
        models: Sequence[str],
        listeners: Listeners,
        random: Random,
        new_id: Callable[[], str],
        abort: AbortSignal,
    ) -> None:
        self._request = request
        self._routes = routes
        self._recovery = recovery
        self._models = models
        self._listeners = listeners
        self._random = random
        self._new_id = new_id
        self._abort = abort
        self._responses = 0
        self._interruption: Interrupted | None = None

    async def events(self) -> AsyncIterator[LifecycleEvent]:
        """Yield the call's events; the last one is committed or failed."""
        self._now_s = running_clock().monotonic
        self._began_at_s = self._now_s()
        self._rests = Rests(self._now_s)
        try:
            route = self._first_route()
        except LlmError as error:
            yield ResponseFailed(failure=error.failure)
            return
        while True:
            response_id = self._new_id()
            self._responses += 1
            yield ResponseStart(
                response_id=response_id,
                response_index=self._responses - 1,
                route_id=route.route_id,
            )
            assembler = BlockAssembler()
            async with aclosing(self._response(route, response_id, assembler)) as chunks:
                async for event in chunks:
                    yield event
            failure = self._failure(assembler)
            if failure is None:
                yield self._committed(route, response_id, assembler)
                return
            following = self._after(route, response_id, failure)
            if following is None:
                yield ResponseFailed(response_id=response_id, failure=failure)
                return
            yield self._interrupted(response_id, failure, following)
            try:
                route = await self._rested(route, failure)
            except LlmError as error:
                yield ResponseFailed(failure=error.failure)
                return

    # ---- one response ---------------------------------------------------------------------

    async def _response(
        self, route: Route, response_id: str, assembler: BlockAssembler
    ) -> AsyncGenerator[AssistantChunk, None]:
        stream = ResponseStream(
            route.adapter,
            route.wire_request(self._request),
            limits=self._recovery.limits,
            abort=self._abort,
            remaining_s=self._remaining_s,
        )
        self._interruption = None
        try:
            while assembler.finish_reason is None:
                try:
                    chunk = await stream.next()
                except Interrupted as interruption:
                    self._interruption = interruption
                    return
                assembler.add(chunk)
                if not isinstance(chunk, Finish):
                    yield AssistantChunk(response_id=response_id, chunk=chunk)
        finally:
            await stream.aclose()

    def _failure(self, assembler: BlockAssembler) -> LlmFailure | None:
        if self._interruption is not None:
            return self._interruption.failure
        reason = assembler.finish_reason
        return None if reason is None else reason.failure

    def _committed(
        self, route: Route, response_id: str, assembler: BlockAssembler
    ) -> ResponseCommitted:
        finish = assembler.finish_reason
        assert finish is not None  # noqa: S101 - why: a response without a finish has a failure
        return ResponseCommitted(
            response_id=response_id,
            message=assembler.message(),
            finish=finish,
            usage=assembler.usage,
            route=RouteInfo(
                route_id=route.route_id,
                model=route.model,
                wire_model=route.wire_model,
                provider=route.provider,
            ),
        )

    # ---- after a failure --------------------------------------------------------------------

    def _after(self, route: Route, response_id: str, failure: LlmFailure) -> Choice | None:
        """Return where to go on; None: the failure is final. Listeners are told which."""
        failed = FailedResponse(
            failure=failure,
            failure_class=classify_failure(failure),
            scope=failover_scope(failure),
            route_id=route.route_id,
            responses=self._responses,
            route_failures=self._rests.failures(route) + 1,
            elapsed_ms=math.floor(self._elapsed_s() * 1000),
        )
        decision = self._decide(failed)
        following: Choice | None = None
        if isinstance(decision, Delay):
            self._rests.begin(route, decision)
            following = self._rests.choose(self._allowed(route, failure))
            if following is None:
                decision = GiveUp("no route that fits is left")
            elif not self._fits(following.wait_ms):
                decision = GiveUp(f"a wait of {following.wait_ms} ms ends after the call's time")
                following = None
        self._tell(failed, response_id, decision, following)
        return following

    def _decide(self, failed: FailedResponse) -> Delay | GiveUp:
        if self._interruption is not None and self._interruption.cause == "elapsed":
            return GiveUp("the time of the whole call is over")
        return self._recovery.decide(failed, random=self._random)

    def _allowed(self, route: Route, failure: LlmFailure) -> list[Route]:
        """Return the routes that may answer after ``failure`` on ``route``, best first."""
        scope = failover_scope(failure)
        models: Sequence[str] = self._models
        if scope != "compatible-model":
            models = tuple(dict.fromkeys((self._request.model, route.model)))
        return self._routes.fitting(self._request, models)

    async def _rested(self, route: Route, failure: LlmFailure) -> Route:
        """Wait for the next route and return it.

        Whoever registers or disposes of routes meanwhile is heard, and a caller who kept an
        event for long does not wait twice.

        Raises:
            LlmError: ABORTED, or the last failure where no route is left.
        """
        while True:
            if self._abort.aborted:
                raise _aborted(self._abort)
            following = self._rests.choose(self._allowed(route, failure))
            if following is None:
                raise LlmError(failure)
            if following.wait_ms == 0:
                return following.route
            await pause(following.wait_ms, signal=self._abort)

    def _first_route(self) -> Route:
        if self._abort.aborted:
            raise _aborted(self._abort)
        routes = self._routes.fitting(self._request, self._models[:1])
        if not routes:
            raise self._routes.refusal(self._request)
        return routes[0]

    def _interrupted(
        self, response_id: str, failure: LlmFailure, following: Choice
    ) -> ResponseInterrupted:
        waits = following.wait_ms > 0 and following.rest is not None
        return ResponseInterrupted(
            response_id=response_id,
            failure=failure,
            scheduled_retry_ms=following.wait_ms if waits else None,
            delay_source=following.rest.delay.source if waits and following.rest else None,
        )

    # ---- time -------------------------------------------------------------------------------

    def _elapsed_s(self) -> float:
        return self._now_s() - self._began_at_s

    def _remaining_s(self) -> float | None:
        most = self._recovery.max_elapsed
        return None if most is None else most - self._elapsed_s()

    def _fits(self, wait_ms: int) -> bool:
        remaining_s = self._remaining_s()
        return remaining_s is None or wait_ms / 1000 < remaining_s

    # ---- diagnostics --------------------------------------------------------------------------

    def _tell(
        self,
        failed: FailedResponse,
        response_id: str,
        decision: Delay | GiveUp,
        following: Choice | None,
    ) -> None:
        rested = decision if isinstance(decision, Delay) else None
        hint_ms = failed.failure.provider_retry_after_ms
        self._listeners.tell(
            Diagnostic(
                response_id=response_id,
                response_index=self._responses - 1,
                route_id=failed.route_id,
                failure=failed.failure,
                failure_class=failed.failure_class,
                scope=failed.scope,
                action=_action(failed, following),
                next_route_id=None if following is None else following.route.route_id,
                wait_ms=0 if following is None else following.wait_ms,
                rest_ms=None if rested is None else rested.ms,
                rest_source=None if rested is None else rested.source,
                hint_ms=hint_ms,
                reason=decision.reason if isinstance(decision, GiveUp) else _why(decision, hint_ms),
            )
        )


def _aborted(abort: AbortSignal) -> LlmError:
    return local_error(codes.ABORTED, abort.reason or "the caller aborted the call")


def _action(failed: FailedResponse, following: Choice | None) -> Action:
    if following is None:
        return "give-up"
    return "retry" if following.route.route_id == failed.route_id else "failover"


def _why(delay: Delay, hint_ms: int | None) -> str:
    """Return which delay was used and why."""
    match delay.source:
        case "provider":
            return f"the route rests {delay.ms} ms, as the provider asked"
        case "provider-capped":
            return f"the route rests {delay.ms} ms, the cap; the provider asked for {hint_ms} ms"
        case "backoff":
            return f"the route rests {delay.ms} ms, our own backoff; the provider named no delay"
