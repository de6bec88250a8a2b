"""Proofs checked by deletion: the named sentences alone give the answer, and none of them can be left out.

What the sentences entail is decided by the checker, or for an answer that holds only by rules of composition, such as
the published ones, by a closure under these rules. Neither shares code with the oracle, which chooses the proof.

A sentence, that is, a line of the story, counts with all facts that it states there, which may be none or several:
pronouns mean whom they mean in the whole story. People have the genders that the row records. Natural text does not
leave the gender of the person asked about to the name, so there one of the named sentences has to show it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from storyproof.families.kinship.checker import ENTAILED, status
from storyproof.families.kinship.relations import Fact
from storyproof.families.kinship.rules import RuleSet

Gives = Callable[[Sequence[Fact]], bool]  # whether some facts give the relation asked for
_MOST_KEPT = 1 << 14  # sets of facts whose status is cached


def entails(genders: Sequence[str], query: Fact) -> Gives:
    """Return what decides by the checker whether facts entail an answer."""
    people_genders = tuple(genders)
    return lambda facts: _entails(people_genders, tuple(sorted(facts)), query)


def derives(rules: RuleSet, query: Fact) -> Gives:
    """Return what decides by rules, other than the strict ones, whether an answer can be derived from facts."""
    return lambda facts: _derives(rules, frozenset(facts), query)


@lru_cache(maxsize=_MOST_KEPT)
def _entails(genders: tuple[str, ...], facts: tuple[Fact, ...], query: Fact) -> bool:
    return status(genders, facts, query) == ENTAILED


@lru_cache(maxsize=_MOST_KEPT)
def _derives(rules: RuleSet, facts: frozenset[Fact], query: Fact) -> bool:
    """Apply rules that use facts in the direction in which they are stated, until the answer or nothing new follows."""
    derived = new = set(facts)
    while new and query not in derived:
        pairs = [(one, other) for one in derived for other in derived if one in new or other in new]
        heads = {
            Fact(one.first, head, other.second)
            for one, other in pairs
            if one.second == other.first != one.first != other.second
            and (head := rules.heads.get((one.predicate, other.predicate))) is not None
        }
        new = heads - derived
        derived = derived | new
    return query in derived


@dataclass(slots=True)
class GenderLines:
    """The sentences of a natural text that show somebody's gender, looked for only where kin words do not suffice.

    Attributes:
        story: The text.
        names: Everybody whom it names.
        person: Whose gender.
        words: Sentences in which a kin word shows it; there may be more.
    """

    story: str
    names: Sequence[str]
    person: str
    words: frozenset[int] = frozenset()
    _all: frozenset[int] | None = None

    @property
    def all(self) -> frozenset[int]:
        """All sentences that show it, by a kin word or a pronoun."""
        if self._all is None:
            from storyproof.families.kinship.language.reader import find_gender_lines  # takes a while to import

            self._all = find_gender_lines(self.story, self.names, self.person)
        return self._all

    def is_shown(self, proof: Sequence[int]) -> bool:
        """Return whether some sentences show it; true if none of the story does, which is another problem."""
        return not self.words.isdisjoint(proof) or not self.all or not self.all.isdisjoint(proof)


@dataclass(frozen=True, slots=True)
class ProofTest:
    """Decides whether sentences of a story prove an answer; they are numbered from 1.

    Attributes:
        lines: The facts that each sentence states.
        gives: Whether facts give the relation asked for.
        gender: The sentences that show the gender of the person asked about; None if it need not be shown.
    """

    lines: Sequence[Sequence[Fact]]
    gives: Gives
    gender: GenderLines | None = None

    def holds(self, proof: Sequence[int]) -> bool:
        """Return whether the answer follows from some sentences."""
        facts = [fact for number in proof for fact in self.lines[number - 1]]
        return self.gives(facts) and (self.gender is None or self.gender.is_shown(proof))

    def find_flaw(self, proof: Sequence[int]) -> str:
        """Return what is wrong with a proof, as an addition to its numbers; empty if nothing is."""
        if list(proof) != sorted(set(proof) & set(range(1, len(self.lines) + 1))):
            return f"which are not different sentences from 1 to {len(self.lines)} in order"
        if not self.holds(proof):
            return "from which the answer does not follow"
        spare = [str(number) for number in proof if self.holds(_without(proof, number))]
        return f"of which {' or '.join(spare)} can be left out" if spare else ""

    def add_gender(self, proof: Sequence[int]) -> list[int]:
        """Return a proof with the first sentence that shows the gender asked for, unless one of its own shows it."""
        if self.gender is None or self.gender.is_shown(proof):
            return list(proof)
        return sorted({*proof, min(self.gender.all)})

    def leave_out(self, proof: Sequence[int]) -> list[int]:
        """Return a proof without the sentences that it does not need, left out from the last to the first.

        Whatever follows from some sentences follows from more of them, so going through them once is enough.
        """
        kept = list(proof)
        for number in reversed(proof):
            rest = _without(kept, number)
            if self.holds(rest):
                kept = rest
        return kept


def _without(proof: Sequence[int], number: int) -> list[int]:
    return [each for each in proof if each != number]
