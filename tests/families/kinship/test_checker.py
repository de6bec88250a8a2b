import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from storyproof.families.kinship.checker import (
    AMBIGUOUS,
    CONTRADICTED,
    ENTAILED,
    IMPOSSIBLE,
    STATUSES,
    Witnesses,
    find_witnesses,
    fitting_families,
    status,
)
from storyproof.families.kinship.genealogy import Genealogy, Person
from storyproof.families.kinship.relations import BASIC, FEMALE, GENDERS, MALE, NAMES, Fact, inverse
from tests.groups import try_examples

Puzzle = tuple[list[str], list[Fact], Fact]

OTHER = {MALE: FEMALE, FEMALE: MALE}
LETTERS = {"m": MALE, "f": FEMALE}


def puzzle(genders: str, story: str, query: str) -> Puzzle:
    """Read a puzzle such as ("mff", "0 child 1, 1 child 2", "0 grand 2")."""
    facts = [Fact(int(first), predicate, int(second)) for first, predicate, second in map(str.split, story.split(","))]
    first, predicate, second = query.split()
    return [LETTERS[letter] for letter in genders], facts, Fact(int(first), predicate, int(second))


def holds(family: Genealogy, fact: Fact) -> bool:
    return fact.second in family.kin(fact.first, fact.predicate)


def truths(family: Genealogy, named: Sequence[int]) -> list[Fact]:
    """Give all that is true between some people, numbered by their places."""
    places = {person: place for place, person in enumerate(named)}
    found = [(person, predicate, family.kin(person, predicate)) for person in named for predicate in NAMES]
    return [Fact(places[a], predicate, places[b]) for a, predicate, kin in found for b in sorted(kin) if b in places]


# --- known cases

