"""Each row of the tables of names decides as its row says, and no row is missing or too many.

The names are written down a second time on purpose: a row that is changed by mistake changes
what a caller's recovery does, and no sentence of an error would tell.
"""

from __future__ import annotations

from typing import Final

import pytest

from adapter_sdk._classify import classify_body, classify_payload
from adapter_sdk._codes import (
    AUTH,
    CONTENT_FILTER,
    CONTEXT_WINDOW_EXCEEDED,
    INVALID_REQUEST,
    QUOTA,
    RATE_LIMIT,
    SERVER,
    TIMEOUT,
)
from adapter_sdk._error_tables import GENERIC_NAMES, SPECIFIC_NAMES, plain_name
from adapter_sdk._json_bytes import json_bytes

SPECIFIC: Final = {
    AUTH: (
        "invalid_api_key API_KEY_INVALID API_KEY_EXPIRED authentication_error "
        "authentication_failed invalid_authentication_error incorrect_api_key wrong_api_key "
        "missing_api_key unauthenticated unauthorized permission_error account_deactivated"
    ),
    QUOTA: (
        "insufficient_quota insufficient_user_quota exceeded_current_quota_error "
        "quota_exceeded insufficient_balance insufficient_credits credit_balance_exhausted "
        "billing_error billing_not_active billing_hard_limit_reached "
        "project_spend_limit_exceeded organization_spend_limit_exceeded usage_limit_reached "
        "usage_limit_exceeded budget_exceeded payment_required Arrearage"
    ),
    RATE_LIMIT: (
        "rate_limit_exceeded rate_limit_error rate_limit_reached_error RateLimitReached "
        "rate_limited too_many_requests ThrottlingException Throttling Throttling.RateQuota "
        "Throttling.AllocationQuota limit_requests limit_burst_rate slow_down"
    ),
    CONTEXT_WINDOW_EXCEEDED: (
        "context_length_exceeded context_window_exceeded model_context_window_exceeded "
        "exceed_context_size_error too_many_prompt_tokens tokens_limit_reached "
        "prompt_too_long ContextWindowExceededError"
    ),
    CONTENT_FILTER: (
        "content_filter content_policy_violation ResponsibleAIPolicyViolation "
        "data_inspection_failed prohibited_content image_content_policy_violation "
        "misalignment_policy_violation bio_policy"
    ),
    INVALID_REQUEST: (
        "model_not_found model_decommissioned invalid_model DeploymentNotFound "
        "tool_use_failed previous_response_not_found invalid_function_parameters "
        "invalid_prompt invalid_image image_too_large image_too_small image_file_too_large "
        "image_file_not_found image_parse_error empty_image_file invalid_image_format "
        "invalid_image_mode invalid_base64_image unsupported_image_media_type "
        "failed_to_download_image data_residency_mismatch"
    ),
}
GENERIC: Final = {
    INVALID_REQUEST: (
        "invalid_request_error invalid_request invalid_argument FAILED_PRECONDITION "
        "BadRequestError bad_request validation_error ValidationException "
        "unprocessable_entity invalid_value unsupported_value unsupported_parameter "
        "missing_required_parameter invalid_image_url not_found_error NOT_FOUND "
        "request_too_large"
    ),
    AUTH: "permission_denied forbidden AccessDeniedException",
    RATE_LIMIT: "resource_exhausted throttling_error",
    TIMEOUT: "request_timeout",
    SERVER: (
        "timeout_error deadline_exceeded overloaded_error engine_overloaded_error "
        "server_is_overloaded capacity_exceeded unavailable unavailable_error "
        "service_unavailable server_error internal_server_error internal_error internal "
        "api_error"
    ),
}


def rows(names: dict[str, str]) -> list[tuple[str, str]]:
    return [(name, code) for code, of_code in names.items() for name in of_code.split()]


def body_code(payload: object, *, status: int) -> str:
    return classify_body(
        status=status, media_type="application/json", body=json_bytes(payload)
    ).code


@pytest.mark.parametrize(("name", "code"), rows(SPECIFIC))
@pytest.mark.parametrize("key", ["code", "type"])
def test_a_specific_name_decides_before_wording_and_any_status(
    key: str, name: str, code: str
) -> None:
    wording = "Invalid API key" if code != AUTH else "Too many requests"
    error = {"error": {key: name, "message": wording, "status_code": 418}}
    assert classify_payload(error).code == code
    assert body_code(error, status=409) == code


@pytest.mark.parametrize(("name", "code"), rows(GENERIC))
@pytest.mark.parametrize("key", ["code", "type"])
def test_a_generic_name_decides_where_nothing_else_does(key: str, name: str, code: str) -> None:
    error = {key: name, "message": "x"}
    assert classify_payload({"error": error}).code == code
    assert classify_payload({"error": {**error, "status_code": 418}}).code == "HTTP_418"
    assert body_code({"error": error}, status=409) == "HTTP_409"


@pytest.mark.parametrize(
    "name", ["error", "null", "none", "unknown", "tokens", "invalid_request_error_x"]
)
def test_a_name_without_a_row_decides_nothing(name: str) -> None:
    error = {"error": {"type": name, "message": "x"}}
    assert classify_payload(error).code == SERVER
    assert body_code(error, status=409) == "HTTP_409"


@pytest.mark.parametrize(
    ("table", "names"),
    [
        pytest.param(SPECIFIC_NAMES, SPECIFIC, id="specific"),
        pytest.param(GENERIC_NAMES, GENERIC, id="generic"),
    ],
)
def test_these_are_all_the_rows(table: dict[str, str], names: dict[str, str]) -> None:
    assert table == {plain_name(name): code for name, code in rows(names)}
