"""What a check that is written as code works with."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final, TypeVar

import anyio
import httpx

from adapter_sdk import Chunk, Finish, FinishReason, LlmError, LlmRequest
from adapter_sdk.testing import Exchange, Scripted, Split, scripted_client

from ._case import Call, RequestName
from ._conversations import CONVERSATIONS
from ._good_streams import TWO_PIECES, GoodStream, good_stream
from ._judge import Difference, shown
from ._lanes import (
    PATIENCE_IDLES,
    PATIENCE_S,
    PROGRESS_IDLES_ELSEWHERE,
    Means,
    client_of,
    close,
    run_on,
)
from ._observe import Observation, observe
from ._sweep import Extent
from ._target import Target

T = TypeVar("T")

# Closing sockets takes milliseconds; what takes longer waits for something.
CLOSING_LIMIT_S: Final = 2.0

# The least idle limit of a check that waits for none: a busy machine must not run into it.
UNHURRIED_S: Final = 2.0

# Where nothing but the idle limit is waited for, a call is hung so soon after it.
BEYOND_THE_LIMIT_S: Final = 1.0

# No name server answers for it (RFC 6761 section 6.4).
IN_PROCESS_URL: Final = "http://in-process.invalid"


class AdapterRaisedError(Exception):
    """The adapter raised where a scenario made or closed it, or a call hung: the scenario ends."""

    def __init__(self, where: str, expected: str, got: str) -> None:
        super().__init__(f"{where}: {got}")
        self.difference = Difference(where, expected, got)


def hung_call(limit_s: float) -> AdapterRaisedError:
    """Return the finding that a call has no end; what a scenario plays after it would hang too."""
    return AdapterRaisedError(
        "a call of this check", "an end, at the idle limit at the latest", f"none in {limit_s:g} s"
    )


@dataclass(frozen=True, slots=True)
class Bench:
    """What a scenario works with.

    Attributes:
        target: What is judged.
        means: Backend, client and limits.
        seed: Of what is drawn by chance.
        sweep: How much of a sweep is played.
        unhurried: Whether nothing but the idle limit is ever waited for.
        credential: What the adapters get; of this scenario alone.
    """

    target: Target
    means: Means
    seed: int
    sweep: Extent = "smoke"
    unhurried: bool = False
    credential: str = field(default_factory=lambda: f"sk-dsh-{secrets.token_hex(6)}")

    @property
    def idle_s(self) -> float:
        """The idle limit that the adapters get, in seconds."""
        return self.means.idle_s

    @property
    def patience_s(self) -> float:
        """When a call counts as hung, in seconds."""
        if self.unhurried:
            return self.idle_s + BEYOND_THE_LIMIT_S
        return PATIENCE_S + PATIENCE_IDLES * self.idle_s

    @property
    def library(self) -> ModuleType:
        """The client library whose ``AsyncClient`` is injected."""
        return self.means.library or httpx

    @property
    def good(self) -> GoodStream:
        """A good answer in the target's dialect; scenarios that need one declare so."""
        return self.good_of(TWO_PIECES)

    def good_of(self, pieces: Sequence[str]) -> GoodStream:
        """Return a good answer whose text is ``pieces``, in the target's dialect."""
        stream = good_stream(self.target.declaration.dialects, pieces)
        assert stream is not None  # noqa: S101 - why: `needs_good_stream` was checked before
        return stream

    def request(self, name: RequestName = "text") -> LlmRequest:
        """Return a reference conversation with the target's model."""
        return CONVERSATIONS[name](self.target.declaration.model)

    def client(self, **options: Any) -> Any:
        """Return a client to inject, without limits of its own; its maker closes it."""
        return client_of(self.library, **options)

    @contextlib.asynccontextmanager
    async def adapter(self, base_url: str, **options: Any) -> AsyncIterator[Any]:
        """An adapter with the kit's limits, closed at the end; ``options`` override them.

        Raises:
            AdapterRaisedError: The factory or ``aclose`` raised or hung.
        """
        defaults: dict[str, Any] = {
            "api_key": self.credential,
            "idle_timeout": self.idle_s,
            "progress_timeout": PROGRESS_IDLES_ELSEWHERE * self.idle_s,
        }
        own = None
        if "http_client" not in options and self.means.library is not None:
            own = options["http_client"] = self.client()
        try:
            adapter = _made(self.target, {"base_url": base_url, **defaults, **options})
            try:
                yield adapter
            finally:
                await _closed(adapter)
        finally:
            if own is not None:
                await own.aclose()

    @contextlib.asynccontextmanager
    async def in_process(
        self, exchanges: Sequence[Exchange], *, split: Split | None = None, **options: Any
    ) -> AsyncIterator[tuple[Any, Scripted]]:
        """An adapter over a scripted client, without a socket; see ``adapter``."""
        scripted = scripted_client(exchanges, split=split, library=self.library)
        try:
            async with self.adapter(
                IN_PROCESS_URL, http_client=scripted.client, **options
            ) as adapter:
                yield adapter, scripted
        finally:
            await scripted.client.aclose()

    async def call(
        self,
        adapter: Any,
        request: LlmRequest | None = None,
        how: Call | None = None,
    ) -> Observation:
        """Make one call and return what its caller saw.

        Args:
            adapter: Any adapter.
            request: What is asked; None: the text conversation.
            how: What the caller does on the way; None: it reads to the end.

        Raises:
            AdapterRaisedError: The call has no end.
        """
        seen = await observe(
            adapter.stream,
            request or self.request(),
            how or Call(),
            idle_s=self.idle_s,
            patience_s=self.patience_s,
        )
        if seen.ending == "hung":
            raise hung_call(self.patience_s)
        return seen

    async def first_answer(self, base_url: str, **options: Any) -> Observation:
        """Make an adapter and one call; a refusal by the factory counts as the call's failure."""
        try:
            async with self.adapter(base_url, **options) as adapter:
                return await self.call(adapter)
        except AdapterRaisedError as raised:
            refusal = raised.__cause__
            if not isinstance(refusal, LlmError):
                raise
            finish: Chunk = Finish(FinishReason("error", refusal.failure))
            return Observation("failure", [(0.0, finish)])

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run ``call`` in an event loop of the run's backend."""
        result: T = run_on(self.means.backend, call)
        return result


def _made(target: Target, arguments: dict[str, Any]) -> Any:
    try:
        return target.make(**arguments)
    except (Exception, SystemExit) as error:
        said = shown(f"{type(error).__name__}: {error}")
        raise AdapterRaisedError("the factory", "an adapter", said) from error


async def _closed(adapter: Any) -> None:
    with anyio.move_on_after(CLOSING_LIMIT_S) as limit:
        try:
            await close(adapter)
        except (Exception, SystemExit) as error:
            said = shown(f"{type(error).__name__}: {error}")
            raise AdapterRaisedError("aclose()", "closes and returns None", said) from error
    if limit.cancelled_caught:
        raise AdapterRaisedError(
            "aclose()", f"returns within {CLOSING_LIMIT_S:g} s", "it was still waiting"
        )
