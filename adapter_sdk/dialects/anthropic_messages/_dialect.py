"""The dialect as one object that an adapter holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ..._dialect import Json
from ..._request import LlmRequest
from .._address import check_path
from ._cache import CacheTtl, with_cache_markers
from ._request import messages_body
from ._tables import DIALECT_NAME
from ._thinking import thinking_fields
from ._translator import MessagesTranslator


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicMessages:
    """The messages dialect.

    Attributes:
        default_max_tokens: Cap of a request that names none: the wire demands one.
        thinking_budgets: Effort to the tokens that thinking may take, which the cap includes;
            0 switches thinking off. For models that take a budget.
        reasoning_efforts: Words that the provider takes as ``output_config.effort`` beside
            adaptive thinking, for models that take no budget; ``off`` switches thinking off.
            An effort that neither this nor ``thinking_budgets`` has is refused before
            anything is sent.
        cache_ttl: Mark the prefix for the provider's prompt cache, to be kept so long; None
            sets no marks.
        version: Of the wire, for the ``anthropic-version`` header.
        path: Appended to the base URL.

    Raises:
        ValueError: A cap or a budget that is no whole number of tokens, or a path without a
            slash at its beginning.
    """

    default_max_tokens: int = 32_768
    thinking_budgets: Mapping[str, int] = field(default_factory=dict, hash=False)
    reasoning_efforts: tuple[str, ...] = ()
    cache_ttl: CacheTtl | None = None
    version: str = "2023-06-01"
    path: str = "/v1/messages"
    name: ClassVar[str] = DIALECT_NAME
    terminal: ClassVar[str] = "message-stop"

    def __post_init__(self) -> None:
        check_path(self.path)
        if type(self.default_max_tokens) is not int or self.default_max_tokens < 1:
            raise ValueError("default_max_tokens: a whole number of tokens, 1 or more")
        for effort, tokens in self.thinking_budgets.items():
            if type(tokens) is not int or tokens < 0:
                raise ValueError(f"thinking_budgets[{effort!r}]: a whole number of tokens")

    def body(self, request: LlmRequest) -> Mapping[str, Json]:
        """See ``Dialect``."""
        body = messages_body(request, default_max_tokens=self.default_max_tokens)
        if request.reasoning_effort is not None:
            body |= thinking_fields(
                request.reasoning_effort,
                budgets=self.thinking_budgets,
                efforts=self.reasoning_efforts,
                max_tokens=body["max_tokens"],
            )
        return body if self.cache_ttl is None else with_cache_markers(body, ttl=self.cache_ttl)

    def credential_headers(self, credential: str) -> Mapping[str, str]:
        """See ``Dialect``."""
        return {"x-api-key": credential, "anthropic-version": self.version}

    def translator(self) -> MessagesTranslator:
        """See ``Dialect``."""
        return MessagesTranslator()
