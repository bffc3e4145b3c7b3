"""Failures with the wrong shape, message or body."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, cast

import anyio
from typing_extensions import override

from adapter_sdk import (
    STOP,
    AbortSignal,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    LlmRequest,
    codes,
)

from .._altering import (
    KeepsHead,
    Passing,
    emitting,
    failing,
    failing_with_head,
    forged,
    items_of,
    sending,
    streaming,
    telling,
)
from .._good import Good
from .._mutant import Mutant, in_every_call


@dataclass(frozen=True, slots=True, kw_only=True)
class _FailureWithPolicy(LlmFailure):
    retryable: bool = True


def _with_policy(failure: LlmFailure, payload: Any) -> LlmFailure:
    if failure.status != 429:
        return failure
    fields = {f.name: getattr(failure, f.name) for f in dataclasses.fields(failure)}
    return _FailureWithPolicy(**fields)


def _failure_edit(edit: Callable[[Finish, LlmFailure], Iterable[Chunk]]) -> type[Good]:
    """Return an adapter whose failing finishes are edited."""

    def edited(chunk: Chunk) -> Iterable[Chunk]:
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if not isinstance(chunk, Finish) or failure is None:
            return (chunk,)
        return edit(chunk, failure)

    return emitting(lambda: edited)


def _is_throttled(failure: LlmFailure) -> bool:
    return failure.status == 429 and failure.provider_retry_after_ms is not None


class _LeaksKey(Good):
    """Puts its whole request into the message of a refused key."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.key = options.get("api_key")

    @override
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        return _LeakingStream(super().stream(request, abort), self.key)


class _LeakingStream(Passing):
    def __init__(self, source: Any, key: object) -> None:
        super().__init__(source)
        self.key = key

    @override
    def edit(self, chunk: Chunk) -> Iterable[Chunk]:
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if failure is None or failure.status != 401:
            return (chunk,)
        told = dataclasses.replace(failure, message=f"refused with Bearer {self.key}")
        return (Finish(FinishReason("error", told)),)


# A body without an end would keep it, and the kit, busy until the kit gives up.
_PATIENT_BYTES: Final = 1 << 17


class _ReadsErrorsToTheEnd(Good):
    """Waits for the end of an error body, and takes each read of it for a sign of life."""

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        head: Any = None
        body: list[bytes] = []
        held = 0
        async with contextlib.aclosing(items_of(super().exchange(request))) as source:
            async for item in source:
                head = item if hasattr(item, "status") else head
                patient = held < _PATIENT_BYTES
                if isinstance(item, bytes) and head.status >= 400 and patient:
                    body.append(item)
                    held += len(item)
                    yield head
                else:
                    yield item
        if body:
            yield b"".join(body)


class _LosesStatusOfCutBodies(Good):
    """Reports the connection where the body of an error breaks off."""

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        head: Any = None
        try:
            async with contextlib.aclosing(items_of(super().exchange(request))) as source:
                async for item in source:
                    head = item if hasattr(item, "status") else head
                    yield item
        except Exception:  # why: of any client, and raised again
            if head is not None and head.status >= 400:
                yield dataclasses.replace(head, status=200, headers=())
            raise


def _array_crashes(failure: LlmFailure, payload: Any) -> LlmFailure:
    if not isinstance(payload, list):
        return failure
    said = "AttributeError: 'list' object has no attribute 'get'"
    return dataclasses.replace(failure, code=codes.UNKNOWN, message=said)


def _details_unread(failure: LlmFailure, payload: Any) -> LlmFailure:
    unread = isinstance(payload, dict) and "details" in payload and failure.status == 429
    return dataclasses.replace(failure, code=codes.RATE_LIMIT) if unread else failure


def _false_coding_is_the_network(failure: LlmFailure, adapter: KeepsHead) -> LlmFailure:
    claims = adapter.head_status == 503 and adapter.line("content-encoding") == "gzip"
    return dataclasses.replace(failure, code=codes.TRANSPORT) if claims else failure


class _HangsOnErrorBodies(Passing):
    @override
    async def receive(self) -> Chunk:
        chunk = await super().receive()
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if failure is not None and failure.status == 503 and "no message" in failure.message:
            await anyio.sleep_forever()
        return chunk


