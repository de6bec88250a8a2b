"""The narrator: facts told as everyday events.

A story of up to four facts is one scene, such as a birthday party; a longer one is a sequence of scenes of three or
four facts each. Facts come in the order of the chain, forwards or backwards, so that neighbouring sentences share a
person; a fact of noise follows a fact about the same person. Each fact is put by a frame of the scene, in either
direction ("Omar's niece Freya" or "Freya's uncle Omar"), and two neighbouring facts may share a sentence. Some frames
begin a scene, the others go on with it in any order. Many are for some relations only, which are the reason for what
happens: parents fetch, brothers and sisters quarrel.

A pronoun is used only where it can mean one person: nobody else of the sentence before, and nobody earlier in the same
sentence, may be of that gender or of a gender that the text has not shown. The gender of the person asked about is
always shown by the text.

All rows of a block are narrated at once. Choices are arrays; a sentence is a row of numbers of pieces (names, kin
words, the literal text of frames), and the text is one `take` over a table of all pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.families.kinship.generation.narration import ToldRows
from storyproof.families.kinship.generation.puzzle_table import PuzzleArrays
from storyproof.families.kinship.language.frames import BEGIN, SOURCES, THEN, Frame, our_frames
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
# Two facts of a chain may share a sentence if together they suggest nothing else than what follows from them: "Suresh
# is his father, and Sarah is Suresh's wife" would suggest that Sarah is not the mother.
_JOINED = np.zeros((len(PREDICATES), len(PREDICATES)), np.bool_)
for _first, _second in (
    ("inv-child", "sibling"), ("inv-child", "inv-child"), ("child", "child"), ("child", "SO"),
    ("SO", "inv-child"), ("SO", "sibling"), ("sibling", "SO"), ("sibling", "child"),
):  # fmt: skip
    _JOINED[_NUMBER[_first], _NUMBER[_second]] = True
_SIZES = (2, 2, len(PREDICATES), 5)  # of what decides which frames can put a fact, see `_Cases`
_CASES = int(np.prod(_SIZES))  # of each scene
_SHOWING = int(np.prod(_SIZES[2:]))  # between the numbers of two cases of which one must show A's gender
# Where a fact stands: the first one of a scene or a later one, before a fact that shares its sentence; that one.
_GOING_ON, _BEGINNING, _OPEN, _OPEN_BEGINNING, _JOINED_LATER = range(5)
_OPENS = _OPEN - _GOING_ON
_SPECIAL_SHARE = 0.6  # of facts that could be put by a frame for some relations only
_TIMED_SHARE = 0.7  # of scenes in a story that can begin with how much later it was
_OPENER_SHARE, _CLOSER_SHARE = 0.15, 0.3  # of stories that begin or end with a sentence about the scene
_RESUMED_SHARE = 0.8  # of pronouns instead of names, where they fit
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
        joins: Whether it may share a sentence with the next fact of the chain.
        proves: Whether the answer rests on it (1, else 0).
        shows: [row], the fact that has to show the gender of the person asked about.
        genders: [row, person].
        young: [row, person], whether nobody in the story is younger by a generation, and it names no spouse.
    """

    first: Numbers
    predicate: Numbers
    second: Numbers
    place: Numbers
    joins: Numbers
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
            joins=self.joins[rows, :width],
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
    stands: Numbers  # _GOING_ON, _BEGINNING and so on

    def number(self) -> npt.NDArray[np.int64]:
        """Return one number per row."""
        numbers: npt.NDArray[np.int64] = np.ravel_multi_index(
            tuple(np.asarray(each, np.int64) for each in self), _SIZES
        )
        return numbers


