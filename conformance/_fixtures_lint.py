"""What is wrong with a folder of recordings: one line for each thing. Reads files, writes none."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ._recording._file import RecordingError, read_recording
from ._recording._values import Recording
from ._secrets import is_masked, is_sensitive, secrets_in

# RFC 9110, 15.3.5 and 15.4.5: an answer without content, whatever was asked.
_WITHOUT_CONTENT: Final = frozenset({204, 304})


@dataclass(frozen=True, slots=True)
class Linted:
    """What was found in one folder.

    Attributes:
        count: How many files there are.
        problems: A line for each: the file and what is wrong with it.
    """

    count: int
    problems: tuple[str, ...]


def linted(folder: Path) -> Linted:
    """Return what is wrong with the recordings in ``folder`` and below it."""
    problems: list[str] = []
    recordings: list[Recording] = []
    files = sorted(file for file in folder.rglob("*.json") if file.is_file())
    for file in files:
        name = file.relative_to(folder).with_suffix("").as_posix()
        try:
            text = file.read_bytes().decode()
        except OSError as error:  # no permission, or gone meanwhile
            problems.append(f"{file}: cannot be read: {error.strerror}")
            continue
        except UnicodeDecodeError:
            problems.append(f"{file}: no UTF-8")
            continue
        try:
            recording = read_recording(text, name=name)
        except RecordingError as error:
            problems.append(f"{file}: {str(error).removeprefix(f'{name}: ')}")
            found = _kinds(text.encode("utf-8", "surrogatepass"))
            problems += [f"{file}: {kind} in it" for kind in found]
            continue
        recordings.append(recording)
        problems += [f"{file}: {said}" for said in _problems(recording, folder)]
    problems += [f"{folder / f'{name}.json'}: {said}" for name, said in _duplicates(recordings)]
    return Linted(len(files), tuple(problems))


def _problems(recording: Recording, folder: Path) -> Iterator[str]:
    if said := _emptiness(recording):
        yield said
    yield from _secrets(recording)
    derivation = recording.derivation
    if derivation is not None and not any(
        (root / f"{derivation.source}.json").is_file() for root in (folder, folder.parent)
    ):
        yield f"derived from {derivation.source}, which is not here"


def _emptiness(recording: Recording) -> str:
    if recording.body or recording.note or recording.status in _WITHOUT_CONTENT:
        return ""
    if recording.request.method == "HEAD":
        return ""
    said_so = recording.answer.framed_by == "length" and recording.is_whole
    # A refusal may well say nothing; a good answer without a byte was cut off by its recorder.
    if said_so and recording.status is not None and not 200 <= recording.status < 300:
        return ""
    return "an empty body, and no note that says why"


def _secrets(recording: Recording) -> Iterator[str]:
    request = recording.request
    sides = (("the request", request.headers), ("the answer", recording.headers))
    for where, headers in sides:
        for name, value in headers:
            if is_sensitive(name) and not is_masked(value):
                yield f"{where}: the header {name.lower()} is not masked"
    heads = "\n".join(f"{name}: {value}" for name, value in request.headers)
    asked = f"{request.path}\n{heads}\n{request.body or ''}\n{recording.note}"
    answered = b"".join(read.data for read in recording.reads)
    for where, data in (
        ("the request", asked.encode("utf-8", "surrogatepass")),
        ("the answer", answered),
        ("the answer, unpacked", _unpacked(recording)),
    ):
        yield from (f"{where}: {kind} in it" for kind in _kinds(data))


def _kinds(data: bytes) -> list[str]:
    return sorted({found.kind for found in secrets_in(data)})


def _unpacked(recording: Recording) -> bytes:
    """Return what of a compressed body can be read; nothing where it is not compressed."""
    if not recording.body.startswith(b"\x1f\x8b"):
        return b""
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 32).decompress(recording.body)
    except zlib.error:  # damaged on purpose
        return b""


def _duplicates(recordings: list[Recording]) -> Iterator[tuple[str, str]]:
    """Yield each recording that shows nothing new: same question, same bytes, same ending.

    A note says what a second one is for; that of a derived one says only where it was cut.
    """
    first: dict[tuple[object, ...], str] = {}
    for it in recordings:
        key = (it.sha256, it.ending, it.request.method, it.request.path, it.request.headers)
        seen = first.setdefault((*key, it.request.body), it.name)
        if seen != it.name and (it.origin == "derived" or not it.note):
            yield it.name, f"the same as {seen}, and no note that says why"
