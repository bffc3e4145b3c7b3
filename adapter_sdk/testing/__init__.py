"""Doubles for testing adapters: a loopback server that plays faults, and virtual time.

Import from here; the modules are private.
"""

from __future__ import annotations

from ._deadlock import DeadlockError
from ._fault_server import FaultServer
from ._manual_clock import ManualClock
from ._script import Ending, Exchange, Flood, Interim, Pause, Repeat, Send, Step
from ._scripted_transport import Scripted, scripted_client
from ._seen import Delivery, Event, SeenConnection, SeenRequest
from ._splits import Split, at, byte_by_byte, seeded, whole
from ._virtual_time import run_virtual

__all__ = [
    "DeadlockError",
    "Delivery",
    "Ending",
    "Event",
    "Exchange",
    "FaultServer",
    "Flood",
    "Interim",
    "ManualClock",
    "Pause",
    "Repeat",
    "Scripted",
    "SeenConnection",
    "SeenRequest",
    "Send",
    "Split",
    "Step",
    "at",
    "byte_by_byte",
    "run_virtual",
    "scripted_client",
    "seeded",
    "whole",
]