KNOWN = [  # (genders, story, query, status)
    ("mff", "0 child 1, 1 child 2", "0 grand 2", ENTAILED),
    ("mff", "0 child 1, 1 child 2", "2 inv-grand 0", ENTAILED),
    ("mff", "0 child 1, 1 child 2", "0 child 2", CONTRADICTED),
    ("mff", "0 inv-child 1, 1 child 2", "0 sibling 2", ENTAILED),
    ("mmf", "0 child 1, 1 inv-child 2", "0 SO 2", ENTAILED),
    ("mfm", "0 child 1, 1 inv-child 2", "0 SO 2", IMPOSSIBLE),
    ("mffm", "0 SO 1, 1 child 2, 2 inv-child 3", "0 child 3", IMPOSSIBLE),  # 3 would be 0
    ("mff", "0 inv-child 1, 2 SO 0", "0 child 1", CONTRADICTED),
    ("mff", "0 inv-child 1, 2 SO 0", "1 in-law 2", ENTAILED),
    ("mff", "0 child 1, 1 inv-un 2", "0 sibling 2", AMBIGUOUS),  # or the wife's sister
    ("mff", "0 child 1, 1 inv-un 2", "0 sibling-in-law 2", AMBIGUOUS),
    ("mff", "0 child 1, 1 inv-un 2", "0 SO 2", CONTRADICTED),
    ("mff", "0 child 1, 1 inv-grand 2", "0 inv-child 2", AMBIGUOUS),  # or his mother-in-law
    ("mff", "0 child 1, 1 inv-grand 2", "0 inv-in-law 2", AMBIGUOUS),
    ("mfm", "0 inv-in-law 1, 1 child 2", "0 sibling-in-law 2", ENTAILED),
    ("mff", "0 inv-in-law 1, 1 child 2", "0 sibling-in-law 2", AMBIGUOUS),  # or his wife herself
    ("mff", "0 inv-in-law 1, 1 child 2", "0 SO 2", AMBIGUOUS),
    ("mff", "0 SO 1, 1 sibling 2", "0 sibling-in-law 2", ENTAILED),
    ("mff", "0 sibling 1, 0 sibling-in-law 2", "0 SO 2", CONTRADICTED),
    ("mff", "0 grand 1, 0 child 2", "2 un 1", AMBIGUOUS),  # she may be the mother
    ("mff", "0 grand 1, 0 child 2", "2 child 1", AMBIGUOUS),
    ("mfff", "0 grand 1, 0 child 2, 0 child 3, 3 child 1", "2 un 1", ENTAILED),
    ("mfff", "0 grand 1, 0 child 2, 3 child 1", "2 un 1", ENTAILED),  # be it through the father or through 3
    ("mfff", "0 grand 1, 0 child 2, 3 child 1", "3 sibling 2", AMBIGUOUS),
    ("mmmf", "0 inv-grand 1, 0 inv-grand 2, 1 SO 3", "0 inv-grand 3", ENTAILED),
    ("mmmf", "0 inv-grand 1, 0 inv-grand 2, 0 inv-grand 3", "1 SO 3", AMBIGUOUS),
    ("fmmm", "0 inv-grand 1, 0 inv-grand 2, 0 inv-grand 3", "1 SO 3", IMPOSSIBLE),  # three grandfathers
    ("mff", "0 child 1, 1 sibling 2", "0 un 2", CONTRADICTED),
    ("mfmf", "0 sibling 1, 0 child 2, 1 child 3, 2 SO 3", "0 in-law 3", IMPOSSIBLE),  # cousins
    ("mfm", "0 sibling 1, 1 SO 0", "0 SO 2", IMPOSSIBLE),
    ("mf", "0 un 1, 0 SO 1", "0 SO 1", IMPOSSIBLE),
    ("mf", "0 un 1, 0 child 1", "0 un 1", IMPOSSIBLE),
    ("mf", "0 SO 1, 0 sibling-in-law 1", "0 SO 1", IMPOSSIBLE),
    ("mfm", "0 grand 1, 1 child 2, 2 child 0", "0 child 1", IMPOSSIBLE),  # his own ancestor
    ("mmf", "0 sibling 1, 1 child 2, 0 in-law 2", "0 un 2", IMPOSSIBLE),  # cousins again, one unnamed
    ("mmf", "0 SO 2", "0 child 1", AMBIGUOUS),
    ("mmf", "0 SO 2", "1 SO 2", CONTRADICTED),
    ("mmf", "0 SO 2, 0 child 0", "0 SO 2", IMPOSSIBLE),  # nobody is anything to themself
    ("mmf", "0 SO 2", "2 sibling 2", CONTRADICTED),
    ("mmmff", "0 child 2, 1 child 3, 0 in-law 3, 4 in-law 2", "2 SO 3", AMBIGUOUS),
    ("mmmfm", "0 child 2, 1 child 3, 0 in-law 3, 4 in-law 2", "2 SO 3", CONTRADICTED),  # 3 would have two fathers
    ("mmmfm", "4 child 2, 1 child 3, 4 in-law 3, 0 in-law 2", "2 SO 3", CONTRADICTED),  # again
    ("mff", "0 in-law 1, 0 child 2", "1 sibling-in-law 2", ENTAILED),
    ("mff", "0 in-law 1, 0 child 2", "2 sibling-in-law 1", ENTAILED),
    # 5 would be a child of her own aunt, or 0 of two cousins.
    (
        "mfffmfmm",
        "0 inv-grand 6, 0 inv-grand 1, 7 grand 4, 0 inv-un 5, 4 inv-un 5, 1 un 5",
        "1 inv-child 5",
        IMPOSSIBLE,
    ),
]

# 7 has two grandfathers, 0 and 9. The uncle 8 is a son of 1, who is not the wife of 9, so she is the wife of 0. She is
# no sister of the wife of her brother-in-law 2, so he is a brother of 0. The brothers' grandparents 3 and 4 are two
# men, on two sides, or they are a couple.
BROTHERS = "0 grand 7, 9 grand 7, 9 SO 10, 8 un 7, 1 child 8, 1 sibling-in-law 2, 5 child 1, 6 in-law 2"
GRANDPARENTS = "3 grand 0, 4 grand 2"
KNOWN += [
    ("mfmmmmmmmmf", f"{BROTHERS}, {GRANDPARENTS}", "0 SO 1", ENTAILED),
    ("mfmmmmmmmmf", f"{BROTHERS}, {GRANDPARENTS}", "3 SO 4", CONTRADICTED),
    ("mfmmfmmmmmf", f"{BROTHERS}, {GRANDPARENTS}, 3 SO 4", "0 sibling 2", ENTAILED),
    ("mfmmfmmmmmf", f"{BROTHERS}, {GRANDPARENTS}, 3 SO 4", "3 sibling 7", CONTRADICTED),
]


@pytest.mark.parametrize(("genders", "story", "query", "expected"), KNOWN)
def test_known_cases(genders: str, story: str, query: str, expected: str) -> None:
    assert status(*puzzle(genders, story, query)) == expected
    check_witnesses(*puzzle(genders, story, query))


