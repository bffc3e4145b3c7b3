"""Turn the facts of a failed call into what a program does next and what a person is told.
When: you write the layer above an adapter. An adapter reports facts; to retry or not is policy.
Decide by the code, never by the words of the message, which are the provider's and change.
"""

import anyio

from adapter_sdk import LlmFailure, LlmRequest, classify_failure, codes, user
from adapter_sdk.testing import Exchange, FaultServer, Send
from reference_adapters.deepseek import DeepSeekAdapter

ADVICE = {
    codes.AUTH: "ask for another key",
    codes.MISSING_CREDENTIAL: "ask for a key",
    codes.INVALID_CREDENTIAL: "ask for the key again: it was copied badly",
    codes.QUOTA: "pay, or use another account",
    codes.CONTEXT_WINDOW_EXCEEDED: "shorten the conversation",
    codes.CONTENT_FILTER: "say that the provider refused, and do not repeat it",
    codes.STREAM_CLOSED: "show what came as incomplete, run no tool of it",
    codes.ABORTED: "nothing: it was asked for",
}


def what_to_do(failure: LlmFailure, *, attempt: int = 1) -> str:
    """Return the next step: a wait that the provider asked for beats one of our own."""
    if failure.code in codes.TRANSIENT_CODES:
        own_ms = min(500 * 2 ** (attempt - 1), 10_000)
        return f"try again in {failure.provider_retry_after_ms or own_ms} ms"
    # What is left is a bug of the program or the provider: a person must look at it.
    return ADVICE.get(failure.code, f"report it ({classify_failure(failure)}), do not repeat it")


def refusal(status: int, error: str, *headers: tuple[str, str]) -> Exchange:
    return Exchange(status, headers, body=b'{"error":' + error.encode() + b"}")


CUT = Exchange(
    200,
    (("content-type", "text/event-stream"),),
    steps=(Send(b'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n'),),
)
TOO_LONG = '{"message":"too long","code":"context_length_exceeded"}'
SCENES = (
    (refusal(429, '"slow"', ("retry-after", "7")), codes.RATE_LIMIT, "try again in 7000 ms"),
    (refusal(503, '"busy"'), codes.SERVER, "try again in 500 ms"),
    (refusal(401, '"no"'), codes.AUTH, ADVICE[codes.AUTH]),
    (refusal(402, '"no credit"'), codes.QUOTA, ADVICE[codes.QUOTA]),
    (refusal(400, TOO_LONG), codes.CONTEXT_WINDOW_EXCEEDED, "shorten the conversation"),
    (
        refusal(400, '"no such field"'),
        codes.INVALID_REQUEST,
        "report it (invalid-request), do not repeat it",
    ),
    (CUT, codes.STREAM_CLOSED, ADVICE[codes.STREAM_CLOSED]),
)


async def main() -> None:
    request = LlmRequest(model="deepseek-v4-flash", messages=(user("Hi"),))
    with FaultServer([exchange for exchange, _, _ in SCENES]) as server:
        async with DeepSeekAdapter(base_url=server.base_url, api_key="any") as adapter:
            for _, code, advice in SCENES:
                *_, last = [chunk async for chunk in adapter.stream(request)]
                assert last.type == "finish"
                assert last.failure is not None
                assert (last.failure.code, what_to_do(last.failure)) == (code, advice)
        assert len(server.requests) == len(SCENES)  # one request a call: no hidden retry
    print(f"{len(SCENES)} failures, each with its code and its next step; 429: {SCENES[0][2]}")


if __name__ == "__main__":
    anyio.run(main)
