"""Recordings: one exchange with a server, kept byte for byte in one file.

A recording's path is its name: ``llamacpp/chat_stream_text``. ``recorded`` comes from a real
server on loopback; ``derived`` is a recording that was cut at a byte; ``synthetic`` was written
by hand, after documentation, where nothing was ever recorded.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from adapter_sdk.testing import Ending, Exchange, Interim, Pause, Send, Step

from ._values import Derivation, Fault, Read, RecordedEnding, Recording, sha256_of
from ._wire import FramedBy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.resources.abc import Traversable

RECORDINGS: Final = files("conformance").joinpath("recordings")

# Of an answer that is not whole. Who left first was still being served: the replay stays open.
_ENDINGS: Final[dict[RecordedEnding, Ending]] = {
    "fin": "cut",
    "rst": "reset",
    "open": "hold",
    "client-close": "hold",
    "client-rst": "hold",
}
_ENDINGS_WITHOUT_HEAD: Final[dict[RecordedEnding, Ending]] = {
    "fin": "close-before-headers",
    "rst": "reset",
    "open": "hold-before-headers",
    "client-close": "hold-before-headers",
    "client-rst": "hold-before-headers",
}
_ENDING_OF_FAULT: Final[dict[Fault, RecordedEnding]] = {
    "eof": "fin",
    "cut": "fin",
    "reset": "rst",
    "hold": "open",
}
# A length is broken by an early end, and where FIN is the end of the body none is too early.
_IMPOSSIBLE: Final[frozenset[tuple[FramedBy, Fault]]] = frozenset(
    {("length", "eof"), ("until-close", "cut")}
)


class RecordingError(ValueError):
    """A recording that cannot be used; one line says which, where and why."""


def exchange_of(recording: Recording, *, timed: bool = False) -> Exchange:
    """Return what a scripted client or a fault server plays.

    Args:
        recording: Any. Each of its reads becomes one write of the body.
        timed: Keep the silences between the head and the end. The time before the head is
            left out: an exchange has no place for it.
    """
    answer = recording.answer
    if answer.head is None:
        return Exchange(None, ending=_ENDINGS_WITHOUT_HEAD[recording.ending])
    headers = tuple((name, value.encode("latin-1")) for name, value in answer.head.headers)
    if answer.framed_by == "until-close" and "close" not in answer.head.value("connection"):
        headers = (*headers, ("connection", b"close"))
    return Exchange(
        answer.head.status,
        headers,
        interim=tuple(Interim(head.status, head.headers) for head in answer.interim),
        steps=tuple(_steps(recording, timed=timed)),
        ending="eof" if recording.is_whole else _broken_ending(recording),
    )


def _broken_ending(recording: Recording) -> Ending:
    if recording.ending == "fin" and recording.answer.framed_by == "length":
        return "short"
    return _ENDINGS[recording.ending]


def _steps(recording: Recording, *, timed: bool) -> Iterable[Step]:
    previous_ms = recording.reads[recording.answer.head_read].at_ms
    for read, piece in zip(recording.reads, recording.answer.pieces, strict=True):
        if piece:
            if timed and read.at_ms > previous_ms:
                yield Pause((read.at_ms - previous_ms) / 1000)
                previous_ms = read.at_ms
            yield Send(piece)
    if timed and recording.end_at_ms > previous_ms and not recording.is_whole:
        yield Pause((recording.end_at_ms - previous_ms) / 1000)


def derive(
    source: Recording, *, name: str, cut_at: int, end: Fault, note: str = "", date: str = ""
) -> Recording:
    """Return ``source``, cut at a byte of its body.

    Args:
        source: With a head. Its reads stay apart; those of a chunked body become a chunk each.
        name: Of the new recording.
        cut_at: How many bytes of the body are left, from 0 to all of them.
        end: What follows them; see ``Fault``.
        note: What the cut shows; empty says only where it is.
        date: Of the derivation; empty keeps the source's.

    Raises:
        ValueError: A cut outside the body, a clean end of a body that has a length, or a cut
            where the end of the connection ends the body.
    """
    answer, size = source.answer, len(source.body)
    if answer.head is None or not 0 <= cut_at <= size:
        raise ValueError(f"cut_at: {cut_at} is not in the {size} bytes of {source.name}")
    if (answer.framed_by, end) in _IMPOSSIBLE:
        raise ValueError(f"end: no {end} with the {answer.framed_by} framing of {source.name}")
    raw = b"".join(read.data for read in source.reads)
    first_ms = source.reads[answer.head_read].at_ms
    reads, left = [Read.of(first_ms, raw[: answer.head_bytes])], cut_at
    for read, piece in zip(source.reads, answer.pieces, strict=True):
        kept, left = piece[:left], left - len(piece[:left])
        if kept:
            framed = b"%x\r\n%b\r\n" % (len(kept), kept)
            reads.append(Read.of(read.at_ms, framed if answer.framed_by == "chunked" else kept))
    last_ms = reads[-1].at_ms
    if end == "eof" and answer.framed_by == "chunked":
        reads.append(Read.of(last_ms, b"0\r\n\r\n"))
    changes = {
        "name": name,
        "origin": "derived",
        "date": date or source.date,
        "note": note or f"cut at byte {cut_at} of {size}",
        "derivation": Derivation(source=source.name, cut_at=cut_at, end=end),
        "reads": tuple(reads),
        "ending": _ENDING_OF_FAULT[end],
        "end_at_ms": last_ms,
        "sha256": sha256_of(reads),
    }
    fields = {field: getattr(source, field) for field in Recording.model_fields}
    return Recording.model_validate({**fields, **changes})


def read_recording(text: str, *, name: str) -> Recording:
    """Return the recording in ``text``, the contents of the file called ``name``.

    Raises:
        RecordingError: Empty, no JSON, a key or value out of place, bytes that are damaged.
    """
    if not text.strip():
        raise RecordingError(f"{name}: the file is empty")
    try:
        data = json.loads(text)
    except ValueError as error:
        raise RecordingError(f"{name}: no JSON: {error}") from error
    if not isinstance(data, dict):
        raise RecordingError(f"{name}: no JSON object")
    if "name" in data:
        raise RecordingError(f"{name}: name: the path is the name, leave the key out")
    try:
        return Recording.model_validate_json(json.dumps({**data, "name": name}))
    except ValidationError as error:
        raise RecordingError(f"{name}: {_first_mistake(error)}") from error


def recording_text(recording: Recording) -> str:
    """Return the contents of the recording's file; ``read_recording`` is its inverse."""
    data = recording.model_dump(mode="json", exclude_defaults=True)
    return _laid_out(data) + "\n"


