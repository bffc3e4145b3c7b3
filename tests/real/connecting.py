"""An adapter at a server, and the question that the tests ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from adapter_sdk import LlmRequest, user
from reference_adapters.deepseek import DeepSeekAdapter

if TYPE_CHECKING:
    from .llama_server import LlamaServer

QUESTION: Final = LlmRequest(model="tiny", messages=(user("hi"),))
# Far above what an answer takes, so that only a frozen server gets there.
PATIENT_SECONDS: Final = 20.0


def connected(
    server: LlamaServer, *, api_key: str = "sk-test", idle_timeout: float = PATIENT_SECONDS
) -> DeepSeekAdapter:
    """Return an adapter for ``server``; leave its context to close its connections."""
    return DeepSeekAdapter(
        base_url=server.base_url,
        api_key=api_key,
        idle_timeout=idle_timeout,
        progress_timeout=None,
    )
