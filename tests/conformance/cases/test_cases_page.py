"""The page about case files says what the reader reads: every key, word and default, both ways."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args

import pytest

import conformance
from conformance._case import CaseEnding
from conformance._case_file import _READING, cases_in, read_case
from conformance._loopback_only import loopback_only
from conformance._result import Status
from conformance._runner import Runner
from conformance._target import load_target

PAGE: Final = (Path(conformance.__file__).parent / "CASES.md").read_text(encoding="utf-8")
SCHEMA: Final = _READING.schema
MODELS: Final[Mapping[str, Any]] = {"Case": SCHEMA, **SCHEMA["$defs"]}

# By heading: the model whose keys stand in the table, a row each.
TABLES: Final = {
    "The file": "Case",
    "`[call]`": "Call",
    "A moment: `abort`, `cancel`, `leave`": "Moment",
    "`think`": "Pause",
    "`[[exchange]]`": "CaseExchange",
    "`interim`": "InterimResponse",
    "`[expect]`": "Expectation",
    "`[expect.failure]`": "ExpectedFailure",
    "`[expect.message]`": "ExpectedMessage",
    "`usage`": "ExpectedUsage",
}
# By heading: the models that stand under it as tables in one line, ``{raw = "…"}``.
IN_ONE_LINE: Final = {
    "A step of `send`": {
        *("RawText", "RawBytes", "RepeatText", "PauseStep", "RepeatSteps"),
        *("GzipSteps", "ZstdSteps"),
    },
    "The value of a header": {"DateValue", "RepeatedValue", "BytesValue"},
    "`[expect]`": {"RepeatedText"},
}
EXAMPLES: Final = re.findall(r"```toml\n# (\S+)\.toml\n(.*?)```", PAGE, re.DOTALL)


def section(heading: str) -> str:
    (text,) = re.findall(rf"(?ms)^### {re.escape(heading)}\n(.*?)(?=^##|\Z)", PAGE)
    return str(text)


def rows(heading: str) -> dict[str, list[str]]:
    """Return the rows of the first table with keys, by key: value, default, meaning."""
    table = section(heading).partition("\n\n| `end` |")[0]
    lines = re.findall(r"(?m)^\| `(\w+)` \|(.*)\|$", table)
    return {key: [cell.strip() for cell in rest.split("|")] for key, rest in lines}


def default_of(model: Mapping[str, Any], key: str) -> str:
    """Return how the page tells of a default: nothing where nothing is done or compared."""
    if key in model.get("required", ()):
        return "required"
    default = model["properties"][key]["default"]
    return "" if default is None or isinstance(default, dict) else f"`{json.dumps(default)}`"


def words_of(schema: Any) -> Iterator[str]:
    """Yield the words and the outer numbers that a schema names, but for those of its tables."""
    for name, value in schema.items():
        if name == "enum":
            yield from value
        elif name in ("const", "maximum") or (name == "minimum" and value):
            yield str(value)
        elif name in ("anyOf", "oneOf"):
            for branch in value:
                yield from words_of(branch)


def in_one_line(heading: str) -> set[frozenset[str]]:
    found = re.findall(r"`\{(\w+ = [^`]*)\}`", section(heading))
    return {frozenset(re.findall(r"(\w+) =", each)) for each in found}


def test_every_model_of_a_case_has_its_place_on_the_page() -> None:
    assert {*TABLES.values()}.union(*IN_ONE_LINE.values()) == set(MODELS)


@pytest.mark.parametrize(("heading", "model"), TABLES.items(), ids=TABLES.values())
def test_a_table_of_the_page_has_the_keys_of_its_model_in_order_with_their_defaults(
    heading: str, model: str
) -> None:
    schema = MODELS[model]
    told = {key: cells[1] for key, cells in rows(heading).items()}

    assert list(told.items()) == [(key, default_of(schema, key)) for key in schema["properties"]]


@pytest.mark.parametrize(("heading", "model"), TABLES.items(), ids=TABLES.values())
def test_a_row_names_every_word_and_bound_that_its_key_takes(heading: str, model: str) -> None:
    told = rows(heading)
    words = [
        (key, word)
        for key, schema in MODELS[model]["properties"].items()
        for word in words_of(schema)
        if key != "end"  # which has a table of its own
    ]

    assert [pair for pair in words if pair[1] not in " ".join(told[pair[0]])] == []


def test_every_ending_is_told() -> None:
    table = section("`[[exchange]]`").partition("| `end` | what")[2]

    assert re.findall(r"(?m)^\| `([\w-]+)` \|", table) == list(get_args(CaseEnding))


@pytest.mark.parametrize(("heading", "models"), IN_ONE_LINE.items(), ids=["step", "header", "text"])
def test_a_table_in_one_line_is_shown_with_all_its_keys(heading: str, models: set[str]) -> None:
    assert in_one_line(heading) >= {frozenset(MODELS[model]["properties"]) for model in models}


@pytest.mark.parametrize("heading", [*IN_ONE_LINE, *TABLES])
def test_a_table_in_one_line_is_one_that_is_read(heading: str) -> None:
    known = {frozenset(model["properties"]) for model in MODELS.values()}
    assert {
        keys for keys in in_one_line(heading) if not any(keys <= each for each in known)
    } == set()


def test_there_are_examples_of_an_error_of_a_stream_and_of_one_that_breaks() -> None:
    cases = [read_case(text, case_id=name, where=name) for name, text in EXAMPLES]

    assert [(c.expect.outcome, bool(c.exchange[0].send), c.exchange[0].end) for c in cases] == [
        ("failure", False, "eof"),
        ("success", True, "eof"),
        ("failure", True, "hold"),
    ]
    assert PAGE.count("```toml") == len(EXAMPLES)


def test_the_reference_adapter_passes_every_example_of_the_page(tmp_path: Path) -> None:
    for name, text in EXAMPLES:
        (tmp_path / name).parent.mkdir()
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    target = load_target("deepseek")
    runner = Runner(target, cases_in(tmp_path, target=target), ())
    planned = [item for item in runner.plan() if item.check.id in dict(EXAMPLES)]
    with loopback_only():
        run = runner.run(planned)

    verdicts = {r.check.id: r.status for r in run.results if r.check.id in dict(EXAMPLES)}
    assert verdicts == dict.fromkeys(dict(EXAMPLES), Status.PASS)