def _laid_out(value: Any, *, depth: int = 0) -> str:
    """Return JSON with a line for each read, and one for all headers: diffs stay readable."""
    if depth == 2 or not value or not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    inner = (
        [f"{json.dumps(key)}: {_laid_out(item, depth=depth + 1)}" for key, item in value.items()]
        if isinstance(value, dict)
        else [_laid_out(item, depth=depth + 1) for item in value]
    )
    left, right = "{}" if isinstance(value, dict) else "[]"
    lines = ",\n".join("  " * (depth + 1) + line for line in inner)
    return f"{left}\n{lines}\n{'  ' * depth}{right}"


def recording_names(folder: Traversable = RECORDINGS) -> list[str]:
    """Return the names of all recordings in ``folder``, sorted."""
    return sorted(
        f"{server.name}/{file.name.removesuffix('.json')}"
        for server in folder.iterdir()
        if server.is_dir()
        for file in server.iterdir()
        if file.name.endswith(".json")
    )


def load_recording(name: str, folder: Traversable = RECORDINGS) -> Recording:
    """Return the recording called ``name``.

    Raises:
        RecordingError: There is none, or its file cannot be used.
    """
    try:
        text = folder.joinpath(f"{name}.json").read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RecordingError(f"{name}: the file is no UTF-8: {error}") from error
    except OSError as error:  # no such file, a folder, no permission
        raise RecordingError(f"{name}: the file cannot be read: {error.strerror}") from error
    return read_recording(text, name=name)


def _first_mistake(error: ValidationError) -> str:
    mistake = error.errors(include_url=False)[0]
    place = ".".join(str(step) for step in mistake["loc"])
    said = mistake["msg"].removeprefix("Value error, ")
    return f"{place}: {said}" if place else said
