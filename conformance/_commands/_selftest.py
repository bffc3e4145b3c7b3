"""``dsh-conformance selftest``: is the kit itself any good?"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from .._near import did_you_mean
from .._reports import clean

if TYPE_CHECKING:
    from .._selftest._judging import Complaint
    from .._selftest._laws import Proof
    from .._selftest._units import Outcome

_BROKEN: Final = 1
_KIT_FAILED: Final = 3

_LONGEST_LINE: Final = 400

_KINDS: Final = {
    "mutant": "mutants, each caught for its declared reason and for nothing else",
    "good": "runs of adapters without fault, each without a bad verdict",
    "null": "adapters that do nothing, each failing nearly everywhere",
}


@click.command(name="selftest")
@click.option("--only", metavar="NAME…", help="Names of adapters, separated by commas or spaces.")
@click.option("--jobs", type=click.IntRange(1), help="Processes; 1: this one alone.")
@click.option("--quick", is_flag=True, help="One mutant a requirement, good adapters at one seed.")
@click.option("--write-table", is_flag=True, help="Write the page of mutants and do nothing else.")
@click.argument("names", nargs=-1)
def selftest_command(
    *, only: str | None, jobs: int | None, quick: bool, write_table: bool, names: tuple[str, ...]
) -> None:
    """Judge the kit by adapters whose faults are known.

    Mutants must be caught for their declared reasons, adapters without fault must pass, and
    adapters that do nothing must fail. NAMES narrow it to some of them, as --only does.

    Exit codes: 0 the kit is good, 1 a law is broken, 3 the kit itself failed, 4 no such name.
    """
    from .._selftest._campaign import all_names, default_jobs, plan, selftest
    from .._selftest._mutants import MUTANTS
    from .._selftest._table import PAGE, page_of

    if write_table:
        PAGE.write_text(page_of(MUTANTS), encoding="utf-8")
        click.echo(f"wrote {len(MUTANTS)} mutants to {PAGE}")
        return
    chosen = {*names, *(only or "").replace(",", " ").split()}
    unknown = sorted(chosen - set(all_names()))
    if unknown:
        raise click.UsageError("; ".join(_nobody_called(name) for name in unknown))
    total = len(plan(chosen, quick=quick))
    teller = _Teller(total)
    complaints, proof = selftest(
        chosen, quick=quick, jobs=jobs or default_jobs(), on_outcome=teller.hear
    )
    teller.sum_up(complaints, proof)
    if any(complaint.breaks_kit for complaint in complaints):
        sys.exit(_KIT_FAILED)
    sys.exit(_BROKEN if complaints else 0)


def _nobody_called(name: str) -> str:
    from .._selftest._campaign import all_names
    from .._selftest._table import PAGE
    from .._selftest._units import mutants_by_name

    meant = did_you_mean(name, all_names())
    others = ", ".join(sorted(set(all_names()) - set(mutants_by_name())))
    where = f"; the mutants are listed in {PAGE}, the others are {others}"
    return f"no adapter of the selftest is called {name}{meant or where}"


class _Teller:
    """Tells of each outcome as it comes, and of all of them at the end."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.heard: list[Outcome] = []

    def hear(self, outcome: Outcome) -> None:
        """Tell of one outcome."""
        self.heard.append(outcome)
        mark = _red("✗") if outcome.complaints else click.style("✓", fg="green")
        place = f"[{len(self.heard):>3}/{self.total}]"
        note = f"  {outcome.note}" if outcome.note else ""
        click.echo(f"{place} {mark} {outcome.unit.title}  {outcome.elapsed_s:.1f} s{note}")
        for complaint in outcome.complaints:
            click.echo(f"          {_red(_line(complaint))}")

    def sum_up(self, complaints: Sequence[Complaint], proof: Proof | None) -> None:
        """Tell of everything that is wrong, once more, and of how much there was."""
        click.echo()
        counts = Counter[str](outcome.unit.kind for outcome in self.heard)
        good = Counter[str](o.unit.kind for o in self.heard if not o.complaints)
        for kind, words in _KINDS.items():
            if counts[kind]:
                click.echo(f"{good[kind]:>4} of {counts[kind]:>3} {words}")
        if proof is not None:
            click.echo(
                f"{len(proof.tripped & proof.checks):>4} of {len(proof.checks)} checks trip over "
                f"some mutant; {len(proof.needed & proof.checks)} of them catch one that no "
                "other check catches"
            )
        if not complaints:
            click.echo(click.style("the kit is good", fg="green"))
            return
        click.echo(_red(f"the kit is not good: {len(complaints)} findings"))
        for complaint in complaints:
            click.echo(f"  {_red(_line(complaint))}")


def _line(complaint: Complaint) -> str:
    text = " ".join(clean(str(complaint)).split())
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}…"


def _red(text: str) -> str:
    return click.style(text, fg="red")