@pytest.mark.parametrize("predicate", NAMES)
def test_nobody_is_related_to_themselves(predicate: str) -> None:
    """The sketch of a person equates much with itself: own couple and own couple, birth couple and birth couple."""
    genders, facts = [MALE, FEMALE, FEMALE], [Fact(0, "SO", 1), Fact(0, "inv-child", 2)]
    for person in range(3):
        itself = Fact(person, predicate, person)
        assert status(genders, facts, itself) == CONTRADICTED
        assert status(genders, [*facts, itself], Fact(0, "SO", 1)) == IMPOSSIBLE
        assert status(genders, [itself], itself) == IMPOSSIBLE
        assert not list(fitting_families(genders, [*facts, itself]))


def test_a_story_without_facts_allows_everything_but_what_genders_forbid() -> None:
    assert {status([MALE, FEMALE], [], Fact(0, name, 1)) for name in NAMES} == {AMBIGUOUS}
    assert status([MALE, MALE], [], Fact(0, "SO", 1)) == CONTRADICTED


@pytest.mark.parametrize(
    "fact",
    [
        *(Fact(0, "child", 2), Fact(2, "child", 0), Fact(-1, "child", 1), Fact(1, "child", -1)),
        *(Fact(0, "cousin", 1), Fact(0, "inv-SO", 1)),
    ],
)
def test_what_makes_no_sense_is_refused(fact: Fact) -> None:
    genders, fine = [MALE, FEMALE], Fact(0, "SO", 1)
    for call in (status, find_witnesses):
        with pytest.raises(ValueError, match=r"unknown predicate|somebody other than people 0 to 1"):
            call(genders, [fact], fine)
        with pytest.raises(ValueError, match=r"unknown predicate|somebody other than people 0 to 1"):
            call(genders, [fine], fact)
    with pytest.raises(ValueError, match=r"unknown predicate|somebody other than people 0 to 1"):
        fitting_families(genders, [fact])


def test_23_pairs_of_basic_predicates_compose() -> None:
    found = 0
    for first, second in itertools.product(BASIC, repeat=2):
        entailed = set(NAMES)
        for genders in itertools.product(GENDERS, repeat=3):
            facts = [Fact(0, first, 1), Fact(1, second, 2)]
            answers = {name: status(genders, facts, Fact(0, name, 2)) for name in NAMES}
            if IMPOSSIBLE not in answers.values():
                entailed &= {name for name, answer in answers.items() if answer == ENTAILED}
        found += bool(entailed) and len(entailed) < len(NAMES)
    assert found == 23


# --- witnesses


def check_witnesses(genders: Sequence[str], facts: Sequence[Fact], query: Fact) -> Witnesses:
    """Judge a puzzle, and check what is shown by the definitions of families and relations."""
    verdict = find_witnesses(genders, facts, query)
    assert verdict.status == status(genders, facts, query)
    assert (verdict.fits is not None) == (verdict.status in (ENTAILED, AMBIGUOUS))
    assert (verdict.against is not None) == (verdict.status in (AMBIGUOUS, CONTRADICTED))
    for family, expected in ((verdict.fits, True), (verdict.against, False)):
        if family is not None:
            check_family(family, genders, facts)
            assert holds(family, query) == expected
    return verdict


def check_family(family: Genealogy, genders: Sequence[str], facts: Sequence[Fact]) -> None:
    assert family.problems() == []
    assert all(holds(family, fact) for fact in facts)
    named, unnamed = family.people[: len(genders)], family.people[len(genders) :]
    assert [(person.name, person.gender) for person in named] == [(str(i), gender) for i, gender in enumerate(genders)]
    assert all(person.name is None and person.marriage is not None for person in unnamed)
    assert set(range(len(family.couples))) == {person.marriage for person in family.people} - {None}


def test_witnesses_bear_the_names_and_have_nobody_needless() -> None:
    genders, facts, query = puzzle("mff", "0 child 1", "1 un 2")
    verdict = find_witnesses(genders, facts, query, ["Al", "Bea", "Cleo"])
    assert verdict.status == AMBIGUOUS
    assert verdict.fits is not None
    assert verdict.against is not None
    # Al's wife, Bea's brother or sister and their spouse, who are Cleo's parents
    assert [person.name for person in verdict.fits.people] == ["Al", "Bea", "Cleo", None, None, None]
    assert verdict.against == Genealogy(
        (
            Person("Al", MALE, None, 0),
            Person("Bea", FEMALE, 0, None),
            Person("Cleo", FEMALE, None, None),
            Person(None, FEMALE, None, 0),
        ),
        ((0, 3),),
    )
    with pytest.raises(ValueError, match="argument 2 is longer"):
        find_witnesses(genders, facts, query, ["Al", "Bea"])


