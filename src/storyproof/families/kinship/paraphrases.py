"""Paraphrases by people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import cycle, product

from storyproof.families.kinship.checker import ENTAILED, status
from storyproof.families.kinship.language.names import our_names
from storyproof.families.kinship.language.reader import read
from storyproof.families.kinship.language.reading import NotUnderstood, Reading
from storyproof.families.kinship.placeholders import Placeholders, checks
from storyproof.families.kinship.placeholders.collection import Key, all_genders, missing
from storyproof.families.kinship.placeholders.files import ours
from storyproof.families.kinship.relations import BASIC, FEMALE, GENDERS, MALE, Fact, inverse, predicate_of, word
from storyproof.families.kinship.rules import relation_along
from storyproof.families.paraphrasing import (
    MISSING_FACT,
    MISSING_PERSON,
    OTHER_FACT,
    REVEALS_HIDDEN,
    UNCLEAR,
    WRONG_GENDER,
    CollectedTexts,
    JudgedText,
    Paraphrasing,
    TextRemark,
    WritingTask,
)
from storyproof.generation.seeds import Draws

_TRADITION = "english"
_SIDES = ("train", "test")
_SLOT_KINDS = {checks.MISSING: MISSING_PERSON, checks.REVEALS: REVEALS_HIDDEN, checks.PRONOUN: WRONG_GENDER}
_SLOT_KINDS |= {checks.NOT_TOLD: MISSING_FACT, checks.NOT_RECOGNISED: MISSING_FACT, checks.SWAPPED: OTHER_FACT}


class KinshipParaphrasing(Paraphrasing):
    """Stories that people write for one to three kinship facts."""

    use_texts = (
        "storyproof generate clutrr --text placeholders --placeholders {train} --test-placeholders {test} --out DATA"
    )

    def tasks(self, count: int, seed: int) -> list[WritingTask]:
        """Return tasks: every single fact that stories need, then two and three facts in turn, at random."""
        draws = Draws("paraphrase-tasks", seed)
        singles = list(_keys(1))
        two, three = (_shuffled(list(_keys(facts)), draws) for facts in (2, 3))
        turns = [key for pair in zip(cycle(two), three, strict=False) for key in pair]
        keys: list[Key] = []
        while len(keys) < count:
            keys += [*singles, *turns]
        names = our_names()[_TRADITION]
        orders = {gender: draws.order(len(names[gender])).tolist() for gender in GENDERS}
        tasks = []
        for number, key in enumerate(keys[:count]):
            people: list[str] = []
            for place, gender in enumerate(key[1]):
                pool = orders[gender]
                step = number * 4 + place  # no task has more people
                people.append(names[gender][pool[step % len(pool)]])
            tasks.append(_task(key, people))
        return tasks

    def check(self, task: WritingTask, text: str) -> list[TextRemark]:
        """Compare what a text states, by the reader, with its facts."""
        absent = [name for name in task.people if not re.search(rf"\b{re.escape(name)}\b", text)]
        remarks = [TextRemark(MISSING_PERSON, name) for name in absent]
        try:
            reading = read(text, task.people)
        except NotUnderstood as error:
            remarks += _doubts(task, text)
            remarks.append(TextRemark(UNCLEAR, error.words, is_question=True))
        else:
            remarks += _compare(task, reading)
        return sorted(dict.fromkeys(remarks), key=lambda remark: remark.is_question)

    def fingerprint(self, task: WritingTask, text: str) -> str:
        """Return a text with numbers for names, in lower case, words only."""
        numbers = {name: f"#{place}" for place, name in enumerate(task.people)}
        return " ".join(re.findall(r"#\d|\w+", _replace(text, numbers).casefold()))

    def examples(self) -> Sequence[JudgedText]:
        """Return texts of ours with their verdicts."""
        return _examples()

    def collect(self, texts: Sequence[tuple[WritingTask, str]], *, fill: str = "") -> CollectedTexts:
        """Return placeholders: the texts with slots for names, by relations and genders."""
        collection: dict[Key, list[str]] = {}
        left_out: list[str] = []
        for task, text in texts:
            key = _key_of(task)
            slots = _with_slots(task, text)
            if any(each.kind in checks.FATAL for each in checks.check(*key, slots)):
                left_out.append(text)
            elif slots not in collection.setdefault(key, []):
                collection[key].append(slots)
        used = sum(map(len, collection.values()))
        if fill:
            written = Placeholders("study", {key: tuple(each) for key, each in collection.items() if each})
            added = ours().split("study")[_SIDES.index(fill)]
            for key in missing(written):
                collection[key] = [*collection.get(key, []), *added.templates[key]]
        document: dict[str, dict[str, list[str]]] = {}
        for (words, genders), written_texts in collection.items():
            if written_texts:
                document.setdefault("-".join(words), {})["-".join(genders)] = written_texts
        return CollectedTexts(document, used, tuple(left_out), sum(map(len, collection.values())) - used)


def _keys(facts: int) -> Iterator[Key]:
    """Yield the words and genders of all chains of a number of facts from which a relation of the ends is proved."""
    for predicates in product(BASIC, repeat=facts):
        head = relation_along(predicates)
        if head is None:
            continue
        chain = [Fact(place, each, place + 1) for place, each in enumerate(predicates)]
        for genders in all_genders(predicates):
            if status(genders, chain, Fact(0, head, facts)) != ENTAILED:
                continue  # two fathers, for instance
            words = tuple(word(each, gender) for each, gender in zip(predicates, genders[1:], strict=True))
            yield words, genders


def _shuffled(keys: list[Key], draws: Draws) -> list[Key]:
    return [keys[place] for place in draws.order(len(keys)).tolist()]


def _task(key: Key, people: Sequence[str]) -> WritingTask:
    words, genders = key
    pairs = zip(people, people[1:], words, strict=False)
    head = relation_along([predicate_of(each) for each in words]) if len(words) > 1 else None
    return WritingTask(
        key=f"{'-'.join(words)} {'-'.join(genders)}",
        people=tuple(people),
        facts=tuple(_state(first, second, each) for first, second, each in pairs),
        genders=tuple(f"{name} is {gender}." for name, gender in zip(people, genders, strict=True)),
        hidden=_state(people[0], people[-1], word(head, genders[-1])) if head else "",
        group=f"{len(words)} fact{'s' * (len(words) > 1)}",
    )


def _state(first: str, second: str, relation: str) -> str:
    return f"{second} is {first}'s {relation}."


def _key_of(task: WritingTask) -> Key:
    """Return the words and genders of a task; words may have hyphens, so they are read from the facts."""
    words = tuple(fact.rsplit(" ", 1)[1].rstrip(".") for fact in task.facts)
    return words, tuple(each.rsplit(" ", 1)[1].rstrip(".") for each in task.genders)


def _replace(text: str, by: dict[str, str]) -> str:
    names = "|".join(map(re.escape, sorted(by, key=len, reverse=True)))
    return re.sub(rf"\b(?:{names})\b", lambda match: by[match[0]], text)


def _with_slots(task: WritingTask, text: str) -> str:
    genders = _key_of(task)[1]
    slots = {name: f"ENT_{place}_{genders[place]}" for place, name in enumerate(task.people)}
    return " ".join(_replace(text, slots).split())


def _compare(task: WritingTask, reading: Reading) -> Iterator[TextRemark]:
    """Compare the facts and genders of a text that was understood with those of its task; yield what differs."""
    words, genders = _key_of(task)
    place = {name: number for number, name in enumerate(task.people)}
    given: dict[tuple[int, int], str] = {}
    for number, each in enumerate(map(predicate_of, words)):
        given |= {(number, number + 1): each, (number + 1, number): inverse(each)}
    stated: set[int] = set()
    head = relation_along([predicate_of(each) for each in words]) if len(words) > 1 else None
    hidden = {(0, len(words)): head, (len(words), 0): inverse(head)} if head else {}
    for fact in reading.facts:
        pair = place.get(fact.first, -1), place.get(fact.second, -1)
        if given.get(pair) == fact.predicate:
            stated.add(min(pair))
        elif hidden.get(pair) == fact.predicate:
            yield TextRemark(REVEALS_HIDDEN, task.hidden)
        else:
            yield TextRemark(OTHER_FACT, _state(fact.first, fact.second, fact.word))
    for number, sentence in enumerate(task.facts):
        if number not in stated:
            yield TextRemark(MISSING_FACT, sentence)
    for name, gender in reading.genders.items():
        if name in place and genders[place[name]] != gender:
            yield TextRemark(WRONG_GENDER, name)


def _doubts(task: WritingTask, text: str) -> Iterator[TextRemark]:
    """Yield what the checks of placeholders find in a text that the reader does not understand."""
    people = {f"ENT_{number}": name for number, name in enumerate(task.people)}
    for each in checks.check(*_key_of(task), _with_slots(task, text)):
        kind = _SLOT_KINDS.get(each.kind, UNCLEAR)
        if kind == MISSING_PERSON:
            continue  # found already
        what = re.sub(r"ENT_\d", lambda match: people.get(match[0], match[0]), re.sub(r"_(?:fe)?male", "", each.what))
        what = re.sub(r"^(?:no word states )?that (.*)$", r"\1.", what)
        yield TextRemark(kind, what, is_question=each.kind != checks.REVEALS)


@cache
def _examples() -> tuple[JudgedText, ...]:
    nadia = _task((("daughter", "brother"), (MALE, FEMALE, MALE)), ("Tomas", "Nadia", "Felix"))
    ingrid = _task((("wife", "son"), (MALE, FEMALE, MALE)), ("Paul", "Ingrid", "Leo"))
    rosa = _task((("sister", "daughter"), (MALE, FEMALE, FEMALE)), ("Milan", "Rosa", "Vera"))
    return (
        JudgedText(
            nadia,
            "Tomas packed sandwiches for his daughter Nadia before the hike. Nadia shared them with her brother Felix "
            "at the top of the hill.",
            True,
        ),
        JudgedText(
            nadia,
            "Tomas packed sandwiches for his daughter Nadia. Her brother Felix is Tomas's son and carried the bag.",
            False,
            ("reveals-hidden",),
        ),
        JudgedText(nadia, "Nadia of Felix sandwich hill going, and Tomas.", False, ("nonsense", "misses-fact")),
        JudgedText(ingrid, "Seven Paul quickly Ingrid because of the Leo banana.", False, ("nonsense", "misses-fact")),
        JudgedText(
            rosa,
            "Milan bought a melon at the market. It was a hot day, and Rosa and Vera waited for him in the shade.",
            False,
            ("misses-fact",),
        ),
        JudgedText(
            ingrid,
            "Paul is the father of Leo. He repaired the gate while his wife Ingrid and her son Leo painted the fence.",
            False,
            ("reveals-hidden",),
        ),
        JudgedText(
            rosa,
            "Milan helped his sister Rosa to carry the shopping home. Rosa's daughter Vera opened the door for them.",
            True,
        ),
    )
