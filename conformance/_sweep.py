"""Sweeps: the same good answers in other bytes and other reads. The outcome must not change."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias, TypeVar

from adapter_sdk.testing import Send, Split, at, run_virtual, whole

from ._case import Case, CaseExchange, RawBytes
from ._catalogue import load_catalogue
from ._judge import Difference
from ._lanes import Means, in_process_at_splits
from ._play import Setting, steps
from ._result import Check
from ._target import Target
from ._variants import VARIANTS, Variant

T = TypeVar("T")

Extent: TypeAlias = Literal["smoke", "full"]

# What a smoke run takes of each sweep; a full one takes all.
SMOKE_CASES: Final = 10
SMOKE_CUTS: Final = 12

# A full run cuts so many answers of each requirement at every byte, and the rest at a sample:
# what is alike but for its words shows nothing more, and all of them take minutes.
CUT_EVERYWHERE: Final = 3

# A longer answer has more two-way splits than they are worth.
LONGEST_SWEPT_BYTES: Final = 4096

# Bytes shown on either side of a cut.
SHOWN_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One sweep over good answers, as a check.

    Attributes:
        check: What it shows.
        run: Returns every difference, the first few of them.
    """

    check: Check
    run: Callable[[], list[Difference]]


def sweeps(
    cases: Sequence[Case], target: Target, means: Means, *, extent: Extent, seed: int
) -> list[Sweep]:
    """Return every sweep that the good answers among ``cases`` allow.

    Args:
        cases: Those that apply to the target; the sweeps pick what they can use.
        target: What is judged; it must take a client.
        means: Backend and library.
        extent: ``smoke`` takes a seeded sample, ``full`` everything.
        seed: Of the sample.
    """
    good = [case for case in cases if _is_good(case)]
    found = [_split_sweep(good, target, means, extent=extent, seed=seed)]
    for variant in VARIANTS:
        if variant.fits(target.declaration.dialects):
            found.append(_variant_sweep(variant, good, target, means, extent=extent, seed=seed))
    return found


def sweep_checks() -> list[Check]:
    """Return the checks of every sweep, whatever the target."""
    return [_split_check(), *(_variant_check(variant) for variant in VARIANTS)]


def _is_good(case: Case) -> bool:
    """Whether a case is one good answer of bytes alone, an event stream of moderate length."""
    if case.expect.outcome != "success" or case.call.think or len(case.exchange) != 1:
        return False
    exchange = case.exchange[0]
    if exchange.body is not None:
        return False
    names = {name.lower() for name, _ in exchange.headers}
    streamed = any("event-stream" in str(value).lower() for _, value in exchange.headers)
    if not streamed or names & {"content-encoding", "content-length"} or exchange.interim:
        return False
    return case.dialect != "any" and not case.is_timed and not case.is_flood


def body_of(case: Case) -> bytes:
    """Return the bytes that a good case sends; the same ones at every call."""
    setting = Setting(
        idle_s=1.0, now=datetime(2026, 1, 1, tzinfo=UTC), request_id_headers=("x", "x"),
        other_origin="", nonce="sweep",
    )  # fmt: skip
    played = steps(case.exchange[0].send, setting)
    return b"".join(step.data for step in played if isinstance(step, Send))


def with_body(case: Case, body: bytes, headers: Sequence[tuple[str, str]] = ()) -> Case:
    """Return ``case`` with another body, sent at once."""
    exchange: CaseExchange = case.exchange[0].model_copy(
        update={
            "send": (RawBytes(b64=body),),
            "headers": (*case.exchange[0].headers, *headers),
        }
    )
    return case.model_copy(update={"exchange": (exchange,)})


# ---- variants ----------------------------------------------------------------------------


def _variant_sweep(
    variant: Variant,
    good: Sequence[Case],
    target: Target,
    means: Means,
    *,
    extent: Extent,
    seed: int,
) -> Sweep:
    def run() -> list[Difference]:
        fitting = [
            with_body(case, changed, variant.headers)
            for case in good
            if (changed := variant.apply(body_of(case), dialect=case.dialect)) is not None
        ]
        telling = [case for case in fitting if _tells(case, variant.requirement)] or fitting
        chosen = _sample(telling, SMOKE_CASES, extent=extent, seed=seed)
        plays = [_Play(case, [(whole, variant.name)]) for case in chosen]
        return _play_all(plays, target, means)

    return Sweep(check=_variant_check(variant), run=run)


