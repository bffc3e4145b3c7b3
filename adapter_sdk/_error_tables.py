"""What names and statuses of errors mean, as tables.

Each row says where it was seen: [R] recorded traffic, [D] the provider's documentation or
public reports, [C] a conformance case. Names are compared without case and separators, so
``RateLimitReached`` and ``rate_limit_reached`` are one row.
"""

from __future__ import annotations

from typing import Final

from ._codes import (
    AUTH,
    CONTENT_FILTER,
    CONTEXT_WINDOW_EXCEEDED,
    INVALID_REQUEST,
    QUOTA,
    RATE_LIMIT,
    SERVER,
    TIMEOUT,
    http_status_code,
)


def plain_name(name: str) -> str:
    """Return ``name`` as the tables know it: lower-case letters and digits only."""
    return "".join(character for character in name.lower() if character.isalnum())


def _by_plain_name(table: dict[str, str]) -> dict[str, str]:
    return {plain_name(name): code for name, code in table.items()}


# Names that decide alone, before wording and any status.
SPECIFIC_NAMES: Final = _by_plain_name(
    {
        # the key or the account behind it
        "invalid_api_key": AUTH,  # [R] OpenAI 401, Groq 401, Perplexity 401
        "API_KEY_INVALID": AUTH,  # [R] Google 400, in details[].reason
        "API_KEY_EXPIRED": AUTH,  # [D] Google 400
        "authentication_error": AUTH,  # [R] Anthropic, llama.cpp; DeepSeek beside a generic code
        "authentication_failed": AUTH,  # [D] gateways
        "invalid_authentication_error": AUTH,  # [D] Moonshot 401
        "incorrect_api_key": AUTH,  # [D] gateways
        "wrong_api_key": AUTH,  # [D] Cerebras 401
        "missing_api_key": AUTH,  # [D] gateways
        "unauthenticated": AUTH,  # [D] Google 401
        "unauthorized": AUTH,  # [D] gateways
        "permission_error": AUTH,  # [D] Anthropic 403
        "account_deactivated": AUTH,  # [D] OpenAI 401
        # an empty account
        "insufficient_quota": QUOTA,  # [C] OpenAI 429
        "insufficient_user_quota": QUOTA,  # [D] new-api gateways, 403
        "exceeded_current_quota_error": QUOTA,  # [D] Moonshot 429
        "quota_exceeded": QUOTA,  # [D] gateways
        "insufficient_balance": QUOTA,  # [D] gateways
        "insufficient_credits": QUOTA,  # [D] gateways
        "credit_balance_exhausted": QUOTA,  # [D] OpenAI 429
        "billing_error": QUOTA,  # [D] Anthropic 402
        "billing_not_active": QUOTA,  # [D] OpenAI 429
        "billing_hard_limit_reached": QUOTA,  # [D] OpenAI 400
        "project_spend_limit_exceeded": QUOTA,  # [D] OpenAI 429
        "organization_spend_limit_exceeded": QUOTA,  # [D] OpenAI 429
        "usage_limit_reached": QUOTA,  # [D] OpenAI, the plans of its apps
        "usage_limit_exceeded": QUOTA,  # [D] gateways
        "budget_exceeded": QUOTA,  # [D] litellm 400
        "payment_required": QUOTA,  # [D] gateways
        "Arrearage": QUOTA,  # [D] DashScope 400
        # throttled
        "rate_limit_exceeded": RATE_LIMIT,  # [C] OpenAI 429, Groq 413
        "rate_limit_error": RATE_LIMIT,  # [C] Anthropic 429; [R] litellm
        "rate_limit_reached_error": RATE_LIMIT,  # [D] Moonshot 429
        "RateLimitReached": RATE_LIMIT,  # [R] Azure 429
        "rate_limited": RATE_LIMIT,  # [D] gateways
        "too_many_requests": RATE_LIMIT,  # [D] Azure, gateways
        "ThrottlingException": RATE_LIMIT,  # [D] Bedrock 429
        "Throttling": RATE_LIMIT,  # [D] DashScope 429
        "Throttling.RateQuota": RATE_LIMIT,  # [D] DashScope 429
        "Throttling.AllocationQuota": RATE_LIMIT,  # [D] DashScope 429: tokens a minute
        "limit_requests": RATE_LIMIT,  # [D] DashScope 429
        "limit_burst_rate": RATE_LIMIT,  # [D] DashScope 429
        "slow_down": RATE_LIMIT,  # [D] OpenAI
        # more than the model can hold
        "context_length_exceeded": CONTEXT_WINDOW_EXCEEDED,  # [R] OpenAI 400
        "context_window_exceeded": CONTEXT_WINDOW_EXCEEDED,  # [D] gateways
        "model_context_window_exceeded": CONTEXT_WINDOW_EXCEEDED,  # [D] Anthropic, z.ai
        "exceed_context_size_error": CONTEXT_WINDOW_EXCEEDED,  # [R] llama.cpp 400
        "too_many_prompt_tokens": CONTEXT_WINDOW_EXCEEDED,  # [R] Perplexity 400
        "tokens_limit_reached": CONTEXT_WINDOW_EXCEEDED,  # [D] GitHub Models 413
        "prompt_too_long": CONTEXT_WINDOW_EXCEEDED,  # [D] gateways
        "ContextWindowExceededError": CONTEXT_WINDOW_EXCEEDED,  # [D] litellm
        # refused for its content
        "content_filter": CONTENT_FILTER,  # [C] Azure 400
        "content_policy_violation": CONTENT_FILTER,  # [D] OpenAI 400
        "ResponsibleAIPolicyViolation": CONTENT_FILTER,  # [D] Azure 400, in innererror
        "data_inspection_failed": CONTENT_FILTER,  # [D] DashScope 400
        "prohibited_content": CONTENT_FILTER,  # [D] Google
        "image_content_policy_violation": CONTENT_FILTER,  # [D] OpenAI, in a failed response
        "misalignment_policy_violation": CONTENT_FILTER,  # [D] the same
        "bio_policy": CONTENT_FILTER,  # [D] the same
        # the request, whatever status a gateway makes of it
        "model_not_found": INVALID_REQUEST,  # [R] OpenAI 400 and 404, Groq 404
        "model_decommissioned": INVALID_REQUEST,  # [R] Groq 400
        "invalid_model": INVALID_REQUEST,  # [R] Mistral 400
        "DeploymentNotFound": INVALID_REQUEST,  # [R] Azure 404
        "tool_use_failed": INVALID_REQUEST,  # [R] Groq 400, also inside a stream
        "previous_response_not_found": INVALID_REQUEST,  # [R] OpenAI 400
        "invalid_function_parameters": INVALID_REQUEST,  # [R] OpenAI 400
        "invalid_prompt": INVALID_REQUEST,  # [D] OpenAI, in a failed response, as the next ones
        "invalid_image": INVALID_REQUEST,  # [D]
        "image_too_large": INVALID_REQUEST,  # [D]
        "image_too_small": INVALID_REQUEST,  # [D]
        "image_file_too_large": INVALID_REQUEST,  # [D]
        "image_file_not_found": INVALID_REQUEST,  # [D]
        "image_parse_error": INVALID_REQUEST,  # [D]
        "empty_image_file": INVALID_REQUEST,  # [D]
        "invalid_image_format": INVALID_REQUEST,  # [D]
        "invalid_image_mode": INVALID_REQUEST,  # [D]
        "invalid_base64_image": INVALID_REQUEST,  # [D]
        "unsupported_image_media_type": INVALID_REQUEST,  # [D]
        "failed_to_download_image": INVALID_REQUEST,  # [D]
        "data_residency_mismatch": INVALID_REQUEST,  # [D]
    }
)

