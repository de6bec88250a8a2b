import random
import re
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storyproof.families.kinship.checker import ENTAILED, IMPOSSIBLE, status
from storyproof.families.kinship.oracle import Derived, ProofStep, derive, replay
from storyproof.families.kinship.relations import BASIC, FEMALE, GENDERS, MALE, NAMES, Fact, inverse
from storyproof.families.kinship.rules import RuleSet, published_rules, strict_rules
from tests.families.kinship.test_checker import facts_about, true_story
from tests.groups import try_examples

Story = list[Fact]

BOTH = [strict_rules(), published_rules()]
both_rules = pytest.mark.parametrize("rules", BOTH, ids=lambda rules: rules.name)


def story(text: str) -> Story:
    """Read a story such as "0 child 1, 1 child 2"."""
    parts = (each.split() for each in text.split(","))
    return [Fact(int(first), predicate, int(second)) for first, predicate, second in parts]


def people_in(facts: Sequence[Fact]) -> int:
    return 1 + max((max(fact.first, fact.second) for fact in facts), default=1)


def everything(derived: Derived, number: int, people: int) -> dict[Fact, int]:
    """Give all that is derived of a story, with sizes."""
    pairs = product(range(people), repeat=2)
    facts = [Fact(a, name, b) for a, b in pairs for name in derived.relations(number, a, b)]
    sizes = {fact: derived.size(number, fact) for fact in facts}
    assert None not in sizes.values()
    return {fact: size or 0 for fact, size in sizes.items()}


# --- the plain way


def stated(rules: RuleSet, facts: Sequence[Fact]) -> set[Fact]:
    back = {Fact(fact.second, inverse(fact.predicate), fact.first) for fact in facts if rules.inverses}
    return {*facts, *back}


def plainly(rules: RuleSet, facts: Sequence[Fact]) -> dict[Fact, int]:
    """Put any two facts together until nothing new or shorter comes of it; give how many facts each conclusion took."""
    found = dict.fromkeys(stated(rules, facts), 1)
    changed = True
    while changed:
        changed = False
        for one, other in product(list(found), repeat=2):
            head = rules.heads.get((one.predicate, other.predicate))
            if head and one.second == other.first and one.first != other.second:
                new, size = Fact(one.first, head, other.second), found[one] + found[other]
                if size < found.get(new, size + 1):
                    found[new] = size
                    changed = True
    return found


def fewest(rules: RuleSet, facts: Sequence[Fact]) -> dict[Fact, int]:
    """Give for all that follows from a story the size of the smallest part of it from which it follows."""
    found: dict[Fact, int] = {}
    for size in range(1, len(facts) + 1):
        for part in combinations(facts, size):
            found = dict.fromkeys(plainly(rules, part), size) | found
    return found


def bracketings(rules: RuleSet, pattern: Sequence[str]) -> set[str]:
    """Give all that a chain of relations comes to, whichever two neighbours are put together first."""
    found = {(place, place + 1): {relation} for place, relation in enumerate(pattern)}
    for start, end in sorted(combinations(range(len(pattern) + 1), 2), key=lambda span: span[1] - span[0]):
        ways = (each for via in range(start + 1, end) for each in product(found[start, via], found[via, end]))
        found.setdefault((start, end), {rules.heads[way] for way in ways if way in rules.heads})
    return found[0, len(pattern)]


def is_proof(rules: RuleSet, facts: Sequence[Fact], query: Fact, steps: Sequence[ProofStep]) -> bool:
    """Say whether steps prove a query, by looking for every step at all facts that it may rest on."""
    if not steps:
        return query in stated(rules, facts)
    used = set()
    for place, step in enumerate(steps):
        first, head, second = step.fact
        known = stated(rules, facts) | {below.fact for below in steps[place + 1 :]}
        ways = [
            (one, other)
            for one, other in product(known, repeat=2)
            if (one.first, one.second, other.first, other.second) == (first, step.via, step.via, second)
            and rules.heads.get((one.predicate, other.predicate)) == head
        ]
        if not ways or len({first, step.via, second}) < 3:
            return False
        used |= {fact for way in ways for fact in way}
    return steps[0].fact == query and all(step.fact in used or step.fact == query for step in steps)


