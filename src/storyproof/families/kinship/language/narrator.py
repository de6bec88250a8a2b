"""The narrator: facts told as everyday events.

A story of up to four facts is one scene, such as a birthday party; a longer one is a sequence of scenes of three or
four facts each. Facts come in the order of the chain, forwards or backwards, so that neighbouring sentences share a
person; a fact of noise follows a fact about the same person. A frame of the scene puts one fact, in either direction
("Omar's niece Freya" or "Freya's uncle Omar"), a passage two or three neighbouring facts. Some frames and passages
begin a scene, the others go on with it in any order. Many are for some relations only, which are the reason for what
happens: parents fetch, brothers and sisters quarrel.

A pronoun is used only where it can mean one person: nobody else of the two sentences before, and nobody earlier in the
same sentence, may be of that gender or of a gender that the text has not shown. (The reader looks at one sentence
before only; people hesitate between its subject and somebody of the sentence before that.) The gender of the person
asked about is always shown by the text.

All rows of a block are narrated at once. Choices are arrays; a sentence is a row of numbers of pieces (names, kin
words, the literal text of frames), and the text is one `take` over a table of all pieces.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.families.kinship.generation.narration import ToldRows
from storyproof.families.kinship.generation.puzzle_table import PuzzleArrays
from storyproof.families.kinship.language.frames import (
    ADDRESS,
    BEGIN,
    CHAIN,
    ONE,
    SOURCES,
    SUGGESTIVE,
    THEN,
    Frame,
    Passage,
    earlier_bit,
    our_frames,
    pronoun_bit,
    young_bit,
)
from storyproof.families.kinship.language.scenes import Scenes
from storyproof.families.kinship.relations import GENDERS, MALE, PREDICATES, inverse
from storyproof.families.kinship.tasks import DISCONNECTED, MEMORY, NOISE, TASKS
from storyproof.generation.seeds import Draws

Numbers = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
NOBODY = NOTHING = -1
_SOURCE = {name: number for number, name in enumerate(SOURCES)}
_NUMBER = {predicate.name: number for number, predicate in enumerate(PREDICATES)}
_INVERSE = np.array([_NUMBER[inverse(predicate.name)] for predicate in PREDICATES], np.int32)
_ONLY = np.array([predicate.name in ("inv-child", "SO") for predicate in PREDICATES])  # nobody has two of a gender
_SIBLING = _NUMBER["sibling"]
# By how many generations B is younger than A.
_YOUNGER = {"child": 1, "grand": 2, "un": 1, "in-law": 1}
_GENERATIONS = np.array(
    [_YOUNGER.get(each.name, 0) - _YOUNGER.get(inverse(each.name), 0) for each in PREDICATES], np.int32
)
_MARRIED = np.array([predicate.name == "SO" or "in-law" in predicate.name for predicate in PREDICATES])
_GROUP = 1024  # rows that are narrated together, at least
_STEP = 4  # between the places of two facts of the chain, so that noise fits in
_LONGEST_SCENE = 4  # facts
_SIZES = (2, 2, len(PREDICATES), 2)  # of what decides which frames can put a fact, see `_Cases`
_CASES = int(np.prod(_SIZES))  # of each scene
_SHOWING = int(np.prod(_SIZES[2:]))  # between the numbers of two cases of which one must show A's gender
_GOING_ON, _BEGINNING = range(2)  # where a fact stands: the first one of a scene or a later one
_MOST_TOGETHER = 3  # facts of a passage
_PAIRS = ((0, 1), (0, 2), (1, 2))  # of facts of a passage
_NEAR = (CHAIN, ONE)
# Of what decides which passages can put two facts: both relations, and who has the gender of the second person.
_PAIR_SIZES = (len(PREDICATES), len(PREDICATES), 2, 2)
# Which relations two facts must not say in one sentence, [0 if they may say any or 1 + kind, relation, relation].
_SUGGESTIVE = np.array(
    [
        [[kind and (one.name, other.name) in SUGGESTIVE[kind] for other in PREDICATES] for one in PREDICATES]
        for kind in ("", *_NEAR)
    ],
    np.bool_,
)
_PASSAGE_SHARE = 0.9  # of facts that a passage could put together with the next ones
_SPECIAL_SHARE = 0.6  # of facts that could be put by a frame for some relations only
_TIMED_SHARE = 0.7  # of scenes in a story that can begin with how much later it was
_OPENER_SHARE, _CLOSER_SHARE = 0.15, 0.3  # of stories that begin or end with a sentence about the scene
_RESUMED_SHARE = 0.8  # of pronouns instead of names, where they fit
_LONGER_SHARE = 0.4  # of three facts that a passage could put together
_PASSAGE_TRIES = 3  # the first of three facts
_TRIES = 12  # how often another frame is drawn for those that do not fit
_PRONOUNS = {
    "his": ("his", "her"),
    "he": ("he", "she"),
    "him": ("him", "her"),
    "His": ("His", "Her"),
    "He": ("He", "She"),
}


@dataclass(frozen=True, slots=True)
class PuzzleFacts:
    """The facts of the puzzles of rows, as arrays [row, fact]; NOBODY where there is none.

    Attributes:
        first: Whose relative is named.
        predicate: The number of the relation.
        second: The relative.
        place: Where the fact stands if the chain is told forwards.
        chain: Whether it is a fact of the chain.
        proves: Whether the answer rests on it (1, else 0).
        shows: [row], the fact that has to show the gender of the person asked about.
        genders: [row, person].
        young: [row, person], whether nobody in the story is younger by a generation, and it names no spouse.
    """

    first: Numbers
    predicate: Numbers
    second: Numbers
    place: Numbers
    chain: Numbers
    proves: Numbers
    shows: Numbers
    genders: Numbers
    young: Flags

    def take(self, rows: npt.NDArray[np.intp], width: int, people: int) -> PuzzleFacts:
        """Return the facts of some rows that have at most this number of facts and people."""
        return PuzzleFacts(
            first=self.first[rows, :width],
            predicate=self.predicate[rows, :width],
            second=self.second[rows, :width],
            place=self.place[rows, :width],
            chain=self.chain[rows, :width],
            proves=self.proves[rows, :width],
            shows=self.shows[rows],
            genders=self.genders[rows, :people],
            young=self.young[rows, :people],
        )


class _Cases(NamedTuple):
    """What decides which frames can put a fact; each is an array [row] of small numbers."""

    owner_bound: Flags  # a pronoun for A can mean A only
    show_owner: Flags  # the frame must show A's gender
    relation: Numbers  # what B is to A
    stands: Numbers  # _GOING_ON or _BEGINNING

    def number(self) -> npt.NDArray[np.int64]:
        """Return one number per row."""
        numbers: npt.NDArray[np.int64] = np.ravel_multi_index(
            tuple(np.asarray(each, np.int64) for each in self), _SIZES
        )
        return numbers


@cache
def _all_cases() -> _Cases:
    return _Cases(*np.indices(_SIZES).reshape(len(_SIZES), -1))


@cache
def _fitting_cases(frame: Frame) -> Flags:
    """Return in which of all cases a frame can be used."""
    cases = _all_cases()
    only = _ONLY[cases.relation]
    slots = {"all": np.True_, "several": ~only, "only": only, "siblings": cases.relation == _SIBLING}
    found: Flags = slots[frame.relation] & np.array([each in frame.relations for each in _NUMBER])[cases.relation]
    for fits, allowed in (
        (not frame.binds, cases.owner_bound == 1),
        (frame.shows_owner, cases.show_owner == 0),
        (frame.group != THEN, cases.stands != _BEGINNING),
        (frame.group != BEGIN, cases.stands == _BEGINNING),
    ):
        if not fits:
            found = found & allowed
    return found


class SceneNarrator:
    """Narrates puzzles.

    Args:
        scenes: What stories are about; None for plain text.
        names: The names of people.
    """

    def __init__(self, scenes: Scenes | None, names: Sequence[str]) -> None:
        self._scenes = scenes.scenes if scenes is not None else ()
        self._pieces: dict[str, int] = {}
        self._names = self._number(names)
        self._owners = self._number([f"{name}'s" for name in names])
        self._compile_frames()
        self._compile_words()
        self._compile_scenes()
        self._passages = _Passages(self)

    # ------------------------------------------------------------------------------------------------ tables of pieces

    def _number(self, texts: Sequence[str]) -> Numbers:
        """Return the numbers of texts in the table of pieces; an empty text is nothing."""
        pieces = self._pieces
        return np.array([pieces.setdefault(text, len(pieces)) if text else NOTHING for text in texts], np.int32)

    @cached_property
    def _table(self) -> pa.Array:
        return pa.array(list(self._pieces), pa.string())

    def _compile_frames(self) -> None:
        shared = our_frames()
        spare = shared.spare if self._scenes else ()
        scenes = [sorted(scene.frames, key=lambda frame: not frame.is_special) for scene in self._scenes]
        scenes = scenes or [list(shared.plain)]
        frames = [*spare, *(frame for each in scenes for frame in each)]
        self._spare = np.arange(len(spare))
        parts, words = zip(*(frame.pieces for frame in frames), strict=True)
        width = max(map(len, parts))
        # At each place a literal text, or one of SOURCES; len(SOURCES) and NOTHING stand for nothing.
        flat = [(number, place, part) for number, each in enumerate(parts) for place, part in enumerate(each)]
        self._literals = np.full((len(frames), width), NOTHING, np.int32)
        self._slots = np.full((len(frames), width), len(SOURCES), np.int32)
        texts = self._number([part if isinstance(part, str) else "" for *_, part in flat])
        slots = [part if isinstance(part, int) else len(SOURCES) for *_, part in flat]
        at = tuple(np.array([each[:2] for each in flat]).T)
        self._literals[at], self._slots[at] = texts, slots
        kinds: dict[str, int] = {}
        self._kind = np.array([kinds.setdefault(frame.kind, len(kinds)) for frame in frames], np.int32)
        self._can_follow_time = np.array([frame.can_follow_time for frame in frames])
        self._has_sentences = np.array([frame.has_sentences for frame in frames])
        self._shows_owner = np.array([frame.shows_owner for frame in frames])
        self._ends_with = np.array([frame.ends_with for frame in frames]).T
        self._is_about = np.array([frame.is_about for frame in frames]).T
        # What has to be true of the people of a frame, as bits of `_state`.
        needs = np.array([frame.needs for frame in frames])
        self._needs = needs @ (1 << np.arange(needs.shape[1]))
        # The words of all choices one after another, and for each frame how many its choices have and where they begin.
        self._choices = max(map(len, words), default=0)
        self._word_counts = np.ones((self._choices, len(frames)), np.int64)
        self._word_starts = np.zeros((self._choices, len(frames)), np.int64)
        every = [""]
        for number, each in enumerate(words):
            for choice, texts in enumerate(each):
                self._word_counts[choice, number], self._word_starts[choice, number] = len(texts), len(every)
                every += texts
        self._words = self._number(every)
        fitting = np.stack([_fitting_cases(frame) for frame in frames], axis=1)  # [case, frame]
        ends = len(spare) + np.cumsum([len(each) for each in scenes])
        bounds = [*zip([len(spare), *ends[:-1].tolist()], ends.tolist(), strict=True)]
        # For each scene and case the frames that fit, those for some relations first; what follows does not.
        counts = np.stack([fitting[:, begin:end].sum(axis=1) for begin, end in bounds])  # [scene, case]
        lists = np.zeros((*counts.shape, max(len(spare), int(counts.max()))), np.int32)
        for number, (begin, end) in enumerate(bounds):
            case, frame = np.nonzero(fitting[:, begin:end])
            place = np.arange(len(case)) - (np.cumsum(counts[number]) - counts[number])[case]
            lists[number, case, place] = begin + frame
        lacks = counts == 0  # in scenes of users
        lists[lacks, : len(spare)], counts[lacks] = self._spare, len(spare)
        is_special = np.array([frame.is_special for frame in frames])[lists] & (
            np.arange(lists.shape[2]) < counts[:, :, None]
        )
        self._counts, self._lists = counts.ravel(), lists.reshape(counts.size, -1)
        self._special_counts = is_special.sum(axis=2).ravel()
        self._changes = self._number(shared.changes)
        self._stop, self._break = self._number([".", ".\n"]).tolist()

    def _compile_words(self) -> None:
        words = [[each.male if gender == MALE else each.female for gender in GENDERS] for each in PREDICATES]
        self._kin = np.stack([self._number(pair) for pair in words])  # [predicate, gender]
        self._address = np.stack([self._number([ADDRESS.get(each, "") for each in pair]) for pair in words])
        with_article = [[f"{'an' if word[0] in 'aeiou' else 'a'} {word}" for word in pair] for pair in words]
        self._a_kin = np.stack([self._number(pair) for pair in with_article])
        one, two = ("brothers", "brother and sister"), ("sister and brother", "sisters")
        self._siblings = np.stack([self._number(one), self._number(two)])  # [gender of A, gender of B]
        self._pronouns = {name: self._number(pair) for name, pair in _PRONOUNS.items()}

    def _compile_scenes(self) -> None:
        def table(texts: Sequence[Sequence[str]]) -> tuple[Numbers, npt.NDArray[np.int64]]:
            """Return numbers [scene, text], and how many there are."""
            numbers = np.full((len(texts), max(1, *map(len, texts))), NOTHING, np.int32)
            for number, each in enumerate(texts):
                numbers[number, : len(each)] = self._number(each)
            return numbers, np.array([max(1, len(each)) for each in texts], np.int64)

        scenes = self._scenes
        if scenes:
            self._openers = table([[f"{each}\n" for each in scene.openers] for scene in scenes])
            self._closers = table([scene.closers for scene in scenes])

    # ---------------------------------------------------------------------------------------------------------- puzzles

    def facts(self, puzzles: PuzzleArrays) -> PuzzleFacts:
        """Return what the narrator needs to know of puzzles."""
        used = puzzles.first != NOBODY
        here = np.arange(used.shape[1])
        chain = here < puzzles.k[:, None]
        # Noise follows a fact about the same person, or comes last.
        after = np.minimum(np.minimum(puzzles.first, puzzles.second), puzzles.k[:, None] - 1)
        place = _STEP * after + np.minimum(here - puzzles.k[:, None] + 1, _STEP - 1)
        place = np.where(puzzles.noise == NOISE.index(DISCONNECTED), _STEP * puzzles.k[:, None], place)
        memory = puzzles.task == TASKS.index(MEMORY)
        asked = np.where(memory, puzzles.asked[:, 0], NOBODY)[:, None]
        return PuzzleFacts(
            puzzles.first,
            puzzles.predicate,
            puzzles.second,
            np.where(chain, _STEP * here, np.where(used, place, NOBODY)).astype(np.int32),
            (chain & used).astype(np.int32),
            (chain & ((asked == NOBODY) | (asked == here))).astype(np.int32),
            np.where(memory, puzzles.asked[:, 0], puzzles.k - 1).astype(np.int32),
            puzzles.genders,
            _find_young(puzzles),
        )

    # -------------------------------------------------------------------------------------------------------- narration

    def tell(self, puzzles: PuzzleArrays, names: Numbers, draws: Draws) -> ToldRows:
        """Narrate the puzzles of rows.

        Args:
            puzzles: The puzzle of each row.
            names: Numbers of names, [row, person].
            draws: Random draws for all choices.
        """
        facts, groups = self.facts(puzzles), _similar(puzzles.facts)
        if len(groups) == 1:
            return _Telling(self, facts, names, draws).tell()
        told = []
        for rows in groups:
            width, people = int(puzzles.facts[rows].max()), int(puzzles.people[rows].max())
            told.append(_Telling(self, facts.take(rows, width, people), names[rows], draws).tell())
        order = np.argsort(np.concatenate(groups), kind="stable")
        width = max(each.proves.shape[1] for each in told)
        proves = np.concatenate([np.pad(each.proves, ((0, 0), (0, width - each.proves.shape[1]))) for each in told])
        return ToldRows(pa.concat_arrays([each.story for each in told]).take(pa.array(order)), proves[order])


def _find_young(puzzles: PuzzleArrays) -> Flags:
    """Return of whom the puzzles name nobody younger by a generation and no spouse, [row, person]."""
    first, predicate, second = (np.maximum(each, 0) for each in (puzzles.first, puzzles.predicate, puzzles.second))
    rows, shape = np.arange(len(first)), puzzles.genders.shape
    generation, known, married = np.zeros(shape, np.int32), np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for fact in range(first.shape[1]):
        used = rows[puzzles.first[:, fact] != NOBODY]
        one, two, name = first[used, fact], second[used, fact], predicate[used, fact]
        back = known[used, two] & ~known[used, one]
        generation[used, one] = np.where(back, generation[used, two] - _GENERATIONS[name], generation[used, one])
        generation[used, two] = np.where(back, generation[used, two], generation[used, one] + _GENERATIONS[name])
        for each in (one, two):
            known[used, each] = True
            married[used, each] |= _MARRIED[name]
    young: Flags = known & ~married & (generation == np.where(known, generation, -99).max(axis=1, keepdims=True))
    return young


def _similar(lengths: Numbers) -> list[npt.NDArray[np.intp]]:
    """Return groups of rows whose stories are about equally long, so that short ones do not wait for long ones."""
    order = np.argsort(lengths, kind="stable")
    changes = np.flatnonzero(np.diff(lengths[order])) + 1
    cuts: list[int] = []
    for place in changes.tolist():
        if place - (cuts[-1] if cuts else 0) >= _GROUP and len(order) - place >= _GROUP:
            cuts.append(place)
    return np.split(order, cuts) if cuts else [np.arange(len(order))]


def _places(owners: Sequence[int]) -> list[tuple[int, ...]]:
    """Return where in the chain the people of a passage stand, told from either end; nothing if they are no chain."""
    links: list[list[int]] = [[] for _ in range(len(owners) + 1)]
    for relative, owner in enumerate(owners, start=1):
        links[owner].append(relative)
        links[relative].append(owner)
    ends = [person for person, others in enumerate(links) if len(others) == 1]
    chain = ends[:1] if len(ends) == 2 else []
    while chain and len(chain) < len(links):
        chain.append(next(each for each in links[chain[-1]] if each not in chain))
    places = tuple(chain.index(person) for person in range(len(chain)))
    return [places, tuple(len(owners) - place for place in places)] if places else []


_PassageKey = tuple[str, tuple[frozenset[str], ...], tuple[int, ...]]  # text, relations, and where its people stand
_FITTING_PAIRS: dict[_PassageKey, npt.NDArray[np.int64]] = {}  # of passages of two facts, see `_Passages.fit`


class _Passages:
    """The passages of scenes as arrays; each is there twice, as it may be told from either end of the chain."""

    def __init__(self, narrator: SceneNarrator) -> None:
        entries = [
            (scene, passage, places)
            for scene, each in enumerate(narrator._scenes)
            for passage in each.passages
            for places in _places(passage.owners)
        ]
        count = len(entries)
        self.facts = np.array([len(passage.relations) for _, passage, _ in entries], np.int32)
        self.places = np.zeros((count, 4), np.int32)
        # Which of the next relations of the chain each fact says, or from _MOST_TOGETHER on, which is said backwards.
        self.says = np.zeros((count, _MOST_TOGETHER), np.int32)
        self.turned = np.zeros((count, _MOST_TOGETHER), np.bool_)  # which relations of the chain it says backwards
        self.allows = np.ones((count, _MOST_TOGETHER, len(PREDICATES)), np.bool_)
        self.near = np.zeros((count, len(_PAIRS)), np.int32)
        self.second = np.zeros(count, np.int32)  # who is named as B's relative; else B
        for number, (_, passage, places) in enumerate(entries):
            self.places[number, : len(places)] = places
            self.second[number] = passage.owners.index(1) + 1 if 1 in passage.owners else 1
            for fact, (owner, names) in enumerate(zip(passage.owners, passage.relations, strict=True)):
                first, second = places[owner], places[fact + 1]
                self.says[number, fact] = first if first < second else second + _MOST_TOGETHER
                self.turned[number, min(first, second)] = second < first
                self.allows[number, fact] = [each in names for each in _NUMBER]
            for one, other, kind in passage.near:
                self.near[number, _PAIRS.index((one, other))] = 1 + _NEAR.index(kind)
        self.forbidden = np.array([passage.forbidden for _, passage, _ in entries], np.int64)
        self.ends_with = np.array([passage.ends_with for _, passage, _ in entries]).reshape(count, 4)
        self.main = np.array([passage.marks[1] for _, passage, _ in entries]).reshape(count, 4)
        self.can_follow_time = np.array([passage.can_follow_time for _, passage, _ in entries], np.bool_)
        self._compile_texts(narrator, [passage for _, passage, _ in entries])
        groups = np.array([2 * scene + (passage.group == BEGIN) for scene, passage, _ in entries], np.int64)
        keys = [(passage.text, passage.relations, places) for _, passage, places in entries]
        self._compile_pairs(groups, 2 * len(narrator._scenes), keys)
        longer = np.flatnonzero(self.facts > 2)
        self.longer_counts = np.bincount(groups[longer], minlength=2 * len(narrator._scenes))
        self.longer_starts = np.cumsum(self.longer_counts) - self.longer_counts
        self.longer = longer[np.argsort(groups[longer], kind="stable")].astype(np.int32)

    def _compile_pairs(self, groups: npt.NDArray[np.int64], count: int, keys: Sequence[_PassageKey]) -> None:
        """List the passages of two facts by scene, place in it, directions, relations and genders."""
        cases = int(np.prod(_PAIR_SIZES))
        pairs = np.flatnonzero(self.facts == 2)
        unknown = np.array([number for number in pairs.tolist() if keys[number] not in _FITTING_PAIRS], np.int64)
        if len(unknown):  # what a passage can tell of is the same for every seed
            one, other, first, last = np.indices(_PAIR_SIZES).reshape(len(_PAIR_SIZES), -1).astype(np.int32)
            male = first, np.ones_like(first), last, last
            number = np.repeat(unknown, cases).astype(np.int32)
            ahead, genders = (np.tile(np.stack(each, axis=1), (len(unknown), 1)) for each in ((one, other, one), male))
            fits = self.fit(number, ahead, genders).reshape(len(unknown), cases)
            _FITTING_PAIRS.update((keys[each], np.flatnonzero(row)) for each, row in zip(unknown, fits, strict=True))
        fitting = [_FITTING_PAIRS[keys[number]] for number in pairs.tolist()]
        number = np.repeat(pairs, [len(each) for each in fitting])
        turned = self.turned[number] @ (2, 1, 0)
        key = (4 * groups[number] + turned) * cases + np.concatenate([*fitting, np.zeros(0, np.int64)])
        self.pairs = number[np.argsort(key, kind="stable")].astype(np.int32)
        self.pair_counts = np.bincount(key, minlength=4 * count * cases)
        self.pair_starts = np.cumsum(self.pair_counts) - self.pair_counts

    def relations(self, number: Numbers, ahead: Numbers) -> Numbers:
        """Return what the facts of passages say of chains, see `fit`."""
        return np.take_along_axis(np.concatenate([ahead, _INVERSE[ahead]], axis=1), self.says[number], axis=1)

    def fit(self, number: Numbers, ahead: Numbers, male: Numbers) -> Flags:
        """Return which passages can tell of chains.

        Args:
            number: [row], passages.
            ahead: [row, fact], the relations of the chain.
            male: [row, person], the genders of its people.
        """
        relations = self.relations(number, ahead)
        male = np.take_along_axis(male, self.places[number], axis=1)
        fits: Flags = (_same_gender(male) & self.forbidden[number]) == 0
        for each in range(_MOST_TOGETHER):
            fits &= self.allows[number, each, relations[:, each]]
        kin = 2 * relations + male[:, 1:]
        for each, (one, other) in enumerate(_PAIRS):
            near = self.near[number, each]
            fits &= ~_SUGGESTIVE[near, relations[:, one], relations[:, other]]
            fits &= (near != 1 + _NEAR.index(ONE)) | (kin[:, one] != kin[:, other])
        return fits

    def _compile_texts(self, narrator: SceneNarrator, passages: Sequence[Passage]) -> None:
        self.slots: dict[tuple[str, int, int], int] = {}  # what texts are composed of besides literals
        width = max((len(each.parts) for each in passages), default=0)
        self.literals = np.full((len(passages), width), NOTHING, np.int32)
        self.sources = np.full((len(passages), width), NOTHING, np.int32)  # the last source is nothing
        self.words: list[list[Numbers]] = []
        parts = [(row, place, part) for row, each in enumerate(passages) for place, part in enumerate(each.parts)]
        literals = [(row, place, part) for row, place, part in parts if isinstance(part, str)]
        for (row, place, _), piece in zip(literals, narrator._number([each[2] for each in literals]), strict=True):
            self.literals[row, place] = piece
        for row, place, part in parts:
            if not isinstance(part, str):
                self.sources[row, place] = self.slots.setdefault(part, len(self.slots))
        every = narrator._number([text for passage in passages for each in passage.words for text in each])
        ends = iter(np.cumsum([len(each) for passage in passages for each in passage.words]).tolist())
        for passage in passages:
            self.words.append([every[(end := next(ends)) - len(each) : end] for each in passage.words])
        self.choices = max(map(len, self.words), default=0)
        counts = [
            [len(each[choice]) if choice < len(each) else 1 for each in self.words] for choice in range(self.choices)
        ]
        self.word_counts = np.array(counts, np.int64).reshape(self.choices, len(passages))
        self.word_texts = np.full((*self.word_counts.shape, int(self.word_counts.max(initial=1))), NOTHING, np.int32)
        for number, each in enumerate(self.words):
            for choice, texts in enumerate(each):
                self.word_texts[choice, number, : len(texts)] = texts


def _same_gender(male: Numbers) -> npt.NDArray[np.int64]:
    """Return as bits which of four people are of one gender, [row]."""
    bits = np.zeros(len(male), np.int64)
    for one, other in itertools.combinations(range(4), 2):
        bits |= (male[:, one] == male[:, other]) * pronoun_bit(one, other)
    return bits


class _Chosen(NamedTuple):
    """The passages of some rows.

    Attributes:
        rows: The rows.
        number: [row], the number of the passage.
        people: [row, 4], A, B, C and D.
        relations: [row, fact], what B, C and D are named as.
        unclear: [row], as bits whose pronouns can mean others too, see `frames.pronoun_bit`.
    """

    rows: npt.NDArray[np.intp]
    number: Numbers
    people: Numbers
    relations: Numbers
    unclear: npt.NDArray[np.int64]


class _Telling:
    """The rows of one block while they are narrated."""

    def __init__(self, narrator: SceneNarrator, facts: PuzzleFacts, names: Numbers, draws: Draws) -> None:
        self._n = narrator
        self._facts = facts
        self._names = names
        self._draws = draws
        self._rows = len(names)
        self._all = np.arange(self._rows)
        self._genders = facts.genders
        # Whose gender the text has shown; of whom it has told; whom the scene is about.
        self._seen, self._met, self._main = np.zeros((3, *self._genders.shape), np.bool_)
        self._arrange()

    def _chance(self, share: float) -> Flags:
        return self._draws.below(1 << 16, self._rows) < int(share * (1 << 16))

    def _arrange(self) -> None:
        """Put the facts of each row in order, and choose their directions."""
        facts, rows = self._facts, self._rows
        place = facts.place
        used = facts.first != NOBODY
        backwards = self._chance(0.5)
        key = np.where(backwards[:, None], -place, place)
        key = np.where(used, key, 1 << 20)
        order = np.argsort(key, axis=1, kind="stable")
        # After the longest story of the block nothing follows.
        order = order[:, : int(used.sum(axis=1).max())]
        first, second, predicate, used, proves, chain = (
            np.take_along_axis(array, order, axis=1)
            for array in (facts.first, facts.second, facts.predicate, used, facts.proves, facts.chain)
        )
        shows = (order == facts.shows[:, None]) & used
        width = order.shape[1]
        turned = self._draws.below(2, rows * width).reshape(rows, width).astype(np.bool_)
        self.used, self.proves, self.shows = used, proves.astype(np.bool_) & used, shows
        self._first, self._second, self._predicate = first, second, predicate
        self._set_directions(turned)
        self._choose_scenes()
        # The chain as it is told: each fact goes on with the person with whom the one before ended.
        back = backwards[:, None]
        self._start, self._end = np.where(back, second, first), np.where(back, first, second)
        self._ahead = np.where(back, _INVERSE[predicate], predicate)
        near = np.abs(np.diff(np.take_along_axis(place, order, axis=1), axis=1)) == _STEP
        self._goes_on = np.zeros((rows, width + _MOST_TOGETHER), np.bool_)  # whether a passage can take in a fact
        self._goes_on[:, 1:width] = near & (chain[:, 1:] & chain[:, :-1]).astype(np.bool_) & ~self._begins[:, 1:]
        self._goes_on[:, 1:width] &= self._end[:, :-1] == self._start[:, 1:]
        self.joined = np.zeros((rows, width), np.bool_)  # facts of a passage after its first

    def _set_directions(self, turned: Flags) -> None:
        self._turned = turned
        self._owner = np.where(turned, self._second, self._first)
        self._relative = np.where(turned, self._first, self._second)
        self._relation = np.where(turned, _INVERSE[self._predicate], self._predicate)

    def _gender(self, person: Numbers) -> Numbers:
        return self._genders[self._all, np.maximum(person, 0)]

    def _choose_scenes(self) -> None:
        """Choose the scenes of each row, of about equally many facts, and whether openers and closers stand there."""
        n, rows, used = self._n, self._rows, self.used
        self._opener, self._closer = np.full((2, rows), NOTHING, np.int32)
        self._scene, self._begins = np.zeros(used.shape, np.int64), np.zeros(used.shape, np.bool_)
        if not n._scenes:
            return
        facts = np.maximum(used.sum(axis=1), 1)[:, None]
        scenes = -(-facts // _LONGEST_SCENE)
        number = np.minimum(np.arange(used.shape[1]) * scenes // facts, scenes - 1)
        keys = self._draws.below(1 << 30, rows * len(n._scenes)).reshape(rows, len(n._scenes))
        # Of few scenes some occur twice.
        order = np.argsort(keys, axis=1, kind="stable")
        self._scene = np.take_along_axis(order, number % len(n._scenes), axis=1)
        self._begins[:, 1:] = number[:, 1:] != number[:, :-1]
        self._begins[:, 0] = True
        self._begins &= used
        last = np.take_along_axis(self._scene, facts - 1, axis=1)[:, 0]
        self._opener = self._some_text(n._openers, self._scene[:, 0], _OPENER_SHARE)
        self._closer = self._some_text(n._closers, last, _CLOSER_SHARE)

    def _some_text(
        self, table: tuple[Numbers, npt.NDArray[np.int64]], scene: npt.NDArray[np.int64], share: float
    ) -> Numbers:
        """Return one of the texts of each row's scene, for a share of the rows."""
        texts, counts = table
        text = texts[scene, self._draws.below(counts[scene], self._rows)]
        return np.where(self._chance(share), text, NOTHING).astype(np.int32)

    def tell(self) -> ToldRows:
        """Narrate sentence after sentence, of all rows at once."""
        n, rows = self._n, self._rows
        parts: list[Numbers] = [self._opener[:, None]]
        # What is looked at person by person, or fact by fact, is [person, row] or [fact, row].
        before = np.full((4, rows), NOBODY, np.int32)  # the people of the sentence before
        here = np.full((4, rows), NOBODY, np.int32)
        unit = np.full((4, rows), NOBODY, np.int32)  # all people of the frame or passage before
        self._earlier = np.full((8, rows), NOBODY, np.int32)  # the people of the sentences before that
        self._told = np.full((self.used.shape[1], rows), NOTHING, np.int32)
        for fact in range(self.used.shape[1]):
            joined = self.joined[:, fact]
            self._earlier = np.where(joined, self._earlier, np.concatenate([before, unit]))
            before = np.where(joined, before, here)
            self._main &= ~self._begins[:, fact, None]
            self._timed = self._chance(_TIMED_SHARE)
            self._before = before
            passages = self._choose_passages(fact, before)
            self._single = self.used[:, fact] & ~joined
            self._single[passages.rows] = False
            self._turn_if_unshown(fact, before)
            frame = self._choose_frame(fact, before)
            owner, relative = self._owner[:, fact], self._relative[:, fact]
            resumed = (before == owner).any(axis=0) & ~(before == relative).any(axis=0) & self._owner_bound
            resumed &= ~(self._begins[:, fact] & (fact > 0)) & self._chance(_RESUMED_SHARE) & self._single
            self._relative_bound = self._bound(relative, owner, before)
            sentence = self._sentence(fact, frame, resumed)
            pair = np.where(n._ends_with[:, frame], np.stack([owner, relative]), NOBODY)
            nobody = np.full((2, rows), NOBODY, np.int32)
            here = np.where(joined, here, np.concatenate([pair, nobody]))
            unit = np.where(joined, unit, np.concatenate([np.stack([owner, relative]), nobody]))
            self._seen[self._all, np.maximum(owner, 0)] |= resumed
            if len(passages.rows):
                sentence = self._put_passages(fact, passages, sentence)
                here[:, passages.rows] = np.where(n._passages.ends_with[passages.number], passages.people, NOBODY).T
                unit[:, passages.rows] = passages.people.T
            parts.append(sentence)
        parts.append(self._closer[:, None])
        return ToldRows(self._text(parts), self._lines())

    def _bound(self, person: Numbers, other: Numbers, before: Numbers) -> Flags:
        """Return whether a pronoun for a person can mean nobody else of the two sentences before."""
        before = np.concatenate([before, self._earlier])
        others = (before != NOBODY) & (before != person) & (before != other)
        genders, shown = (each[self._all, np.maximum(before, 0)] for each in (self._genders, self._seen))
        is_bound: Flags = ~(others & ((genders == self._gender(person)) | ~shown)).any(axis=0)
        return is_bound

    def _turn_if_unshown(self, fact: int, before: Numbers) -> None:
        """Tell the fact that shows the asked person's gender the other way if no pronoun can show it."""
        asked = self.shows[:, fact] & self._turned[:, fact]
        if not asked.any():
            return
        bound = self._bound(self._owner[:, fact], self._relative[:, fact], before)
        back = asked & (self._n._counts[self._cases(fact, bound).number()] == 0)
        self._turned[back, fact] = False
        self._owner[back, fact], self._relative[back, fact] = self._first[back, fact], self._second[back, fact]
        self._relation[back, fact] = self._predicate[back, fact]

    def _cases(self, fact: int, owner_bound: Flags) -> _Cases:
        return _Cases(
            owner_bound,
            self.shows[:, fact] & self._turned[:, fact],
            np.maximum(self._relation[:, fact], 0),
            np.where(self._begins[:, fact], _BEGINNING, _GOING_ON),
        )

    def _choose_frame(self, fact: int, before: Numbers) -> Numbers:
        """Choose a frame of the scene that fits, and that the story does not have yet if there is one."""
        n, told = self._n, self._told
        owner, relative = (np.maximum(each[:, fact], 0) for each in (self._owner, self._relative))
        self._owner_bound = self._bound(self._owner[:, fact], self._relative[:, fact], before)
        cases = self._cases(fact, self._owner_bound)
        # Mostly every gender is shown, not only that of the person asked about, which would give the answer's away.
        wanted = ~self._seen[self._all, owner] & self._chance(0.8)
        any_case = self._scene[:, fact] * _CASES + cases.number()
        more = any_case + _SHOWING * (wanted & ~cases.show_owner)
        case = np.where(n._counts[more] > 0, more, any_case)
        count, special = np.maximum(n._counts[case], 1), n._special_counts[case]
        is_special = (special > 0) & (self._chance(_SPECIAL_SHARE) | (special == count))
        first = np.where(is_special, 0, np.where(special == count, 0, special))
        past = np.where(is_special, special, count)
        frame = n._lists[case, first + self._draws.below(past - first, self._rows)]
        lacking, kinds = ~self._state(owner, relative), n._kind[told[:fact]]

        def misfits(rows: npt.NDArray[np.intp], chosen: Numbers, *, strict: bool) -> Flags:
            """Return whether frames do not go with what the stories of rows have said, or are among what they have.

            If need be, a frame may occur twice, but never with the same relative, nor if it has several sentences: not
            "Leila was late. Her son waited. Leila was late. Her aunt waited."
            """
            again: Flags = (kinds if rows is self._all else kinds.take(rows, axis=1)) == n._kind[chosen]
            if not strict:
                same_relative = relative[rows] == self._relative[rows, :fact].T
                again = again & (n._has_sentences[chosen] | same_relative)
            wrong: Flags = ((n._needs[chosen] & lacking[rows]) > 0) | again.any(axis=0)
            return wrong

        rest = self._all[misfits(self._all, frame, strict=True) & self._single]
        for _ in range(_TRIES):
            if not len(rest):
                break
            frame[rest] = n._lists[case[rest], first[rest] + self._draws.below((past - first)[rest], len(rest))]
            rest = rest[misfits(rest, frame[rest], strict=True)]
        # For the others all frames are looked at, from a random one on.
        case, count = any_case[rest], np.maximum(n._counts[any_case[rest]], 1)
        start = self._draws.below(count, len(rest))
        for strict in (True, False):
            start += _TRIES
            places = (start[:, None] + np.arange(n._lists.shape[1])) % count[:, None]
            every = n._lists[case[:, None], places]  # [row, frame]
            wrong = misfits(np.repeat(rest, every.shape[1]), every.reshape(-1), strict=strict).reshape(every.shape)
            frame[rest] = np.take_along_axis(every, wrong.argmin(axis=1)[:, None], axis=1)[:, 0]
            lacks = wrong.all(axis=1)
            rest, case, count, start = rest[lacks], case[lacks], count[lacks], start[lacks]
        if len(n._spare):
            frame[rest] = n._spare[self._draws.below(len(n._spare), len(rest))]
        single = self._single
        for each, is_main in zip((owner, relative), n._is_about[:, frame], strict=True):
            self._met[self._all, each] |= single
            self._main[self._all, each] |= is_main & single
        self._seen[self._all, relative] |= single
        self._seen[self._all, owner] |= n._shows_owner[frame] & single
        told[fact] = frame
        return frame

    # --------------------------------------------------------------------------------------------------------- passages

    def _choose_passages(self, fact: int, before: Numbers) -> _Chosen:
        """Choose passages of the scene for a share of the rows whose next facts go on with each other."""
        told = self._n._passages
        wanted = self.used[:, fact] & ~self.joined[:, fact] & self._goes_on[:, fact + 1] & self._chance(_PASSAGE_SHARE)
        rows = np.flatnonzero(wanted) if len(told.facts) else self._all[:0]
        steps = np.minimum(fact + np.arange(_MOST_TOGETHER), self.used.shape[1] - 1)
        chain = np.concatenate([self._start[rows, fact, None], self._end[rows[:, None], steps]], axis=1)
        chain, ahead = np.maximum(chain, 0), np.maximum(self._ahead[rows[:, None], steps], 0)
        male = self._genders[rows[:, None], chain]
        same = male == male[:, [1]]
        group = 2 * self._scene[rows, fact] + self._begins[rows, fact]
        pair = np.ravel_multi_index((ahead[:, 0], ahead[:, 1], same[:, 0], same[:, 2]), _PAIR_SIZES)
        # Directions are chosen before, so that they tell nothing of the answer.
        turned = self._owner[rows[:, None], steps] != self._start[rows[:, None], steps]
        pair += (4 * group + turned @ (2, 1, 0)) * int(np.prod(_PAIR_SIZES))
        # Three facts together now and then.
        longer = self._goes_on[rows, fact + 2] & self._chance(_LONGER_SHARE)[rows]
        chosen = []
        rest = np.arange(len(rows))
        for attempt in range(_PASSAGE_TRIES):
            if not attempt and len(told.longer):
                rest = np.flatnonzero(longer & (told.longer_counts[group] > 0))
                key, counts, starts, listed = group[rest], told.longer_counts, told.longer_starts, told.longer
            else:
                rest = rest[told.pair_counts[pair[rest]] > 0]
                key, counts, starts, listed = pair[rest], told.pair_counts, told.pair_starts, told.pairs
            number = listed[starts[key] + self._draws.below(counts[key], len(rest))]
            relations = told.relations(number, ahead[rest])
            people = np.take_along_axis(chain[rest], told.places[number], axis=1)
            around = np.concatenate([before, self._earlier])[:, rows[rest]]
            unclear = self._unclear(rows[rest], people, told.second[number], around)
            fits = (unclear & told.forbidden[number]) == 0
            if not attempt:
                fits &= told.fit(number, ahead[rest], male[rest])
                fits &= (told.turned[number] == turned[rest]).all(axis=1)
            chosen.append((rows[rest][fits], number[fits], people[fits], relations[fits], unclear[fits]))
            rest = rest[~fits] if attempt else np.setdiff1d(np.arange(len(rows)), rest[fits], assume_unique=True)
        return _Chosen(*(np.concatenate(each) for each in zip(*chosen, strict=True)))

    def _unclear(
        self, rows: npt.NDArray[np.intp], people: Numbers, second: Numbers, before: Numbers
    ) -> npt.NDArray[np.int64]:
        """Return as bits whose pronouns may mean somebody else, and who may have children, [row]."""
        row = rows[:, None]
        male = self._genders[row, people]
        bits = _same_gender(male) | pronoun_bit(2) | pronoun_bit(3)
        is_young = self._facts.young[row, people]
        for place in range(4):
            bits |= ~is_young[:, place] * young_bit(place)
        relative = people[np.arange(len(rows)), second]
        known = before != NOBODY
        person = np.maximum(before, 0)
        shown, gender = self._seen[rows, person], self._genders[rows, person]
        for who, named in ((0, people[:, 1]), (1, relative)):
            other = known & (before != people[:, who]) & (before != named) & (before != people[:, 0])
            is_near = other & ((gender == male[:, who]) | ~shown)
            bits |= is_near[:4].any(axis=0) * pronoun_bit(who) | is_near.any(axis=0) * earlier_bit(who)
        return bits

    def _put_passages(self, fact: int, chosen: _Chosen, sentence: Numbers) -> Numbers:
        """Return the pieces of sentences with those of passages."""
        n, told, rows, number = self._n, self._n._passages, chosen.rows, chosen.number
        facts = told.facts[number]
        for each in range(1, _MOST_TOGETHER):
            self.joined[rows[facts > each], min(fact + each, self.joined.shape[1] - 1)] = True
        for person in range(4):
            who = chosen.people[:, person]
            self._met[rows, who] = self._seen[rows, who] = True
            self._main[rows, who] |= told.main[number, person]
        fits = np.zeros(self._rows, np.bool_)
        fits[rows] = told.can_follow_time[number]
        change = self._change(fact, fits)[rows]
        sources = np.full((len(told.slots) + 1, len(rows)), NOTHING, np.int32)
        genders = self._genders[rows[:, None], chosen.people]
        names = self._names[rows[:, None], chosen.people]
        before = self._resumed(fact, chosen)
        left = self._draws.below(1 << 31, len(rows)) << 1
        words = []
        for choice in range(told.choices):
            left *= told.word_counts[choice].take(number)
            words.append(told.word_texts[choice, number, left >> 32])
            left &= 0xFFFFFFFF
        for (kind, which, bits), source in told.slots.items():
            if kind == "word":
                sources[source] = words[which]
            elif kind == "kin":
                sources[source] = n._kin[chosen.relations[:, which], genders[:, which + 1]]
            elif kind == "Mom":
                sources[source] = n._address[chosen.relations[:, 0], genders[:, 1]]
            elif kind == "":
                sources[source] = n._names[names[:, which]]
            elif kind == "Who":
                pronoun = np.where(
                    change != NOTHING, n._pronouns["he"][genders[:, 0]], n._pronouns["He"][genders[:, 0]]
                )
                sources[source] = np.where(before, pronoun, n._names[names[:, 0]])
            else:
                form = kind.removeprefix("or ")
                pronoun = n._pronouns[form][genders[:, which]]
                called = (n._owners if form in ("his", "His") else n._names)[names[:, which]]
                can_mean_others = (chosen.unclear & bits) > 0
                sources[source] = np.where(can_mean_others & kind.startswith("or "), called, pronoun)
        body = np.maximum(told.literals[number], sources[told.sources[number], np.arange(len(rows))[:, None]])
        ends = self._stops(fact, self._spread(rows, facts))[rows]
        pieces = np.hstack([change[:, None], body, ends[:, None]])
        width = max(sentence.shape[1], pieces.shape[1])
        sentence = np.pad(sentence, ((0, 0), (0, width - sentence.shape[1])), constant_values=NOTHING)
        sentence[rows, : pieces.shape[1]] = pieces
        return sentence

    def _resumed(self, fact: int, chosen: _Chosen) -> Flags:
        """Return which passages begin with a pronoun, as the sentence before tells of A and of nobody else of them."""
        rows, before = chosen.rows, self._before[:, chosen.rows]
        known = [(before == chosen.people[:, person]).any(axis=0) for person in range(4)]
        is_new = ~(known[1] | known[2] | (known[3] & (self._n._passages.facts[chosen.number] > 2)))
        is_clear = (chosen.unclear & earlier_bit(0)) == 0
        resumed: Flags = known[0] & is_new & is_clear & ~(self._begins[rows, fact] & (fact > 0))
        return resumed & self._chance(_RESUMED_SHARE)[rows]

    def _spread(self, rows: npt.NDArray[np.intp], values: Numbers) -> Numbers:
        """Return values of some rows as an array of all rows."""
        spread = np.zeros(self._rows, np.int32)
        spread[rows] = values
        return spread

    def _state(self, owner: Numbers, relative: Numbers) -> npt.NDArray[np.int64]:
        """Return as bits which of MARKS hold."""
        state = np.zeros(self._rows, np.int64)
        flags = (~self._met, self._facts.young, self._main, ~self._main)
        for bit, each in enumerate(each[self._all, person] for each in flags for person in (owner, relative)):
            state |= each.astype(np.int64) << bit
        return state

    # ------------------------------------------------------------------------------------------------------------- text

    def _sentence(self, fact: int, frame: Numbers, resumed: Flags) -> Numbers:
        """Return the pieces of a fact's sentence, [row, piece], in which a pronoun can mean A where it is resumed."""
        n, rows = self._n, self._rows
        change = self._change(fact, n._can_follow_time[frame])
        sources = self._sources(fact, frame, change != NOTHING, resumed)
        body = np.maximum(n._literals[frame], sources.ravel().take(n._slots[frame] * rows + self._all[:, None]))
        pieces = np.hstack([change[:, None], body, self._stops(fact, 1)[:, None]])
        pieces[~self._single] = NOTHING
        return pieces

    def _stops(self, fact: int, facts: int | Numbers) -> Numbers:
        """Return what ends the line of a fact, and of those that are put together with it."""
        n = self._n
        last = self.used.shape[1]
        after = np.full(self._rows, fact, np.int32) + facts
        goes_on = (after < last) & self.used[self._all, np.minimum(after, last - 1)] | (self._closer != NOTHING)
        return np.where(goes_on, np.int32(n._break), np.int32(n._stop))

    def _change(self, fact: int, fits: Flags) -> Numbers:
        """Return how much later it was, for some rows whose story goes on with another scene."""
        n, rows = self._n, self._rows
        wanted = self._begins[:, fact] & self._timed & fits
        if fact == 0 or not wanted.any():
            return np.full(rows, NOTHING, np.int32)
        return np.where(wanted, n._changes[self._draws.below(len(n._changes), rows)], NOTHING).astype(np.int32)

    def _sources(self, fact: int, frame: Numbers, timed: Flags, resumed: Flags) -> Numbers:
        """Return the piece that each of SOURCES stands for, [source, row]; the last is nothing."""
        n, rows, every = self._n, self._rows, self._all
        owner, relative, relation = self._owner[:, fact], self._relative[:, fact], self._relation[:, fact]
        ours, theirs = self._gender(owner), self._gender(relative)
        relation = np.maximum(relation, 0)
        sources = np.full((len(SOURCES) + 1, rows), NOTHING, np.int32)

        def put(name: str, value: npt.NDArray[np.generic]) -> None:
            sources[_SOURCE[name]] = value

        name, pronouns = (
            self._names[every, np.maximum(owner, 0)],
            {form: each[ours] for form, each in n._pronouns.items()},
        )
        put("A", n._names[name])
        put("Who", np.where(resumed, np.where(timed, pronouns["he"], pronouns["He"]), n._names[name]))
        put("Whose", np.where(resumed, np.where(timed, pronouns["his"], pronouns["His"]), n._owners[name]))
        put("whose", np.where(resumed, pronouns["his"], n._owners[name]))
        put("B", n._names[self._names[every, np.maximum(relative, 0)]])
        put("kin", n._kin[relation, theirs])
        put("a kin", n._a_kin[relation, theirs])
        put("siblings", n._siblings[ours, theirs])
        for form, pieces in pronouns.items():
            put(f"A.{form}", pieces)
        their_name, their_pronouns = (
            self._names[every, np.maximum(relative, 0)],
            {form: each[theirs] for form, each in n._pronouns.items()},
        )
        differ = ours != theirs
        for person, clear, called, forms in (
            ("A", self._owner_bound & differ, name, pronouns),
            ("B", self._relative_bound & differ, their_name, their_pronouns),
        ):
            for form in ("he", "him", "He"):
                put(f"{person} or {form}", np.where(clear, forms[form], n._names[called]))
            put(f"{person}'s", np.where(clear, forms["his"], n._owners[called]))
        if not n._scenes:
            return sources
        # One draw is enough for all choices of a frame.
        left = self._draws.below(1 << 31, rows) << 1
        for choice in range(n._choices):
            left *= n._word_counts[choice].take(frame)
            put(f"word {choice}", n._words.take(n._word_starts[choice].take(frame) + (left >> 32)))
            left &= 0xFFFFFFFF
        return sources

    def _text(self, parts: list[Numbers]) -> pa.Array:
        flat = np.hstack(parts)
        chosen = flat != NOTHING
        ends = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))])
        stories = self._n._table.take(pa.array(flat[chosen]))
        offsets = np.frombuffer(stories.buffers()[1], np.int32, len(stories) + 1)[ends]
        return pa.Array.from_buffers(
            pa.string(), self._rows, [None, pa.py_buffer(offsets.copy()), stories.buffers()[2]]
        )

    def _lines(self) -> Flags:
        """Return which lines the answer rests on."""
        starts = self.used & ~self.joined
        line = np.cumsum(starts, axis=1) - 1
        line = line + (self._opener != NOTHING)[:, None]
        lines = np.zeros((self._rows, self.used.shape[1] + 1), np.bool_)
        rows, facts = np.nonzero(self.proves)
        lines[rows, line[rows, facts]] = True
        return lines