# Names that decide only where nothing else does: in a stream, without a status. They stand
# beside every status on the wire, or are made from the status by a gateway.
GENERIC_NAMES: Final = _by_plain_name(
    {
        "invalid_request_error": INVALID_REQUEST,  # [R] OpenAI; DeepSeek 401; litellm 408
        "invalid_request": INVALID_REQUEST,  # [D] gateways
        "invalid_argument": INVALID_REQUEST,  # [R] Google 400, also with a bad key; xAI 400
        "FAILED_PRECONDITION": INVALID_REQUEST,  # [D] Google 400
        "BadRequestError": INVALID_REQUEST,  # [C] vLLM
        "bad_request": INVALID_REQUEST,  # [D] gateways
        "validation_error": INVALID_REQUEST,  # [D] gateways
        "ValidationException": INVALID_REQUEST,  # [D] Bedrock 400
        "unprocessable_entity": INVALID_REQUEST,  # [D] gateways
        "invalid_value": INVALID_REQUEST,  # [R] OpenAI 400
        "unsupported_value": INVALID_REQUEST,  # [R] OpenAI 400
        "unsupported_parameter": INVALID_REQUEST,  # [R] OpenAI 400
        "missing_required_parameter": INVALID_REQUEST,  # [R] OpenAI 400
        "invalid_image_url": INVALID_REQUEST,  # [R] OpenAI 400
        "not_found_error": INVALID_REQUEST,  # [R] Anthropic 404, llama.cpp 404
        "NOT_FOUND": INVALID_REQUEST,  # [R] Google 404
        "request_too_large": INVALID_REQUEST,  # [D] Anthropic 413: bytes, not tokens
        "permission_denied": AUTH,  # [R] Google 403
        "forbidden": AUTH,  # [D] gateways
        "AccessDeniedException": AUTH,  # [D] Bedrock 403
        "resource_exhausted": RATE_LIMIT,  # [R] Google 429, also for an exhausted quota
        "throttling_error": RATE_LIMIT,  # [R] litellm, for every 429
        "request_timeout": TIMEOUT,  # [D] gateways, 408
        "timeout_error": SERVER,  # [D] Anthropic 504
        "deadline_exceeded": SERVER,  # [D] Google 504
        "overloaded_error": SERVER,  # [C] Anthropic 529
        "engine_overloaded_error": SERVER,  # [D] Moonshot 429
        "server_is_overloaded": SERVER,  # [C] OpenAI
        "capacity_exceeded": SERVER,  # [D] Groq 498
        "unavailable": SERVER,  # [D] Google 503
        "unavailable_error": SERVER,  # [R] llama.cpp 503
        "service_unavailable": SERVER,  # [D] gateways
        "server_error": SERVER,  # [R] llama.cpp 500, also for bad requests
        "internal_server_error": SERVER,  # [R] litellm 500
        "internal_error": SERVER,  # [D] gateways
        "internal": SERVER,  # [D] Google 500
        "api_error": SERVER,  # [R] Anthropic; Ollama 401; litellm 408
    }
)

# Contract section 3 and its pins. Every other 5xx is SERVER, every other status HTTP_<status>.
_STATUSES: Final = {
    400: INVALID_REQUEST,
    401: AUTH,
    402: QUOTA,
    403: AUTH,
    404: INVALID_REQUEST,
    408: TIMEOUT,
    413: INVALID_REQUEST,
    422: INVALID_REQUEST,
    429: RATE_LIMIT,
}


def code_of_status(status: int) -> str:
    """Return the code that a status outside 2xx has by itself."""
    if 500 <= status <= 599:
        return SERVER
    return _STATUSES.get(status) or http_status_code(status)
