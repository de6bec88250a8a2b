"""Answer kinship questions from the printed prompt alone (the plain and the synthetic style of the story).

Each fact is a choice between a few graphs of parents and marriages ("a grandfather" is the father of the father or of
the mother). The solver builds every graph that agrees with all facts and printed rules; unknown people in it are merged
where the rules force it. The answer is the one word that holds in all graphs.
"""

import re
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import partial
from itertools import combinations


class Rule(Enum):
    """A rule sentence; the comment says what the solver does where the sentence is not printed."""

    # Parents need not be married, and brothers and sisters share at least one.
    PARENTS = (
        "Everyone has two parents, a man and a woman, who are married to each other; brothers and sisters share both, "
        "and there are no step-, half-, foster or adopted relatives."
    )
    # People may marry again, and whom they like.
    MARRIAGE = "Nobody marries twice, and spouses have no common ancestor."
    # An uncle's wife is an aunt, an aunt's husband an uncle.
    UNCLES = "An uncle or aunt is a brother or sister of a parent, not the spouse of one."
    # A spouse's nephews and nieces are nephews and nieces.
    NEPHEWS = "A nephew or niece is a child of a brother or sister."
    # Two names may stand for one person.
    NAMES = "Different names are different people."


RULES = {rule.value: rule for rule in Rule}
WORDS: dict[str, tuple[str, str]] = {  # relation -> the word for a man, for a woman
    "parent": ("father", "mother"),
    "child": ("son", "daughter"),
    "sibling": ("brother", "sister"),
    "spouse": ("husband", "wife"),
    "grandparent": ("grandfather", "grandmother"),
    "grandchild": ("grandson", "granddaughter"),
    "uncle": ("uncle", "aunt"),
    "nephew": ("nephew", "niece"),
    "parent-in-law": ("father-in-law", "mother-in-law"),
    "child-in-law": ("son-in-law", "daughter-in-law"),
    "sibling-in-law": ("brother-in-law", "sister-in-law"),
}
MEANING = {word: (relation, sex) for relation, pair in WORDS.items() for sex, word in enumerate(pair)}
FACTS = (  # who is the `word` of whom
    r"(?P<who>\w+) is (?P<whom>\w+)'s (?P<word>[\w-]+)\.",
    r"(?P<who>\w+) is (?:an?|the) (?P<word>[\w-]+) of (?P<whom>\w+)\.",
    r"(?P<whom>\w+)'s (?P<word>[\w-]+) is (?:called )?(?P<who>\w+)\.",
    r"(?P<whom>\w+) has an? (?P<word>[\w-]+)(?:,| called) (?P<who>\w+)\.",
)
PAIR = r"(\w+) and (\w+) are (brothers|sisters|brother and sister|sister and brother)\."
Fact = tuple[str, str, str]


class ContradictionError(Exception):
    """The facts of a graph cannot all hold."""


def parse(text: str) -> tuple[set[Rule], list[Fact], tuple[str, str]]:
    """The rules, the facts (who, word, of whom) and the question (what is who to whom) of a printed prompt."""
    head, rest = text.split("\nStory:\n")
    story, question = rest.split("\n\nQuestion: ")
    facts: list[Fact] = []
    for line in story.split("\n"):
        if pair := re.fullmatch(PAIR, line):
            words = pair[3].replace("brothers", "brother and brother").replace("sisters", "sister and sister")
            first, second = words.split(" and ")
            facts += [(pair[1], first, pair[2]), (pair[2], second, pair[1])]
            continue
        found = next((m for form in FACTS if (m := re.fullmatch(form, line))), None)
        if found is None:
            raise ValueError(f"unknown sentence: {line}")
        facts.append((found["who"], found["word"], found["whom"]))
    asked = re.match(r"What is (\w+) to (\w+)\?", question)
    if asked is None:
        raise ValueError(f"unknown question: {question}")
    rules = {RULES[line[2:]] for line in head.split("\n") if line.startswith("- ")}
    return rules, facts, (asked[1], asked[2])


Change = Callable[["Family"], None]


