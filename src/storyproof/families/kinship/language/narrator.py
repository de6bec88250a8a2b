"""The narrator: facts told as a paragraph about one occasion.

A story has one scene. Its facts come in the order of the chain, forwards or backwards, so that neighbouring sentences
share a person; a fact of noise follows a fact about the same person. Each fact is put by a frame, in either direction
("Omar's niece Freya" or "Freya's uncle Omar"), and two neighbouring facts may share a sentence. Most frames are
situations, in which the relation is the reason for what happens; others say what people do in the scene. Everybody does
one thing there, in one place: a frame fits only if what the story has said of its people goes with it.

A pronoun is used only where it can mean one person: nobody else of the sentence before, and nobody earlier in the same
sentence, may be of that gender or of a gender that the text has not shown. The gender of the person asked about is
always shown by the text.

All rows of a block are narrated at once. Choices are arrays; a sentence is a row of numbers of pieces (names, kin
words, phrases, the literal text of frames), and the text is one `take` over a table of all pieces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.errors import ConfigError
from storyproof.families.kinship.generation.narration import ToldRows
from storyproof.families.kinship.generation.puzzle_table import PuzzleArrays
from storyproof.families.kinship.language.frames import CLEFT, LASTING, PAST, SOURCES, SPARE, Frame, Frames
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
_GROUP = 1024  # rows that are narrated together, at least
_STEP = 4  # between the places of two facts of the chain, so that noise fits in
# Two facts of a chain may share a sentence if together they suggest nothing else than what follows from them: "Suresh
# is his father, and Sarah is Suresh's wife" would suggest that Sarah is not the mother.
_JOINED = np.zeros((len(PREDICATES), len(PREDICATES)), np.bool_)
for _first, _second in (
    ("inv-child", "sibling"), ("inv-child", "inv-child"), ("child", "child"), ("child", "SO"),
    ("SO", "inv-child"), ("SO", "sibling"), ("sibling", "SO"), ("sibling", "child"),
):  # fmt: skip
    _JOINED[_NUMBER[_first], _NUMBER[_second]] = True
_SIZES = (2, 2, len(PREDICATES), 2, 3, 3)  # of what decides which frames can put a fact, see `_Cases`
_SHOWING = int(np.prod(_SIZES[2:]))  # between the numbers of two cases of which one must show A's gender
_FREE, _FIRST, _PAIRED = range(3)  # where a fact stands: the first one of a story; one that shares its sentence
_BUSY = 4  # whether A must be busy, among the needs of a frame
_TENSES = (None, PAST, LASTING)
_PLACE_SHARE, _CONNECTIVE_SHARE, _SITUATION_SHARE = 0.6, 0.35, 0.6  # of sentences that could have one
_DATED_SHARE = 0.7  # of openers that can follow a date
_CLOSER_SHARE = 0.15  # of stories that end with a sentence about the occasion
_RESUMED_SHARE, _GOING_ON_SHARE = 0.8, 0.5  # of pronouns instead of names, and of "was still at it", where they fit
_TRIES = 12  # how often another frame is drawn for those that do not fit
# Words that two phrases of a sentence may share; any other word stands there once: not "a line between two pegs between
# the first row and the second".
_SMALL_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "and",
        "to",
        "on",
        "in",
        "at",
        "with",
        "for",
        "from",
        "by",
        "its",
        "two",
        "one",
        "both",
        "first",
    ]
)
_ARTICLE = re.compile(r"(?:The|An?) ")
_WHEN = re.compile(
    r"\b(?:\w*(?:day|morning|noon|evening|night|week|weekend|year|hour|summer|winter|spring|season)s?|\w*(?:sun|moon|snow)\w*|dawn|dusk|dark\w*"
    r"|before|after|until|when|once|had|first|at last|already|still|again|soon|[A-Z]\w+)\b(?<!^The)(?<!^An)(?<!^A)"
)
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
    """

    first: Numbers
    predicate: Numbers
    second: Numbers
    place: Numbers
    joins: Numbers
    proves: Numbers
    shows: Numbers
    genders: Numbers

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
        )


