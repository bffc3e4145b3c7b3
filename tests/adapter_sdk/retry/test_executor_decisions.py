"""The executor: what it decides, what it writes when, and what it passes on."""

from __future__ import annotations

from typing import Any, Final

import anyio
import anyio.lowlevel
import pytest

from adapter_sdk import codes
from adapter_sdk.retry import (
    RETRY,
    RETRY_STARTED,
    Decision,
    NormalRetry,
    RetryExecutor,
    check_retry_events,
)
from adapter_sdk.testing import run_virtual

from .retrying import (
    ALWAYS,
    AUTH,
    NORMAL,
    SERVER,
    STEADY,
    Backend,
    Downstream,
    Log,
    Payload,
    coded,
    hinted,
    ids,
    lanes,
)


async def answer(payload: Payload, *, before: int = 0) -> tuple[Decision, int, float, Log]:
    """Return decision, questions downstream, virtual seconds and log, after ``before`` retries."""
    log = Log()
    executor = RetryExecutor(log, new_id=ids())
    log.open(payload.turn, payload.step, payload.provider)
    downstream = Downstream()
    for _ in range(before):
        assert await executor.request_error(payload, downstream) == "retry"
    start_s, asked = anyio.current_time(), downstream.asked
    decision = await executor.request_error(payload, downstream)
    assert check_retry_events(log.events) == []
    return decision, downstream.asked - asked, anyio.current_time() - start_s, log


CLOSED: Final = coded(codes.STREAM_CLOSED)


@lanes
@pytest.mark.parametrize(
    ("payload", "before", "decision", "asked", "seconds"),
    [
        pytest.param(Payload(), 0, "retry", 0, 0.5, id="first"),
        pytest.param(Payload(), 4, "retry", 0, 8.0, id="fifth"),
        pytest.param(Payload(), 5, None, 1, 0.0, id="exhausted"),
        pytest.param(Payload(retry_policy=None), 4, "retry", 0, None, id="no-policy-is-default"),
        pytest.param(
            Payload(retry_policy=NormalRetry(max_retries=0)), 0, None, 1, 0.0, id="no-retries"
        ),
        pytest.param(Payload(AUTH), 0, None, 1, 0.0, id="code-outside-the-set"),
        pytest.param(Payload(CLOSED), 0, None, 1, 0.0, id="stream-closed-by-default"),
        pytest.param(
            Payload(CLOSED, NormalRetry(retryable_codes=("STREAM_CLOSED",), backoff=STEADY)),
            *(0, "retry", 0, 0.5),
            id="stream-closed-where-listed",
        ),
        pytest.param(Payload(hinted(1)), 0, "retry", 0, 0.001, id="short-hint"),
        pytest.param(Payload(hinted(10_000)), 3, "retry", 0, 10.0, id="hint-as-long-as-the-cap"),
        pytest.param(Payload(hinted(10_001)), 0, None, 1, 0.0, id="hint-above-the-cap"),
        pytest.param(Payload(SERVER, ALWAYS), 0, "retry", 1, 0.5, id="always"),
        pytest.param(Payload(AUTH, ALWAYS), 9, "retry", 1, 10.0, id="always-everything-for-ever"),
        pytest.param(
            Payload(hinted(10_001), ALWAYS), 1, "retry", 1, 1.0, id="always-backs-off-above-the-cap"
        ),
        pytest.param(Payload(hinted(77), ALWAYS), 1, "retry", 1, 0.077, id="always-honours-a-hint"),
        pytest.param(
            Payload(coded(codes.ABORTED), ALWAYS), 0, None, 1, 0.0, id="always-but-never-an-abort"
        ),
    ],
)
def test_a_policy_decides(
    backend: Backend,
    payload: Payload,
    before: int,
    decision: Decision,
    asked: int,
    seconds: float | None,
) -> None:
    got, questions, waited, _ = run_virtual(backend, lambda: answer(payload, before=before))
    assert (got, questions) == (decision, asked)
    if seconds is not None:
        assert waited == pytest.approx(seconds, abs=1e-6)


@lanes
def test_it_appends_then_waits_then_appends_again_then_answers(backend: Backend) -> None:
    _, _, _, log = run_virtual(backend, lambda: answer(Payload()))
    assert [event.type for event in log.events[2:]] == [RETRY, RETRY_STARTED]
    assert log.times[2:] == pytest.approx([0.0, 0.5])
    assert log.events[2].data == {
        "retryId": "id-1",
        "turn": 1,
        "step": 1,
        "provider": "acme",
        "mode": "normal",
        "policyKey": NORMAL.key,
        "retry": 1,
        "maxRetries": 5,
        "delayMs": 500,
        "failure": {"message": "broken", "code": "SERVER", "status": 500},
    }
    assert log.events[3].data == {"retryId": "id-1", "turn": 1, "step": 1, "retry": 1}


@lanes
def test_mode_always_writes_no_limit(backend: Backend) -> None:
    _, _, _, log = run_virtual(backend, lambda: answer(Payload(AUTH, ALWAYS)))
    assert "maxRetries" not in log.events[2].data
    assert log.events[2].data["mode"] == "always"


@lanes
def test_always_honours_a_retry_from_downstream_and_writes_nothing(backend: Backend) -> None:
    async def run() -> tuple[Decision, Log]:
        log = Log()
        executor = RetryExecutor(log)
        return await executor.request_error(Payload(AUTH, ALWAYS), Downstream("retry")), log

    decision, log = run_virtual(backend, run)
    assert (decision, log.events) == ("retry", [])


@lanes
def test_normal_passes_on_what_downstream_decides(backend: Backend) -> None:
    async def run() -> Decision:
        return await RetryExecutor(Log()).request_error(Payload(AUTH), Downstream("retry"))

    assert run_virtual(backend, run) == "retry"


@pytest.mark.anyio
async def test_a_policy_that_nobody_has_checked_is_refused_with_its_path() -> None:
    unchecked: Any = {"mode": "sometimes"}
    with pytest.raises(ValueError, match=r"\Aretry_policy\.mode: normal or always"):
        await RetryExecutor(Log()).request_error(Payload(retry_policy=unchecked), Downstream())