# --- stories


@st.composite
def any_stories(draw: st.DrawFn, told: Sequence[str], most_people: int = 5, most_facts: int = 6) -> Story:
    """Facts at random: noise, cycles, contradictions and people apart."""
    return draw(st.lists(facts_about(draw(st.integers(2, most_people)), told), max_size=most_facts))


@st.composite
def true_stories(draw: st.DrawFn, most_people: int = 7, most_facts: int = 8) -> tuple[list[str], Story, list[Fact]]:
    """Genders, facts and all that is true, of one family or of two that have nothing to do with each other."""
    rng = random.Random(draw(st.integers(0, 10**9)))
    genders, facts, true = true_story(rng, most_people, most_facts)
    if draw(st.booleans()):
        more_genders, more_facts, more_true = true_story(rng, 4, 4)
        start = len(genders)
        genders = genders + more_genders
        facts = facts + [Fact(a + start, name, b + start) for a, name, b in more_facts]
        true = true + [Fact(a + start, name, b + start) for a, name, b in more_true]
    return genders, facts, true


def patterns(rules: RuleSet) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(rules.stated), min_size=1, max_size=6)


def chain(pattern: Sequence[str]) -> Story:
    return [Fact(place, relation, place + 1) for place, relation in enumerate(pattern)]


# --- known cases

KNOWN = [  # story, people asked about, strict, published
    ("0 child 1, 1 child 2", (0, 2), ["grand"], ["grand"]),
    ("0 child 1, 1 child 2", (2, 0), ["inv-grand"], []),  # inverses are read by the strict rules only
    ("1 inv-child 0, 1 child 2", (0, 2), ["grand"], []),
    ("0 child 1, 1 inv-child 2", (0, 2), ["SO"], []),
    ("0 child 1, 1 inv-un 2", (0, 2), [], ["sibling"]),
    ("0 child 1, 1 inv-grand 2", (0, 2), [], ["inv-child"]),
    ("0 SO 1, 1 child 2, 2 inv-grand 3", (0, 3), [], ["inv-child", "inv-in-law"]),  # by two bracketings
    ("0 SO 1, 1 sibling 2", (0, 2), ["sibling-in-law"], []),
    ("0 child 1, 1 sibling 2, 2 inv-child 3, 3 inv-child 4", (0, 4), ["inv-in-law"], ["inv-child"]),
    ("0 child 1, 2 child 3", (0, 3), [], []),
    ("0 child 1", (0, 1), ["child"], ["child"]),
]


@pytest.mark.parametrize(("text", "asked", "strict", "published"), KNOWN)
def test_known_cases(text: str, asked: tuple[int, int], strict: list[str], published: list[str]) -> None:
    facts = story(text)
    for rules, expected in zip(BOTH, (strict, published), strict=True):
        assert derive(rules, [facts], people_in(facts)).relations(0, *asked) == expected


def test_a_proof_goes_from_the_answer_down_to_what_is_stated() -> None:
    facts = story("0 sibling 1, 1 inv-child 2, 2 inv-child 3, 3 SO 4")
    derived = derive(strict_rules(), [facts], 5)
    query = Fact(0, "inv-grand", 4)
    assert derived.size(0, query) == 4
    steps = derived.proof(0, query)
    assert steps[0].fact == query
    assert len(steps) == 3
    assert replay(strict_rules(), facts, query, steps) is None
    assert derived.proof(0, Fact(0, "sibling", 1)) == []  # stated
    assert derived.proof(0, Fact(1, "sibling", 0)) == []  # as good as stated
    assert derived.size(0, Fact(0, "child", 4)) is None
    with pytest.raises(KeyError, match="is not derived"):
        derived.proof(0, Fact(0, "child", 4))