@pytest.mark.parametrize("couples", [[(0, 1), (8, 9)], [(2, 3), (16, 17)], [(0, 1), (6, 7), (40, 41)]])
def test_couples_stand_in_the_order_of_their_people(couples: list[tuple[int, int]]) -> None:
    facts = [Fact(husband, "SO", wife) for husband, wife in couples]
    (family,) = fitting_families([MALE, FEMALE] * 21, facts)
    assert family.couples == tuple(couples)


def test_families_shows_each_way_to_read_a_story() -> None:
    def ways(genders: str, story: str) -> list[Genealogy]:
        people, facts, _ = puzzle(genders, story, "0 SO 1")
        found = list(fitting_families(people, facts))
        for family in found:
            check_family(family, people, facts)
        return found

    assert len(ways("mf", "0 child 1")) == 1
    assert len(ways("mf", "0 grand 1")) == 1  # through whom makes no difference
    assert len(ways("mfm", "0 grand 1, 1 inv-grand 2")) == 1  # he cannot be on the same side
    assert len(ways("mff", "0 grand 1, 1 inv-grand 2")) == 2
    for uncle in (0, 1):  # uncles on one side, or on both
        assert len(ways("mmmm", f"0 un 2, 1 un 2, 3 grand {uncle}")) == 2
    found = ways("mfffmfm", "3 grand 5, 3 grand 1, 2 grand 0, 1 un 4, 3 grand 6, 5 un 0, 5 un 4, 6 un 0")
    asked = Fact(3, "child", 2), Fact(3, "in-law", 2)  # how the grandmothers of 0 and 1 are related, if at all
    assert sorted(tuple(holds(family, fact) for fact in asked) for family in found) == [
        (False, False),
        (False, True),
        (True, False),
    ]
    in_laws = ways("mf", "0 sibling-in-law 1")
    assert [len(family.people) for family in in_laws] == [5, 5]  # the spouse between them, and that one's parents
    assert ways("mm", "0 SO 1") == []


# --- all families that three people can be in
#
# What three people are to each other shows in six couples, those they are in and those they were born to: every
# relation is about two of these being one, or somebody in the one being born to the other. With single people married
# to somebody from nowhere, and all but six couples left out, a family stays lawful and keeps what the three are to each
# other. So the lawful families of six couples decide every puzzle about three people.

Births = tuple[tuple[int | None, int | None], ...]  # the couples that each couple's husband and wife were born to


def couples_only(births: Births) -> Genealogy:
    people = [Person(None, GENDERS[i], up, c) for c, pair in enumerate(births) for i, up in enumerate(pair)]
    return Genealogy(tuple(people), tuple((2 * couple, 2 * couple + 1) for couple in range(len(births))))


def look(births: Births) -> tuple[int, ...]:
    """Describe a family regardless of its couples' numbers, by ever longer ways up and down."""
    colours = [0] * len(births)
    for _ in births:
        below = defaultdict(list)
        for couple, pair in enumerate(births):
            for side, up in enumerate(pair):
                below[up].append((side, colours[couple]))
        above = [tuple(-1 if up is None else colours[up] for up in pair) for pair in births]
        colours = [hash((colours[c], above[c], *sorted(below[c]))) for c in range(len(births))]
    return tuple(sorted(colours))


@cache
def families_of_six_couples() -> list[Genealogy]:
    grown: list[Births] = [((None, None),)]
    for couples in range(1, 6):
        found = dict[tuple[int, ...], Births]()
        for births in grown:
            for pair in itertools.product((None, *range(couples)), repeat=2):
                candidate = (*births, pair)
                seen = look(candidate)
                if seen not in found and not couples_only(candidate).problems():
                    found[seen] = candidate
        grown = list(found.values())
    return [couples_only(births) for births in grown]