MUTANTS: Final = (
    Mutant(
        name="policy-in-the-failure",
        broken="Says in a 429's failure itself whether to retry it.",
        factory=failing(_with_policy),
        trips={
            "failure_payload/no_policy_in_it": "the failure's retryable",
            "failure_payload/stored_and_read_again": "retryable",
        },
    ),
    Mutant(
        name="two-finishes",
        broken="Ends a throttled call with its failure twice.",
        factory=_failure_edit(lambda chunk, f: (chunk, chunk) if _is_throttled(f) else (chunk,)),
        trips={
            in_every_call("failure-payload"): "terminal finishes: expected 1, got 2",
            in_every_call("chunk-grammar"): "finish after the finish",
        },
    ),
    Mutant(
        name="abort-is-an-error",
        broken="Finishes an aborted call as an error.",
        factory=_failure_edit(
            lambda chunk, f: (
                (Finish(FinishReason("error", f)),) if f.code == codes.ABORTED else (chunk,)
            )
        ),
        trips={in_every_call("failure-payload"): "expected aborted for ABORTED"},
    ),
    Mutant(
        name="failure-is-a-dictionary",
        broken="Hands out a dictionary in place of an LlmFailure for 402.",
        factory=_failure_edit(
            lambda chunk, f: (
                (Finish(FinishReason("error", cast("Any", f.to_json()))),)
                if f.status == 402
                else (chunk,)
            )
        ),
        trips={
            in_every_call("failure-payload"): "expected an LlmFailure",
            "code-quota": "expected QUOTA, got UNKNOWN",
        },
    ),
    Mutant(
        name="no-finish-at-all",
        broken="Ends the chunks of a call that is answered 402 without a finish.",
        factory=_failure_edit(lambda chunk, f: () if f.status == 402 else (chunk,)),
        trips={
            in_every_call("failure-payload"): "terminal finishes: expected 1, got 0",
            in_every_call("chunk-grammar"): "there is no finish",
            "code-quota": "no-finish",
        },
    ),
    Mutant(
        name="failure-loses-its-status",
        broken="Leaves the status out where the failure has a request id of its own.",
        factory=failing(
            lambda f, _: (
                dataclasses.replace(f, status=None) if f.request_id and _is_throttled(f) else f
            )
        ),
        trips={"failure-payload": "status: expected 429, got nothing"},
    ),
    Mutant(
        name="failed-call-succeeds",
        broken="Takes 422 for a good answer.",
        factory=_failure_edit(lambda chunk, f: (Finish(STOP),) if f.status == 422 else (chunk,)),
        trips={
            "code-invalid-request": "outcome: expected failure",
            "error-body-robust": "outcome: expected failure",
        },
    ),
    Mutant(
        name="message-of-five-kibibytes",
        broken="Passes on a provider's message whatever its length.",
        factory=telling(
            lambda f, _: (
                forged(f, message="x" * 5120)
                if f.status == 400 and "no message in the body" in f.message
                else f
            )
        ),
        trips={
            in_every_call("failure-payload"): "ValueError: LlmFailure.message",
            in_every_call("failure-message"): "at most 2048 bytes",
        },
    ),
    Mutant(
        name="message-is-empty",
        broken="Takes the text of a broken connection's exception, which is empty.",
        factory=telling(lambda f, _: forged(f, message="") if "(ReadError" in f.message else f),
        trips={
            in_every_call("failure-payload"): "ValueError: LlmFailure.message",
            in_every_call("failure-message"): "non-empty and printable",
        },
    ),
    Mutant(
        name="message-keeps-escape-sequences",
        broken="Passes on control characters in a provider's message.",
        factory=telling(
            lambda f, _: forged(f, message="bad \x1b[31mred thing") if "[31mred" in f.message else f
        ),
        trips={
            in_every_call("failure-payload"): "ValueError: LlmFailure.message",
            in_every_call("failure-message"): "non-empty and printable",
        },
    ),
    Mutant(
        name="message-shows-the-key",
        broken="Shows the credential in the message of a 401.",
        factory=_LeaksKey,
        trips={in_every_call("failure-message"): "no credential in it"},
    ),
    Mutant(
        name="error-array-crashes",
        broken="Expects an object as an error body; an array ends as UNKNOWN.",
        factory=failing(_array_crashes),
        trips={
            "error-body-robust": "expected SERVER, got UNKNOWN",
            "in-band-error": "expected RATE_LIMIT, got UNKNOWN",
        },
    ),
    Mutant(
        name="error-string-is-unread",
        broken="Reads messages of error objects only, not of error strings.",
        factory=failing(
            lambda f, p: (
                dataclasses.replace(f, message="an error")
                if isinstance(p, dict) and isinstance(p.get("error"), str)
                else f
            )
        ),
        trips={
            "error-body-robust": "message: expected 'model not loaded' in it",
            "in-band-error": "message: expected 'model not loaded' in it",
        },
    ),
    Mutant(
        name="error-body-is-awaited-for-ever",
        broken="Waits without a limit for the end of an error body.",
        factory=streaming(lambda adapter, source: _HangsOnErrorBodies(source)),
        trips={"error-body-robust": "no end within"},
    ),
    Mutant(
        name="error-body-is-read-without-bound",
        broken="Reads an error body to its end before it reports the status.",
        factory=_ReadsErrorsToTheEnd,
        trips={"error-body-robust": "no end within"},
    ),
    Mutant(
        name="cut-error-body-loses-the-status",
        broken="Reports the connection in place of the status where an error body is cut.",
        factory=_LosesStatusOfCutBodies,
        trips={"error-body-robust": "expected RATE_LIMIT, got TRANSPORT"},
    ),
    Mutant(
        name="answers-repeat-the-key",
        broken="Passes on the credential where the provider repeats it.",
        factory=sending(lambda wire: dataclasses.replace(wire, secrets=())),
        trips={"failure_message/credential_in_the_answer": "no key in it"},
    ),
    Mutant(
        name="one-envelope-is-unread",
        broken="Does not read the code of an envelope that has details.",
        factory=failing(_details_unread),
        trips={"error_body_robust/every_envelope_cut_anywhere": "code and details"},
    ),
    Mutant(
        name="a-false-coding-is-the-network",
        broken="Reports an error body that claims gzip and is none as TRANSPORT.",
        factory=failing_with_head(_false_coding_is_the_network),
        trips={"error_body_robust/plain_bodies_that_claim_gzip": "got failure TRANSPORT"},
    ),
)
