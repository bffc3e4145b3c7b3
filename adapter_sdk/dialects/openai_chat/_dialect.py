"""The dialect as one object that an adapter holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, get_args

from ..._dialect import Json
from ..._request import LlmRequest
from .._address import carried_in, check_header_name, check_path
from .._said import unsupported_effort
from ._request import chat_body
from ._translator import ChatTranslator, Terminal


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIChat:
    """The chat completions dialect.

    Attributes:
        terminal: What proves a good end. ``finish-reason`` is the dialect's default, for some
            providers never send ``[DONE]``; declare ``done-sentinel`` where it always comes.
        reasoning_efforts: Words that the provider takes as ``reasoning_effort``; any other
            is refused before anything is sent.
        system_role: ``system`` or ``developer``.
        reasoning_field: See ``chat_body``.
        path: Appended to the base URL.
        credential_header: Which header carries the credential: ``authorization`` as a bearer
            token, any other (``api-key``) as it is.

    Raises:
        ValueError: A terminal, path or header name that cannot be used.
    """

    terminal: Terminal = "finish-reason"
    reasoning_efforts: tuple[str, ...] = ()
    system_role: str = "system"
    reasoning_field: str | None = None
    path: str = "/chat/completions"
    credential_header: str = "authorization"
    name: ClassVar[str] = "openai-chat"

    def __post_init__(self) -> None:
        if self.terminal not in get_args(Terminal):
            raise ValueError(f"terminal: one of {', '.join(get_args(Terminal))}")
        check_path(self.path)
        check_header_name("credential_header", self.credential_header)

    def body(self, request: LlmRequest) -> Mapping[str, Json]:
        """See ``Dialect``."""
        body = chat_body(
            request, system_role=self.system_role, reasoning_field=self.reasoning_field
        )
        effort = request.reasoning_effort
        if effort is not None:
            if effort not in self.reasoning_efforts:
                raise unsupported_effort(effort, self.reasoning_efforts)
            body["reasoning_effort"] = effort
        return body

    def credential_headers(self, credential: str) -> Mapping[str, str]:
        """See ``Dialect``."""
        return carried_in(self.credential_header, credential)

    def translator(self) -> ChatTranslator:
        """See ``Dialect``."""
        return ChatTranslator(terminal=self.terminal)
