"""Families that fit a story: a second, independent derivation of every answer.

Nothing is derived from relations here: families are sketched as the story tells, and looked at. A sketch has couples,
each with two seats, and for a seat the couple that its holder was born to. It has no people apart from their seats: a
family stays one if whoever is single marries somebody from nowhere, and nothing changes between the others. Nor need
it show everybody's parents: whoever has none in it is from nowhere, with ancestors that are nobody else's. A named man
sits in seat 0 and a named woman in seat 1; in a couple without a named one, either seat may be the man's.

Facts equate couples: x's own couple O(x), x's birth couple B(x), and the birth couples of those who sit in them. Some
leave a choice (through which parent? whose spouse?), and each series of choices makes one sketch. These decide every
question, because:

1. In a family that fits, every fact takes one side of its choice. The sketch that chooses alike maps into the family:
   couples to couples, births to births, seats to seats (in order, or swapped in a couple without a named one). Where
   a choice is between two seats of which nothing is known, the map may swap them, so one side will do.
2. Equating is all that a sketch does, so what holds in it holds in whatever it maps into. That goes for breaking a
   law, too: two names for one person, a man and a woman who are one, a couple met twice on the way up from another.
   So a sketch that breaks one maps into no family; and one that breaks none is itself a family that fits.
3. Two relations need people to differ: an uncle is not the parent, nor is one's spouse one's brother-in-law. As both
   are born to one couple, and siblings do not marry, this says just that two couples differ: O(x) and B(y) if y is
   x's nephew, O(x) and O(y) if y is x's brother-in-law. In a fact it is one more law to keep, as in 2.
4. So a query holds in some family if a sketch of the story with the query for another fact is lawful. It fails in
   some if a lawful sketch of the story does not equate what it equates, that sketch being a family; or if the couples
   of 3 may be one, which is to say, if the story has a lawful sketch with x's `child` or `SO` y for another fact.
   Otherwise every lawful sketch equates what the query does, and by 2 so does every family, and keeps them apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storyproof.families.kinship.genealogy import Family, Person
from storyproof.families.kinship.relations import GENDERS, Fact
from storyproof.families.kinship.sketches import (
    CHILD,
    DOWN,
    KINDS,
    NEPHEW,
    SIBLING_IN_LAW,
    SPOUSE,
    Option,
    Sketch,
    Told,
)

ENTAILED, AMBIGUOUS, CONTRADICTED, IMPOSSIBLE = "entailed", "ambiguous", "contradicted", "impossible"
STATUSES = (ENTAILED, AMBIGUOUS, CONTRADICTED, IMPOSSIBLE)
_UNLESS = {NEPHEW: CHILD, SIBLING_IN_LAW: SPOUSE}  # what says that the two couples that must differ are one


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the families that fit a story say to a question.

    Attributes:
        status: One of STATUSES.
        fits: A family that fits the story and in which the query holds; None if there is none.
        against: A family that fits the story and in which the query does not hold; None if there is none.
    """

    status: str
    fits: Family | None
    against: Family | None


def _finish(sketch: Sketch, without: Told | None = None) -> Iterator[Sketch]:
    """Make all choices that are left, in every lawful way; leave out those where something holds."""
    ahead = [] if without and sketch.holds(without) else [sketch]
    dead_ends = dict[Told, int]()
    while ahead:
        sketch = ahead.pop()
        options: tuple[Option, ...] = ()
        while sketch.open and not options:
            if dead_ends:  # try first what went wrong before, lest it go wrong again after each choice beside the point
                told = max(sketch.open, key=lambda each: dead_ends.get(each, 0))
                sketch.open.remove(told)
            else:
                told = sketch.open.pop()
            options = sketch.options(told)
        if not options:
            yield sketch
            continue
        before = len(ahead)
        for place, option in enumerate(options, start=1):
            twin = sketch if place == len(options) else sketch.copy()
            if twin.choose(option) and not (without and twin.holds(without)):  # what holds would go on to hold
                ahead.append(twin)
        if len(ahead) == before:
            dead_ends[told] = dead_ends.get(told, 0) + 1


def _finish_with(sketch: Sketch, fact: Told) -> Iterator[Sketch]:
    """Add a fact, then make all choices."""
    twin = sketch.copy()
    return _finish(twin) if fact[1] != fact[2] and twin.tell([fact]) else iter(())


