"""Rows that hold all that they claim, found as arrays.

Most rows of a generated dataset are clean chains in natural text. For these, everything that `labels` checks is checked
here for thousands of rows at once: what the text states, by the reader; the answer, the readings and the proof, by what
oracle and checker have said about the pattern of the chain (`generation.proved`, a file that names by hashes the rules
and the code that it belongs to); and all other columns. A row is found only if every one of these checks shows it to be
right. All others are left to `labels`, which asks oracle and checker and says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.families.kinship.checker import ENTAILED
from storyproof.families.kinship.generation.proof_file import LENGTHS, NOBODY, Proved, strict_proofs
from storyproof.families.kinship.language.names import genders_of_names
from storyproof.families.kinship.language.reading import NotUnderstood, Reading
from storyproof.families.kinship.people import split_person
from storyproof.families.kinship.relations import FEMALE, GENDERS, MALE, NAMES, WORDS, gender_of, inverse, predicate_of
from storyproof.families.kinship.rules import PUBLISHED, STRICT, strict_rules
from storyproof.families.kinship.schema import KINSHIP_SCHEMA
from storyproof.families.kinship.stated_facts import Text
from storyproof.families.kinship.tasks import CLEAN, TASK_NUMBERS
from storyproof.families.kinship.templates import NAME

if TYPE_CHECKING:
    from storyproof.families.kinship.language.stories import Facts

Bits = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

_COLUMNS = tuple(name for name in KINSHIP_SCHEMA.names if name not in ("id", "story_id", "benchmark", "split"))
_BESIDE = ("problems", "syn_story", "clean_story")  # columns of CLUTRR's CSV files, which are checked one by one
_IN_SYNTHETIC = " is the "  # in every line of synthetic text, and in some others
_BATCH = 8192  # stories that are read together
_UNKNOWN = -1
_NAME = re.compile(NAME)
_PREDICATE = {word: NAMES.index(predicate_of(word)) for word in WORDS}
_GENDER = {word: GENDERS.index(gender_of(word)) for word in WORDS}
_NUMBER = {name: number for number, name in enumerate(NAMES)}
_INVERSE = np.array([NAMES.index(inverse(name)) for name in NAMES])
_POWERS = len(NAMES) ** np.arange(LENGTHS.stop + 1)


class _UnusualError(Exception):
    """A column is not of the usual type, so that rows have to be looked at one by one."""


def find_proved_rows(table: pa.Table) -> Flags:
    """Return which rows of a table, in which columns may be missing, are clean chains that hold all they claim."""
    nothing = np.zeros(table.num_rows, np.bool_)
    names = set(table.column_names)
    if not set(_COLUMNS) <= names or names & set(_BESIDE) or strict_proofs().problem:
        return nothing
    try:
        return _Rows(table.select(_COLUMNS)).find()
    except _UnusualError:
        return nothing


@dataclass(frozen=True)
class _Lists:
    """A column of lists: how long they are, where each begins, and the numbers of all words or the numbers themselves.

    Attributes:
        lengths: [row].
        values: [item], numbers of `words`, or the items themselves.
        words: The distinct words; empty for numbers.
    """

    lengths: Numbers
    values: Numbers
    words: list[str]

    @cached_property
    def starts(self) -> Numbers:
        starts: Numbers = np.cumsum(self.lengths) - self.lengths
        return starts

    def take(self, rows: Numbers, width: int) -> Numbers:
        """Return the items of some rows, [row, item], whose lists have this length."""
        items: Numbers = self.values[self.starts[rows][:, None] + np.arange(width)]
        return items


def _encode(array: pa.Array) -> tuple[Numbers, list[str]]:
    """Return the numbers of words, and the words."""
    if array.null_count:
        raise _UnusualError
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    if not pa.types.is_string(coded.dictionary.type):
        raise _UnusualError
    return np.asarray(coded.indices).astype(np.int64), coded.dictionary.to_pylist()


def _whole(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


class _Stated(NamedTuple):
    """What texts state, as in `language.stories.Facts`.

    Attributes:
        clear: [text], whether it was understood.
        shown: [gender, text], the people whose gender it shows, as bits.
        story: [fact], the text.
        first: [fact], a number in the list of the text's people.
        predicate: [fact].
        second: [fact].
        line: [fact].
        sentence: [fact].
    """

    clear: Flags
    shown: Bits
    story: Numbers
    first: Numbers
    predicate: Numbers
    second: Numbers
    line: Numbers
    sentence: Numbers

    @classmethod
    def of(cls, facts: Facts, others: dict[int, Reading | NotUnderstood], names: Sequence[Sequence[str]]) -> _Stated:
        """Put together what was read as arrays, and what was read text by text."""
        clear, by_gender = facts.clear.copy(), {MALE: facts.male, FEMALE: facts.female}
        shown = np.stack([by_gender[gender] for gender in GENDERS])
        more = []
        for story, reading in others.items():
            if isinstance(reading, NotUnderstood):
                continue
            number = {name: place for place, name in enumerate(names[story])}
            clear[story] = True
            shown[:, story] = [
                sum(1 << number[name] for name, name_gender in reading.genders.items() if name_gender == gender)
                for gender in GENDERS
            ]
            more += [
                (story, number[each.first], NAMES.index(each.predicate), number[each.second], each.line, each.sentence)
                for each in reading.facts
            ]
        added = np.array(more, np.int64).reshape(len(more), 6)
        columns = (facts.story, facts.first, facts.predicate, facts.second, facts.line, facts.sentence)
        return cls(clear, shown, *(np.concatenate(pair) for pair in zip(columns, added.T, strict=True)))


class _Rows:
    """Rows without a missing value, column by column; `right` says which still hold all that they claim."""

    def __init__(self, table: pa.Table) -> None:
        valid = np.ones(table.num_rows, np.bool_)
        for column in table.columns:
            if column.null_count:
                valid &= np.asarray(column.is_valid())
        self._kept = np.flatnonzero(valid)
        self._count = table.num_rows
        self._table = table if valid.all() else table.take(pa.array(self._kept))
        self.right = np.ones(len(self._kept), np.bool_)

    def find(self) -> Flags:
        """Return which rows are right."""
        right = np.zeros(self._count, np.bool_)
        if len(self._kept):
            self._check_form()
            for k in np.unique(self._k[self.right]).tolist():
                self._check_chains(k, np.flatnonzero(self.right & (self._k == k)))
            self._check_texts()
        right[self._kept[self.right]] = True
        return right

    # Columns.

    def _column(self, name: str) -> pa.Array:
        return _whole(self._table.column(name))

    def _words(self, name: str) -> tuple[Numbers, list[str]]:
        array = self._column(name)
        kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        if not pa.types.is_string(kind):
            raise _UnusualError
        return _encode(array)

    def _lists(self, name: str) -> _Lists:
        array = self._column(name)
        if not pa.types.is_list(array.type):
            raise _UnusualError
        lengths, items = np.asarray(pc.list_value_length(array)).astype(np.int64), array.flatten()
        if pa.types.is_null(items.type) or not len(items):
            return _Lists(lengths, np.zeros(0, np.int64), [])
        if pa.types.is_integer(items.type) and not items.null_count:
            return _Lists(lengths, np.asarray(items).astype(np.int64), [])
        return _Lists(lengths, *_encode(items))

    def _tuples(self, name: str, width: int) -> _Lists:
        """Return a column of lists of tuples; `values` is [tuple, part]."""
        array = self._column(name)
        if not pa.types.is_list(array.type):
            raise _UnusualError
        lengths, inner = np.asarray(pc.list_value_length(array)).astype(np.int64), array.flatten()
        if not len(inner):
            return _Lists(lengths, np.zeros((0, width), np.int64), [])
        if not pa.types.is_list(inner.type) or inner.null_count:
            raise _UnusualError
        numbers = inner.flatten()
        widths = np.asarray(pc.list_value_length(inner))
        if not pa.types.is_integer(numbers.type) or numbers.null_count or (widths != width).any():
            raise _UnusualError
        return _Lists(lengths, np.asarray(numbers).astype(np.int64).reshape(-1, width), [])

    def _holds(self, name: str, *words: str) -> None:
        """Keep the rows that have one of some words in a column."""
        numbers, known = self._words(name)
        self.right &= np.array([word in words for word in known], np.bool_)[numbers]

    # Checks.

    def _check_form(self) -> None:
        """Check the columns that are the same in all clean chains, and the lengths of all lists."""
        for name, word in (("task", CLEAN), ("story_type", CLEAN), ("status", ENTAILED)):
            self._holds(name, word)
        k, order, false_belief = (self._column(name) for name in ("k", "order", "false_belief"))
        if not pa.types.is_integer(k.type) or not pa.types.is_integer(order.type):
            raise _UnusualError
        if not pa.types.is_boolean(false_belief.type):
            raise _UnusualError
        self._k = np.asarray(k).astype(np.int64)
        self.right &= (self._k >= LENGTHS.start) & (self._k < LENGTHS.stop) & (np.asarray(order) == 0)
        self.right &= ~np.asarray(false_belief)
        numbers, words = self._words("question_type")
        task = f"task_{TASK_NUMBERS[CLEAN]}."
        lengths = {f"{task}{length}": length for length in LENGTHS}
        self.right &= np.array([lengths.get(each, _UNKNOWN) for each in words])[numbers] == self._k
        self._people, self._types = self._lists("genders"), self._lists("edge_types")
        self._edges, self._steps = self._tuples("edges", 2), self._tuples("proof_steps", 3)
        self._concluded, self._query = self._lists("proof_relations"), self._lists("query")
        self._readings, self._proof = self._lists("readings"), self._lists("proof")
        for lists, length in (
            (self._people, self._k + 1),
            (self._types, self._k),
            (self._edges, self._k),
            (self._steps, self._k - 1),
            (self._concluded, self._k - 1),
            (self._query, 2),
            *((self._lists(name), 0) for name in ("chain", "noise_types", "placeholders")),
        ):
            self.right &= lists.lengths == length
        self._check_candidates()
        self._read_people()
        numbers, words = self._words("pattern")
        self._pattern = np.array([_pattern_key(each) for each in words], np.int64)[numbers]

    def _check_candidates(self) -> None:
        lists = self._lists("candidates")
        expected = candidates()
        self.right &= lists.lengths == len(expected)
        rows = np.flatnonzero(self.right)
        number = {word: place for place, word in enumerate(lists.words)}
        wanted = [number.get(word, _UNKNOWN) for word in expected]
        self.right[rows] &= (lists.take(rows, len(expected)) == wanted).all(axis=1)

    def _read_people(self) -> None:
        """Number names and genders; those that are not as expected are unknown."""
        pairs = [split_person(each) for each in self._people.words]
        genders = genders_of_names()
        self._names = {name: place for place, name in enumerate(dict.fromkeys(name for name, _ in pairs))}
        fits = [
            _NAME.fullmatch(name) and gender in GENDERS and genders.get(name, gender) == gender
            for name, gender in pairs
        ]
        self._asked = np.array([self._names.get(name, _UNKNOWN) for name in self._query.words], np.int64)
        self._called = pa.array(self._names, pa.string())
        self._name_of = np.array([self._names[name] for name, _ in pairs], np.int64)
        self._gender_of = np.array(
            [GENDERS.index(gender) if fit else _UNKNOWN for (_, gender), fit in zip(pairs, fits, strict=True)], np.int64
        )

    def _check_chains(self, k: int, rows: Numbers) -> None:
        """Check rows of one length: people, facts, question, answer and proof."""
        people = self._people.take(rows, k + 1)
        names, genders = self._name_of[people], self._gender_of[people]
        right = (genders != _UNKNOWN).all(axis=1)
        in_order = np.sort(names, axis=1)
        right &= (in_order[:, 1:] != in_order[:, :-1]).all(axis=1)
        chain = np.column_stack([np.arange(k), np.arange(1, k + 1)])
        right &= (self._edges.take(rows, k) == chain).all(axis=(1, 2))
        relations, gendered = self._kin(self._types, rows, k)
        right &= (gendered == genders[:, 1:]).all(axis=1)
        right &= self._pattern[rows] == relations @ _POWERS[:k] + k * _POWERS[LENGTHS.stop]
        pattern = _find_patterns(k, relations)
        right &= pattern != _UNKNOWN
        proved, pattern = strict_proofs().of(k), np.maximum(pattern, 0)
        spouse = proved.spouse[pattern].astype(np.int64)
        married = np.take_along_axis(genders, np.maximum(spouse, 0), axis=1)
        right &= ((spouse == NOBODY) | (married != genders)).all(axis=1)
        right &= self._answers(rows, proved, pattern, genders)
        right &= self._proofs(rows, k, proved, pattern, genders)
        right &= self._questions(rows, names)
        self.right[rows] = right

    def _kin(self, lists: _Lists, rows: Numbers, width: int) -> tuple[Numbers, Numbers]:
        """Return predicates and genders of kin words."""
        words = lists.take(rows, width)
        predicate = np.array([_PREDICATE.get(word, _UNKNOWN) for word in lists.words], np.int64)
        gender = np.array([_GENDER.get(word, _UNKNOWN) for word in lists.words], np.int64)
        return predicate[words], gender[words]

    def _answers(self, rows: Numbers, proved: Proved, pattern: Numbers, genders: Numbers) -> Flags:
        """Compare answers and readings with those of the patterns."""
        numbers, words = self._words("answer")
        predicate = np.array([_PREDICATE.get(word, _UNKNOWN) for word in words], np.int64)[numbers[rows]]
        gender = np.array([_GENDER.get(word, _UNKNOWN) for word in words], np.int64)[numbers[rows]]
        right: Flags = (predicate == proved.target[pattern]) & (gender == genders[:, -1])
        readings = self._readings
        number = {word: place for place, word in enumerate(readings.words)}
        published = proved.published[pattern] == 1
        right &= readings.lengths[rows] == np.where(published, 2, 1)
        first = readings.starts[rows]
        last = np.minimum(first + 1, len(readings.values) - 1)
        right &= readings.values[np.minimum(first, len(readings.values) - 1)] == number.get(STRICT, _UNKNOWN)
        right &= ~published | (readings.values[last] == number.get(PUBLISHED, _UNKNOWN))
        return right

    def _proofs(self, rows: Numbers, k: int, proved: Proved, pattern: Numbers, genders: Numbers) -> Flags:
        """Compare proofs with those of the patterns."""
        steps = self._steps.take(rows, k - 1)
        right = np.ones(len(rows), np.bool_)
        for part, array in enumerate((proved.first, proved.via, proved.second)):
            right &= (steps[:, :, part] == array[pattern]).all(axis=1)
        predicate, gender = self._kin(self._concluded, rows, k - 1)
        concerned = np.take_along_axis(genders, proved.second[pattern].astype(np.int64), axis=1)
        right &= ((predicate == proved.concluded[pattern]) & (gender == concerned)).all(axis=1)
        return right

    def _questions(self, rows: Numbers, names: Numbers) -> Flags:
        """Compare the people asked about with the ends of the chains."""
        pairs = self._query.take(rows, 2)
        right: Flags = (self._asked[pairs[:, 0]] == names[:, 0]) & (self._asked[pairs[:, 1]] == names[:, -1])
        known = self._called
        expected = pc.binary_join_element_wise(
            "What is ", known.take(pa.array(names[:, -1])), " to ", known.take(pa.array(names[:, 0])), "?", ""
        )
        given = self._column("question").take(pa.array(rows)).cast(pa.string())
        right &= np.asarray(pc.equal(given, expected))
        return right

    def _check_texts(self) -> None:
        """Compare texts with chains, and the lines of proofs with where the texts state them."""
        rows = np.flatnonzero(self.right)
        stories = self._column("story").take(pa.array(rows)).cast(pa.string())
        texts = stories.to_pylist()
        natural = np.ones(len(rows), np.bool_)
        for number in np.flatnonzero(pc.match_substring(stories, _IN_SYNTHETIC)).tolist():
            natural[number] = Text(texts[number], (), ()).is_natural
        self.right[rows[~natural]] = False
        rows, texts = rows[natural], list(compress(texts, natural))
        for start in range(0, len(rows), _BATCH):
            part = rows[start : start + _BATCH]
            self.right[part] = self._check_batch(part, texts[start : start + _BATCH])

    def _check_batch(self, rows: Numbers, texts: list[str]) -> Flags:
        from storyproof.families.kinship.language.reader import read_table  # takes a while to import

        everybody, name_of = list(self._names), self._name_of
        flat, starts = self._people.values, self._people.starts[rows]
        k = self._k[rows]
        names = [
            [everybody[each] for each in name_of[flat[start:end]].tolist()]
            for start, end in zip(starts.tolist(), (starts + k + 1).tolist(), strict=True)
        ]
        facts = _Stated.of(*read_table(texts, names), names)
        right = facts.clear
        # The facts, each as the chain has it; a sentence may state one in both directions.
        story = facts.story
        forwards, backwards = facts.second == facts.first + 1, facts.first == facts.second + 1
        place = np.minimum(facts.first, facts.second)
        predicate = np.where(forwards, facts.predicate, _INVERSE[facts.predicate])
        relation = self._relation_at(rows[story], np.minimum(place, k[story] - 1))
        right[story[~(forwards | backwards) | (predicate != relation)]] = False
        width, most = LENGTHS.stop, int(facts.sentence.max(initial=0)) + 1
        stated = _distinct((story * width + place) * most + facts.sentence) // most
        for each in (stated, _distinct(stated)):  # all facts, and none twice
            right &= np.bincount(each // width, minlength=len(rows)) == k
        right &= self._genders_fit(rows, facts.shown)
        right &= self._lines_fit(rows, story, facts.line)
        return right

    def _relation_at(self, rows: Numbers, place: Numbers) -> Numbers:
        words = self._types.values[self._types.starts[rows] + place]
        relations: Numbers = np.array([_PREDICATE.get(word, _UNKNOWN) for word in self._types.words], np.int64)[words]
        return relations

    def _genders_fit(self, rows: Numbers, shown: Bits) -> Flags:
        """Return which texts show no other genders than those recorded, and that of the person asked about."""
        right = np.ones(len(rows), np.bool_)
        k, starts = self._k[rows], self._people.starts[rows]
        for person in range(LENGTHS.stop):
            there = np.flatnonzero(person <= k)
            gender = self._gender_of[self._people.values[starts[there] + person]]
            bits = ((shown[:, there] >> np.uint64(person)) & np.uint64(1)).astype(np.bool_)
            own, other = np.where(gender == 0, bits[0], bits[1]), np.where(gender == 0, bits[1], bits[0])
            right[there] &= ~other & (own | (k[there] != person))
        return right

    def _lines_fit(self, rows: Numbers, story: Numbers, line: Numbers) -> Flags:
        """Return which rows name, as the lines of the proof, those that state a fact, in order."""
        most = int(max(line.max(initial=0), self._proof.values.max(initial=0))) + 1
        stated = _distinct(story * most + line)
        proof = self._proof
        lengths = proof.lengths[rows]
        right: Flags = np.bincount(stated // most, minlength=len(rows)) == lengths
        kept = np.flatnonzero(right)
        counts = lengths[kept]
        inside = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        given = proof.values[np.repeat(proof.starts[rows[kept]], counts) + inside]
        expected = stated[np.isin(stated // most, kept)] % most
        wrong = np.repeat(kept, counts)[given != expected]
        right[wrong] = False
        return right


def _distinct(numbers: Numbers) -> Numbers:
    """Return different numbers in order; of numbers that are almost in order this is faster than `np.unique`."""
    numbers = np.sort(numbers)
    distinct: Numbers = numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])] if len(numbers) else numbers
    return distinct


@lru_cache(maxsize=1 << 16)
def _pattern_key(pattern: str) -> int:
    """Return a number for a pattern and its length; unknown if it has other words, or too many."""
    names = pattern.split(" ")
    if len(names) >= LENGTHS.stop or not _NUMBER.keys() >= set(names):
        return _UNKNOWN
    relations = sum(int(_POWERS[place]) * _NUMBER[name] for place, name in enumerate(names))
    return relations + len(names) * int(_POWERS[LENGTHS.stop])


@cache
def candidates() -> tuple[str, ...]:
    """Return the candidates of clean chains under the strict reading."""
    rules = strict_rules()
    return tuple(sorted({rules.word(target, gender) for target in rules.targets for gender in GENDERS}))


@cache
def _keys(k: int) -> tuple[Numbers, Numbers]:
    """Return a number for each proved pattern of a length, sorted, and the patterns in this order."""
    keys = strict_proofs().of(k).relations.astype(np.int64) @ _POWERS[:k]
    order = np.argsort(keys)
    return keys[order], order


def _find_patterns(k: int, relations: Numbers) -> Numbers:
    """Return the numbers of proved patterns; unknown where there is none."""
    keys, order = _keys(k)
    wanted = np.maximum(relations, 0) @ _POWERS[:k]
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    patterns: Numbers = np.where((keys[at] == wanted) & (relations >= 0).all(axis=1), order[at], _UNKNOWN)
    return patterns