class Family:
    """One graph: people as numbers, with sex, parents (father, mother) and spouses, where known."""

    def __init__(self, rules: AbstractSet[Rule]) -> None:
        self.rules = rules
        self.same: list[int] = []  # the number that a person has been merged into
        self.sex: dict[int, int] = {}
        self.parents: dict[tuple[int, int], int] = {}  # (person, sex of the parent) -> parent
        self.spouses: set[frozenset[int]] = set()
        self.names: dict[str, int] = {}
        self.distinct: set[frozenset[int]] = set()

    def copy(self) -> "Family":
        """A copy to try a choice on."""
        other = Family(self.rules)
        other.same = list(self.same)
        other.sex = dict(self.sex)
        other.parents = dict(self.parents)
        other.spouses = set(self.spouses)
        other.names = dict(self.names)
        other.distinct = set(self.distinct)
        return other

    def new(self, sex: int | None = None) -> int:
        """A new person."""
        self.same.append(len(self.same))
        if sex is not None:
            self.sex[self.same[-1]] = sex
        return self.same[-1]

    def find(self, person: int) -> int:
        """The number under which a person is kept now."""
        while self.same[person] != person:
            person = self.same[person]
        return person

    def named(self, name: str) -> int:
        """The person of that name: different from everybody else with a name, if the rule says so."""
        if name not in self.names:
            person = self.new()
            for other in self.names.values() if Rule.NAMES in self.rules else ():
                self.differ(person, other)
            self.names[name] = person
        return self.find(self.names[name])

    def differ(self, a: int, b: int) -> None:
        """Two people are not the same."""
        a, b = self.find(a), self.find(b)
        if a == b:
            raise ContradictionError
        self.distinct.add(frozenset((a, b)))

    def set_sex(self, person: int, sex: int) -> None:
        """A person is a man (0) or a woman (1)."""
        if self.sex.setdefault(self.find(person), sex) != sex:
            raise ContradictionError

    def parent(self, person: int, sex: int) -> int:
        """The father (0) or mother (1) of a person; both are made if unknown, and married if a rule says so."""
        person = self.find(person)
        if (person, sex) not in self.parents:
            pair = [self.new(0), self.new(1)]
            self.parents |= {(person, 0): pair[0], (person, 1): pair[1]}
            if Rule.PARENTS in self.rules:
                self.marry(*pair)
        return self.find(self.parents[person, sex])

    def spouse(self, person: int) -> int | None:
        """The spouse of a person, where known."""
        person = self.find(person)
        return next((self.find(q) for pair in self.spouses if person in pair for q in pair if q != person), None)

    def marry(self, a: int, b: int) -> None:
        """Two people are married."""
        a, b = self.find(a), self.find(b)
        if a == b:
            raise ContradictionError
        for me, you in ((a, b), (b, a)):
            if me in self.sex:
                self.set_sex(you, 1 - self.sex[me])
        known = (self.spouse(a), self.spouse(b)) if Rule.MARRIAGE in self.rules else (None, None)
        self.spouses.add(frozenset((a, b)))
        for before, now in zip(known, (b, a), strict=True):
            if before is not None:
                self.merge(before, now)

    def merge(self, a: int, b: int) -> None:
        """Two people are the same, and so are their parents and (if nobody marries twice) spouses."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return
        if frozenset((a, b)) in self.distinct:
            raise ContradictionError
        if b in self.sex:
            self.set_sex(a, self.sex.pop(b))
        self.same[b] = a
        self.distinct = {frozenset(self.find(p) for p in pair) for pair in self.distinct}
        twice = [(self.spouse(a), q) for pair in self.spouses if b in pair for q in pair if q != b]
        self.spouses = {frozenset(self.find(p) for p in pair) for pair in self.spouses}
        if any(len(pair) < 2 for pair in self.spouses):
            raise ContradictionError
        both = [(self.parents[a, s], self.parents.pop((b, s))) for s in (0, 1) if {(a, s), (b, s)} <= {*self.parents}]
        for s in (0, 1):
            if (b, s) in self.parents:
                self.parents[a, s] = self.parents.pop((b, s))
        if Rule.MARRIAGE in self.rules:
            both += [(mine, yours) for mine, yours in twice if mine is not None]
        for mine, yours in both:
            self.merge(mine, yours)
        for pair in list(self.spouses):
            p, q = sorted(pair)
            for me, you in ((p, q), (q, p)):
                if me in self.sex:
                    self.set_sex(you, 1 - self.sex[me])

    def ancestors(self, person: int, below: tuple[int, ...] = ()) -> set[int]:
        """A person and all known ancestors; nobody is an ancestor of themselves."""
        person = self.find(person)
        if person in below:
            raise ContradictionError
        found = {person}
        for sex in (0, 1):
            if (person, sex) in self.parents:
                found |= self.ancestors(self.parents[person, sex], (*below, person))
        return found

    def check(self) -> None:
        """Raise if ancestry is circular, or spouses have a common ancestor."""
        lines = {p: self.ancestors(p) for p in self.people()}
        if Rule.MARRIAGE in self.rules and any(lines[p] & lines[q] for p, q in map(sorted, self.spouses)):
            raise ContradictionError

    def people(self) -> list[int]:
        """All people of the graph."""
        return [p for p, same in enumerate(self.same) if p == same]

    def common_parents(self, a: int, b: int) -> bool:
        """Whether two people are known to have both parents in common."""
        a, b = self.find(a), self.find(b)
        mine, yours = ([self.parents.get((p, sex)) for sex in (0, 1)] for p in (a, b))
        return None not in mine and None not in yours and [*map(self._find, mine)] == [*map(self._find, yours)]

    def _find(self, person: int | None) -> int:
        return -1 if person is None else self.find(person)

    # What the words of kinship say about the graph: each choice is one way in which the relation can hold.

    def choices(self, relation: str, a: int, b: int) -> list[Change]:
        """The ways in which `a` can be the `relation` of `b`."""
        both = (0, 1)
        if relation == "parent":
            return [partial(Family.be_parent, parent=a, sex=s, child=b) for s in both]
        if relation == "child":
            return self.choices("parent", b, a)
        if relation == "sibling":
            half = () if Rule.PARENTS in self.rules else ((0,), (1,))
            return [partial(Family.be_siblings, a=a, b=b, shared=shared) for shared in (both, *half)]
        if relation == "spouse":
            return [partial(Family.marry, a=a, b=b)]
        if relation == "grandparent":
            return [partial(Family.be_grandparent, old=a, sex=s, young=b, via=t) for s in both for t in both]
        if relation == "grandchild":
            return self.choices("grandparent", b, a)
        if relation in ("uncle", "nephew"):
            old, young = (a, b) if relation == "uncle" else (b, a)
            married = (
                (False,) if (Rule.UNCLES if relation == "uncle" else Rule.NEPHEWS) in self.rules else (False, True)
            )
            return [partial(Family.be_uncle, old=old, young=young, via=t, married=m) for m in married for t in both]
        raise ValueError(f"no facts with this relation are known: {relation}")

    def be_parent(self, parent: int, sex: int, child: int) -> None:
        """`parent` is the father (0) or mother (1) of `child`."""
        self.set_sex(parent, sex)
        self.merge(self.parent(child, sex), parent)

    def be_siblings(self, a: int, b: int, shared: tuple[int, ...] = (0, 1)) -> None:
        """Two people are different and share the parents of these sexes."""
        self.differ(a, b)
        for sex in shared:
            self.merge(self.parent(a, sex), self.parent(b, sex))

    def be_grandparent(self, old: int, sex: int, young: int, via: int) -> None:
        """`old` is the father (0) or mother (1) of a parent of `young`: of the father or of the mother (`via`)."""
        self.be_parent(old, sex, self.parent(young, via))

    def be_uncle(self, old: int, young: int, via: int, married: bool) -> None:
        """`old` is a sibling of a parent of `young`, or else (`married`) the spouse of one."""
        if married:
            known = self.spouse(old)
            if known is None:
                known = self.new()
                self.marry(old, known)
            old = known
        self.be_siblings(old, self.parent(young, via))

    def relations(self, a: int, b: int) -> set[str]:
        """The relations in which `a` stands to `b`."""
        a, b = self.find(a), self.find(b)
        parents = {
            p: {self.find(q) for s in (0, 1) if (q := self.parents.get((p, s))) is not None} for p in self.people()
        }
        spouses = {
            p: {self.find(q) for pair in self.spouses if p in pair for q in pair if q != p} for p in self.people()
        }
        siblings = {p: {q for q in self.people() if q != p and self.common_parents(p, q)} for p in self.people()}

        def of(people: set[int], links: dict[int, set[int]]) -> set[int]:
            return {q for p in people for q in links[p]}

        found = {
            "parent": a in parents[b],
            "child": b in parents[a],
            "sibling": a in siblings[b],
            "spouse": a in spouses[b],
            "grandparent": a in of(parents[b], parents),
            "grandchild": b in of(parents[a], parents),
            "uncle": a in of(parents[b], siblings),
            "nephew": b in of(parents[a], siblings),
            "parent-in-law": a in of(spouses[b], parents),
            "child-in-law": b in of(spouses[a], parents),
            "sibling-in-law": a in of(spouses[b], siblings) or a in of(siblings[b], spouses),
        }
        return {relation for relation, holds in found.items() if holds}


def tried(family: Family, change: Change) -> Iterator[Family]:
    """The family after a change, if that is possible."""
    changed = family.copy()
    try:
        change(changed)
        changed.check()
    except ContradictionError:
        return
    yield changed


def graphs(family: Family, facts: list[Fact]) -> Iterator[Family]:
    """Every graph that agrees with the facts."""
    if not facts:
        yield from settled(family)
        return
    (who, word, whom), *rest = facts
    relation, sex = MEANING[word]
    a, b = family.named(who), family.named(whom)
    try:
        family.set_sex(a, sex)
    except ContradictionError:
        return
    for choice in family.choices(relation, a, b):
        for changed in tried(family, choice):
            yield from graphs(changed, rest)


def settled(family: Family) -> Iterator[Family]:
    """The graphs in which it is settled whether children of the same parents are the same person."""
    for a, b in combinations(family.people(), 2):
        if frozenset((a, b)) not in family.distinct and family.common_parents(a, b):
            for change in (partial(Family.merge, a=a, b=b), partial(Family.differ, a=a, b=b)):
                for changed in tried(family, change):
                    yield from settled(changed)
            return
    yield family


def solve(rules: AbstractSet[Rule], facts: list[Fact], question: tuple[str, str]) -> str | None:
    """The one word that holds in every graph; none where the facts leave it open."""
    words: set[str] | None = None
    for family in graphs(Family(rules), facts):
        a, b = (family.named(name) for name in question)
        sex = family.sex.get(a)
        found = set() if sex is None else {WORDS[relation][sex] for relation in family.relations(a, b)}
        words = found if words is None else words & found
        if not words:
            return None
    return words.pop() if words and len(words) == 1 else None
