"""What many stories state, as arrays: who is meant by pronouns, and all facts.

This does what `reader` does for one story, for a batch of stories at a time, one sentence of each after the other. The
people of a story are bits of a number, so that sets of people are numbers too. A story in which anything is doubtful is
not decided here: `clear` is False, and `reader` reads it on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.families.kinship.language import lexicon as lx
from storyproof.families.kinship.language.bulk import MOST_NAMES, Flags, Numbers, Sentences
from storyproof.families.kinship.language.consistency import SUGGESTIVE, SUGGESTIVE_OF_ONE, find_entangled
from storyproof.families.kinship.language.grammar import Meaning, Pronoun, Refused
from storyproof.families.kinship.relations import NAMES, WORDS, inverse

Bits = npt.NDArray[np.uint64]
Interpreter = Callable[[str, tuple[int, ...]], Meaning | Refused]
_MOST_STEPS = 8
_MOST_PRONOUNS = 4
_NONE, _PRONOUN, _FACT = 0, 1, 2
_MALE = frozenset("hemg")
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_SIBLING = NAMES.index("sibling")
_WIFE = WORDS.index("wife")
_CHAIN, _OF_ONE = (
    np.array([[(one, other) in pairs for other in NAMES] for one in NAMES]) for pairs in (SUGGESTIVE, SUGGESTIVE_OF_ONE)
)
_INVERSE = np.array([NAMES.index(inverse(name)) for name in NAMES])


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a batch of stories.

    Attributes:
        clear: [story], whether it was understood; the facts of others are left out.
        story: [fact], in order.
        first: [fact], a number in the list of the story's people.
        predicate: [fact], the number of the relation in `relations.NAMES`.
        word: [fact], the number of the word in `relations.WORDS`.
        second: [fact], as first.
        line: [fact], the line that states it, from 1.
        sentence: [fact], the sentence that states it, from 1.
        people: [story], the people whom it names, as bits.
        male: [story], the people who are shown to be male, as bits.
        female: [story], the people who are shown to be female, as bits.
        repeats: The stories of which two sentences have one skeleton and the same people.
    """

    clear: Flags
    story: Numbers
    first: Numbers
    predicate: Numbers
    word: Numbers
    second: Numbers
    line: Numbers
    sentence: Numbers
    people: Bits
    male: Bits
    female: Bits
    repeats: Numbers


def read_facts(sentences: Sentences, programs: Programs) -> Facts:
    """Return what stories state.

    Args:
        sentences: Their sentences.
        programs: The meanings met so far.
    """
    return _Stories(sentences, programs).read()