def _tells(case: Case, requirement: str) -> bool:
    """Whether a good case would show a difference: most do not say what the usage is."""
    message = case.expect.message
    match requirement:
        case "usage":
            return message is not None and message.usage is not None
        case "tool-calls":
            return message is not None and bool(message.tools)
        case _:
            return True


def _variant_check(variant: Variant) -> Check:
    requirement = load_catalogue()[variant.requirement]
    slug = "".join(c if c.isalnum() else "_" for c in variant.name.lower()).strip("_")
    title = f"Every good answer means the same with {variant.name}"
    return Check(f"{requirement.folder}/variant_{slug}", requirement, title)


# ---- splits ------------------------------------------------------------------------------


def _split_sweep(
    good: Sequence[Case], target: Target, means: Means, *, extent: Extent, seed: int
) -> Sweep:
    def run() -> list[Difference]:
        plays: list[_Play] = []
        everywhere: Counter[str] = Counter()
        for case in _sample(good, SMOKE_CASES, extent=extent, seed=seed):
            body = body_of(case)
            if len(body) <= LONGEST_SWEPT_BYTES:
                everywhere[case.requirement] += 1
                own = extent if everywhere[case.requirement] <= CUT_EVERYWHERE else "smoke"
                cuts = _sample(range(1, len(body)), SMOKE_CUTS, extent=own, seed=seed)
                splits = [(at(cut), _shown_cut(body, cut)) for cut in cuts]
                plays.append(_Play(with_body(case, body), splits))
        return _play_all(plays, target, means)

    return Sweep(check=_split_check(), run=run)


def _split_check() -> Check:
    requirement = load_catalogue()["sse-framing"]
    title = "Every good answer means the same wherever its bytes are cut into two reads"
    return Check(f"{requirement.folder}/every_two_way_split", requirement, title)


def smallest_failing_cuts(
    cuts: Sequence[int], fails: Callable[[Sequence[int]], bool]
) -> tuple[int, ...]:
    """Return a smallest part of ``cuts`` that still fails: no cut of it can be left out.

    Args:
        cuts: Positions that fail together.
        fails: Whether some of them fail.
    """
    kept = list(cuts)
    size = max(1, len(kept) // 2)
    while True:
        for start in range(0, len(kept), size):
            fewer = kept[:start] + kept[start + size :]
            if fewer and fails(fewer):
                kept = fewer
                break
        else:
            if size == 1:
                return tuple(kept)
            size = max(1, size // 2)


def _shown_cut(body: bytes, cut: int) -> str:
    before, after = body[max(0, cut - SHOWN_BYTES) : cut], body[cut : cut + SHOWN_BYTES]
    return f"a cut at byte {cut}: {before!r} | {after!r}"


# ---- shared ------------------------------------------------------------------------------


def _sample(items: Sequence[T], size: int, *, extent: Extent, seed: int) -> list[T]:
    if extent == "full" or len(items) <= size:
        return list(items)
    return random.Random(seed).sample(list(items), size)  # noqa: S311 - why: repeatable


@dataclass(frozen=True, slots=True)
class _Play:
    """One body and the reads that it comes in, each with words for what was done."""

    case: Case
    splits: Sequence[tuple[Split, str]]


def _play_all(plays: Sequence[_Play], target: Target, means: Means) -> list[Difference]:
    """Return the differences of the first play that has any, with what was done to it."""

    async def batch() -> list[Difference]:
        for play in plays:
            splits = [split for split, _ in play.splits]
            done = iter(play.splits)
            async with aclosing(
                in_process_at_splits(play.case, target, means, splits=splits)
            ) as results:
                async for played in results:
                    _, words = next(done)
                    if played.differences:
                        return [_named(play.case, words, d) for d in played.differences]
        return []

    return run_virtual(means.backend, batch)


def _named(case: Case, words: str, difference: Difference) -> Difference:
    field = f"{case.id} with {words}: {difference.field}"
    return Difference(field, difference.expected, difference.got)
