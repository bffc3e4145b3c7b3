"""The dialect as one object that an adapter holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..._dialect import Json
from ..._request import LlmRequest
from .._address import carried_in, check_header_name, check_path
from .._said import unsupported_effort
from ._request import responses_body
from ._tables import DIALECT_NAME
from ._translator import ResponsesTranslator


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIResponses:
    """The responses dialect. Nothing is stored at the provider.

    Attributes:
        reasoning_efforts: Words that the provider takes as ``reasoning.effort``; any other is
            refused before anything is sent.
        reasoning_summary: Ask for summaries of the reasoning, for example ``auto``; None asks
            for none.
        encrypted_reasoning: Ask for the reasoning in a form that can be sent back, which
            models that do not reason refuse. None asks for it where there are
            ``reasoning_efforts``.
        path: Appended to the base URL.
        credential_header: As of ``OpenAIChat``.

    Raises:
        ValueError: A path or header name that cannot be used.
    """

    reasoning_efforts: tuple[str, ...] = ()
    reasoning_summary: str | None = None
    encrypted_reasoning: bool | None = None
    path: str = "/responses"
    credential_header: str = "authorization"
    name: ClassVar[str] = DIALECT_NAME
    terminal: ClassVar[str] = "response-completed"

    def __post_init__(self) -> None:
        check_path(self.path)
        check_header_name("credential_header", self.credential_header)

    def body(self, request: LlmRequest) -> Mapping[str, Json]:
        """See ``Dialect``."""
        body = responses_body(request)
        reasoning: dict[str, Json] = {}
        effort = request.reasoning_effort
        if effort is not None:
            if effort not in self.reasoning_efforts:
                raise unsupported_effort(effort, self.reasoning_efforts)
            reasoning["effort"] = effort
        if self.reasoning_summary is not None:
            reasoning["summary"] = self.reasoning_summary
        if reasoning:
            body["reasoning"] = reasoning
        encrypted = self.encrypted_reasoning
        if bool(self.reasoning_efforts) if encrypted is None else encrypted:
            body["include"] = ["reasoning.encrypted_content"]
        return body

    def credential_headers(self, credential: str) -> Mapping[str, str]:
        """See ``Dialect``."""
        return carried_in(self.credential_header, credential)

    def translator(self) -> ResponsesTranslator:
        """See ``Dialect``."""
        return ResponsesTranslator()