def test_a_proof_follows_its_first_premise_to_the_end_before_the_second() -> None:
    facts, query = story("0 child 1, 1 inv-child 2, 2 SO 3, 3 inv-child 4, 4 child 5"), Fact(0, "sibling", 5)
    assert derive(strict_rules(), [facts], 6).proof(0, query) == [
        ProofStep(query, 4),
        ProofStep(Fact(0, "inv-child", 4), 2),
        ProofStep(Fact(0, "SO", 2), 1),
        ProofStep(Fact(2, "inv-in-law", 4), 3),
    ]


@both_rules
def test_conclusions_rest_on_99_facts_at_most(rules: RuleSet) -> None:
    facts = [Fact(person, "sibling", person + 1) for person in range(100)]
    derived = derive(rules, [facts], 101)
    assert derived.size(0, Fact(0, "sibling", 99)) == 99
    assert derived.size(0, Fact(0, "sibling", 100)) is None


# --- against the plain way


@both_rules
@try_examples(60)
@given(data=st.data())
def test_what_is_derived_is_what_the_plain_way_derives_and_from_as_few(rules: RuleSet, data: st.DataObject) -> None:
    told = NAMES if rules.inverses else rules.stated
    stories = data.draw(st.lists(any_stories(told), min_size=1, max_size=4))
    people = max(map(people_in, stories))
    derived = derive(rules, stories, people)  # all at once
    for number, facts in enumerate(stories):
        assert everything(derived, number, people) == plainly(rules, facts)


@given(true_stories())
def test_true_stories_against_the_plain_way(case: tuple[list[str], Story, list[Fact]]) -> None:
    genders, facts, _ = case
    assert everything(derive(strict_rules(), [facts], len(genders)), 0, len(genders)) == plainly(strict_rules(), facts)


@try_examples(60)
@given(st.integers(0, 10**9))
def test_in_a_possible_story_sizes_are_the_fewest_facts_that_will_do(seed: int) -> None:
    genders, facts, _ = true_story(random.Random(seed), 6, 7)
    told = [fact for fact in facts if fact.predicate in BASIC]
    derived = derive(strict_rules(), [told], len(genders))
    assert everything(derived, 0, len(genders)) == fewest(strict_rules(), told)


def test_a_fact_that_is_used_twice_counts_twice() -> None:
    """So where in-laws are told, a size can be more than the fewest facts that will do."""
    facts, query = story("0 in-law 1, 1 SO 2, 0 child 3"), Fact(1, "sibling-in-law", 3)
    derived = derive(strict_rules(), [facts], 4)
    assert derived.size(0, query) == 4
    assert len(derived.proof(0, query)) == 3
    assert fewest(strict_rules(), facts)[query] == 3


@both_rules
@given(data=st.data())
def test_a_chain_comes_to_what_its_bracketings_come_to(rules: RuleSet, data: st.DataObject) -> None:
    pattern = data.draw(patterns(rules))
    facts, end = chain(pattern), len(pattern)
    derived = derive(rules, [facts], end + 1)
    found, expected = set(derived.relations(0, 0, end)), bracketings(rules, pattern)
    assert expected <= found
    assert all(derived.size(0, Fact(0, name, end)) == end for name in expected)
    if not rules.inverses or possible(facts):
        assert found == expected


def possible(facts: Sequence[Fact]) -> bool:
    people = people_in(facts)
    return any(status(each, facts, facts[0]) != IMPOSSIBLE for each in product(GENDERS, repeat=people))


def test_only_the_strict_rules_read_facts_from_the_other_side() -> None:
    for name in BASIC:
        facts = [Fact(0, name, 1)]
        assert everything(derive(strict_rules(), [facts], 2), 0, 2) == {facts[0]: 1, Fact(1, inverse(name), 0): 1}
        if name in published_rules().stated:
            assert everything(derive(published_rules(), [facts], 2), 0, 2) == {facts[0]: 1}


@given(any_stories(NAMES))
def test_strictly_everything_has_its_inverse_from_as_many_facts(facts: Story) -> None:
    people = people_in(facts)
    found = everything(derive(strict_rules(), [facts], people), 0, people)
    assert found == {Fact(b, inverse(name), a): size for (a, name, b), size in found.items()}


