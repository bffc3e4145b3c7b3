"""A step loop over the event log of a conversation: requests, recovery, tools.

A product can mount its parts one by one. Import from here; the modules are private. The SDK's
core never imports this package.
"""

from __future__ import annotations

from ._loop import StepLoop, Turn
from ._overflow import ContextOverflowRecovery, Summarise, summarise_with
from ._request_error import CallNext, Decision, Listener, RequestError, RequestErrorChain
from ._tools import AgentTool, ToolError

__all__ = [
    "AgentTool",
    "CallNext",
    "ContextOverflowRecovery",
    "Decision",
    "Listener",
    "RequestError",
    "RequestErrorChain",
    "StepLoop",
    "Summarise",
    "ToolError",
    "Turn",
    "summarise_with",
]
