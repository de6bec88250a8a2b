"""Families of three generations, told by who is whose child or spouse."""

import random

WORDS = {
    "spouse": ("husband", "wife"),
    "parent": ("father", "mother"),
    "child": ("son", "daughter"),
    "sibling": ("brother", "sister"),
    "grandparent": ("grandfather", "grandmother"),
    "grandchild": ("grandson", "granddaughter"),
    "pibling": ("uncle", "aunt"),
    "nibling": ("nephew", "niece"),
    "parent-in-law": ("father-in-law", "mother-in-law"),
    "child-in-law": ("son-in-law", "daughter-in-law"),
    "sibling-in-law": ("brother-in-law", "sister-in-law"),
}
MEN = ("Adam", "Bill", "Carl", "Dave", "Eric", "Fred")
WOMEN = ("Gina", "Helen", "Iris", "Jane", "Kate", "Lucy")


def answer(story: str, question: str) -> str | None:
    """Return what somebody is to somebody; None if it does not follow, or has no name here."""
    first, second = question.rstrip("?").split()[2::2]
    genders: dict[str, int] = {}
    parents: dict[str, set[str]] = {}
    spouses: dict[str, str] = {}
    for sentence in story.split("\n"):
        one, _, _, word, _, two = sentence.rstrip(".").split()
        kind = next(kind for kind, words in WORDS.items() if word in words)
        genders[one] = WORDS[kind].index(word)
        if kind == "spouse":
            spouses[one], spouses[two] = two, one
        else:
            parents.setdefault(one if kind == "child" else two, set()).add(two if kind == "child" else one)
    for child in parents:
        parents[child] |= {spouses[each] for each in parents[child] if each in spouses}

    def elders(person: str) -> set[str]:
        return parents.get(person, set())

    def siblings(person: str) -> set[str]:
        return {each for each in parents if each != person and elders(each) & elders(person)}

    def partner(person: str) -> set[str]:
        return {spouses[person]} if person in spouses else set()

    def after(people: set[str], step: object) -> set[str]:
        return {each for person in people for each in step(person)}  # type: ignore[operator]

    def children(person: str) -> set[str]:
        return {each for each in parents if person in elders(each)}

    kin = {
        "spouse": partner(second),
        "parent": elders(second),
        "child": children(second),
        "sibling": siblings(second),
        "grandparent": after(elders(second), elders),
        "grandchild": after(children(second), children),
        "pibling": after(elders(second), siblings),
        "nibling": after(siblings(second), children),
        "parent-in-law": after(partner(second), elders),
        "child-in-law": after(children(second), partner),
        "sibling-in-law": after(partner(second), siblings) | after(siblings(second), partner),
    }
    for kind, people in kin.items():
        if first in people:
            return WORDS[kind][genders[first]] if first in genders else None
    return None


def sample(seed: int, children: int = 2, grandchildren: int = 2) -> tuple[str, str, str]:
    """Draw a family, tell it, and ask what one is to another."""
    draw = random.Random(seed)
    men, women = list(MEN), list(WOMEN)
    draw.shuffle(men)
    draw.shuffle(women)
    couples = [(men.pop(), women.pop())]
    facts: list[tuple[str, str, str]] = []

    def tell(one: str, kind: str, two: str) -> None:
        facts.append((one, WORDS[kind][one in WOMEN], two))

    def bear(couple: tuple[str, str]) -> str:
        child = (women if draw.random() < 0.5 else men).pop()
        parent = draw.choice(couple)
        if draw.random() < 0.5:
            tell(child, "child", parent)
        else:
            tell(parent, "parent", child)
            tell(child, "child", couple[1] if parent == couple[0] else couple[0])
        return child

    for _ in range(children):
        child = bear(couples[0])
        if draw.random() < 0.7:
            couples.append((child, women.pop()) if child in MEN else (men.pop(), child))
    for _ in range(grandchildren if len(couples) > 1 else 0):
        bear(draw.choice(couples[1:]))
    for man, woman in couples:
        tell(*((man, "spouse", woman) if draw.random() < 0.5 else (woman, "spouse", man)))
    draw.shuffle(facts)
    story = "\n".join(f"{one} is the {word} of {two}." for one, word, two in facts)
    people = sorted({each for one, _, two in facts for each in (one, two)})
    while True:
        first, second = draw.sample(people, 2)
        question = f"What is {first} to {second}?"
        if (found := answer(story, question)) is not None:
            return story, question, found


sample.answer = answer  # type: ignore[attr-defined]
