"""Find what is to be judged: a module's or a file's factory, an entry point, or a command."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from adapter_sdk import Capability, Declaration

from ._near import slip_of

ENTRY_POINT_GROUP: Final = "dsh.adapters"

# Before a command that speaks over its standard streams; see ``SUBJECT.md``.
COMMAND_PREFIX: Final = "exec:"

# What proves the end of an answer, by dialect: contract section 4 and each vendor's protocol.
TERMINALS: Final = {
    "openai-chat": ("done-sentinel", "finish-reason"),
    "openai-responses": ("response-completed",),
    "anthropic-messages": ("message-stop",),
}

# The kit's own, derived from what an adapter declares.
_TERMINAL_CAPABILITY: Final = "terminal_{terminal}"


class TargetError(Exception):
    """A target that cannot be judged; the text says what it was and what to do."""


@dataclass(frozen=True, slots=True)
class Target:
    """A factory of adapters and what it declares.

    Attributes:
        name: As it was asked for.
        factory: ``(*, base_url, api_key, idle_timeout, progress_timeout, http_client=None)``.
        declaration: The adapter's promises.
        profile: Passed to the factory as ``profile``, or None.
        takes_client: Whether the factory has a parameter ``http_client``.
        unasked: Requirements that cannot be asked of it, each with its reason.
    """

    name: str
    factory: Callable[..., Any]
    declaration: Declaration
    profile: str | None
    takes_client: bool
    unasked: Mapping[str, str] = field(default_factory=dict)

    @property
    def capabilities(self) -> frozenset[str]:
        """What requirements and cases may need: the declared ones and the terminal's."""
        terminal = self.declaration.terminal.replace("-", "_")
        return frozenset(
            {str(capability) for capability in self.declaration.capabilities}
            | {_TERMINAL_CAPABILITY.format(terminal=terminal)}
        )

    def make(self, **arguments: Any) -> Any:
        """Return an adapter; ``http_client`` is left out where the factory has no place for it."""
        if not self.takes_client:
            arguments.pop("http_client", None)
        if self.profile is not None:
            arguments["profile"] = self.profile
        return self.factory(**arguments)


def load_target(name: str, *, profile: str | None = None) -> Target:
    """Return the target called ``name``.

    Raises:
        TargetError: It cannot be imported, found, called or has no declaration.
    """
    factory = _find(name)
    if not callable(factory):
        raise TargetError(
            f"{name}: a factory, got {type(factory).__name__}; name a class or function"
        )
    declaration = _declaration(name, factory)
    if profile is not None and profile not in declaration.profiles:
        known = ", ".join(declaration.profiles) or "none"
        raise TargetError(f"{name}: there is no profile {profile!r}; declared are: {known}")
    if profile is not None:
        declaration = _declaration(name, factory, profile=profile)
    unasked = getattr(factory, "unasked", {})
    return Target(name, factory, declaration, profile, _takes_client(factory), unasked)


def try_factory(target: Target) -> None:
    """Make one adapter, so that a factory that cannot be called is no finding of every check.

    Raises:
        TargetError: It raised.
    """
    try:
        target.make(
            base_url="http://127.0.0.1:1",
            api_key="sk-dsh-probe",
            idle_timeout=1.0,
            progress_timeout=3.0,
        )
    except ImportError as error:  # of an extra that is missing; it says which
        raise TargetError(f"{target.name}: {' '.join(str(error).split())}") from error
    except (Exception, SystemExit) as error:
        raise TargetError(
            f"{target.name}: the factory cannot be called with base_url, api_key, idle_timeout and "
            f"progress_timeout: {said(error)}"
        ) from error


def installed_targets() -> list[str]:
    """Return the names of the installed entry points."""
    return sorted(point.name for point in entry_points(group=ENTRY_POINT_GROUP))


def _find(name: str) -> object:
    if name.startswith(COMMAND_PREFIX):
        return _subject(name)
    if ":" not in name:
        if name.endswith(".py"):
            return _unnamed(name)
        return _entry_point(name)
    place, _, attribute = name.rpartition(":")
    if not place or not attribute:
        raise TargetError(
            f"{name}: write it as package.module:factory, path.py:factory or 'exec:COMMAND'"
        )
    module = _file_module(name, Path(place)) if place.endswith(".py") else _module(name, place)
    value: object = module
    for part in attribute.split("."):
        if not hasattr(value, part):
            offered = _offered(module)
            raise TargetError(f"{name}: {place} has no {attribute}; it offers: {offered}")
        value = getattr(value, part)
    return value