def _fits(frame: Frame, cases: _Cases) -> Flags:
    """Return in which cases a frame can be used."""
    only = _ONLY[cases.relation]
    slots = {"all": np.True_, "several": ~only, "only": only, "siblings": cases.relation == _SIBLING}
    found: Flags = slots[frame.relation] & np.array([each in frame.relations for each in _NUMBER])[cases.relation]
    for fits, allowed in (
        (not frame.binds, cases.owner_bound == 1),
        (frame.shows_owner, cases.show_owner == 0),
        (frame.can_be_joined, cases.stands != _JOINED_LATER),
        (frame.can_be_continued, (cases.stands != _OPEN) & (cases.stands != _OPEN_BEGINNING)),
        (frame.group != THEN, (cases.stands != _BEGINNING) & (cases.stands != _OPEN_BEGINNING)),
        (frame.group != BEGIN, (cases.stands == _BEGINNING) | (cases.stands == _OPEN_BEGINNING)),
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
        cases = _Cases(*np.indices(_SIZES).reshape(len(_SIZES), -1))
        fitting = np.stack([_fits(frame, cases) for frame in frames], axis=1)  # [case, frame]
        ends = len(spare) + np.cumsum([len(each) for each in scenes])
        bounds = [*zip([len(spare), *ends[:-1].tolist()], ends.tolist(), strict=True)]
        # For each scene and case the frames that fit, those for some relations first; what follows does not.
        counts = np.stack([fitting[:, begin:end].sum(axis=1) for begin, end in bounds])  # [scene, case]
        lists = np.zeros((*counts.shape, max(len(spare), int(counts.max()))), np.int32)
        for number, (begin, end) in enumerate(bounds):
            case, frame = np.nonzero(fitting[:, begin:end])
            place = np.arange(len(case)) - (np.cumsum(counts[number]) - counts[number])[case]
            lists[number, case, place] = begin + frame
        lacks = (counts == 0) & (cases.stands <= _BEGINNING)  # in scenes of users
        lists[lacks, : len(spare)], counts[lacks] = self._spare, len(spare)
        is_special = np.array([frame.is_special for frame in frames])[lists] & (
            np.arange(lists.shape[2]) < counts[:, :, None]
        )
        self._counts, self._lists = counts.ravel(), lists.reshape(counts.size, -1)
        self._special_counts = is_special.sum(axis=2).ravel()
        # Facts share a sentence only where there are frames for both, whatever the story has said.
        paired = (cases.stands >= _OPEN) & (cases.show_owner == 0)
        needless = fitting[paired] & (self._needs == 0)
        self._can_join = np.array([needless[:, begin:end].any(axis=1).all() for begin, end in bounds])
        self._joiners = self._number(shared.joiners if self._can_join.any() else ())
        self._changes = self._number(shared.changes)
        self._stop, self._break = self._number([".", ".\n"]).tolist()

    def _compile_words(self) -> None:
        words = [[each.male if gender == MALE else each.female for gender in GENDERS] for each in PREDICATES]
        self._kin = np.stack([self._number(pair) for pair in words])  # [predicate, gender]
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
        joins = np.zeros(used.shape, np.int32)
        joins[:, :-1] = _JOINED[puzzles.predicate[:, :-1], puzzles.predicate[:, 1:]] & chain[:, 1:]
        memory = puzzles.task == TASKS.index(MEMORY)
        asked = np.where(memory, puzzles.asked[:, 0], NOBODY)[:, None]
        return PuzzleFacts(
            puzzles.first,
            puzzles.predicate,
            puzzles.second,
            np.where(chain, _STEP * here, np.where(used, place, NOBODY)).astype(np.int32),
            joins,
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
        """Put the facts of each row in order, and choose their directions and which of them share a sentence."""
        facts, rows = self._facts, self._rows
        place = facts.place
        used = facts.first != NOBODY
        backwards = self._chance(0.5)
        key = np.where(backwards[:, None], -place, place)
        key = np.where(used, key, 1 << 20)
        order = np.argsort(key, axis=1, kind="stable")
        # After the longest story of the block nothing follows.
        order = order[:, : int(used.sum(axis=1).max())]
        first, second, predicate, used, proves, joins = (
            np.take_along_axis(array, order, axis=1)
            for array in (facts.first, facts.second, facts.predicate, used, facts.proves, facts.joins)
        )
        shows = (order == facts.shows[:, None]) & used
        width = order.shape[1]
        turned = self._draws.below(2, rows * width).reshape(rows, width).astype(np.bool_)
        self.used, self.proves, self.shows = used, proves.astype(np.bool_) & used, shows
        self._first, self._second, self._predicate = first, second, predicate
        self._set_directions(turned)
        self._choose_scenes()
        # Which facts go on in the sentence of the fact before; `joins` belongs to the earlier fact of the chain.
        joined = np.zeros((rows, width), np.bool_)
        if len(self._n._joiners):
            together = np.where(backwards[:, None], joins[:, 1:], joins[:, :-1]).astype(np.bool_)
            near = np.abs(np.diff(np.take_along_axis(place, order, axis=1), axis=1)) == _STEP
            wanted = together & near & used[:, 1:] & (self._draws.below(2, rows * (width - 1)).reshape(rows, -1) == 0)
            # Joined facts have no pronouns, so a kin word has to show the gender of the person asked about.
            unshown = shows & turned
            wanted &= ~(unshown[:, 1:] | unshown[:, :-1])
            # Each is about what the relative does: not "Omar's niece Freya sang, and Freya, Ali's sister, danced".
            wanted &= self._relative[:, 1:] != self._relative[:, :-1]
            wanted &= ~self._begins[:, 1:] & self._n._can_join[self._scene[:, 1:]]
            for here in range(1, width):
                joined[:, here] = wanted[:, here - 1] & ~joined[:, here - 1]
        self.joined = joined
        self._in_pair = joined.copy()
        self._in_pair[:, :-1] |= joined[:, 1:]

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
        self._told = np.full((self.used.shape[1], rows), NOTHING, np.int32)
        for fact in range(self.used.shape[1]):
            joined = self.joined[:, fact]
            before = np.where(joined, before, here)
            self._turn_if_unshown(fact, before)
            frame = self._choose_frame(fact, before)
            owner, relative = self._owner[:, fact], self._relative[:, fact]
            resumed = (before == owner).any(axis=0) & ~(before == relative).any(axis=0) & self._owner_bound
            resumed &= ~(joined | (self._begins[:, fact] & (fact > 0))) & self._chance(_RESUMED_SHARE)
            self._relative_bound = self._bound(relative, owner, before)
            parts.append(self._sentence(fact, frame, resumed))
            pair = np.where(n._ends_with[:, frame], np.stack([owner, relative]), NOBODY)
            here = np.concatenate([np.where(joined, here[:2], pair), np.where(joined, pair, NOBODY)])
            self._seen[self._all, np.maximum(owner, 0)] |= resumed
        parts.append(self._closer[:, None])
        return ToldRows(self._text(parts), self._lines())

    def _bound(self, person: Numbers, other: Numbers, before: Numbers) -> Flags:
        """Return whether a pronoun for a person can mean nobody else of the sentence before."""
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
        stands = np.where(self._begins[:, fact], _BEGINNING, _GOING_ON) + _OPENS * self._in_pair[:, fact]
        return _Cases(
            owner_bound,
            self.shows[:, fact] & self._turned[:, fact],
            np.maximum(self._relation[:, fact], 0),
            np.where(self.joined[:, fact], _JOINED_LATER, stands),
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
        self._timed = self._chance(_TIMED_SHARE)
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

        rest = self._all[misfits(self._all, frame, strict=True) & self.used[:, fact]]
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
            rest = rest[cases.stands[rest] <= _BEGINNING]
            frame[rest] = n._spare[self._draws.below(len(n._spare), len(rest))]
        self._main &= ~self._begins[:, fact, None]
        for each, is_main in zip((owner, relative), n._is_about[:, frame], strict=True):
            self._met[self._all, each] = True
            self._main[self._all, each] |= is_main
        self._seen[self._all, relative] = True
        self._seen[self._all, owner] |= n._shows_owner[frame]
        told[fact] = frame
        return frame

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
        change = self._change(fact, frame)
        sources = self._sources(fact, frame, change != NOTHING, resumed)
        body = np.maximum(n._literals[frame], sources.ravel().take(n._slots[frame] * rows + self._all[:, None]))
        joined = self.joined[:, fact]
        is_last = fact + 1 == self.used.shape[1]
        follows = np.zeros(rows, np.bool_) if is_last else self.joined[:, fact + 1]
        goes_on = self._closer != NOTHING if is_last else self.used[:, fact + 1] | (self._closer != NOTHING)
        start = change
        if len(n._joiners):
            start = np.where(joined, n._joiners[self._draws.below(len(n._joiners), rows)], start)
        stop = np.where(follows, np.int32(NOTHING), np.where(goes_on, np.int32(n._break), np.int32(n._stop)))
        pieces = np.hstack([start[:, None], body, stop[:, None]])
        pieces[~self.used[:, fact]] = NOTHING
        return pieces

    def _change(self, fact: int, frame: Numbers) -> Numbers:
        """Return how much later it was, for some rows whose story goes on with another scene."""
        n, rows = self._n, self._rows
        wanted = self._begins[:, fact] & self._timed & n._can_follow_time[frame]
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
