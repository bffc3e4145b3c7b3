"""The laws that the declarations keep, and what the outcomes prove of the kit. Pure.

Neutralising a check means that it always passes. Whether the selftest would notice is read
from the outcomes: it does where some mutant trips one of its keys by that check alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from .._catalogue import load_catalogue
from ._judging import Complaint
from ._mutant import Mutant, requirement_of
from ._units import Outcome

LEAST_MUTANTS = 70


def broken_laws(mutants: Sequence[Mutant]) -> list[Complaint]:
    """Return what is wrong with the declarations as a whole (law 1), without a run."""
    return [*_unkilled(mutants), *_malformed(mutants)]


def _unkilled(mutants: Sequence[Mutant]) -> Iterator[Complaint]:
    killed = {requirement for mutant in mutants for requirement in mutant.requirements}
    for requirement in load_catalogue().requirements:
        if requirement.id not in killed:
            yield Complaint("law 1", requirement.id, "no mutant trips it")
    if len(mutants) < LEAST_MUTANTS:
        said = f"expected at least {LEAST_MUTANTS}, got {len(mutants)}"
        yield Complaint("law 1", "the number of mutants", said)


def _malformed(mutants: Sequence[Mutant]) -> Iterator[Complaint]:
    for name, count in Counter(mutant.name for mutant in mutants).items():
        if count > 1:
            yield Complaint(name, "its name", f"{count} mutants have it")
    for mutant in mutants:
        if not mutant.trips:
            yield Complaint(mutant.name, "what it trips", "nothing is declared")
        for key, words in mutant.trips.items():
            if requirement_of(key) not in load_catalogue():
                yield Complaint(mutant.name, key, "no requirement is called so")
            if not words.strip():
                yield Complaint(mutant.name, key, "the reason is empty: anything would do")


@dataclass(frozen=True, slots=True)
class Proof:
    """What a run of all mutants shows of the kit's checks.

    Attributes:
        checks: Every check that applies to the mutants.
        tripped: Those that some mutant trips for a declared reason.
        needed: Those without which some mutant would get through.
    """

    checks: frozenset[str]
    tripped: frozenset[str]
    needed: frozenset[str]

    @property
    def share_tripped(self) -> float:
        """The share of the checks that some mutant trips, 0 to 1."""
        return len(self.tripped & self.checks) / max(1, len(self.checks))


def proof_of(outcomes: Iterable[Outcome]) -> Proof:
    """Return what the outcomes of all mutants and of the good adapters prove."""
    outcomes = list(outcomes)
    found = [checks for outcome in outcomes for checks in outcome.evidence.values()]
    return Proof(
        checks=frozenset(check for outcome in outcomes for check in outcome.checks),
        tripped=frozenset(check for checks in found for check in checks),
        needed=frozenset(checks[0] for checks in found if len(set(checks)) == 1),
    )


def unnoticed(proof: Proof, essential: Collection[str]) -> list[Complaint]:
    """Return what could be neutralised without any mutant getting through.

    Args:
        proof: Of a run of all mutants.
        essential: Ids of the scenarios and of the rules for every call; each must be needed.
    """
    complaints = [
        Complaint("the kit mutated", check, "always passing, no mutant would get through")
        for check in sorted(essential)
        if check not in proof.needed
    ]
    caught = {requirement_of(check) for check in proof.tripped}
    complaints += [
        Complaint("the kit mutated", requirement.id, "always passing, nothing would turn red")
        for requirement in load_catalogue().requirements
        if requirement.id not in caught
    ]
    return complaints


def smallest_cover(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Return few mutants that together kill every requirement that any of them kills."""
    left = {requirement for mutant in mutants for requirement in mutant.requirements}
    chosen: list[Mutant] = []
    while left:
        best = max(mutants, key=lambda mutant: len(mutant.requirements & left))
        chosen.append(best)
        left -= best.requirements
    return chosen
