"""failure-payload and failure-message: one failure with every fact, stored and read again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from adapter_sdk import LlmFailure
from adapter_sdk.testing import Exchange, FaultServer, Send

from .._bench import Bench
from .._good_streams import EVENT_STREAM
from .._judge import Difference, shown
from .._scenario import Scenario, scenario
from ._verdicts import failure_differs, outcome

_JSON: Final = ("content-type", "application/json")

# Every key of the stored form, and nothing else: what is worth a retry is policy.
_KEYS: Final = frozenset({"message", "code", "status", "providerRetryAfterMs", "requestId"})

_POLICY_KEYS: Final = ("retryable", "failover", "phase", "provider", "route", "retry_after_ms")

_HIDE_IT: Final = "replace the credential in every message before it leaves"


async def _failure_with_every_fact(bench: Bench) -> tuple[LlmFailure | None, list[Difference]]:
    names = bench.target.declaration.request_id_headers
    headers = (_JSON, ("retry-after", "7"), *((name, "req-1") for name in names[:1]))
    body = b'{"error":{"message":"slow down"}}'
    with FaultServer((Exchange(429, headers, body=body),)) as server:
        async with bench.adapter(server.base_url) as adapter:
            seen = await bench.call(adapter)
    found = failure_differs(seen, "RATE_LIMIT", of="a call that is answered 429", status=429)
    return (None if found else seen.failure), found


@scenario("failure-payload", "A failure with every fact survives JSON and refuses unknown keys")
async def stored_and_read_again(bench: Bench) -> list[Difference]:
    """Dump to JSON text, load again, add a key."""
    failure, found = await _failure_with_every_fact(bench)
    return found if failure is None else list(_stored(failure))


def _stored(failure: LlmFailure) -> Iterator[Difference]:
    try:
        yield from _stored_well(failure)
    except Exception as error:  # noqa: BLE001 - why: an adapter's own kind of failure may raise
        said = shown(f"{type(error).__name__}: {error}")
        yield Difference("storing the failure as JSON and reading it again", "no error", said)


def _stored_well(failure: LlmFailure) -> Iterator[Difference]:
    stored = failure.to_json()
    unknown = sorted(set(stored) - _KEYS)
    if unknown:
        wanted = f"only {', '.join(sorted(_KEYS))} (a failure has facts and no policy)"
        yield Difference("keys of the stored failure", wanted, ", ".join(unknown))
    if None in stored.values():
        yield Difference("absent facts of the stored failure", "left out", "null")
    text = json.dumps(stored, allow_nan=False)
    again = type(failure).from_json(json.loads(text))
    if again != failure:
        yield Difference("the failure after JSON", shown(failure), shown(again))
    try:
        type(failure).from_json({**stored, "retryable": True})
    except ValueError as error:
        if "retryable" not in str(error):
            yield Difference("the refusal of an unknown key", "its name", shown(str(error)))
    else:
        yield Difference("from_json with an unknown key", "ValueError", "no error")


@scenario("failure-payload", "A failure carries no policy: neither retryable nor a route")
async def no_policy_in_it(bench: Bench) -> list[Difference]:
    """What is worth another attempt is decided where the whole picture is."""
    failure, found = await _failure_with_every_fact(bench)
    return found + [
        Difference(f"the failure's {name}", "no such field (derive it where it is used)", "one")
        for name in _POLICY_KEYS
        if failure is not None and hasattr(failure, name)
    ]


@scenario("failure-message", "An error that repeats the credential is told without it")
async def credential_in_the_answer(bench: Bench) -> list[Difference]:
    """As the body of a 401, as a frame inside a 200, and as a page."""
    said = json.dumps({"error": {"message": f"no such key: {bench.credential}, sorry"}}).encode()
    answers = {
        "a 401 whose body": Exchange(401, (_JSON,), body=said),
        "a 200 with a frame that": Exchange(
            200, EVENT_STREAM, steps=(Send(b"data: " + said + b"\n\n"),)
        ),
        "a 502 whose page": Exchange(
            502,
            (("content-type", "text/html"),),
            body=f"<title>key {bench.credential} refused</title>".encode(),
        ),
        "a 200 whose page": Exchange(
            200, (("content-type", "text/plain"),), body=f"key {bench.credential}".encode()
        ),
    }
    found: list[Difference] = []
    with FaultServer(tuple(answers.values())) as server:
        async with bench.adapter(server.base_url) as adapter:
            for answer in answers:
                seen = await bench.call(adapter)
                if seen.failure is None:
                    of = f"the call after {answer} repeats the key"
                    found.append(Difference(of, "a failure", outcome(seen)))
                elif bench.credential in str(seen.failure):
                    of = f"the message after {answer} repeats the key"
                    found.append(Difference(of, f"no key in it ({_HIDE_IT})", "the key"))
    return found


SCENARIOS: Final[tuple[Scenario, ...]] = (
    stored_and_read_again,
    no_policy_in_it,
    credential_in_the_answer,
)
