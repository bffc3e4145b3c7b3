"""Checks written as code: behaviours that one exchange cannot show."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from adapter_sdk import LlmRequest

from ._case import RequestName
from ._conversations import CONVERSATIONS
from ._good_streams import GoodStream, good_stream
from ._judge import Difference
from ._lanes import PROGRESS_IDLES_ELSEWHERE, Means, close, run_on
from ._target import Target

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bench:
    """What a scenario works with: the target, its means, and a credential of its own."""

    target: Target
    means: Means
    seed: int
    credential: str = field(default_factory=lambda: f"sk-dsh-{secrets.token_hex(6)}")

    @property
    def idle_s(self) -> float:
        """The idle limit that ``adapter`` sets, in seconds."""
        return self.means.idle_s

    @property
    def good(self) -> GoodStream:
        """A good answer in the target's dialect; scenarios that need one declare so."""
        stream = good_stream(self.target.declaration.dialects)
        assert stream is not None  # noqa: S101 - why: `needs_good_stream` was checked before
        return stream

    def request(self, name: RequestName = "text") -> LlmRequest:
        """Return a reference conversation with the target's model."""
        return CONVERSATIONS[name](self.target.declaration.model)

    def adapter(self, base_url: str, **options: Any) -> Any:
        """Return an adapter with the kit's limits; ``options`` override them."""
        defaults: dict[str, Any] = {
            "api_key": self.credential,
            "idle_timeout": self.idle_s,
            "progress_timeout": PROGRESS_IDLES_ELSEWHERE * self.idle_s,
        }
        if "http_client" not in options and self.means.library is not None:
            options["http_client"] = self.means.library.AsyncClient(timeout=None)
        return self.target.make(base_url=base_url, **{**defaults, **options})

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run ``call`` in an event loop of the run's backend."""
        result: T = run_on(self.means.backend, call)
        return result

    async def close(self, adapter: Any) -> None:
        """Close an adapter that ``adapter`` made."""
        await close(adapter)


RunScenario: TypeAlias = Callable[[Bench], Iterable[Difference]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One check written as code.

    Attributes:
        name: The last part of its id.
        requirement: Id of what it shows.
        title: The right behaviour, in the present tense.
        run: Returns every difference from it; empty where there is none.
        needs: Capabilities beyond those of the requirement.
        needs_good_stream: Whether it needs a good answer in the target's dialect.
        needs_client: Whether it passes an ``http_client`` of its own.
        timed: Whether it waits for limits, and runs beside others.
    """

    name: str
    requirement: str
    title: str
    run: RunScenario
    needs: tuple[str, ...] = ()
    needs_good_stream: bool = False
    needs_client: bool = False
    timed: bool = False

    @property
    def id(self) -> str:
        """The check's id."""
        return f"{self.requirement.replace('-', '_')}/{self.name}"