class _Cases(NamedTuple):
    """What decides which frames can put a fact; each is an array [row] of small numbers."""

    owner_bound: Flags  # a pronoun for A can mean A only
    show_owner: Flags  # the frame must show A's gender
    relation: Numbers  # what B is to A
    same_gender: Flags
    meeting: Numbers  # 0 none is left, 1 there is one, 2 one that both do together
    stands: Numbers  # _FREE, _FIRST or _PAIRED

    def number(self) -> npt.NDArray[np.int64]:
        """Return one number per row."""
        numbers: npt.NDArray[np.int64] = np.ravel_multi_index(
            tuple(np.asarray(each, np.int64) for each in self), _SIZES
        )
        return numbers


def _fits(frame: Frame, cases: _Cases) -> Flags:
    """Return in which cases a frame can be used."""
    only = _ONLY[cases.relation]
    siblings = cases.relation == _SIBLING
    slots = {"all": np.True_, "several": ~only, "only": only, "siblings": siblings}
    slots["same siblings"] = siblings & (cases.same_gender == 1)
    found: Flags = slots[frame.relation] & np.array([each in frame.relations for each in _NUMBER])[cases.relation]
    for fits, allowed in (
        (not frame.binds, cases.owner_bound == 1),
        (frame.shows_owner, cases.show_owner == 0),
        (not frame.is_meeting, cases.meeting > 0),
        (not frame.is_joint, cases.meeting == 2),
        (frame.can_be_joined, cases.stands != _PAIRED),
        (frame.group != CLEFT, cases.stands != _FIRST),
    ):
        if not fits:
            found = found & allowed
    return found


class SceneNarrator:
    """Narrates puzzles.

    Args:
        scenes: What stories are about; None for plain text.
        frames: How facts are put.
        names: The names of people.
    """

    def __init__(self, scenes: Scenes | None, frames: Frames, names: Sequence[str]) -> None:
        self._scenes = scenes.scenes if scenes is not None else ()
        self._frames = frames
        self._pieces: dict[str, int] = {}
        self._names = self._number(names)
        self._owners = self._number([f"{name}'s" for name in names])
        self._compile_frames()
        self._compile_words()
        if self._scenes:
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
        frames = sorted(self._frames.frames, key=lambda frame: (not frame.is_situation, not frame.needs[_BUSY]))
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
        self._tense = np.array([_TENSES.index(frame.tense) for frame in frames])
        self._has_sentences = np.array([frame.has_sentences for frame in frames])
        self._shows_owner = np.array([frame.shows_owner for frame in frames])
        self._has_place = (self._slots == _SOURCE["place"]).any(axis=1)
        # What has to be true of the people of a frame, as bits of `_state`, and what A and B do in it.
        needs = np.array([frame.needs for frame in frames])
        self._needs = needs @ (1 << np.arange(needs.shape[1]))
        self._has_deed = needs[:, :2]
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
        spare = [number for number, frame in enumerate(frames) if frame.group == SPARE]
        self._spare = spare[0] if spare else None
        fitting[:, spare] = False
        self._counts = fitting.sum(axis=1)
        # Situations come first, and of these those about somebody who is busy.
        self._situation_counts = fitting[:, [frame.is_situation for frame in frames]].sum(axis=1)
        self._busy_counts = fitting[:, [frame.needs[_BUSY] for frame in frames]].sum(axis=1)
        # For each case the frames that fit, in their order; what follows does not.
        self._lists = np.zeros((len(fitting), int(self._counts.max())), np.int32)
        case, frame = np.nonzero(fitting)
        self._lists[case, np.arange(len(case)) - (np.cumsum(self._counts) - self._counts)[case]] = frame
        self._connectives = [self._number(self._frames.connectives.get(tense, ())) for tense in (PAST, LASTING)]
        # Facts share a sentence only if there is a frame for every fact of a pair, whatever the story has said.
        pairs = (cases.stands == _PAIRED) & (cases.show_owner == 0)
        steady = fitting[pairs][:, self._needs == 0].any(axis=1).all()
        self._joiners = self._number(self._frames.joiners if steady else ())
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
        scenes = self._scenes

        def table(texts: Sequence[Sequence[str]]) -> tuple[Numbers, Numbers]:
            """Return numbers [scene, phrase], and how many there are."""
            numbers = np.full((len(texts), max(1, *map(len, texts))), NOTHING, np.int32)
            for number, each in enumerate(texts):
                numbers[number, : len(each)] = self._number(each)
            return numbers, np.array([len(each) for each in texts], np.int32)

        self._deeds = {
            form: table([[getattr(deed, form) for deed in scene.alone] for scene in scenes])[0]
            for form in ("did", "doing", "done", "do")
        }
        self._deed_counts = np.array([len(scene.alone) for scene in scenes], np.int32)
        self._meetings = {
            form: table([[getattr(each, form) for each in scene.together] for scene in scenes])[0]
            for form in ("met", "meeting", "rest", "joint")
        }
        self._meeting_counts = np.array([len(scene.together) for scene in scenes], np.int32)
        self._closers, self._closer_counts = table(self._frames.closers or ((),))
        self._dates, self._date_counts = table(self._frames.dates or ((),))
        self._openers, self._opener_counts = table([[f"{each}\n" for each in scene.openers] for scene in scenes])
        # The same in small letters, to follow a date; NOTHING where the opener says itself when it was, or has a name.
        self._dated_openers = table([[_undated(opener) for opener in scene.openers] for scene in scenes])[0]
        self._places, self._place_counts = table([[f" {each}" for each in scene.places] for scene in scenes])
        self._moments, self._moment_counts = table([[f" {each}" for each in scene.moments] for scene in scenes])
        self._compile_repetitions()

    def _compile_repetitions(self) -> None:
        """Find the adverbials that would repeat a word of a deed or meeting, [scene, deed, adverbial]."""
        scenes = self._scenes
        shape = {"deed": self._deeds["did"].shape, "meeting": self._meetings["met"].shape}
        width = {"place": self._places.shape[1], "moment": self._moments.shape[1]}
        self._repeats = {
            (what, kind): np.zeros((*shape[what], width[kind]), np.bool_) for what in shape for kind in width
        }
        for number, scene in enumerate(scenes):
            where: dict[str, list[tuple[str, int]]] = {}
            for kind, adverbials in (("place", scene.places), ("moment", scene.moments)):
                for adverbial, text in enumerate(adverbials):
                    for word in text.split():
                        if word not in _SMALL_WORDS:
                            where.setdefault(word, []).append((kind, adverbial))
            said = [("deed", place, deed.did) for place, deed in enumerate(scene.alone)]
            said += [("meeting", place, each.met + each.rest) for place, each in enumerate(scene.together)]
            for what, place, text in said:
                for word in text.split():
                    for kind, adverbial in where.get(word, ()):
                        self._repeats[what, kind][number, place, adverbial] = True

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


