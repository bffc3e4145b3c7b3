from __future__ import annotations

import time

import pytest

from adapter_sdk._codes import AUTH, CONTENT_FILTER, CONTEXT_WINDOW_EXCEEDED, QUOTA, RATE_LIMIT
from adapter_sdk._error_wording import code_of_wording

RATE_LIMITS = [
    "Rate limit reached for this model",
    "You are being rate-limited",
    "rate_limit: slow",
    "Too many requests",
    "Too many concurrent requests",
    "Too many tokens, please wait before trying again",
    "limit of 8000 tokens per minute",
    "over the per-minute allowance",
    "allowed: 20 requests / min",
    "request too large for TPM: limit 8000, requested 9001",
    "quota exceeded for requests per second",
    "Requests per day used up, add 10 credits for more",
    "Throttling: allocated quota exceeded",
    "Your request was throttled",
    "The concurrency limit of your account was exceeded",
    "The request rate is too high",
    "Please slow down",
    "You exceeded your current quota, see your plan.\n* metric a\nPlease retry in 48.5s.",
    "触发限流 请稍后再试",
    "您的账户已达到速率限制",
    "context window of 8000 tokens per minute exceeded",
]
QUOTAS = [
    "Insufficient Balance",
    "insufficient credits on this account",
    "insufficient_quota: nothing left".replace("_", " "),
    "not enough credits",
    "Your credit balance is too low for this API",
    "You exceeded your current quota, please check your billing (https://x.test/docs/rate-limits)",
    "quota exceeded",
    "The quota has been exhausted",
    "Budget has been exceeded! Current cost: 2, max budget: 1",
    "This request requires more credits, or fewer max_tokens",
    "The team has used all available credits",
    "Monthly usage limit reached. Resets in 9 days",
    "The weekly limit is exhausted",
    "The usage limit has been reached",
    "You have reached your specified API usage limits",
    "You hit your monthly spending cap",
    "Payment required",
    "账户余额不足",
    "您的账户已欠费",
]
OVERFLOWS = [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
    "Input length (9001) exceeds model's maximum context length (8000)",
    "request (9001 tokens) exceeds the available context size (8000 tokens)",
    "request (9001) exceeds context size (8000)",
    "input length and max_tokens exceed context limit: 9001 + 100 > 8000",
    "Your input exceeds the context window of this model",
    "Context size has been exceeded.",
    "context window exceeds limit",
    "the context length was exceeded",
    "prompt is too long: 9001 tokens > 8000 maximum",
    "Prompt too long: 9001 tokens exceeds max_seq_len 8000",
    "The prompt is too large for this model",
    "Input is too long for the requested model.",
    "The input token count (9001) exceeds the maximum number of tokens allowed (8000).",
    "Input tokens exceed the configured limit of 8000 tokens",
    "prompt token count of 9001 exceeds the limit of 8000",
    "The input (9001 tokens) is longer than the model's context length (8000 tokens)",
    "The decoder prompt (length 9001) is longer than the maximum model length of 8000",
    "the number of tokens to keep is greater than the context length",
    "too many tokens: total number of tokens in the prompt cannot exceed 8000",
    "This model's maximum prompt length is 8000 but the request contains 9001 tokens",
    "Please reduce the length of the messages or completion",
    "Range of input length should be [1, 8000]",
    "Your request exceeded model token limit: 8000",
    "total tokens of image and text exceed max message tokens",
    "`inputs` tokens + `max_new_tokens` must be <= 8000",
    "`inputs` must have less than 8000 tokens",
    "1261: Prompt 超长",
    "输入内容过长",
]
FILTERED = [
    "The prompt triggered the content management policy",
    "Output blocked by content filtering policy",
    "The request was rejected as a result of our safety system",
    "Your input was flagged for violence",
    "The prompt was flagged as a possible violation",
    "The content violates usage guidelines",
    "This violates our general usage policies",
    "The input may contain inappropriate content",
    "Content Exists Risk",
    "The request was considered high risk",
    "内容可能包含敏感内容",
]
KEYS = [
    "Incorrect API key provided: sk-1234",
    "invalid x-api-key",
    "Invalid API Key",
    "API key not valid. Pass another one.",
    "The API key is invalid",
    "Your api key: ****1234 is invalid",
    "API key expired",
    "No API key provided",
    "You didn't provide an API key",
    "Authentication failed for this key",
    "Authentication Fails (governor)",
    "No auth credentials found",
    "Invalid bearer token",
    "Invalid authorization header",
    "无效的令牌",
]
NEITHER = [
    "",
    "slow",
    "busy",
    "no such model",
    "model not loaded",
    "error code: 522",
    "filtered",
    "The engine is overloaded, please try again later",
    "No deployments available, try again in 5 seconds",
    "The deployment does not exist; wait a moment and try again",
    "max_tokens is too large: 99999, this model supports at most 4096 completion tokens",
    "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens",
    "max_tokens must be at most 8192, less than the context_window of this model",
    "context deadline exceeded",
    "The thinking budget exceeds the maximum",
    "Too many tokens",
    "Invalid token in prompt: 123456",
    "string too long: expected at most 1048576 characters",
    "Request exceeds the maximum size of 32 MB",
    "Failed to deserialize the JSON body: unexpected token",
    "The model does not exist or you do not have access to it",
    "Invalid model name. List the models for your key",
    "No endpoints match your data policy",
    "The caller does not have permission",
    "Timeout passed=2.0, time taken=2.004 seconds",
    "see https://x.test/rate-limits and https://x.test/insufficient-balance",
    "deployments={'current_tpm': None, 'tpm_limit': inf}",
    "generate limits with care",
]


def rows(code: str | None, texts: list[str]) -> list[object]:
    return [pytest.param(text, code, id=f"{code}-{text[:40]}") for text in texts]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *rows(RATE_LIMIT, RATE_LIMITS),
        *rows(QUOTA, QUOTAS),
        *rows(CONTEXT_WINDOW_EXCEEDED, OVERFLOWS),
        *rows(CONTENT_FILTER, FILTERED),
        *rows(AUTH, KEYS),
        *rows(None, NEITHER),
    ],
)
def test_a_sentence_means_one_code_or_none(text: str, code: str | None) -> None:
    assert code_of_wording([text]) == code
    assert code_of_wording([text.upper()]) == code
    assert code_of_wording(["Upstream said:\n" + text.replace(" ", "\n ")]) == code


@pytest.mark.parametrize("texts", [(QUOTAS[0], RATE_LIMITS[0]), (RATE_LIMITS[0], OVERFLOWS[0])])
def test_a_rate_limit_in_any_layer_beats_quota_and_overflow(texts: tuple[str, str]) -> None:
    assert code_of_wording(texts) == RATE_LIMIT


@pytest.mark.parametrize(
    "unit",
    ["quota ", "exceeds ", "a", "tokens ", "too many tokens ", "reached x ", "http://", "输入"],
)
def test_long_sentences_cost_little(unit: str) -> None:
    text = unit * (4096 // len(unit))
    started = time.process_time()
    code_of_wording([text])
    assert time.process_time() - started < 0.5
