"""The adapter: what is DeepSeek's own on top of the chat completions dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final, Unpack

from typing_extensions import override

from adapter_sdk import (
    AdapterOptions,
    BaseAdapter,
    Capability,
    Json,
    LlmRequest,
    codes,
    has_images,
    local_error,
)
from adapter_sdk.dialects.openai_chat import OpenAIChat, chat_body

from ._catalogue import CATALOGUE, DEFAULT_CONTEXT_WINDOW, DEFAULT_MAX_TOKENS, takes_images
from ._images import within_budget
from ._thinking import Effort, Thinking, checked_configuration, thinking_fields

if TYPE_CHECKING:
    from adapter_sdk.retry import RetryPolicy

_SESSION_HEADER: Final = "x-dsh-session-id"
_PURPOSE_HEADER: Final = "x-dsh-purpose"


class DeepSeekAdapter(BaseAdapter):
    """Route ``deepseek-official``.

    Args:
        thinking: ``enabled``, ``disabled`` (a lock: any other effort is refused), or None.
        reasoning_effort: ``off``, ``low``, ``high``, ``max``; None leaves it to the request,
            and to ``high`` where thinking is enabled. Nothing set, nothing sent.
        max_tokens: Cap of requests that name none; None sends none.
        default_context_window: Tokens of a model that the catalogue does not know.
        retry_policy: A policy, or the mapping of one (see ``parse_retry_policy``), for a step
            loop that retries; None leaves it to the loop. The adapter only carries it.
        options: See ``BaseAdapter``.

    Raises:
        ValueError: An option that cannot be used; the message begins with its name.
    """

    route: ClassVar[str] = "deepseek-official"
    # It sent [DONE] in every recorded stream, so a stream without it was cut.
    dialect = OpenAIChat(terminal="done-sentinel", reasoning_field="reasoning_content")
    default_base_url = "https://api.deepseek.com"
    base_url_env = "DEEPSEEK_BASE_URL"
    api_key_env = "DEEPSEEK_API_KEY"
    request_id_headers = ("x-request-id", "x-ds-trace-id", "x-deepseek-request-id")
    capabilities = frozenset({Capability.TOOLS, Capability.REASONING, Capability.IMAGES})
    reference_model = "deepseek-v4-flash-vision-exp"

    def __init__(
        self,
        *,
        thinking: Thinking | None = None,
        reasoning_effort: Effort | None = None,
        max_tokens: int | None = DEFAULT_MAX_TOKENS,
        default_context_window: int = DEFAULT_CONTEXT_WINDOW,
        retry_policy: RetryPolicy | Mapping[str, Json] | None = None,
        **options: Unpack[AdapterOptions],
    ) -> None:
        super().__init__(**options)
        checked_configuration(thinking, reasoning_effort)
        if max_tokens is not None:
            _check_tokens("max_tokens", max_tokens)
        _check_tokens("default_context_window", default_context_window)
        self.thinking = thinking
        self.reasoning_effort = reasoning_effort
        self.max_tokens = max_tokens
        self.default_context_window = default_context_window
        self.retry_policy = None if retry_policy is None else _checked_policy(retry_policy)

    def context_window(self, model: str) -> int:
        """Return the tokens that ``model`` takes, by the catalogue or the default."""
        known = CATALOGUE.get(model)
        return self.default_context_window if known is None else known.context_window

    @override
    def check_request(self, request: LlmRequest) -> None:
        """See ``BaseAdapter``."""
        super().check_request(request)
        if has_images(request) and not takes_images(request.model):
            raise local_error(
                codes.UNSUPPORTED_CONTENT, f"images: the model {request.model} takes text only"
            )

    @override
    def body(self, request: LlmRequest) -> Mapping[str, Json]:
        """See ``BaseAdapter``."""
        body = chat_body(within_budget(request), reasoning_field="reasoning_content")
        if request.max_tokens is None and self.max_tokens is not None:
            body["max_tokens"] = self.max_tokens
        body.update(
            thinking_fields(
                thinking=self.thinking,
                configured=self.reasoning_effort,
                asked=request.reasoning_effort,
                purpose=request.purpose,
            )
        )
        return body

    @override
    def request_headers(self, request: LlmRequest) -> Mapping[str, str]:
        """See ``BaseAdapter``."""
        named = {_SESSION_HEADER: request.session_id, _PURPOSE_HEADER: request.purpose}
        return {name: value for name, value in named.items() if value is not None}


def _check_tokens(name: str, tokens: object) -> None:
    if type(tokens) is not int or tokens < 1:
        raise ValueError(f"{name}: a whole number of tokens, 1 or more")


def _checked_policy(value: RetryPolicy | Mapping[str, Json]) -> RetryPolicy:
    # Here: one validator for every profile, and callers without a loop never load it.
    from adapter_sdk.retry import parse_retry_policy

    return parse_retry_policy(value, path="retry_policy")
