"""Tool calls on their way back to the provider."""

from __future__ import annotations

import re
import zlib
from typing import Final

from ..._dialect import Json
from ..._json_bytes import json_text
from ..._wire_json import parse_json

# The provider's documentation of unbuffered tool streaming proposes such a wrapper, so that the
# model sees what it wrote. Refusing instead would end the conversation for good, and an
# empty input would hide the mistake from the model.
INVALID_JSON: Final = "INVALID_JSON"

# What the provider takes as an id; ids of other providers hold dots and colons.
_FOREIGN: Final = re.compile(r"[^a-zA-Z0-9_-]")


def tool_input(arguments: str) -> dict[str, Json]:
    """Return the object that the arguments of a call are; the wire takes nothing else.

    Blank arguments are a call without any. What is no JSON object goes back as it is, under
    ``INVALID_JSON``.
    """
    if not arguments.strip():
        return {}
    try:
        value = parse_json(arguments)
        if isinstance(value, dict):
            json_text(value)
            return value
    except ValueError:  # no JSON, or NaN inside it, which JSON does not have
        pass
    return {INVALID_JSON: arguments}


def wire_call_id(call_id: str) -> str:
    """Return an id that the provider takes: the same one for the same call, always."""
    if call_id and not _FOREIGN.search(call_id):
        return call_id
    # The checksum keeps ids apart that differ only in the characters that give way.
    return f"{_FOREIGN.sub('_', call_id)}_{zlib.crc32(call_id.encode('utf-8', 'replace')):08x}"
