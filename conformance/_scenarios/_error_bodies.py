"""error-body-robust: every envelope, cut anywhere; and bodies that lie about their coding."""

from __future__ import annotations

import json
from typing import Any, Final

from adapter_sdk.testing import Exchange, FaultServer

from .._bench import Bench
from .._judge import Difference
from .._scenario import Scenario, scenario
from ._verdicts import ENOUGH, failure_differs

_JSON: Final = ("content-type", "application/json")

_SAID: Final = "You exceeded your current quota"
_ERROR: Final = {"message": _SAID, "type": "insufficient_quota", "code": "insufficient_quota"}

# The envelopes of contract section 3, each around the same error.
_ENVELOPES: Final[dict[str, Any]] = {
    "error object": {"error": _ERROR},
    "error text": {"error": _SAID},
    "array": [{"error": _ERROR}],
    "detail": {"detail": _SAID},
    "message": {"message": _SAID},
    "object error": {"object": "error", **_ERROR},
    "code and details": {"code": "insufficient_quota", "details": _SAID},
    "type error": {"type": "error", "error": _ERROR, "request_id": None},
    "flat": {"code": 429, "message": _SAID, "type": "insufficient_quota"},
    "text in metadata": {
        "error": {"message": "Provider returned error", "metadata": {"raw": json.dumps(_ERROR)}}
    },
    "JSON in the message": {"error": {"message": json.dumps({"error": _ERROR})}},
}

_LIAR: Final = Exchange(
    503, (_JSON, ("content-encoding", "gzip")), body=b'{"error":{"message":"busy"}}'
)
_LIES: Final = 300

# A smoke run cuts at every third byte; which third, says its seed.
_SMOKE_STRIDE: Final = 3

# Nothing is waited for, so a call that takes as long has hung until a limit freed it.
_HUNG_IDLES: Final = 0.9


@scenario(
    "error-body-robust",
    "Every error envelope keeps its code whole, and the status's code at least where it is cut",
    needs_client=True,
    virtual=True,
)
async def every_envelope_cut_anywhere(bench: Bench) -> list[Difference]:
    """Each envelope with each truncation, ended cleanly and broken off in turn."""
    stride = 1 if bench.sweep == "full" else _SMOKE_STRIDE
    bodies = [
        (name, whole[:length], length == len(whole))
        for name, envelope in _ENVELOPES.items()
        if (whole := json.dumps(envelope, separators=(",", ":")).encode())
        for length in (*range(bench.seed % stride, len(whole), stride), len(whole))
    ]
    exchanges = [
        Exchange(429, (_JSON,), body=body, ending="eof" if whole or len(body) % 2 else "cut")
        for _, body, whole in bodies
    ]
    found: list[Difference] = []
    async with bench.in_process(exchanges) as (adapter, _):
        for name, body, whole in bodies:
            # The status has decided; what can be read of the body may say more.
            codes = ("QUOTA",) if whole else ("RATE_LIMIT", "QUOTA")
            of = f"a 429 with the envelope {name!r}, {'whole' if whole else f'cut at {len(body)}'}"
            found += failure_differs(await bench.call(adapter), *codes, of=of, status=429)
            if len(found) >= ENOUGH:
                break
    return found


@scenario(
    "error-body-robust",
    "Three hundred plain bodies that claim gzip are SERVER each time, and none hangs",
)
async def plain_bodies_that_claim_gzip(bench: Bench) -> list[Difference]:
    """A decoder that fails in a few calls of a hundred is found by hundreds."""
    found: list[Difference] = []
    with FaultServer((_LIAR,) * _LIES) as server:
        async with bench.adapter(server.base_url) as adapter:
            for number in range(_LIES):
                seen = await bench.call(adapter)
                of = f"call {number + 1} of {_LIES}, each a 503 that claims gzip over plain bytes"
                found += failure_differs(seen, "SERVER", of=of, status=503)
                hung = seen.elapsed_s > _HUNG_IDLES * bench.idle_s
                if hung:
                    took = f"{seen.elapsed_s:.2f} s"
                    found.append(Difference(f"duration of {of}", "a few milliseconds", took))
                if hung or len(found) >= ENOUGH:
                    break
    return found


SCENARIOS: Final[tuple[Scenario, ...]] = (
    every_envelope_cut_anywhere,
    plain_bodies_that_claim_gzip,
)
