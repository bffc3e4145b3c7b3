"""The published report: what every format is made from, and what is read back."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)

from .._catalogue import Level, Requirement, load_catalogue
from .._result import Result, Run, Status
from .._terminal import worst
from ._clean import clean

FORMAT: Final = "dsh-conformance-report"
SCHEMA_VERSION: Final = 1
DISTRIBUTION: Final = "dsh-adapter-sdk"

Text: TypeAlias = Annotated[str, AfterValidator(clean)]
Seconds: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Value(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )


class Event(_Value):
    """What one side did, on the clock that both sides share."""

    at_s: Annotated[float, Field(allow_inf_nan=False)]
    """Seconds since the call began."""
    side: Text
    """`server` or `caller`."""
    what: Text
    """What happened, in one line."""


class CheckReport(_Value):
    """The verdict of one check."""

    id: Text
    """The requirement's folder, a slash, and what happens."""
    title: Text
    """The right behaviour, in one sentence."""
    status: Status
    """The verdict."""
    lane: Text
    """How it was played: `socket` over loopback, `in-process` in such pieces or such a sweep,
    `code` by calls of its own; of a rule for every call, how many plays it is about or in which
    check it was not kept."""
    differences: tuple[Text, ...]
    """What is not as expected, in plain words."""
    said: Text
    """What the adapter told its caller."""
    note: Text
    """Why it did not apply, is known to fail, or what broke the kit."""
    timeline: tuple[Event, ...]
    """Both sides on one clock."""
    elapsed_s: Seconds
    """How long the call took, in seconds."""


class RequirementReport(_Value):
    """One requirement and the verdicts of its checks."""

    id: Text
    """Stable and never reused."""
    level: Level
    """The word of RFC 2119."""
    statement: Text
    """The sentence that is tested."""
    why: Text
    """What goes wrong without it."""
    source: Text
    """Where it was decided: `S` and a number is a design note of this project, `R9110` is RFC 9110,
    `SSE` the WHATWG's specification of server-sent events."""
    needs: Text | None
    """The capability without which it does not apply."""
    status: Status
    """The worst verdict of its checks."""
    checks: tuple[CheckReport, ...]
    """In the order of the catalogue."""


class Report(_Value):
    """A run of the conformance kit against one adapter."""

    format: Literal["dsh-conformance-report"]
    """Tells this file from others."""
    schema_version: Literal[1]
    """Of this shape. Another one cannot be read by this version of the kit."""
    kit_version: Text
    """Of the distribution that judged."""
    edition: Text
    """Of the requirement catalogue."""
    edition_levels: dict[Level, int]
    """How many requirements the edition has at each level, whether selected or not."""
    finished: AwareDatetime
    """When the run ended."""
    target: Text
    """The adapter, as it was asked for."""
    profile: Text | None
    """The profile that was judged."""
    backend: Text
    """The event loop under the adapter."""
    client: Text
    """Which HTTP client the adapter used, in words."""
    seed: int
    """Of the seeded splits."""
    cases: Text | None = None
    """The folder of more case files, as it was given."""
    known_failures: Text | None = None
    """The file of known failures, as it was given."""
    dialects: tuple[Text, ...]
    """Declared by the adapter."""
    capabilities: tuple[Text, ...]
    """Declared by the adapter, sorted."""
    elapsed_s: Seconds
    """How long the whole run took, in seconds."""
    exit_code: Literal[0, 1, 3, 5]
    """0 conformant, 1 not, 3 the kit failed, 5 no MUST was checked."""
    counts: dict[Status, int]
    """How often each status was given; every status is there."""
    requirements: tuple[RequirementReport, ...]
    """Those that were selected, in the order of the catalogue."""

    @model_validator(mode="after")
    def _counted(self) -> Self:
        given = Counter(check.status for check in self.checks)
        if self.counts != {status: given[status] for status in Status}:
            raise ValueError("the counts are not those of the checks")
        return self

    @property
    def checks(self) -> tuple[CheckReport, ...]:
        """Every check, in the order of the requirements."""
        return tuple(check for requirement in self.requirements for check in requirement.checks)

    def to_json(self) -> str:
        """Return the report as the published JSON; ``read_report`` reads it back equal."""
        return self.model_dump_json(indent=1) + "\n"


def report_of(run: Run, *, finished: datetime | None = None) -> Report:
    """Return the report of ``run``, clean of credentials and control characters.

    Args:
        run: All its verdicts.
        finished: When it ended, with a time zone; None for now.
    """
    grouped: dict[str, list[Result]] = {}
    for result in run.results:
        grouped.setdefault(result.check.requirement.id, []).append(result)
    counts = run.counts()
    levels = Counter(requirement.level for requirement in load_catalogue().requirements)
    return Report.model_validate(
        {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            "kit_version": kit_version(),
            "edition": run.edition,
            "edition_levels": dict(levels),
            "finished": (finished or datetime.now(UTC)).replace(microsecond=0),
            "target": run.target,
            "profile": run.profile,
            "backend": run.backend,
            "client": run.client,
            "seed": run.seed,
            "cases": run.cases,
            "known_failures": run.known_failures,
            "dialects": run.dialects,
            "capabilities": run.capabilities,
            "elapsed_s": _rounded(run.elapsed_s),
            "exit_code": run.exit_code,
            "counts": {status: counts[status] for status in Status},
            "requirements": tuple(_requirement(results) for results in grouped.values()),
        }
    )


def _requirement(results: list[Result]) -> RequirementReport:
    requirement: Requirement = results[0].check.requirement
    return RequirementReport(
        id=requirement.id,
        level=requirement.level,
        statement=requirement.statement,
        why=requirement.why,
        source=requirement.source,
        needs=requirement.needs,
        status=worst(results),
        checks=tuple(_check(result) for result in results),
    )


def _check(result: Result) -> CheckReport:
    return CheckReport(
        id=result.check.id,
        title=result.check.title,
        status=result.status,
        lane=result.lane,
        differences=result.differences,
        said=result.said,
        note=result.note,
        timeline=tuple(
            Event(at_s=_rounded(at), side=side, what=what) for at, side, what in result.timeline
        ),
        elapsed_s=_rounded(result.elapsed_s),
    )


def _rounded(seconds: float) -> float:
    return round(seconds, 6)


def kit_version() -> str:
    """Return the version of the kit; a checkout that nobody installed has none."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:  # run from a checkout that is only on the path
        return "not installed"