@cache
def worlds_of_three() -> dict[tuple[str, ...], set[frozenset[Fact]]]:
    """Give, by the genders of three people, all that they can be to each other."""
    worlds: dict[tuple[str, ...], set[frozenset[Fact]]] = defaultdict(set)
    seen = set[Any]()
    for family in families_of_six_couples():
        masks: dict[tuple[int, int], int] = defaultdict(int)
        for fact in truths(family, range(12)):
            masks[fact.first, fact.second] |= 1 << NAMES.index(fact.predicate)
        for trio in itertools.combinations(range(12), 3):
            pairs = list(itertools.permutations(trio, 2))
            seen.add((tuple(person % 2 for person in trio), tuple(masks.get(pair, 0) for pair in pairs)))
    pairs = list(itertools.permutations(range(3), 2))
    for order in itertools.permutations(range(3)):
        for sides, found in seen:
            facts = [(order[a], mask, order[b]) for (a, b), mask in zip(pairs, found, strict=True)]
            genders = {order[place]: GENDERS[side] for place, side in enumerate(sides)}
            world = {Fact(a, name, b) for a, mask, b in facts for bit, name in enumerate(NAMES) if mask >> bit & 1}
            worlds[genders[0], genders[1], genders[2]].add(frozenset(world))
    return worlds


def status_among_three(genders: Sequence[str], facts: Sequence[Fact], query: Fact) -> str:
    answers = {query in world for world in worlds_of_three()[tuple(genders)] if world.issuperset(facts)}
    if len(answers) == 2:
        return AMBIGUOUS
    return IMPOSSIBLE if not answers else ENTAILED if answers.pop() else CONTRADICTED


def test_every_two_facts_and_query_about_three_people_against_all_families() -> None:
    assert len(families_of_six_couples()) == 1830
    for genders in itertools.product(GENDERS, repeat=3):
        for first, second in itertools.product(NAMES, repeat=2):
            facts = [Fact(0, first, 1), Fact(1, second, 2)]
            fitting = [world for world in worlds_of_three()[genders] if world.issuperset(facts)]
            for name in NAMES:
                query = Fact(0, name, 2)
                answers = {query in world for world in fitting}
                expected = {(): IMPOSSIBLE, (False,): CONTRADICTED, (True,): ENTAILED}.get(tuple(answers), AMBIGUOUS)
                assert status(genders, facts, query) == expected


# --- puzzles


def facts_about(people: int, predicates: Sequence[str] = NAMES) -> st.SearchStrategy[Fact]:
    pairs = [(a, b) for a in range(people) for b in range(people) if a != b]
    return st.builds(
        lambda pair, name: Fact(pair[0], name, pair[1]), st.sampled_from(pairs), st.sampled_from(predicates)
    )


@st.composite
def any_puzzles(draw: st.DrawFn, most_people: int = 6, most_facts: int = 7) -> Puzzle:
    people = draw(st.integers(2, most_people))
    genders = draw(st.lists(st.sampled_from(GENDERS), min_size=people, max_size=people))
    return genders, draw(st.lists(facts_about(people), max_size=most_facts)), draw(facts_about(people))


def grow(rng: random.Random, size: int) -> Genealogy:
    """Grow a lawful family at random: births, weddings within or from without, and parents come to light."""
    people, couples = [Person("", rng.choice(GENDERS))], list[tuple[int, int]]()

    def wed(one: int, other: int) -> bool:
        pair = (one, other) if people[one].gender == MALE else (other, one)
        changed = list(people)
        for person in pair:
            changed[person] = Person("", people[person].gender, people[person].parents, len(couples))
        lawful = not Genealogy(tuple(changed), (*couples, pair)).problems()
        if lawful:
            people[:] = changed
            couples.append(pair)
        return lawful

    while len(people) < size:
        event, who = rng.choice(("birth", "birth", "wedding", "newcomer", "parents")), rng.randrange(len(people))
        if event == "birth" and couples:
            people.append(Person("", rng.choice(GENDERS), rng.randrange(len(couples))))
        elif event == "newcomer" and people[who].marriage is None:
            people.append(Person("", OTHER[people[who].gender]))
            wed(who, len(people) - 1)
        elif event == "wedding":
            wanted = OTHER[people[who].gender]
            free = [i for i, other in enumerate(people) if other.marriage is None and other.gender == wanted]
            if people[who].marriage is None and free:
                wed(who, rng.choice(free))
        elif event == "parents" and people[who].parents is None:
            people += (Person("", MALE), Person("", FEMALE))
            wed(len(people) - 2, len(people) - 1)
            people[who] = Person("", people[who].gender, len(couples) - 1, people[who].marriage)
    return Genealogy(tuple(people), tuple(couples))


