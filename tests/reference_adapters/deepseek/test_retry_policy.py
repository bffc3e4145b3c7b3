"""The adapter carries its profile's retry policy, checked, and never acts on it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from adapter_sdk import LlmError, LlmRequest, codes, collect, user
from adapter_sdk.retry import AlwaysRetry, Backoff, NormalRetry, RetryPolicy
from adapter_sdk.testing import Exchange, scripted_client
from reference_adapters.deepseek import DeepSeekAdapter

BUSY = Exchange(503, body=b'{"error":"busy"}')
REQUEST = LlmRequest(model="deepseek-v4-flash", messages=(user("Hi"),))


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        pytest.param(None, None, id="none"),
        pytest.param({}, NormalRetry(), id="defaults"),
        pytest.param({"max_retries": 1}, NormalRetry(max_retries=1), id="a-mapping"),
        pytest.param(
            {"mode": "always", "backoff": {"initial_delay_ms": 9}},
            AlwaysRetry(backoff=Backoff(initial_delay_ms=9)),
            id="always",
        ),
        pytest.param(AlwaysRetry(), AlwaysRetry(), id="a-policy"),
    ],
)
def test_the_policy_is_an_attribute(option: RetryPolicy | None, expected: object) -> None:
    assert DeepSeekAdapter(api_key="k", retry_policy=option).retry_policy == expected


def test_a_bad_policy_is_refused_with_its_path() -> None:
    with pytest.raises(ValueError, match=r"\Aretry_policy\.backoff\.jitter_ratio: a number from"):
        DeepSeekAdapter(api_key="k", retry_policy={"backoff": {"jitter_ratio": 2}})


@pytest.mark.anyio
async def test_direct_callers_stay_single_attempt() -> None:
    scripted = scripted_client([BUSY, BUSY])
    policy = AlwaysRetry(backoff=Backoff(initial_delay_ms=1))
    adapter = DeepSeekAdapter(api_key="k", http_client=scripted.client, retry_policy=policy)
    with pytest.raises(LlmError) as caught:
        await collect(adapter.stream(REQUEST))
    assert caught.value.code == codes.SERVER
    assert len(scripted.requests) == 1
    await scripted.client.aclose()


def test_an_adapter_without_a_policy_loads_no_retry_code() -> None:
    code = (
        "import sys; from reference_adapters.deepseek import DeepSeekAdapter;"
        "DeepSeekAdapter(api_key='k'); print('adapter_sdk.retry' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