class Programs:
    """Meanings as arrays [meaning, step]; more are added as they are met."""

    def __init__(self, interpret: Interpreter) -> None:
        self._interpret = interpret
        self._numbers: dict[tuple[str, tuple[int, ...]], int] = {}
        self._size = 0
        self._grow()

    def _grow(self) -> None:
        """Make room for twice as many meanings."""
        size = max(2 * self._size, 1024)
        names, steps = MOST_NAMES, _MOST_STEPS

        def enlarge(name: str, kind: type[np.generic], *shape: int, empty: int = 0) -> None:
            new = np.full((size, *shape), empty, kind)
            if self._size:
                new[: self._size] = getattr(self, name)
            setattr(self, name, new)

        self.closer: Flags
        self.steps: Numbers
        self.kind: Numbers
        self.male: Flags
        self.inside: Flags
        self.used: Flags
        self.unnamed: Flags
        self.near: Flags
        self.barred: Flags
        self.first: Numbers
        self.kin: Numbers
        self.second: Numbers
        self.after: Flags
        self.bare: Flags
        self.mutual: Numbers
        enlarge("closer", np.bool_)
        enlarge("steps", np.int64)
        enlarge("kind", np.int64, steps)
        for flags in ("male", "inside", "used"):  # of a pronoun
            enlarge(flags, np.bool_, steps)
        enlarge("unnamed", np.bool_, steps, 2)  # a woman, a man before the pronoun
        enlarge("near", np.bool_, steps, names)
        enlarge("barred", np.bool_, steps, names)
        for numbers in ("first", "kin", "second"):  # of a fact
            enlarge(numbers, np.int64, steps)
        enlarge("after", np.bool_, 2)  # a woman, a man without a name in the sentence
        enlarge("bare", np.bool_, names)
        enlarge("mutual", np.int64, 2, empty=-1)
        self._size = size

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, sentences: Sequence[tuple[str, tuple[int, ...]]]) -> Numbers:
        """Return the numbers of the meanings of skeletons."""
        numbers = self._numbers
        meanings = list(map(numbers.get, sentences))
        if None in meanings:
            before = len(numbers)
            for each in sentences:
                numbers.setdefault(each, len(numbers))
            self._add(before, [self._interpret(*each) for each in islice(numbers, before, None)])
            meanings = list(map(numbers.get, sentences))
        return np.array(meanings, np.int64)

    def _add(self, start: int, meanings: list[Meaning | Refused]) -> None:
        """Note meanings, the first of which has the number `start`.

        NumPy takes as long for one number as for a hundred, so that each array is filled at once.
        """
        while start + len(meanings) > self._size:
            self._grow()
        counts: list[int] = []
        after: list[tuple[bool, bool]] = []
        bare: list[tuple[int, int]] = []
        mutual: list[tuple[int, int, int]] = []
        pronouns: list[tuple[int, int, bool, bool, bool, bool, bool]] = []
        near: list[tuple[int, int, int]] = []
        barred: list[tuple[int, int, int]] = []
        facts: list[tuple[int, int, int, int, int]] = []
        for number, meaning in enumerate(meanings, start):
            if isinstance(meaning, Refused) or not _is_simple(meaning):
                counts.append(-1)
                after.append((False, False))
                continue
            counts.append(len(meaning.steps))
            after.append(_people(meaning.unnamed))
            bare += [(number, name) for name in meaning.bare]
            mutual += [(number, *pair) for pair in meaning.mutual]
            for place, step in enumerate(meaning.steps):
                if isinstance(step, Pronoun):
                    male = step.kind in _MALE
                    pronouns.append((number, place, male, step.inside, step.used, *_people(step.unnamed)))
                    near += [(number, place, name) for name in step.near]
                    barred += [(number, place, name) for name in step.barred]
                else:
                    facts.append((number, place, step.first, step.kin, step.second))
        here = slice(start, start + len(meanings))
        steps = np.array(counts, np.int64)
        self.closer[here] = steps < 0
        self.steps[here] = np.maximum(steps, 0)
        self.after[here] = after
        for flags, places in ((self.bare, bare), (self.near, near), (self.barred, barred)):
            if places:
                flags[tuple(np.array(places).T)] = True
        if mutual:
            pairs = np.array(mutual)
            self.mutual[pairs[:, 0]] = pairs[:, 1:]
        if pronouns:
            table = np.array(pronouns, np.int64)
            at = table[:, 0], table[:, 1]
            self.kind[at] = _PRONOUN
            self.male[at], self.inside[at], self.used[at] = table[:, 2:5].T
            self.unnamed[at] = table[:, 5:]
        if facts:
            table = np.array(facts, np.int64)
            at = table[:, 0], table[:, 1]
            self.kind[at] = _FACT
            self.first[at], self.kin[at], self.second[at] = table[:, 2:].T


def _is_simple(meaning: Meaning) -> bool:
    """Return whether a meaning fits into the arrays; others are looked at closer."""
    if len(meaning.steps) > _MOST_STEPS or len(meaning.mutual) > 1 or meaning.definite or meaning.addressed:
        return False
    pronouns = [step for step in meaning.steps if isinstance(step, Pronoun)]
    return (
        len(pronouns) <= _MOST_PRONOUNS
        and len(meaning.steps) - len(pronouns) <= 2
        and all(step.kind != lx.THEIR for step in pronouns)
    )


def _people(unnamed: str) -> tuple[bool, bool]:
    """Return whether women, and whether men, may be among people without a name."""
    if not unnamed:
        return False, False
    return any(each in "u0" for each in unnamed), any(each in "u1" for each in unnamed)