def _parse(people: int, fact: Fact) -> Told:
    """Tell a fact from the elder's side."""
    first, predicate, second = fact
    if predicate not in KINDS:
        raise ValueError(f"unknown predicate {predicate!r} in {fact}; known: {', '.join(KINDS)}")
    if not (0 <= first < people and 0 <= second < people):
        raise ValueError(f"{fact} is about somebody else than people 0 to {people - 1}")
    return (KINDS[predicate], first, second) if predicate in DOWN else (KINDS[predicate], second, first)


def _sketch(genders: Sequence[str], facts: Sequence[Fact]) -> Sketch | None:
    """Sketch what a story tells, with its choices left open; None if that is unlawful already."""
    told = {_parse(len(genders), fact) for fact in facts}
    sketch = Sketch(genders)
    return sketch if all(first != second for _, first, second in told) and sketch.tell(list(told)) else None


def _decide(genders: Sequence[str], facts: Sequence[Fact], query: Fact) -> tuple[Sketch | None, Sketch | None]:
    """Find a sketch that fits the story and in which the query holds, and one in which it does not."""
    asked = _parse(len(genders), query)
    story = _sketch(genders, facts)
    if story is None:
        return None, None
    kind, first, second = asked
    against = next(_finish(story.copy(), asked if first != second else None), None)
    if against is None and kind in _UNLESS:
        against = next(_finish_with(story, (_UNLESS[kind], first, second)), None)
    return next(_finish_with(story, asked), None), against


def _label(fits: Sketch | None, against: Sketch | None) -> str:
    if fits is None:
        return IMPOSSIBLE if against is None else CONTRADICTED
    return ENTAILED if against is None else AMBIGUOUS


def status(genders: Sequence[str], facts: Sequence[Fact], query: Fact) -> str:
    """Say whether a query holds in all, some or none of the families that fit a story, or that no family fits.

    Args:
        genders: Of the story's people, who are pairwise distinct.
        facts: The story.
        query: What is asked; nobody is anything to themself.

    Returns:
        One of STATUSES.

    Raises:
        ValueError: If a predicate is unknown or a person out of range.
    """
    return _label(*_decide(genders, facts, query))


def judge(genders: Sequence[str], facts: Sequence[Fact], query: Fact, names: Sequence[str] | None = None) -> Verdict:
    """Give the status of a query (see status) with families that show it; without names, people have their numbers."""
    fits, against = _decide(genders, facts, query)
    drawn = [sketch if sketch is None else _family(sketch, genders, names) for sketch in (fits, against)]
    return Verdict(_label(fits, against), *drawn)


def families(genders: Sequence[str], facts: Sequence[Fact], names: Sequence[str] | None = None) -> Iterator[Family]:
    """Give the most general family for each series of choices that a story leaves; none if the story is impossible."""
    story = _sketch(genders, facts)
    return (_family(sketch, genders, names) for sketch in (() if story is None else _finish(story)))


def _family(sketch: Sketch, genders: Sequence[str], names: Sequence[str] | None) -> Family:
    """Draw a finished sketch, without the couples that matter to nobody."""
    born, name = Counter(sketch.birth), sketch.name
    births = [-1 if born[couple] == 1 and sketch.blank(couple) else couple for couple in sketch.birth]
    kept = set(births) - {-1}
    kept |= {seat >> 1 for seat, birth in enumerate(births) if (birth if name[seat] < 0 else name[seat ^ 1]) >= 0}
    number = {couple: place for place, couple in enumerate(sorted(kept))}
    unnamed = [seat for couple in number for seat in (2 * couple, 2 * couple + 1) if name[seat] < 0]
    labels: list[tuple[str | None, str]] = [(None, GENDERS[seat & 1]) for seat in unnamed]
    labels[:0] = zip(map(str, range(len(genders))) if names is None else names, genders, strict=True)
    seats = sketch.where + unnamed
    people = [
        Person(*label, number.get(births[seat]), number.get(seat >> 1))
        for label, seat in zip(labels, seats, strict=True)
    ]
    place = {seat: person for person, seat in enumerate(seats)}
    return Family(tuple(people), tuple((place[2 * couple], place[2 * couple + 1]) for couple in number))
