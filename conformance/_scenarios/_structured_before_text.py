"""structured-before-text: one classifier for HTTP bodies and for frames inside a stream."""

from __future__ import annotations

from typing import Final

from adapter_sdk.testing import Exchange, FaultServer, Send

from .._bench import Bench
from .._good_streams import EVENT_STREAM
from .._judge import Difference
from .._scenario import Scenario, scenario
from ._verdicts import failure_differs

_JSON: Final = (("content-type", "application/json"),)


@scenario(
    "structured-before-text",
    "The same error has the same code as the body of a 429 and as a frame inside a 200",
    needs_good_stream=True,
)
async def same_error_in_both_places(bench: Bench) -> list[Difference]:
    """Before any text and behind some."""
    good = bench.good
    found: list[Difference] = []
    for error in good.errors:
        answers = {
            "the body of a 429": Exchange(429, _JSON, body=error.body),
            "the first frame of a 200": _frames(error.frame),
            "a frame behind text": _frames(good.deltas[0], error.frame),
        }
        with FaultServer(tuple(answers.values())) as server:
            async with bench.adapter(server.base_url) as adapter:
                for place in answers:
                    found += failure_differs(
                        await bench.call(adapter),
                        error.code,
                        of=f"an error that names itself {error.code}, as {place}",
                        advice="classify bodies and frames by one function",
                    )
    return found


def _frames(*frames: bytes) -> Exchange:
    return Exchange(200, EVENT_STREAM, steps=tuple(Send(frame) for frame in frames))


SCENARIOS: Final[tuple[Scenario, ...]] = (same_error_in_both_places,)
