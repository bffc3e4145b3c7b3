"""Retries failed requests of a step loop by the policy of their provider.

A listener on the loop's ``request_error`` chain. It keeps no count of its own: the log is the
history, so a restart resets nothing and two executors on one log agree.
"""

from __future__ import annotations

import random as _random
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, TypeVar

import anyio

from .. import AbortSignal, LlmFailure, codes
from ._backoff import Delay, Random, choose_delay
from ._log import (
    RETRY,
    RETRY_STARTED,
    STEP_START,
    TURN_START,
    LoggedEvent,
    RetryLog,
    retry_data,
    started_data,
)
from ._pause import pause
from ._policy import DEFAULT_RETRY_POLICY, NormalRetry, RetryPolicy, parse_retry_policy

if TYPE_CHECKING:
    from .._clock import Clock

Decision: TypeAlias = Literal["retry"] | None
"""``retry``: run the same step again. None: nobody here recovers from this failure."""

# Where a step begins there is no earlier retry of it to be found.
_BOUNDARIES: Final = frozenset({STEP_START, TURN_START})


class RequestError(Protocol):
    """What the step loop tells of one failed request."""

    @property
    def turn(self) -> int:
        """The open turn."""
        ...

    @property
    def step(self) -> int:
        """The open step of it."""
        ...

    @property
    def provider(self) -> str:
        """The name under which the failed adapter is registered."""
        ...

    @property
    def failure(self) -> LlmFailure:
        """What the adapter reported."""
        ...

    @property
    def retry_policy(self) -> RetryPolicy | None:
        """The policy of the provider's profile; None: the default one."""
        ...

    @property
    def signal(self) -> AbortSignal | None:
        """The caller's way to stop the turn, or None."""
        ...


_Payload = TypeVar("_Payload", bound=RequestError)

Register: TypeAlias = Callable[[Callable[..., Awaitable[Decision]]], Callable[[], None]]
"""Puts a listener on a chain and returns what takes it off again."""


class RetryExecutor:
    """Decides, writes ``llm/retry``, waits, writes ``llm/retry-started``, answers ``retry``.

    Normal policies pass on codes outside their set, exhausted budgets and provider delays above
    the cap. ``always`` asks downstream first and honours its retry, then retries everything but
    an abort, with its own backoff where the provider's delay is above the cap. Cancelled,
    aborted or disposed in a wait: nothing more is written, and None is the answer.

    Args:
        log: Where retries are written and counted.
        register: Puts ``request_error`` on a chain; what it returns is called by ``dispose``.
        random: For jitter; tests pass their own.
        new_id: Returns a fresh retry id.
        clock: Defaults to the running loop's.

    Source: design note 003.
    """

    def __init__(
        self,
        log: RetryLog,
        *,
        register: Register | None = None,
        random: Random = _random.random,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        clock: Clock | None = None,
    ) -> None:
        self._log = log
        self._random = random
        self._new_id = new_id
        self._clock = clock
        self._disposed = False
        self._waits: set[anyio.Event] = set()
        self._all_ended: anyio.Event | None = None
        self._unregister = None if register is None else register(self.request_error)

    async def request_error(
        self, payload: _Payload, call_next: Callable[[_Payload], Awaitable[Decision]]
    ) -> Decision:
        """Answer one failed request of an open step.

        Args:
            payload: See ``RequestError``.
            call_next: Asks the listeners downstream.
        """
        if self._stopped(payload):
            return await call_next(payload)
        policy = DEFAULT_RETRY_POLICY
        if payload.retry_policy is not None:
            policy = parse_retry_policy(payload.retry_policy)  # a policy stays as it is
        if policy.mode == "always":
            if await call_next(payload) == "retry":
                return "retry"
            if self._stopped(payload):  # while downstream was thinking
                return None
        begun = self._begin(payload, policy)
        if begun is None:  # never so with ``always``
            return await call_next(payload)
        return await self._wait_and_start(payload, *begun)

    async def dispose(self) -> None:
        """Take the executor off its chain, abort every wait, return when all have ended."""
        self._disposed = True
        unregister, self._unregister = self._unregister, None
        if unregister is not None:
            unregister()
        while self._waits:
            self._all_ended = self._all_ended or anyio.Event()
            for wait in self._waits:
                wait.set()
            await self._all_ended.wait()

    def _stopped(self, payload: RequestError) -> bool:
        return (
            self._disposed
            or payload.failure.code == codes.ABORTED
            or (payload.signal is not None and payload.signal.aborted)
        )

    # ---- check and append: no await in here -------------------------------------------------

    def _begin(self, payload: RequestError, policy: RetryPolicy) -> tuple[str, int, Delay] | None:
        """Append ``llm/retry`` and return its id, number and delay; None where it is not due."""
        failure = payload.failure
        if isinstance(policy, NormalRetry) and failure.code not in policy.retryable_codes:
            return None
        retry_id, done = last_retry(
            self._log.events, payload.turn, payload.step, payload.provider, policy.key
        ) or (None, 0)
        if isinstance(policy, NormalRetry) and done >= policy.max_retries:
            return None
        retry = done + 1
        delay = choose_delay(
            policy.backoff,
            hint_ms=failure.provider_retry_after_ms,
            retry=retry,
            above_cap="pass-on" if isinstance(policy, NormalRetry) else "backoff",
            random=self._random,
        )
        if delay is None:
            return None
        retry_id = retry_id or self._new_id()
        self._log.append(
            RETRY,
            retry_data(
                retry_id=retry_id,
                turn=payload.turn,
                step=payload.step,
                provider=payload.provider,
                policy=policy,
                retry=retry,
                delay=delay,
                failure=failure,
            ),
        )
        return retry_id, retry, delay

    # ---- wait -------------------------------------------------------------------------------

    async def _wait_and_start(
        self, payload: RequestError, retry_id: str, retry: int, delay: Delay
    ) -> Decision:
        await self._wait(delay.ms, payload.signal)
        if self._stopped(payload):
            return None
        self._log.append(
            RETRY_STARTED,
            started_data(retry_id=retry_id, turn=payload.turn, step=payload.step, retry=retry),
        )
        return "retry"

    async def _wait(self, delay_ms: int, signal: AbortSignal | None) -> None:
        """Return after the delay, at an abort or at ``dispose``."""
        wake = anyio.Event()
        self._waits.add(wake)
        try:
            await pause(delay_ms, signal=signal, wake=wake, clock=self._clock)
        finally:
            self._waits.discard(wake)
            if self._all_ended is not None and not self._waits:
                self._all_ended.set()


def last_retry(
    events: Sequence[LoggedEvent], turn: int, step: int, provider: str, policy_key: str
) -> tuple[str, int] | None:
    """Return id and number of the last retry of a chain in its step; None: there was none."""
    for event in reversed(events):
        if event.type in _BOUNDARIES:
            return None
        if event.type != RETRY:
            continue
        data = event.data
        own = (data["turn"], data["step"], data["provider"], data["policyKey"])
        if own == (turn, step, provider, policy_key):
            return data["retryId"], data["retry"]
    return None