def _undated(opener: str) -> str:
    """Return an opener so that it can follow "On a mild Sunday, "; nothing if it says itself when it was."""
    return f"{opener[0].lower()}{opener[1:]}\n" if _ARTICLE.match(opener) and not _WHEN.search(opener) else ""


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
        # Whose gender the text has shown; of whom it has told; who does something in the scene; who is at a place.
        self._seen, self._met, self._busy, self._placed = np.zeros((4, *self._genders.shape), np.bool_)
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
        # Which facts go on in the sentence of the fact before; `joins` belongs to the earlier fact of the chain.
        joined = np.zeros((rows, width), np.bool_)
        if len(self._n._joiners):
            together = np.where(backwards[:, None], joins[:, 1:], joins[:, :-1]).astype(np.bool_)
            near = np.abs(np.diff(np.take_along_axis(place, order, axis=1), axis=1)) == _STEP
            wanted = together & near & used[:, 1:] & (self._draws.below(4, rows * (width - 1)).reshape(rows, -1) == 0)
            # Joined facts have no pronouns, so a kin word has to show the gender of the person asked about.
            unshown = shows & turned
            wanted &= ~(unshown[:, 1:] | unshown[:, :-1])
            # Each is about what the relative does: not "Omar's niece Freya sang, and Freya, Ali's sister, danced".
            wanted &= self._relative[:, 1:] != self._relative[:, :-1]
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

    def tell(self) -> ToldRows:
        """Narrate sentence after sentence, of all rows at once."""
        n, rows = self._n, self._rows
        self._choose_phrases()
        parts: list[Numbers] = []
        if n._scenes:
            parts.append(np.stack([self._date, self._opener], axis=1))
        # What is looked at person by person, or fact by fact, is [person, row] or [fact, row].
        before = np.full((4, rows), NOBODY, np.int32)  # the people of the sentence before
        here = np.full((4, rows), NOBODY, np.int32)
        told, self._kinds = np.full((2, self.used.shape[1], rows), NOTHING, np.int32)
        for fact in range(self.used.shape[1]):
            joined = self.joined[:, fact]
            before = np.where(joined, before, here)
            self._turn_if_unshown(fact, before)
            frame = self._choose_frame(fact, before, told)
            told[fact] = frame
            owner, relative = self._owner[:, fact], self._relative[:, fact]
            resumed = (before == owner).any(axis=0) & ~(before == relative).any(axis=0) & self._owner_bound
            resumed &= ~self._in_pair[:, fact] & self._chance(_RESUMED_SHARE)
            parts.append(self._sentence(fact, frame, resumed))
            pair = np.stack([owner, relative])
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
        meeting = np.zeros(self._rows, np.int32)
        if self._n._scenes:  # meetings are used up one fact at a time
            met = fact < self._n._meeting_counts[self._scene]
            meeting = met * (1 + (self._meeting["joint"][:, fact] != NOTHING)).astype(np.int32)
        stands = _FIRST if fact == 0 else _FREE
        return _Cases(
            owner_bound,
            self.shows[:, fact] & self._turned[:, fact],
            np.maximum(self._relation[:, fact], 0),
            self._gender(self._owner[:, fact]) == self._gender(self._relative[:, fact]),
            meeting,
            np.where(self._in_pair[:, fact], _PAIRED, stands),
        )

    def _choose_frame(self, fact: int, before: Numbers, told: Numbers) -> Numbers:
        """Choose a frame that fits, and of whose kind the story has none yet if there is one."""
        n = self._n
        owner, relative = (np.maximum(each[:, fact], 0) for each in (self._owner, self._relative))
        self._owner_bound = self._bound(self._owner[:, fact], self._relative[:, fact], before)
        cases = self._cases(fact, self._owner_bound)
        # Mostly every gender is shown, not only that of the person asked about, which would give the answer's away.
        wanted = ~self._seen[self._all, owner] & self._chance(0.8)
        any_case = cases.number()
        more = any_case + _SHOWING * (wanted & ~cases.show_owner)
        case = np.where(n._counts[more] > 0, more, any_case)
        if not n._counts[case][self.used[:, fact]].all():
            raise ConfigError("there is no frame for a fact; add frames, or use --no-split-placeholders.")
        count, situations, going_on = np.maximum(n._counts[case], 1), n._situation_counts[case], n._busy_counts[case]
        goes_on = self._busy[self._all, owner] & (going_on > 0) & self._chance(_GOING_ON_SHARE)
        is_situation = (situations > going_on) & (self._chance(_SITUATION_SHARE) | (situations == count))
        first = np.where(goes_on, 0, np.where(is_situation, going_on, situations))
        past = np.where(goes_on, going_on, np.where(is_situation, situations, count))
        frame = n._lists[case, first + self._draws.below(past - first, self._rows)]
        lacking, kinds = ~self._state(owner, relative), self._kinds[:fact]

        def misfits(rows: npt.NDArray[np.intp], chosen: Numbers, *, strict: bool) -> Flags:
            """Return whether frames do not go with what the stories of rows have said, or are like one that they have.

            If need be, a frame may occur twice, but never with the same relative, nor if it has several sentences: not
            "Leila had an audience of one. Her son watched. Leila had an audience of one. Her aunt watched."
            """
            again: Flags
            if strict:
                again = (kinds if rows is self._all else kinds.take(rows, axis=1)) == n._kind.take(chosen)
            else:
                same_relative = relative[rows] == self._relative[rows, :fact].T
                again = (told[:fact, rows] == chosen) & (n._has_sentences[chosen] | same_relative)
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
        if len(rest) and n._spare is not None:
            rest = rest[cases.stands[rest] != _PAIRED]
            frame[rest] = n._spare
        for side, each in enumerate((owner, relative)):
            self._met[self._all, each] = True
            self._busy[self._all, each] |= n._has_deed[frame, side]
        self._seen[self._all, relative] = True
        self._seen[self._all, owner] |= n._shows_owner[frame]
        self._kinds[fact] = n._kind[frame]
        return frame

    def _state(self, owner: Numbers, relative: Numbers) -> npt.NDArray[np.int64]:
        """Return as bits whether A and B can still do something in the scene, whether they are new, and busy."""
        every = self._all
        can_do = (~self._busy[every, each] & (each < self._deed_counts) for each in (owner, relative))
        is_new = (~self._met[every, each] for each in (owner, relative))
        is_busy = (self._busy[every, each] for each in (owner, relative))
        state = np.zeros(self._rows, np.int64)
        for bit, flags in enumerate((*can_do, *is_new, *is_busy)):
            state |= flags.astype(np.int64) << bit
        return state

    def _choose_phrases(self) -> None:
        """Choose the scene of each row, and which of its phrases go with which fact."""
        n, rows, width = self._n, self._rows, self.used.shape[1]
        self._deed_counts = np.zeros(rows, np.int32)
        self._closer = np.full(rows, NOTHING, np.int32)
        if not n._scenes:
            return
        draws = self._draws
        which = draws.below(len(n._closers), rows)
        closer = n._closers[which, draws.below(n._closer_counts[which].astype(np.int64), rows)]
        self._closer = np.where(self._chance(_CLOSER_SHARE), closer, NOTHING).astype(np.int32)
        self._first_connective = draws.below(1 << 16, rows)
        self._scene = draws.below(len(n._scenes), rows)
        scene = self._scene
        # Every story begins with its scene, for what follows speaks of it: "the first hive", "after the raffle".
        chosen = draws.below(n._opener_counts[scene].astype(np.int64), rows)
        which = draws.below(len(n._dates), rows)
        date = n._dates[which, draws.below(n._date_counts[which].astype(np.int64), rows)]
        dated = n._dated_openers[scene, chosen]
        is_dated = self._chance(_DATED_SHARE) & (dated != NOTHING) & (date != NOTHING)
        self._date = np.where(is_dated, date, NOTHING).astype(np.int32)
        self._opener = np.where(is_dated, dated, n._openers[scene, chosen])
        self._deed_counts = n._deed_counts[scene]
        deeds = self._shuffled(self._deed_counts, n._deeds["did"].shape[1])
        every = np.arange(width)[None, :]
        self._deed_of = np.take_along_axis(  # [row, person]
            deeds,
            np.broadcast_to(np.minimum(np.arange(self._genders.shape[1]), deeds.shape[1] - 1), self._genders.shape),
            axis=1,
        )
        one, two = (
            np.take_along_axis(self._deed_of, np.maximum(each, 0), axis=1) for each in (self._first, self._second)
        )
        meetings = self._shuffled(n._meeting_counts[scene], n._meetings["met"].shape[1])
        which = np.take_along_axis(meetings, np.minimum(every, meetings.shape[1] - 1), axis=1)
        self._meeting = {form: table[scene[:, None], which] for form, table in n._meetings.items()}
        place, some_place = self._adverbials("place", n._place_counts, one, two, which)
        moment, some_moment = self._adverbials("moment", n._moment_counts, one, two, which)
        # A story has one moment, for two could be in the wrong order, and that fact has no place besides.
        at = scene[:, None]
        has_moment = some_moment & (every == draws.below(np.maximum(self.used.sum(axis=1), 1), rows)[:, None])
        odds = draws.below(1 << 16, rows * width).reshape(rows, width)
        has_place = some_place & ~has_moment & (odds < int(_PLACE_SHARE * (1 << 16)))
        self._place = np.where(has_place, n._places[at, place], NOTHING).astype(np.int32)
        self._moment = np.where(has_moment, n._moments[at, moment], NOTHING).astype(np.int32)

    def _adverbials(
        self,
        kind: str,
        counts: Numbers,
        one: npt.NDArray[np.int64],
        two: npt.NDArray[np.int64],
        which: npt.NDArray[np.int64],
    ) -> tuple[npt.NDArray[np.int64], Flags]:
        """Return the numbers of places or moments, [row, fact], and whether they can be used: nothing is said twice."""
        n, scene = self._n, self._scene[:, None]
        count = counts[self._scene][:, None]
        every = np.arange(one.shape[1])
        chosen = self._shuffled(count[:, 0], int(counts.max()))[np.arange(self._rows)[:, None], every[None, :] % count]
        repeats = n._repeats["deed", kind][scene, one, chosen] | n._repeats["deed", kind][scene, two, chosen]
        repeats |= n._repeats["meeting", kind][scene, which, chosen]
        return chosen, (every[None, :] < count) & ~repeats

    def _shuffled(self, counts: Numbers, width: int) -> npt.NDArray[np.int64]:
        """Return 0 … count - 1 in random order for each row, [row, place]; what follows is out of range."""
        keys = self._draws.below(1 << 30, self._rows * width).reshape(self._rows, width)
        keys = np.where(np.arange(width)[None, :] < counts[:, None], keys, 1 << 31)
        return np.argsort(keys, axis=1, kind="stable")

    # ------------------------------------------------------------------------------------------------------------- text

    def _sentence(self, fact: int, frame: Numbers, resumed: Flags) -> Numbers:
        """Return the pieces of a fact's sentence, [row, piece], in which a pronoun can mean A where it is resumed."""
        n, rows = self._n, self._rows
        connective = self._connective(fact, frame)
        sources = self._sources(fact, frame, connective != NOTHING, resumed)
        body = np.maximum(n._literals[frame], sources.ravel().take(n._slots[frame] * rows + self._all[:, None]))
        joined = self.joined[:, fact]
        is_last = fact + 1 == self.used.shape[1]
        follows = np.zeros(rows, np.bool_) if is_last else self.joined[:, fact + 1]
        goes_on = self._closer != NOTHING if is_last else self.used[:, fact + 1] | (self._closer != NOTHING)
        start = np.stack([np.full(rows, NOTHING, np.int32), connective], axis=1)
        if len(n._joiners):
            start[:, 0] = np.where(joined, n._joiners[self._draws.below(len(n._joiners), rows)], NOTHING)
        stop = np.where(follows, np.int32(NOTHING), np.where(goes_on, np.int32(n._break), np.int32(n._stop)))
        pieces = np.hstack([start, body, stop[:, None]])
        pieces[~self.used[:, fact]] = NOTHING
        return pieces

    def _connective(self, fact: int, frame: Numbers) -> Numbers:
        """Return a connective that fits the tense of the frame for some rows; no story has one twice soon after."""
        n, found = self._n, np.full(self._rows, NOTHING, np.int32)
        if fact == 0 or not n._scenes:
            return found
        wanted = ~self._in_pair[:, fact] & self._chance(_CONNECTIVE_SHARE)
        for tense, connectives in enumerate(n._connectives, start=1):
            chosen = connectives[(self._first_connective + fact) % len(connectives)]
            found = np.where(wanted & (n._tense[frame] == tense), chosen, found)
        return found

    def _sources(self, fact: int, frame: Numbers, connected: Flags, resumed: Flags) -> Numbers:
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
        put("Who", np.where(resumed, np.where(connected, pronouns["he"], pronouns["He"]), n._names[name]))
        put("Whose", np.where(resumed, np.where(connected, pronouns["his"], pronouns["His"]), n._owners[name]))
        put("whose", np.where(resumed, pronouns["his"], n._owners[name]))
        put("B", n._names[self._names[every, np.maximum(relative, 0)]])
        put("kin", n._kin[relation, theirs])
        put("a kin", n._a_kin[relation, theirs])
        put("siblings", n._siblings[ours, theirs])
        for form, pieces in pronouns.items():
            put(f"A.{form}", pieces)
        clear = self._owner_bound & (ours != theirs)
        for form in ("he", "him"):
            put(f"A or {form}", np.where(clear, pronouns[form], n._names[name]))
        put("A's", np.where(clear, pronouns["his"], n._owners[name]))
        if not n._scenes:
            return sources
        width = n._deeds["did"].shape[1]
        for person, number in (("A", owner), ("B", relative)):
            deed = self._scene * width + self._deed_of[every, np.maximum(number, 0)]
            for form, table in n._deeds.items():
                if f"{person}.{form}" in _SOURCE:
                    put(f"{person}.{form}", table.ravel().take(deed))
        for form in ("met", "meeting", "rest", "joint"):
            put(form, self._meeting[form][:, fact])
        # One draw is enough for all choices of a frame.
        left = self._draws.below(1 << 31, rows) << 1
        for choice in range(n._choices):
            left *= n._word_counts[choice].take(frame)
            put(f"word {choice}", n._words.take(n._word_starts[choice].take(frame) + (left >> 32)))
            left &= 0xFFFFFFFF
        # Nobody is at two places.
        pair = np.maximum(np.stack([owner, relative]), 0)
        place = np.where(self._placed[every, pair].any(axis=0), NOTHING, self._place[:, fact])
        self._placed[every, pair] |= n._has_place[frame] & (place != NOTHING)
        put("place", place)
        put("moment", np.where(connected, NOTHING, self._moment[:, fact]))  # a connective says when already
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
        if self._n._scenes:
            line = line + (self._opener != NOTHING)[:, None]
        lines = np.zeros((self._rows, self.used.shape[1] + 1), np.bool_)
        rows, facts = np.nonzero(self.proves)
        lines[rows, line[rows, facts]] = True
        return lines