def true_story(rng: random.Random, most_people: int, most_facts: int) -> tuple[list[str], list[Fact], list[Fact]]:
    """Tell some of what is true of some people in a grown family; give all that is true as well."""
    while True:
        family = grow(rng, rng.randint(most_people, 3 * most_people))
        assert family.problems() == []
        named = rng.sample(range(len(family.people)), rng.randint(2, most_people))
        true = truths(family, named)
        if true:
            facts = rng.sample(true, min(len(true), rng.randint(1, most_facts)))
            return [family.people[person].gender for person in named], facts, true


@st.composite
def possible_puzzles(draw: st.DrawFn, most_people: int = 8, most_facts: int = 8) -> Puzzle:
    genders, facts, true = true_story(random.Random(draw(st.integers(0, 10**9))), most_people, most_facts)
    return genders, facts, draw(st.one_of(st.sampled_from(true), facts_about(len(genders))))


puzzles = st.one_of(any_puzzles(), possible_puzzles())


@given(any_puzzles(3, 6).filter(lambda each: len(each[0]) == 3))
def test_stories_about_three_people_against_all_families(puzzle: Puzzle) -> None:
    assert status(*puzzle) == status_among_three(*puzzle)


def test_what_is_true_is_possible_and_what_is_entailed_is_true() -> None:
    rng = random.Random(0)
    seen = set()
    for _ in range(250):
        genders, facts, true = true_story(rng, 10, 12)
        for _ in range(3):
            a, b = rng.sample(range(len(genders)), 2)
            query = rng.choice([rng.choice(true), Fact(a, rng.choice(NAMES), b)])
            answer = check_witnesses(genders, facts, query).status
            seen.add((answer, query in true))
    assert seen == {(ENTAILED, True), (AMBIGUOUS, True), (AMBIGUOUS, False), (CONTRADICTED, False)}


# --- against a plainer way
#
# Equations between terms: people, fathers, mothers and spouses. All choices are made at once, and nothing is spared.

Term = Any  # a person's number, or a letter and a term
Way = tuple[list[tuple[Term, Term]], list[tuple[Term, Term]]]  # what is equal, and what is not
UNLAWFUL = None


def parent(gender: str, term: Term) -> Term:
    return ("F" if gender == MALE else "M", term)


def spouse(term: Term) -> Term:
    return ("S", term)


def siblings(one: Term, other: Term) -> list[tuple[Term, Term]]:
    return [(parent(gender, one), parent(gender, other)) for gender in GENDERS]


def ways(genders: Sequence[str], fact: Fact) -> list[Way]:
    first, name, second = fact
    if name.startswith("inv-"):
        first, name, second = second, inverse(name), first
    if name == "un":
        through = [parent(gender, second) for gender in GENDERS]
        return [(siblings(first, each), [(first, each)]) for each in through]
    if name == "sibling-in-law":
        pairs = [(spouse(first), second), (first, spouse(second))]
        return [(siblings(*pair), [pair]) for pair in pairs]
    if name in ("SO", "sibling"):
        return [([(spouse(first), second)] if name == "SO" else siblings(first, second), [])]
    through = [parent(gender, second) for gender in GENDERS]
    children = {"child": [second], "in-law": [spouse(second)], "grand": through}[name]
    return [([(parent(genders[first], child), first)], []) for child in children]


def universe(terms: list[Term]) -> tuple[set[Term], list[tuple[Term, Term]]]:
    """Give all terms that matter, and what is equal in every family."""
    found, equal = set[Term](), list[tuple[Term, Term]]()
    while terms:
        term = terms.pop()
        if term in found or isinstance(term, int):
            found.add(term)
            continue
        found.add(term)
        letter, inner = term
        terms.append(inner)
        if letter == "S":
            found.add(spouse(term))
            equal.append((spouse(term), inner))
        else:
            father, mother = parent(MALE, inner), parent(FEMALE, inner)
            terms += [father, mother, spouse(father), spouse(mother)]
            equal.append((spouse(father), mother))
    return found, equal


def solve(genders: Sequence[str], way: Way, extra: Sequence[Term] = ()) -> Callable[[Term], Term] | None:
    """Give who is who by the equations and no more; None if that is unlawful."""
    terms, always = universe([*range(len(genders)), *extra, *(term for side in way for pair in side for term in pair)])
    up = {term: term for term in terms}

    def find(term: Term) -> Term:
        while up[term] != term:
            term = up[term]
        return term

    ahead = way[0] + always
    while ahead:
        for one, other in ahead:
            up[find(one)] = find(other)
        same = dict[Term, Term]()
        nested = [(term, (term[0], find(term[1]))) for term in terms if not isinstance(term, int)]
        ahead = [(term, same[key]) for term, key in nested if find(same.setdefault(key, term)) != find(term)]
    lawful = all(find(one) != find(other) for one, other in way[1]) and obeys(genders, terms, find)
    return find if lawful else UNLAWFUL