class _Stories:
    """Stories while they are read."""

    def __init__(self, sentences: Sentences, programs: Programs) -> None:
        self.sentences = sentences
        self.clear = ~sentences.closer
        count = len(self.clear)
        self.programs = programs
        self.meaning = _number_meanings(sentences, programs)
        self.genders = np.zeros((count, 2), np.uint64)  # women, men
        self.before = np.zeros(count, np.uint64)  # people of the sentence before
        self.unnamed = np.zeros((count, 2), np.bool_)
        people = sentences.people
        self.bits: Bits = np.where(people >= 0, _ONE << np.maximum(people, 0).astype(np.uint64), _ZERO)
        self.found: list[tuple[Numbers, Numbers, Bits, Bits]] = []  # sentences, kin words, first and second people
        self._check_sentences()

    def _check_sentences(self) -> None:
        """Note the stories with a sentence that has to be looked at closer."""
        sentences, programs, meaning = self.sentences, self.programs, self.meaning
        closer = programs.closer[meaning] | (programs.bare[meaning] & sentences.like_words).any(axis=1)
        pairs = np.flatnonzero(programs.mutual[meaning, 0] >= 0)
        one, other = (sentences.kins[pairs] + programs.mutual[meaning[pairs], each] for each in (0, 1))
        wrong = sentences.predicate[one] != _INVERSE[sentences.predicate[other]]
        plural = sentences.plural[one] | sentences.plural[other]
        wrong |= plural & ((one != other) | (sentences.predicate[one] != _SIBLING))
        wrong |= sentences.word[one] == _WIFE
        closer[pairs[wrong]] = True
        self.clear[sentences.text[closer]] = False

    def read(self) -> Facts:
        """Read sentence after sentence, of all stories at once."""
        text = self.sentences.text
        first = np.searchsorted(text, np.arange(len(self.clear) + 1))
        lengths = np.diff(first)
        for place in range(int(lengths[self.clear].max(initial=0))):
            stories = np.flatnonzero((lengths > place) & self.clear)
            self._read_sentences(stories, first[stories] + place)
        return self._facts(first)

    def _read_sentences(self, stories: Numbers, rows: Numbers) -> None:
        """Read one sentence of each story."""
        programs, meaning, bits = self.programs, self.meaning[rows], self.bits[rows]
        people: Bits = np.bitwise_or.reduce(bits, axis=1)
        bound = np.zeros((len(rows), _MOST_PRONOUNS), np.uint64)
        counts = np.zeros(len(rows), np.int64)
        steps = programs.steps[meaning]
        for step in range(int(steps.max(initial=0))):
            kind = programs.kind[meaning, step]
            at = np.flatnonzero(kind == _PRONOUN)
            if len(at):
                able = self._bind(stories[at], meaning[at], step, bits[at])
                bound[at, counts[at]] = able
                counts[at] += 1
                people[at] |= able
            at = np.flatnonzero(kind == _FACT)
            if len(at):
                first, second = (
                    np.where(ref >= 0, bits[at, np.maximum(ref, 0)], bound[at, np.maximum(-1 - ref, 0)])
                    for ref in (programs.first[meaning[at], step], programs.second[meaning[at], step])
                )
                self._add(stories[at], rows[at], programs.kin[meaning[at], step], first, second)
        self.before[stories] = people
        self.unnamed[stories] = programs.after[meaning]

    def _bind(self, stories: Numbers, meaning: Numbers, step: int, bits: Bits) -> Bits:
        """Return who may be meant by a pronoun of each story."""
        programs = self.programs
        male = programs.male[meaning, step].astype(np.int64)
        inside = programs.inside[meaning, step]
        near, barred = (
            np.bitwise_or.reduce(np.where(each[meaning, step], bits, _ZERO), axis=1)
            for each in (programs.near, programs.barred)
        )
        able: Bits = near | np.where(inside, _ZERO, self.before[stories] & ~barred)
        able &= ~self.genders[stories, 1 - male]
        place = np.arange(len(stories))
        others = programs.unnamed[meaning, step][place, male] | (~inside & self.unnamed[stories, male])
        single = (able != 0) & ((able & (able - _ONE)) == 0) & ~others
        self.genders[stories, male] |= np.where(single, able, _ZERO)
        unclear = ((able == 0) & ~others) | (programs.used[meaning, step] & ~single)
        self.clear[stories[unclear]] = False
        return able

    def _add(self, stories: Numbers, rows: Numbers, kin: Numbers, first: Bits, second: Bits) -> None:
        """Add a fact to each story."""
        kin = self.sentences.kins[rows] + kin
        male = self.sentences.male[kin].astype(np.int64)
        wrong = (first == second) | ((self.genders[stories, 1 - male] & second) != 0)
        self.clear[stories[wrong]] = False
        self.genders[stories, male] |= second
        self.found.append((rows, kin, first, second))

    def _facts(self, begins: Numbers) -> Facts:
        """Return the facts in order, without those of unclear stories."""
        sentences = self.sentences
        if not self.found:
            self.found.append((*(np.zeros(0, np.int64) for _ in range(2)), *(np.zeros(0, np.uint64) for _ in range(2))))  # type: ignore[arg-type]
        rows, kin = (np.concatenate([each[part] for each in self.found]) for part in (0, 1))
        first, second = (_numbers(np.concatenate([each[part] for each in self.found])) for part in (2, 3))
        kept = np.flatnonzero(self.clear[sentences.text[rows]])
        kept = kept[np.argsort(rows[kept], kind="stable")]
        rows, kin, first, second = rows[kept], kin[kept], first[kept], second[kept]
        self._check_suggestions(rows, kin, first, second)
        story = sentences.text[rows]
        self.clear &= np.bincount(story, minlength=len(self.clear)) > 0
        predicate = sentences.predicate[kin]
        self.clear &= ~find_entangled(story, first, predicate, second, self.genders)
        kept = np.flatnonzero(self.clear[story])
        return Facts(
            self.clear,
            story[kept],
            first[kept],
            predicate[kept],
            sentences.word[kin][kept],
            second[kept],
            sentences.line[rows][kept],
            (rows - begins[story] + 1)[kept],
            self._everybody(),
            self.genders[:, 1],
            self.genders[:, 0],
            self._repeats(),
        )

    def _everybody(self) -> Bits:
        everybody = np.zeros(len(self.clear), np.uint64)
        np.bitwise_or.at(everybody, self.sentences.text, np.bitwise_or.reduce(self.bits, axis=1))
        return everybody

    def _repeats(self) -> Numbers:
        """Return the stories of which two sentences have one skeleton and the same people."""
        sentences = self.sentences
        key = sentences.text.astype(np.uint64)
        for each in (self.meaning, *sentences.people.T):
            key = key * _PRIME + each.astype(np.uint64)  # equal keys of different sentences cost time, not truth
        _, first = number_values(key)
        again = np.ones(len(key), np.bool_)
        again[first] = False
        return np.unique(sentences.text[again])

    def _check_suggestions(self, rows: Numbers, kin: Numbers, first: Numbers, second: Numbers) -> None:
        """Note the stories in which two facts of a sentence suggest something else than follows from them."""
        word, predicate = self.sentences.word[kin], self.sentences.predicate[kin]
        here = np.flatnonzero(rows[1:] == rows[:-1])
        unclear = np.zeros(len(here), np.bool_)
        for one, other in ((here, here + 1), (here + 1, here)):
            same_first, same_second = first[one] == first[other], second[one] == second[other]
            unclear |= same_first & same_second & (word[one] == word[other])
            chain = (second[one] == first[other]) & (first[one] != second[other])
            unclear |= chain & _CHAIN[predicate[one], predicate[other]]
            unclear |= same_first & ~same_second & _OF_ONE[predicate[one], predicate[other]]
        self.clear[self.sentences.text[rows[here[unclear]]]] = False