def _offered(module: ModuleType) -> str:
    return ", ".join(name for name in vars(module) if not name.startswith("_")) or "nothing"


def _unnamed(name: str) -> object:
    offered = _offered(_file_module(name, Path(name)))
    raise TargetError(f"{name}: name the factory too, {name}:FACTORY; it offers: {offered}")


def _subject(name: str) -> object:
    from ._subject._process import SubjectError
    from ._subject._target import SubjectFactory  # here, since most runs have no subject

    try:
        return SubjectFactory(name)
    except SubjectError as error:
        raise TargetError(f"{name}: {error}") from error


def _entry_point(name: str) -> object:
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name == name:
            try:
                return point.load()
            except (Exception, SystemExit) as error:
                raise TargetError(
                    f"{name}: {point.value} cannot be imported: {said(error)}"
                ) from error
    known = ", ".join(installed_targets()) or "none"
    raise TargetError(
        f"{name}: no installed adapter has this name (installed: {known}); "
        "or write package.module:factory or path.py:factory"
    )


def _let_import_from(folder: Path) -> None:
    """Find modules in ``folder`` too, as Python does for a script in it."""
    if str(folder) not in sys.path and not (folder == Path.cwd() and "" in sys.path):
        sys.path.insert(0, str(folder))


def _module(name: str, place: str) -> ModuleType:
    _let_import_from(Path.cwd())
    try:
        return importlib.import_module(place)
    except (Exception, SystemExit) as error:
        raise TargetError(f"{name}: {place} cannot be imported: {said(error)}") from error


def _file_module(name: str, path: Path) -> ModuleType:
    if not path.is_file():
        raise TargetError(f"{name}: there is no file {path}")
    spec = importlib.util.spec_from_file_location(f"dsh_target_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise TargetError(f"{name}: {path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    _let_import_from(path.resolve().parent)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise TargetError(f"{name}: {path} cannot be imported: {said(error)}") from error
    return module


def said(error: BaseException) -> str:
    """Return what code of the target raised, in one line."""
    if isinstance(error, SystemExit):
        return f"it ends the process with sys.exit({error.code!r})"
    return f"{type(error).__name__}: {' '.join(str(error).split()) or 'without a message'}"


def _declaration(
    name: str, factory: Callable[..., Any], *, profile: str | None = None
) -> Declaration:
    declaration = getattr(factory, "declaration", None)
    if callable(declaration):
        # Profiles may speak different dialects: such a factory takes the profile here as well.
        takes_it = profile is not None and "profile" in inspect.signature(declaration).parameters
        try:
            declaration = declaration(profile=profile) if takes_it else declaration()
        except (Exception, SystemExit) as error:
            raise TargetError(f"{name}: its declaration cannot be had: {said(error)}") from error
    if not isinstance(declaration, Declaration):
        raise TargetError(
            f"{name}: has no declaration; give the factory an attribute `declaration` with an "
            "adapter_sdk.Declaration of its dialects, terminal and capabilities"
        )
    _check_dialects(name, declaration)
    unknown = {str(c) for c in declaration.capabilities} - {str(c) for c in Capability}
    if unknown:
        raise TargetError(f"{name}: declares unknown capabilities: {', '.join(sorted(unknown))}")
    return declaration


def _check_dialects(name: str, declaration: Declaration) -> None:
    """Refuse words that are mistakes: what nobody knows applies to nothing and fails nothing."""
    if isinstance(declaration.dialects, str) or not declaration.dialects:
        raise TargetError(f"{name}: declares dialects {declaration.dialects!r}: a tuple of names")
    for dialect in declaration.dialects:
        # One of one's own may have any name; one so like a known one is a slip of the pen.
        if dialect not in TERMINALS and (meant := slip_of(dialect, TERMINALS)):
            raise TargetError(f"{name}: declares dialect {dialect!r}; did you mean {meant!r}?")
    if set(declaration.dialects) <= set(TERMINALS):
        known = [word for dialect in declaration.dialects for word in TERMINALS[dialect]]
        if declaration.terminal not in known:
            raise TargetError(
                f"{name}: declares terminal {declaration.terminal!r}; "
                f"{', '.join(declaration.dialects)} ends with {' or '.join(known)}"
            )


def _takes_client(factory: Callable[..., Any]) -> bool:
    parameters = inspect.signature(factory).parameters.values()
    return any(p.name == "http_client" or p.kind is p.VAR_KEYWORD for p in parameters)