def obeys(genders: Sequence[str], terms: set[Term], find: Callable[[Term], Term]) -> bool:
    def gender(term: Term) -> str:
        if isinstance(term, int):
            return genders[term]
        return OTHER[gender(term[1])] if term[0] == "S" else MALE if term[0] == "F" else FEMALE

    def ancestors(who: Term) -> set[Term]:
        found, ahead = set[Term](), [who]
        while ahead:
            new = parents[ahead.pop()] - found
            found |= new
            ahead += new
        return found

    parents: dict[Term, set[Term]] = defaultdict(set)
    for term in terms:
        if not isinstance(term, int) and term[0] != "S":
            parents[find(term[1])].add(find(term))
    above = {who: ancestors(who) for who in map(find, terms)}
    couples = {(find(term), find(term[1])) for term in terms if not isinstance(term, int) and term[0] == "S"}
    return (
        len({find(person) for person in range(len(genders))}) == len(genders)
        and len({(find(term), gender(term)) for term in terms}) == len(above)
        and not any(who in over for who, over in above.items())
        and not any((above[one] | {one}) & (above[other] | {other}) for one, other in couples)
    )


def plain_status(genders: Sequence[str], facts: Sequence[Fact], query: Fact) -> str:
    asked = ways(genders, query)
    terms = [term for equal, _ in asked for pair in equal for term in pair]
    answers = set()
    for chosen in itertools.product(*(ways(genders, fact) for fact in facts)):
        equal, unequal = [pair for way in chosen for pair in way[0]], [pair for way in chosen for pair in way[1]]
        find = solve(genders, (equal, unequal), terms)
        if find is None:
            continue
        answers |= {True for way in asked if solve(genders, (equal + way[0], unequal + way[1])) is not None}
        held = [way for way in asked if all(find(one) == find(other) for one, other in way[0])]
        # What is held because two people differ fails where they may be the same.
        if all(way[1] and solve(genders, (equal + way[1], unequal)) is not None for way in held):
            answers.add(False)
    return {(): IMPOSSIBLE, (False,): CONTRADICTED, (True,): ENTAILED}.get(tuple(answers), AMBIGUOUS)


@try_examples(150)
@given(st.one_of(any_puzzles(6, 5), possible_puzzles(6, 5)))
def test_the_plainer_way_agrees(puzzle: Puzzle) -> None:
    assert status(*puzzle) == plain_status(*puzzle)


# --- laws


@given(puzzles)
def test_witnesses_are_lawful_and_show_what_they_should(puzzle: Puzzle) -> None:
    check_witnesses(*puzzle)


@given(puzzles, st.randoms(use_true_random=False))
def test_renaming_people_and_reordering_facts_changes_nothing(puzzle: Puzzle, rng: random.Random) -> None:
    genders, facts, query = puzzle
    order = rng.sample(range(len(genders)), len(genders))
    renamed = [Fact(order[a], name, order[b]) for a, name, b in rng.sample(facts, len(facts))]
    swapped = [genders[order.index(place)] for place in range(len(genders))]
    asked = Fact(order[query.first], query.predicate, order[query.second])
    assert status(swapped, renamed, asked) == status(genders, facts, query)


@given(puzzles)
def test_swapping_all_genders_changes_nothing(puzzle: Puzzle) -> None:
    genders, facts, query = puzzle
    assert status([OTHER[gender] for gender in genders], facts, query) == status(genders, facts, query)


