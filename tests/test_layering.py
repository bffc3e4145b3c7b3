"""Who may import whom: pure <- time <- transport <- door <- (reference adapters | conformance).

Read from the source, so an import inside a function or for type checking counts too.
"""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parent.parent
PACKAGES: Final = ("adapter_sdk", "reference_adapters", "conformance")

# A module imports from its own layer and from those before it. A new module is a new name here.
LAYERS: Final = {
    "pure": [
        "_assembler",
        "_chunks",
        "_classify",
        "_codes",
        "_content",
        "_content_coding",
        "_credential",
        "_declaration",
        "_dialect",
        "_error_envelope",
        "_error_tables",
        "_error_wording",
        "_failure",
        "_failure_class",
        "_growing_text",
        "_json_bytes",
        "_limits",
        "_messages",
        "_request",
        "_request_id",
        "_retry_after",
        "_sse",
        "_surrogates",
        "_user_agent",
        "_wire_json",
    ],
    "dialects": ["dialects"],
    "time": ["_abort", "_clock", "_tasks", "_watchdog"],
    "transport": ["_http", "_reader", "_stream_core"],
    "calls": ["_adapter", "_chunk_stream", "_collect", "_runtime"],
    "door": ["__init__", "codes"],
    "doubles": ["testing"],
    "recovery": ["_terminal", "lifecycle", "retry", "session"],
    "loops": ["agent"],
}
RANK: Final = {name: rank for rank, names in enumerate(LAYERS.values()) for name in names}

# What reads a clock or waits, as it is written where it is used.
CLOCKS: Final = re.compile(
    r"\b(?:asyncio|anyio|trio)\.(?:sleep|timeout|wait_for|move_on|fail_a|current_time)"
    r"|\btime\.(?:time|monotonic|perf_counter|sleep)"
    r"|\b(?:datetime|date)\.(?:now|utcnow|today)\("
    r"|\bloop\.(?:time|call_later|call_at)\b"
    r"|\.(?:sleep_until|current_clock)\("
)
CLOCK_MODULES: Final = frozenset({"time", "sched"})
# The only other waits: for a connection that closes slowly, when no limit of a call runs any more.
OTHER_WAITS: Final = {
    "adapter_sdk/_http.py": ["anyio.move_on"],
    "adapter_sdk/_reader.py": ["anyio.move_on"],
}

PROVIDERS: Final = re.compile(
    r"deepseek|openai(?!-chat|-responses|_chat|_responses)|anthropic(?!-messages|_messages)|groq"
    r"|mistral|gemini|vertex|\bxai\b|grok|cerebras|perplexity|openrouter|together\.ai|fireworks"
    r"|cohere|moonshot|kimi|zhipu|dashscope|qwen|bedrock|\bazure\b|llama|litellm|ollama|vllm",
    re.IGNORECASE,
)


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported(path: Path) -> Iterator[tuple[str, ...]]:
    """Absolute dotted names, as tuples: of ``from a import b`` both ``a`` and ``a.b``."""
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            module = start + tuple((node.module or "").split(".") if node.module else ())
            yield module
            yield from ((*module, alias.name) for alias in node.names)


def layer_of(parts: tuple[str, ...]) -> str:
    """The module or subpackage of adapter_sdk that a dotted name is in."""
    return parts[1] if len(parts) > 1 and parts[1] in RANK else "__init__"


def strings(path: Path) -> Iterator[str]:
    """String literals that do something; a docstring may give a name as an example."""
    tree = ast.parse(path.read_text())
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value


def test_every_module_of_the_sdk_has_a_layer() -> None:
    entries = {path.stem for path in (ROOT / "adapter_sdk").iterdir() if path.suffix == ".py"}
    entries |= {path.parent.name for path in (ROOT / "adapter_sdk").glob("*/__init__.py")}
    assert entries == set(RANK)


@pytest.mark.parametrize("path", sources("adapter_sdk"), ids=named)
def test_a_module_of_the_sdk_imports_from_its_own_layer_or_before(path: Path) -> None:
    own = layer_of(path.relative_to(ROOT).with_suffix("").parts)
    above = {
        ".".join(name)
        for name in imported(path)
        # ``from . import x`` and ``from .pkg import x`` name the door only as a path.
        if name[:1] == ("adapter_sdk",) and len(name) > 1 and RANK[layer_of(name)] > RANK[own]
    }
    assert above == set()


@pytest.mark.parametrize("path", sources("adapter_sdk"), ids=named)
def test_the_sdk_imports_neither_the_kit_nor_an_adapter(path: Path) -> None:
    assert {name[0] for name in imported(path)} & {"conformance", "reference_adapters"} == set()


@pytest.mark.parametrize("path", sources("reference_adapters", "conformance"), ids=named)
def test_everybody_else_comes_in_by_the_door(path: Path) -> None:
    private = {
        ".".join(name)
        for name in imported(path)
        if name[0] == "adapter_sdk" and any(part.startswith("_") for part in name[1:])
    }
    assert private == set()


@pytest.mark.parametrize("path", sources("reference_adapters"), ids=named)
def test_a_reference_adapter_imports_neither_another_one_nor_the_kit(path: Path) -> None:
    own = path.relative_to(ROOT).parts[:2]
    foreign = {
        ".".join(name)
        for name in imported(path)
        if name[0] == "conformance" or (name[0] == own[0] and len(name) > 1 and name[:2] != own)
    }
    assert foreign == set()


@pytest.mark.parametrize("path", sources("conformance"), ids=named)
def test_the_kit_imports_no_reference_adapter_and_names_no_provider(path: Path) -> None:
    assert "reference_adapters" not in {name[0] for name in imported(path)}
    assert [text for text in strings(path) if PROVIDERS.search(text)] == []


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sources("adapter_sdk")
        if path.name != "_clock.py" and "testing" not in path.parts
    ],
    ids=named,
)
def test_only_the_clock_reads_time_or_waits(path: Path) -> None:
    code = ast.unparse(ast.parse(path.read_text()))
    assert CLOCKS.findall(code) == OTHER_WAITS.get(named(path), [])
    assert {name[0] for name in imported(path)} & CLOCK_MODULES == set()


def test_the_search_for_clocks_finds_those_of_the_clock_itself() -> None:
    code = ast.unparse(ast.parse((ROOT / "adapter_sdk" / "_clock.py").read_text()))
    assert len(CLOCKS.findall(code)) >= 4


@pytest.mark.parametrize(
    ("text", "names_one"),
    [
        ("dialect:openai-chat", False),
        ("anthropic-messages", False),
        ("OpenAI's own", True),
        ("a DeepSeek answer", True),
        ("llama.cpp", True),
    ],
)
def test_the_search_for_providers_tells_a_dialect_from_a_provider(
    text: str, names_one: bool
) -> None:
    assert bool(PROVIDERS.search(text)) is names_one


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=named)
def test_a_module_has_at_most_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize("folder", ["deepseek", "pi"])
def test_a_reference_adapter_is_a_folder_of_at_most_five_files(folder: str) -> None:
    assert len(sources(f"reference_adapters/{folder}")) <= 5


def test_the_layers_stand_in_the_order_of_the_conventions() -> None:
    order = ["_codes", "_clock", "_http", "_adapter", "__init__", "testing"]
    assert all(RANK[lower] < RANK[upper] for lower, upper in pairwise(order))