@both_rules
@given(data=st.data())
def test_pairs_are_those_of_whom_a_relation_is_derived(rules: RuleSet, data: st.DataObject) -> None:
    stories = data.draw(st.lists(any_stories(rules.stated), min_size=1, max_size=3))
    people = max(map(people_in, stories))
    derived = derive(rules, stories, people)
    for name in NAMES:
        pairs = derived.pairs(name)
        assert len(pairs) == len(stories)
        for number in range(len(stories)):
            expected = {(a, b) for a, other, b in everything(derived, number, people) if other == name}
            assert len(pairs[number]) == len(expected)
            assert set(pairs[number]) == expected


@both_rules
@given(data=st.data())
def test_company_order_and_repetition_change_nothing(rules: RuleSet, data: st.DataObject) -> None:
    one, other = data.draw(any_stories(rules.stated)), data.draw(any_stories(rules.stated))
    mixed = data.draw(st.permutations(one + one[:2]))
    people = max(people_in(one), people_in(other))
    together = derive(rules, [other, mixed], people + 1)  # and somebody of whom nothing is said
    assert everything(together, 1, people + 1) == everything(derive(rules, [one], people), 0, people)


# --- proofs


@both_rules
@try_examples(60)
@given(data=st.data())
def test_every_proof_of_a_possible_story_replays(rules: RuleSet, data: st.DataObject) -> None:
    genders, facts, _ = data.draw(true_stories())
    check_proofs(rules, [fact for fact in facts if rules.inverses or fact.predicate in rules.stated], len(genders))


@both_rules
@try_examples(60)
@given(data=st.data())
def test_every_proof_of_any_chain_replays(rules: RuleSet, data: st.DataObject) -> None:
    facts = chain(data.draw(patterns(rules)))
    check_proofs(rules, facts, people_in(facts))


def check_proofs(rules: RuleSet, facts: Story, people: int) -> None:
    derived = derive(rules, [facts], people)
    for fact, size in everything(derived, 0, people).items():
        steps = derived.proof(0, fact)
        assert len(steps) == size - 1
        assert is_proof(rules, facts, fact, steps)
        assert replay(rules, facts, fact, steps) is None


# Nobody can live this: 1 is both parent and child of 0.
CROSSED = story("0 inv-child 1, 0 child 1, 1 child 2, 0 SO 2, 2 sibling 0, 1 sibling 0, 2 un 0")
# Nor this: 0 is husband, sibling and nephew of 2, who is his child. Steps follow in two ways from what is concluded.
TWO_WAYS = story("0 sibling 2, 1 SO 0, 2 SO 1, 2 un 0, 0 child 2")


@try_examples(60)
@example(CROSSED)
@example(TWO_WAYS)
@given(any_stories(BASIC, 4, 6))
def test_every_proof_replays_even_if_two_things_are_concluded_of_a_pair(facts: Story) -> None:
    check_proofs(strict_rules(), facts, people_in(facts))


# --- what is no proof

LINE = story("0 sibling 1, 1 child 2, 2 sibling 3, 4 SO 5")
NEPHEW = Fact(0, "un", 3)
PROOF = [ProofStep(NEPHEW, 2), ProofStep(Fact(0, "un", 2), 1)]


def test_two_proofs_of_one_fact_replay() -> None:
    assert replay(strict_rules(), LINE, NEPHEW, PROOF) is None
    other = [ProofStep(NEPHEW, 1), ProofStep(Fact(1, "child", 3), 2)]
    for rules in BOTH:
        assert replay(rules, LINE, NEPHEW, other) is None
    said = replay(published_rules(), LINE, NEPHEW, PROOF)
    assert said is not None  # un + sibling is none of the paper's rules
    assert "does not follow through 2" in said