def _numbers(bits: Bits) -> Numbers:
    """Return which bit is set, of numbers with one bit."""
    return np.log2(np.maximum(bits, 1).astype(np.float64)).astype(np.int64)


def _number_meanings(sentences: Sentences, programs: Programs) -> Numbers:
    """Return the number of each sentence's meaning; which names are the same belongs to the skeleton."""
    people = sentences.people[:, : max(int((sentences.people >= 0).any(axis=0).sum()), 1)].astype(np.int8)
    same = np.tile(np.arange(people.shape[1]), (len(people), 1))
    in_order = np.sort(people, axis=1)
    again = np.flatnonzero(((in_order[:, 1:] == in_order[:, :-1]) & (in_order[:, 1:] >= 0)).any(axis=1))
    for place in range(1, people.shape[1]):
        for earlier in range(place - 1, -1, -1):
            there = again[people[again, earlier] == people[again, place]]
            same[there, place] = earlier
    usable = ~sentences.closer[sentences.text]
    same[(people < 0) | ~usable[:, None]] = 0
    key = np.where(usable, sentences.skeleton, -1)
    for place in range(1, people.shape[1]):
        key = key * MOST_NAMES + same[:, place]
    meaning, chosen = number_values(key)
    skeletons = [sentences.skeletons[each] for each in sentences.skeleton[chosen].tolist()]
    numbers = [
        (skeleton, tuple(who[: skeleton.count(lx.NAME)])) if fits else ("", ())
        for skeleton, who, fits in zip(skeletons, same[chosen].tolist(), usable[chosen].tolist(), strict=True)
    ]
    return programs.number(numbers)[meaning]


def number_values(values: npt.NDArray[Any]) -> tuple[Numbers, Numbers]:
    """Number different values in the order in which they occur; hashing takes less time than sorting.

    Returns:
        The number of each value, and for each number where its value occurs first.
    """
    encoded = pa.array(values).dictionary_encode()
    numbers = np.asarray(encoded.indices).astype(np.int64)
    first = np.empty(len(encoded.dictionary), np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    return numbers, first
