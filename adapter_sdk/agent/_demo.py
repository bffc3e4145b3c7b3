"""A conversation that goes wrong twice, against a server of its own on this machine."""

from __future__ import annotations

import json
import re
from typing import Final

from .. import BaseAdapter
from ..dialects import OpenAIChat
from ..retry import Backoff, NormalRetry
from ..testing import Exchange, Pause, Send, Step

QUESTION: Final = "What does an adapter promise?"
ANSWER: Final = (
    "One request a call, chunks in order, and in the end one finish: an answer, or the facts of "
    "a failure. What to do about a failure is yours to decide, and you have just watched it."
)

_STREAM: Final = (("content-type", "text/event-stream"),)
# Slow enough to be read as it grows, quick enough to be waited for.
_BETWEEN_WORDS_S: Final = 0.04
_BEFORE_THE_CUT_S: Final = 0.8


class DemoAdapter(BaseAdapter):
    """A provider that does not exist."""

    dialect = OpenAIChat(terminal="done-sentinel")
    reference_model = "demo-1"
    # Without chance in it, so that everybody sees the same.
    retry_policy = NormalRetry(backoff=Backoff(jitter_ratio=0))


def _event(delta: dict[str, str], finish: str | None = None) -> Send:
    payload = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return Send(f"data: {json.dumps(payload)}\n\n".encode())


def _spoken(text: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    for word in re.findall(r"\S+ ?", text):
        steps += [_event({"content": word}), Pause(_BETWEEN_WORDS_S)]
    return tuple(steps)


def script() -> tuple[Exchange, ...]:
    """Return a throttled request, a stream that is cut in a sentence, and a whole answer."""
    throttled = Exchange(
        429, (("retry-after", "2"),), body=b'{"error":{"message":"too many requests"}}'
    )
    cut = Exchange(
        200,
        _STREAM,
        steps=(*_spoken("An adapter promises the moon and"), Pause(_BEFORE_THE_CUT_S)),
        ending="cut",
    )
    end = (_event({}, "stop"), Send(b"data: [DONE]\n\n"))
    return (throttled, cut, Exchange(200, _STREAM, steps=(*_spoken(ANSWER), *end)))
