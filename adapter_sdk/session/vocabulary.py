"""The events that a conversation is written in: their names, and what each one carries.

| type                | data                                                  | surface |
|---------------------|-------------------------------------------------------|---------|
| `turn/start`        | `{turn}`                                              |         |
| `user/message`      | `{turn, message}`                                     | append  |
| `step/start`        | `{turn, step, provider, model}`                       |         |
| `request/header`    | `{turn, step, attempt}`                               |         |
| `assistant/chunk`   | `{turn, step, chunk}`                                 |         |
| `assistant/message` | `{turn, step, message, finish?, usage?, interrupted?}`| append  |
| `tool/start`        | `{turn, step, toolCallId, name}`                      |         |
| `tool/result`       | `{turn, step, message}`                               | append  |
| `step/end`          | `{turn, step}`                                        |         |
| `turn/end`          | `{turn, reason, error?}`                              |         |
| `context/overflow`  | `{turn, step}`                                        |         |
| `context/pruned`    | `{turn, step, message}`                               | replace |
| `context/summary`   | `{turn, step, message}`                               | replace |

Turns count from 1 over the whole log, steps from 1 in their turn, attempts from 1 in their
step. A step has one provider. Each attempt begins with its `request/header`; the finish of a
failed one is its last `assistant/chunk`. `error` is a failure in its stored form. Other types
may stand anywhere: the log keeps them and says nothing about their data.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

TURN_START: Final = "turn/start"
USER_MESSAGE: Final = "user/message"
STEP_START: Final = "step/start"
REQUEST_HEADER: Final = "request/header"
ASSISTANT_CHUNK: Final = "assistant/chunk"
ASSISTANT_MESSAGE: Final = "assistant/message"
TOOL_START: Final = "tool/start"
TOOL_RESULT: Final = "tool/result"
STEP_END: Final = "step/end"
TURN_END: Final = "turn/end"
CONTEXT_OVERFLOW: Final = "context/overflow"
CONTEXT_PRUNED: Final = "context/pruned"
CONTEXT_SUMMARY: Final = "context/summary"

SurfaceOp: TypeAlias = Literal["append", "replace"]
"""What an event does to the messages: put its own at the end, or in place of those it cites."""

TurnEndReason: TypeAlias = Literal[
    "complete", "error", "aborted", "interrupted", "fault", "step-limit"
]
"""Why a turn ended.

- ``complete``: the model answered and asked for no tool.
- ``error``: a provider failure that nobody retried; ``error`` has it.
- ``aborted``: the caller's own signal.
- ``interrupted``: the task was cancelled, or the process died and the log was recovered.
- ``fault``: an exception of the program: middleware, prompt, listener, the log's invariants.
- ``step-limit``: the model still asked for tools after the last step it was allowed.
"""
