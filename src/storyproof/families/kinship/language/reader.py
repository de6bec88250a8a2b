"""The reader: which facts a story states, from its text alone.

`read` understands a text or refuses it; it never guesses. It works in these steps:

1. `tokens` cuts the text into words, each with a class of `lexicon` (name, kin word, pronoun, negation …), and leaves
   out what says nothing. What is left of a sentence is its *skeleton*.
2. `phrases` and `checks` refuse texts with ages, plays, remarks about the text and the like, by words and classes.
3. `grammar` interprets each skeleton: which constructions state a relation, of whom, and who may be meant by pronouns.
   A kin word that belongs to no construction makes it refuse the sentence.
4. Here pronouns are bound: somebody named earlier in the sentence or in the sentence before is meant, unless the text
   has shown another gender or the relation excludes them. If two people are left and a fact depends on it, the text is
   refused.
5. `checks` and `consistency` look at the story as a whole: one place at a time, no sentence twice, one family.

Many texts are read at once by `bulk` (steps 1 and 2) and `stories` (steps 4 and 5), as arrays. They decide only the
clear cases; whatever is doubtful is read here, so that every refusal has its reason and place.

The reader shares nothing with the narrator but the relations, and the lists of first names where it is not told who the
people are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache
from itertools import islice

import numpy as np

from storyproof.families.kinship.language import lexicon as lx
from storyproof.families.kinship.language.bulk import KnownTokens, prepare
from storyproof.families.kinship.language.checks import (
    Doubt,
    Where,
    check_clashes,
    check_patterns,
    check_suggestions,
    check_words,
    find_repeat,
    may_clash,
    says_when,
)
from storyproof.families.kinship.language.consistency import find_contradiction
from storyproof.families.kinship.language.grammar import Meaning, Pronoun, Refused, interpret
from storyproof.families.kinship.language.lexicon import KinWord
from storyproof.families.kinship.language.phrases import find_phrase
from storyproof.families.kinship.language.reading import NotUnderstood, ReadFact, Reading
from storyproof.families.kinship.language.stories import Facts, Programs, read_facts
from storyproof.families.kinship.language.tokens import (
    LINE,
    Tokens,
    cut,
    find_lookalikes,
    guess_names,
    kept_places,
    mark_names,
    reduce,
    resolve_capitals,
    silence_quotations,
    simplify,
    words_as_names,
)
from storyproof.families.kinship.relations import FEMALE, MALE, WORDS, Fact

__all__ = ["Facts", "NotUnderstood", "ReadFact", "Reading", "read", "read_many", "read_table"]

_BATCH = 4096  # stories that are cut and classified together
# After these numbers of tokens, bytes of tokens or meanings the reader forgets what it knows, so that it stays small.
_MOST_TOKENS, _MOST_BYTES, _MOST_MEANINGS = 1 << 18, 1 << 25, 1 << 16
_GENDER = {"h": MALE, "e": MALE, "m": MALE, "g": MALE, "r": FEMALE, "s": FEMALE, "H": FEMALE, "G": FEMALE}
_UNNAMED = {"u": (MALE, FEMALE), "1": (MALE,), "0": (FEMALE,), "P": (MALE, FEMALE)}


def read(text: str, names: Collection[str] | None = None) -> Reading:
    """Read a story.

    Args:
        text: One or more sentences per line.
        names: Everybody whom the text names; if None, capitalised words are taken for names where they can be nothing
            else.

    Raises:
        NotUnderstood: If any part of it that may concern kinship is not understood, or can be read in two ways.
    """
    reading = _reader().read(text, names)
    if isinstance(reading, Reading):
        return reading
    raise reading


def read_many(stories: Iterable[str], names: Iterable[Collection[str]] | None = None) -> list[Reading | NotUnderstood]:
    """Read stories; each distinct skeleton of a sentence is interpreted once.

    Args:
        stories: The texts.
        names: Everybody whom each story names.

    Returns:
        For each story what `read` returns or raises.
    """
    reader = _reader()
    if names is None:
        return [reader.read(story, None) for story in stories]
    readings: list[Reading | NotUnderstood] = []
    pairs = iter(zip(stories, names, strict=True))
    while batch := list(islice(pairs, _BATCH)):
        readings += reader.read_batch([story for story, _ in batch], [tuple(each) for _, each in batch])
    return readings


def read_table(
    stories: Sequence[str], names: Sequence[Sequence[str]]
) -> tuple[Facts, dict[int, Reading | NotUnderstood]]:
    """Read stories into arrays, without a Python object for each fact.

    Args:
        stories: The texts; a few thousand at a time.
        names: The people of each story.

    Returns:
        The facts of most stories, with people as numbers in `names`; for the others, by their numbers, what `read`
        returns or raises.
    """
    return _reader().read_table(stories, names)


def find_gender_lines(text: str, names: Collection[str], person: str) -> frozenset[int]:
    """Return the lines, from 1, in which a kin word or a pronoun shows somebody's gender; none if it is not understood.

    Args:
        text: The story.
        names: Everybody whom it names.
        person: One of them.
    """
    story, reading = _reader().read_story(text, names)
    return frozenset(story.shown.get(person, ()) if isinstance(reading, Reading) else ())


@lru_cache(1 << 16)
def _numbers(bits: int) -> tuple[int, ...]:
    """Return which bits are set."""
    return tuple(place for place in range(bits.bit_length()) if bits >> place & 1)


def _is_doubtful(text: str, kinds: str) -> bool:
    """Return whether a story has to be checked as a whole."""
    try:
        check_patterns(text, kinds)
    except Doubt:
        return True
    return may_clash(kinds, timed=says_when(text))


@cache
def _shared() -> _SkeletonReader:
    return _SkeletonReader()


def _reader() -> _SkeletonReader:
    if _shared().is_full():
        _shared.cache_clear()
    return _shared()


class _SkeletonReader:
    """Reads stories, and remembers what skeletons of sentences mean."""

    def __init__(self) -> None:
        self.tokens = Tokens()
        self.vocabulary = KnownTokens(self.tokens)
        self.meanings: dict[tuple[str, tuple[int, ...]], Meaning | Refused] = {}
        self.programs = Programs(self.meaning)

    def is_full(self) -> bool:
        """Return whether so much is remembered that it has to be forgotten."""
        return (
            len(self.tokens) > _MOST_TOKENS or self.vocabulary.size > _MOST_BYTES or len(self.meanings) > _MOST_MEANINGS
        )

    def read(self, text: str, names: Collection[str] | None) -> Reading | NotUnderstood:
        """Return what a story says, or why it is not understood."""
        return self.read_story(text, names)[1]

    def read_story(self, text: str, names: Collection[str] | None) -> tuple[_StoryInProgress, Reading | NotUnderstood]:
        """Return what `read` returns, after the story as far as it was read."""
        words = words_as_names(text, names)
        if not words:
            return self._read_story(text, names)
        given = None if names is None else [f"{lx.NAME_MARK}{name}" if name in words else name for name in names]
        story, reading = self._read_story(mark_names(text, words), given)
        plain = {f"{lx.NAME_MARK}{word}": word for word in words}
        story.shown = {plain.get(name, name): lines for name, lines in story.shown.items()}
        if isinstance(reading, NotUnderstood):
            return story, NotUnderstood(
                reading.reason, reading.line, reading.sentence, reading.column, reading.words.removeprefix(lx.NAME_MARK)
            )
        facts = tuple(
            each._replace(first=plain.get(each.first, each.first), second=plain.get(each.second, each.second))
            for each in reading.facts
        )
        genders = {plain.get(name, name): gender for name, gender in reading.genders.items()}
        return story, Reading(facts, genders, frozenset(plain.get(name, name) for name in reading.people))

    def _read_story(self, text: str, names: Collection[str] | None) -> tuple[_StoryInProgress, Reading | NotUnderstood]:
        table = self.tokens
        tokens = [table[each] for each in cut(text)]
        raw = "".join([each.kinds for each in tokens])
        capitals = [each.capital for each in tokens if each.capital is not None]
        kins = [each.kin for each in tokens if each.kin is not None]
        doubtful: frozenset[str] = frozenset()
        if names is None:
            names, doubtful = guess_names(raw, capitals)
        kinds, called = resolve_capitals(raw, capitals, names)
        kinds = silence_quotations(kinds)
        simple = simplify(kinds)
        story = _StoryInProgress(doubtful)
        try:
            if wrong := [name for name in names if not table.is_name(name)]:
                reason = f"the name '{wrong[0]}' cannot be told from other words"
                raise Doubt(reason, max(text.find(wrong[0]), 0), Where.TEXT)
            if pair := find_lookalikes(called):
                raise Doubt(f"the names '{pair[0]}' and '{pair[1]}' look alike", text.find(pair[1]), Where.TEXT)
            if "?" in kinds:
                raise Doubt("a question states nothing", kinds.index("?"), Where.CLASSES)
            if phrase := find_phrase(text):
                raise Doubt(f"what '{phrase[1]}' says is not understood", phrase[0], Where.TEXT)
            check_patterns(text, kinds)
            self._read_sentences(story, reduce(simple), called, kins)
            if (place := find_repeat(text)) is not None:
                raise Doubt("a sentence occurs twice", place, Where.TEXT)
            check_clashes(text, kinds, story.sentences)
            return story, story.reading()
        except Doubt as doubt:
            return story, _explain(text, simple, doubt, table)

    def read_table(
        self, stories: Sequence[str], names: Sequence[Sequence[str]]
    ) -> tuple[Facts, dict[int, Reading | NotUnderstood]]:
        """Return facts as arrays, and the readings of those stories that had to be read on their own."""
        sentences = prepare(stories, names, self.vocabulary)
        for number in np.flatnonzero(sentences.suspect & ~sentences.closer).tolist():
            begin, end = sentences.bounds[number : number + 2]
            kinds = sentences.kinds[begin : end - 1].decode("ascii")
            sentences.closer[number] = _is_doubtful(stories[number], kinds)
        facts = read_facts(sentences, self.programs)
        for number in facts.repeats.tolist():
            facts.clear[number] &= find_repeat(stories[number]) is None
        unclear = np.flatnonzero(~facts.clear).tolist()
        return facts, {number: self.read(stories[number], names[number]) for number in unclear}

    def read_batch(self, stories: Sequence[str], names: Sequence[Sequence[str]]) -> list[Reading | NotUnderstood]:
        """Return what `read` returns for each story."""
        facts, others = self.read_table(stories, names)
        columns = (facts.first, facts.word, facts.second, facts.line, facts.sentence)
        told = list(zip(*(each.tolist() for each in columns), strict=True))
        bounds = np.searchsorted(facts.story, np.arange(len(stories) + 1)).tolist()
        bits = [each.tolist() for each in (facts.people, facts.male, facts.female)]
        readings: list[Reading | NotUnderstood] = []
        for number, people in enumerate(names):
            if number in others:
                readings.append(others[number])
                continue
            mentioned, male, female = ([people[each] for each in _numbers(part[number])] for part in bits)
            stated = [
                ReadFact(people[first], WORDS[word], people[second], line, sentence)
                for first, word, second, line, sentence in told[bounds[number] : bounds[number + 1]]
            ]
            genders = {**dict.fromkeys(male, MALE), **dict.fromkeys(female, FEMALE)}
            readings.append(Reading(tuple(stated), genders, frozenset(mentioned)))
        return readings

    def _read_sentences(self, story: _StoryInProgress, kinds: str, called: list[str], kins: list[KinWord]) -> None:
        """Read the reduced classes of a story."""
        start = name = kin = 0
        for line, part in enumerate(kinds.split(LINE), start=1):
            for each in part.split("."):
                if each:
                    after_name, after_kin = name + each.count("N"), kin + each.count("K") + each.count("L")
                    here = called[name:after_name]
                    meaning = self.meaning(each, tuple([here.index(word) for word in here]))
                    story.add(meaning, here, kins[kin:after_kin], start, line)
                    name, kin = after_name, after_kin
                start += len(each) + 1

    def meaning(self, kinds: str, who: tuple[int, ...]) -> Meaning | Refused:
        """Return what a sentence says; each skeleton is interpreted once."""
        key = kinds, who
        meaning = self.meanings.get(key)
        if meaning is None:
            try:
                meaning = interpret(kinds, who)
            except Refused as refused:
                meaning = refused
            self.meanings[key] = meaning
        return meaning


class _StoryInProgress:
    """A story while it is read."""

    def __init__(self, doubtful: frozenset[str]) -> None:
        self.doubtful = doubtful  # names that may be words
        self.genders: dict[str, str | None] = {}  # of everybody, in order
        self.shown: dict[str, set[int]] = {}  # the lines that show somebody's gender
        self.facts: list[ReadFact] = []
        self.places: list[int] = []  # of each fact
        self.before: list[str] = []  # people of the sentence before
        self.unnamed = ""
        self.sentences: list[tuple[int, Meaning, list[str]]] = []  # where each begins, with its names

    def add(self, meaning: Meaning | Refused, names: list[str], kins: list[KinWord], start: int, line: int) -> None:
        """Add a sentence.

        Args:
            meaning: What it says.
            names: Its names.
            kins: Its kin words.
            start: Where it begins in the reduced classes.
            line: The line in which it stands.
        """
        if isinstance(meaning, Refused):
            raise Doubt(meaning.reason, start + meaning.place)
        people = [names[each] for each in meaning.people]
        genders = self.genders
        for name in people:
            if name not in genders:
                genders[name] = None
        if meaning.checked:
            check_words(meaning, names, kins, start)
        before, bound = people, []
        first_fact = len(self.facts)
        for step in meaning.steps:
            if isinstance(step, Pronoun):
                able = self._bind(step, names, start, line)
                bound.append(able)
                for name in able:
                    if name not in before:
                        before = [*before, name]
                continue
            first, kin, second, place = step
            firsts = (names[first],) if first >= 0 else bound[-1 - first]
            seconds = (names[second],) if second >= 0 else bound[-1 - second]
            word, _, _, gender = kins[kin]
            for one in firsts:
                for other in seconds:
                    if one == other:
                        raise Doubt(f"{one} would be their own {word}", start + place)
                    self.shown.setdefault(other, set()).add(line)
                    if genders[other] != gender:
                        self._show(other, gender, start + place)
                    self.places.append(start + place)
                    self.facts.append(ReadFact(one, word, other, line, len(self.sentences) + 1))
        if len(self.facts) > first_fact + 1:
            check_suggestions(self.facts[first_fact:], start)
        self.before = before
        self.unnamed = meaning.unnamed
        self.sentences.append((start, meaning, names))

    def _show(self, person: str, gender: str, place: int) -> None:
        """Note that the text shows somebody's gender."""
        known = self.genders[person]
        if known is None:
            self.genders[person] = gender
        elif known != gender:
            raise Doubt(f"{person} would be both {known} and {gender}", place)

    def _bind(self, pronoun: Pronoun, names: list[str], start: int, line: int) -> list[str]:
        """Return who is meant by a pronoun; everybody who may be meant if nothing depends on it."""
        kind, place, near, barred, unnamed, inside, used = pronoun
        able = [names[each] for each in near]
        if not inside:
            unnamed += self.unnamed
            not_meant = [names[each] for each in barred]
            able += [name for name in self.before if name not in able and name not in not_meant]
        if kind == lx.THEIR:
            if len(able) != 2:
                raise Doubt("it is not clear who is meant", start + place)
            return able
        gender, genders = _GENDER[kind], self.genders
        able = [name for name in able if genders[name] is None or genders[name] == gender]
        others = unnamed and any(gender in _UNNAMED[each] for each in unnamed)
        if len(able) == 1 and not others:
            [name] = able
            if name in self.doubtful and self._earlier(gender, names):
                raise Doubt("it is not clear who is meant", start + place)
            genders[name] = gender
            self.shown.setdefault(name, set()).add(line)
        elif not able and not others:
            raise Doubt("nobody of this gender can be meant", start + place)
        elif used:
            raise Doubt("it is not clear who is meant", start + place)
        return able

    def _earlier(self, gender: str, names: list[str]) -> bool:
        """Return whether somebody who was named before the sentence before could be meant."""
        near = {*names, *self.before}
        return any(known in (None, gender) for each, known in self.genders.items() if each not in near)

    def reading(self) -> Reading:
        """Return what has been read.

        Raises:
            Doubt: If it is nothing, or does not fit into one family.
        """
        if not self.facts:
            raise Doubt("no relation is stated", 0)
        number = {name: number for number, name in enumerate(self.genders)}
        facts = [Fact(number[fact.first], fact.predicate, number[fact.second]) for fact in self.facts]
        genders = tuple(self.genders.values())
        if reason := find_contradiction(facts, genders):
            # The place is the fact with which the contradiction begins.
            last = next(end for end in range(1, len(facts) + 1) if find_contradiction(facts[:end], genders))
            raise Doubt(reason, self.places[last - 1])
        shown = {name: gender for name, gender in self.genders.items() if gender}
        return Reading(tuple(self.facts), shown, frozenset(self.genders))


def _explain(text: str, simple: str, doubt: Doubt, tokens: Tokens) -> NotUnderstood:
    """Return the verdict with its place in the text."""
    place = doubt.place
    if doubt.where is Where.SKELETON:
        kept = kept_places(simple)
        place = kept[min(place, len(kept) - 1)] if kept else 0
    verdict, number, sentence, inside = NotUnderstood(doubt.reason, 1, 1, 1, ""), 0, 0, False
    offset = 0  # of the line
    for line, words in enumerate(text.split(LINE), start=1):
        column = 1
        for word in words.split(" "):
            for piece in tokens[word].pieces:
                ends = piece.kind == "."
                sentence += not (inside or ends)
                inside = not ends
                start = column + piece.start
                verdict = NotUnderstood(doubt.reason, line, max(sentence, 1), start, word[piece.start : piece.end])
                if place < offset + column + piece.end if doubt.where is Where.TEXT else place <= number:
                    return verdict
                number += 1
            column += len(word) + 1
        offset += len(words) + 1
        number += 1
        inside = False
    return verdict