@given(puzzles, st.randoms(use_true_random=False))
def test_telling_facts_from_the_other_side_or_twice_changes_nothing(puzzle: Puzzle, rng: random.Random) -> None:
    genders, facts, query = puzzle
    turned = [rng.choice((fact, turn(fact))) for fact in [*facts, *rng.sample(facts, len(facts) // 2)]]
    assert status(genders, turned, turn(query)) == status(genders, facts, query)


def turn(fact: Fact) -> Fact:
    return Fact(fact.second, inverse(fact.predicate), fact.first)


@try_examples(50)
@given(st.one_of(any_puzzles(4, 4), possible_puzzles(5, 5)), st.data())
def test_adding_what_is_entailed_changes_nothing(puzzle: Puzzle, data: st.DataObject) -> None:
    genders, facts, query = puzzle
    added = [fact for fact in all_facts(genders) if status(genders, facts, fact) == ENTAILED]
    assume(added)
    assert status(genders, [*facts, data.draw(st.sampled_from(added))], query) == status(genders, facts, query)


def all_facts(genders: Sequence[str]) -> Iterator[Fact]:
    pairs = itertools.permutations(range(len(genders)), 2)
    return (Fact(a, name, b) for a, b in pairs for name in NAMES)


@given(puzzles)
def test_adding_the_query_or_what_is_true_in_a_witness(puzzle: Puzzle) -> None:
    genders, facts, query = puzzle
    verdict = find_witnesses(genders, facts, query)
    possible = verdict.status in (ENTAILED, AMBIGUOUS)
    assert status(genders, [*facts, query], query) == (ENTAILED if possible else IMPOSSIBLE)
    if verdict.fits is not None:
        assert status(genders, truths(verdict.fits, range(len(genders))), query) == ENTAILED
    if verdict.against is not None:
        more = [*facts, *truths(verdict.against, range(len(genders)))]
        assert status(genders, more, query) in (AMBIGUOUS, CONTRADICTED)


@given(st.one_of(any_puzzles(), possible_puzzles(6, 5)))
def test_families_are_those_that_decide(puzzle: Puzzle) -> None:
    genders, facts, query = puzzle
    found = list(itertools.islice(fitting_families(genders, facts), 64))
    for family in found:
        check_family(family, genders, facts)
    answer = status(genders, facts, query)
    assert (answer == IMPOSSIBLE) == (not found)
    answers = {holds(family, query) for family in found}
    assert answers <= {ENTAILED: {True}, CONTRADICTED: {False}}.get(answer, {True, False})
    if query.predicate not in ("un", "inv-un", "sibling-in-law") and len(found) < 64:
        assert (answers == {True}) == (answer == ENTAILED)


# --- size


@pytest.mark.parametrize(
    "predicates", [("un", "inv-un"), ("grand", "inv-grand"), ("sibling-in-law",), ("in-law", "un")]
)
def test_stories_of_choices_only(predicates: tuple[str, ...]) -> None:
    rng = random.Random(0)
    for _ in range(15):
        genders = [rng.choice(GENDERS) for _ in range(15)]
        facts = [Fact(i, rng.choice(predicates), i + 1) for i in range(14)]
        facts += [Fact(*rng.sample(range(15), 1), rng.choice(predicates), 14) for _ in range(2)]
        check_witnesses(genders, [fact for fact in facts if fact.first != fact.second], Fact(0, rng.choice(NAMES), 14))


def test_long_stories_and_choices_beside_the_point() -> None:
    people = 1200
    line = [Fact(person, "child", person + 1) for person in range(people - 1)]
    assert status([MALE] * people, line, Fact(2, "grand", 4)) == ENTAILED
    assert status([MALE] * people, line, Fact(people - 1, "child", 0)) == CONTRADICTED
    beside = [Fact(person, "sibling-in-law", person + 1) for person in range(5, 60)]
    grandfathers = [Fact(0, "inv-grand", person) for person in (1, 2, 3)]
    assert status([MALE] * 61, [*beside, *grandfathers[:2]], Fact(1, "SO", 2)) == CONTRADICTED
    assert status([MALE] * 61, [*beside, *grandfathers], Fact(1, "SO", 2)) == IMPOSSIBLE


def test_a_contradiction_amid_choices_beside_the_point() -> None:
    """Wherever it stands among the choices, it is not looked for again after every one of them."""
    genders = [MALE, FEMALE, MALE] * 20 + [MALE] * 64
    before = [Fact(person - person % 3 + 2, "inv-grand", person) for person in range(60) if person % 3 < 2]
    grandfathers = [Fact(60, "inv-grand", person) for person in (61, 62, 63)]
    after = [Fact(person, "sibling-in-law", person + 1) for person in range(64, 123)]
    assert status(genders, [*before, *grandfathers[:2], *after], Fact(61, "SO", 62)) == CONTRADICTED
    assert status(genders, [*before, *grandfathers, *after], Fact(61, "SO", 62)) == IMPOSSIBLE


def test_statuses_are_named_once() -> None:
    assert STATUSES == ("entailed", "ambiguous", "contradicted", "impossible")