REFUSED = {
    "no proof": ([], "there is no proof"),
    "a wrong relation": ([PROOF[0], ProofStep(Fact(0, "inv-un", 2), 1)], "Fact.*'inv-un'.* does not follow through 1"),
    "another top": ([ProofStep(Fact(0, "un", 2), 1)], "the proof ends in Fact.*second=2"),
    "a wrong top": ([ProofStep(Fact(0, "child", 3), 2), PROOF[1]], "does not follow through 2"),
    "a missing step": (PROOF[:1], "does not follow through 2"),
    "bottom up": (PROOF[::-1], "does not follow through 2"),
    "through somebody else": ([ProofStep(NEPHEW, 4), PROOF[1]], "does not follow through 4"),
    "an idle step": ([*PROOF, ProofStep(Fact(1, "child", 3), 2)], "Fact.*'child'.* is concluded but not used"),
    "resting on itself": ([ProofStep(NEPHEW, 3)], "does not follow through 3"),
    "another question": (
        [ProofStep(Fact(3, "inv-un", 0), 2), ProofStep(Fact(2, "inv-un", 0), 1)],
        r"the proof ends in Fact\(first=3, ",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_proof_is_refused(case: str) -> None:
    steps, message = REFUSED[case]
    assert not is_proof(strict_rules(), LINE, NEPHEW, steps)
    said = replay(strict_rules(), LINE, NEPHEW, steps)
    assert said is not None
    assert re.search(message, said)


def test_the_first_idle_step_is_named() -> None:
    idle = [ProofStep(Fact(3, "inv-child", 1), 2), ProofStep(Fact(1, "child", 3), 2)]
    said = replay(strict_rules(), LINE, NEPHEW, [*PROOF, *idle])
    assert said == f"{Fact(1, 'child', 3)} is concluded but not used"


def test_a_relation_that_the_rules_do_not_know_is_passed_over() -> None:
    facts = story("0 child 1, 1 cousin 3, 1 child 2")
    for rules in BOTH:
        assert derive(rules, [facts], 4).relations(0, 0, 2) == ["grand"]


def test_facts_that_are_not_stated_prove_nothing() -> None:
    for missing in LINE[:3]:
        facts = [fact for fact in LINE if fact != missing]
        assert replay(strict_rules(), facts, NEPHEW, PROOF) is not None
    assert replay(strict_rules(), LINE[:3], NEPHEW, PROOF) is None  # what is beside the point need not be stated


def test_stated_facts_need_no_proof() -> None:
    assert replay(published_rules(), LINE, LINE[0], []) is None
    back = Fact(1, "sibling", 0)
    assert replay(strict_rules(), LINE, back, []) is None
    assert replay(published_rules(), LINE, back, []) is not None


@pytest.mark.parametrize(
    ("text", "query", "steps"),
    [
        # a child's parent is one's spouse unless it is oneself, and a spouse's parent is a parent-in-law
        ("0 child 1, 0 inv-child 2", Fact(0, "inv-in-law", 2), [(Fact(0, "SO", 0), 1)]),
        ("0 inv-child 1, 0 child 2", Fact(0, "un", 2), [(Fact(0, "sibling", 0), 1)]),
        ("0 sibling 1, 1 child 2", Fact(1, "un", 2), [(Fact(1, "sibling", 1), 0)]),
    ],
)
def test_nobody_is_anything_to_themself_in_a_proof(text: str, query: Fact, steps: list[tuple[Fact, int]]) -> None:
    """Or else one could prove that one's mother is one's mother-in-law."""
    facts = story(text)
    assert query not in plainly(strict_rules(), facts)
    through_oneself = [ProofStep(query, query.first), *(ProofStep(*step) for step in steps)]
    assert replay(strict_rules(), facts, query, through_oneself) is not None


def mutations(
    rng: random.Random, people: int, steps: list[ProofStep], query: Fact
) -> Iterator[tuple[Fact, list[ProofStep]]]:
    """Change a proof in one place: a relation, a person, a step, the order, what is asked."""
    place = rng.randrange(len(steps))
    (first, relation, second), via = steps[place]
    someone, something = rng.randrange(people), rng.choice(NAMES)
    for changed in (
        ProofStep(Fact(first, something, second), via),
        ProofStep(Fact(someone, relation, second), via),
        ProofStep(Fact(first, relation, someone), via),
        ProofStep(Fact(first, relation, second), someone),
        ProofStep(Fact(second, relation, first), via),
    ):
        yield query, [*steps[:place], changed, *steps[place + 1 :]]
    yield query, steps[:place] + steps[place + 1 :]
    yield query, rng.sample(steps, len(steps))
    added = ProofStep(Fact(someone, something, first), rng.randrange(people))
    yield query, [*steps[:place], added, *steps[place:]]
    yield query, [*steps, added]
    yield Fact(query.first, something, query.second), steps


@both_rules
@try_examples(150)
@given(data=st.data())
def test_a_changed_proof_is_refused_unless_it_is_another(rules: RuleSet, data: st.DataObject) -> None:
    genders, facts, _ = data.draw(true_stories())
    facts = [fact for fact in facts if rules.inverses or fact.predicate in rules.stated]
    derived = derive(rules, [facts], len(genders))
    rng = random.Random(data.draw(st.integers(0, 10**9)))
    for fact in everything(derived, 0, len(genders)):
        steps = derived.proof(0, fact)
        if not steps:
            continue
        for query, changed in mutations(rng, len(genders), steps, fact):
            if replay(rules, facts, query, changed) is None:
                assert is_proof(rules, facts, query, changed)
        missing = rng.choice(facts)
        kept = [each for each in facts if each != missing]
        if replay(rules, kept, fact, steps) is None:
            assert is_proof(rules, kept, fact, steps)


@given(patterns(published_rules()))
def test_a_changed_proof_of_a_chain_is_refused(pattern: list[str]) -> None:
    """There is no other way round: another relation or person in a step is always wrong."""
    rules, facts, people = published_rules(), chain(pattern), range(len(pattern) + 1)
    derived = derive(rules, [facts], len(people))
    for fact in everything(derived, 0, len(people)):
        steps = derived.proof(0, fact)
        for place, ((first, relation, second), via) in enumerate(steps):
            changed = [ProofStep(Fact(first, name, second), via) for name in NAMES if name != relation]
            changed += [ProofStep(Fact(first, relation, second), other) for other in people if other != via]
            changed += [ProofStep(Fact(other, relation, second), via) for other in people if other != first]
            changed += [ProofStep(Fact(first, relation, other), via) for other in people if other != second]
            for step in changed:
                assert replay(rules, facts, fact, [*steps[:place], step, *steps[place + 1 :]]) is not None


# --- truth


@given(true_stories(10, 14))
def test_what_is_derived_strictly_from_what_is_true_is_true(case: tuple[list[str], Story, list[Fact]]) -> None:
    genders, facts, true = case
    derived = everything(derive(strict_rules(), [facts], len(genders)), 0, len(genders))
    assert set(derived) <= set(true)


def test_what_is_derived_by_the_published_rules_need_not_be_true() -> None:
    rng, wrong = random.Random(0), 0
    for _ in range(200):
        genders, facts, true = true_story(rng, 8, 10)
        told = [fact for fact in facts if fact.predicate in published_rules().stated]
        wrong += bool(set(everything(derive(published_rules(), [told], len(genders)), 0, len(genders))) - set(true))
    assert wrong


@try_examples(150)
@given(st.one_of(true_stories().map(lambda case: case[:2]), any_stories(NAMES, 6, 4)), st.data())
def test_what_is_derived_strictly_is_entailed(case: tuple[list[str], Story] | Story, data: st.DataObject) -> None:
    genders, facts = case if isinstance(case, tuple) else (with_genders(case, data), case)
    people = len(genders)
    for fact in everything(derive(strict_rules(), [facts], people), 0, people):
        assert status(genders, facts, fact) in (ENTAILED, IMPOSSIBLE)


def with_genders(facts: Story, data: st.DataObject) -> list[str]:
    """Draw genders for a random story, spouses of different ones where that is told."""
    genders = data.draw(st.lists(st.sampled_from(GENDERS), min_size=people_in(facts), max_size=people_in(facts)))
    for first, name, second in facts:
        if name == "SO":
            genders[second] = FEMALE if genders[first] == MALE else MALE
    return genders


@given(any_stories(NAMES))
def test_nobody_is_derived_to_be_anything_to_themself(facts: Story) -> None:
    derived = derive(strict_rules(), [facts], people_in(facts))
    assert not any(derived.relations(0, person, person) for person in range(people_in(facts)))
