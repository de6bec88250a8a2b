"""The label columns of questions, from the codes that the provers give and the words that numbers stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.families.belief.answers import Codes, Columns
from storyproof.families.belief.arrays import NOBODY, Flags, PlotArrays, Small, ranks
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.provers import DerivedCodes, cast_sizes
from storyproof.families.belief.questions import ASKS, Ask, QuestionArrays, Reply
from storyproof.families.belief.readings import ALL_READINGS, BeliefReading
from storyproof.families.belief.wording import PlotWording
from storyproof.families.belief.world import MESSAGES, EventKind
from storyproof.generation.arrow_columns import (
    NO_WORD,
    Words,
    coded,
    constant_words,
    flag_lists,
    number_lists,
    word_lists,
)

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
PLACES = (Ask.BELIEF, Ask.SAYS, Ask.COMMON)  # questions about beliefs that a place answers
MARKS = ("messages", "lies", "peeks", "distractions")  # what a story has beyond comings, goings and moves
_YES_NO = (Ask.KNOWS_WHERE, Ask.KNOWS_WRONG)
_TOM = ("", "_no_tom", "_tom")
_STORY_TYPES = tuple(
    "+".join(mark for place, mark in enumerate(MARKS) if code >> place & 1) or "plain"
    for code in range(1 << len(MARKS))
)


def kind_name(ask: Ask, order: int) -> str:
    """Return what a question asks, such as `third_order`, `knows_wrong` or `common`."""
    if ask != Ask.BELIEF:
        return ask.replace("-", "_")
    return f"{ORDINALS[order - 1]}_order" if order <= len(ORDINALS) else f"order_{order}"


class LabelWords:
    """The words of labels in one language, and their alphabetical order.

    Word numbers are places in `agents` and `containers`. Answers are numbered further: after the containers come the
    words for no, yes and unknown.
    """

    def __init__(
        self,
        agents: Sequence[str],
        containers: Sequence[str],
        *,
        no: str,
        yes: str,
        unknown: str,
        nobody: str,
        between: str,
    ) -> None:
        self.nobody, self.between = nobody, between
        self.agent_list = tuple(agents)
        self.agents, self.answers = (
            pa.array(agents, pa.string()),
            pa.array([*containers, no, yes, unknown], pa.string()),
        )
        self.no = len(containers)
        self.unknown = self.no + 2
        self.rank = _ranks([*containers, no, yes, unknown])
        self.agent_rank = _ranks(self.agent_list)

    @classmethod
    def of(cls, wording: PlotWording, agents: Sequence[str], containers: Sequence[str]) -> LabelWords:
        """Return the words of a language, with these for agents and containers."""
        replies: dict[str, Reply] = {"no": "no", "yes": "yes", "unknown": None, "nobody": (), "between": ("", "")}
        return cls(agents, containers, **{name: wording.answer(reply) for name, reply in replies.items()})

    @cached_property
    def before_nobody(self) -> Flags:
        """Which agents come before the word for nobody."""
        return np.array([name < self.nobody for name in self.agent_list], np.bool_)

    @cached_property
    def pieces(self) -> pa.Array:
        """Nothing, the word for nobody, all agents, and all agents with what stands between two."""
        return pa.array(
            ["", self.nobody, *self.agent_list, *(self.between + name for name in self.agent_list)], pa.string()
        )

    @cached_property
    def are_lists_sorted_by_name(self) -> bool:
        """Whether lists of names sort as their names do: where a name begins another, the shorter comes first."""
        ordered = sorted(self.agent_list)
        for place, name in enumerate(ordered):
            for other in ordered[place + 1 :]:
                if not other.startswith(name):
                    break
                if other[len(name) :] < self.between:
                    return False
        return all(not name.startswith(self.nobody) for name in ordered)


def _ranks(words: Sequence[str]) -> Words:
    rank_of = np.empty(len(words), np.int32)
    rank_of[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
    return rank_of


class NamedQuestions(NamedTuple):
    """Questions as word numbers, one column per question.

    Attributes:
        thing: The object.
        chain: The agents, [place in the chain, question], NO_WORD after the end; a group in alphabetical order.
        place: The container; NO_WORD where the kind has none.
    """

    thing: Words
    chain: Words
    place: Words


def name_questions(asked: QuestionArrays, cast: Cast, agent_rank: Words) -> NamedQuestions:
    """Return the words of questions about people and things of their stories.

    Args:
        asked: The questions.
        cast: The word numbers of local numbers.
        agent_rank: The places of the agents in the alphabet.
    """
    story = asked.story
    chain = _words_of(cast.agents, asked.chain, story)
    groups = np.flatnonzero(asked.ask == ASKS.index(Ask.COMMON))
    rank = np.where(chain[:, groups] < 0, np.int32(len(agent_rank)), agent_rank[chain[:, groups]])
    order = np.argsort(rank, axis=0, kind="stable")
    chain[:, groups] = np.take_along_axis(chain[:, groups], order, axis=0)
    place = _words_of(cast.containers, asked.place, story)
    return NamedQuestions(_words_of(cast.things, asked.thing, story), chain, place)


def _words_of(names: Words, local: Small, story: Columns) -> Words:
    """Return the words of local numbers of some stories, NO_WORD for negative ones."""
    count = names.shape[1]
    all_names = np.concatenate([np.full((1, count), NO_WORD, np.int32), names])
    row = np.maximum(local, np.int8(NOBODY)).astype(np.intp) + 1
    global_words: Words = all_names.reshape(-1).take(row * count + story)
    return global_words


@dataclass(frozen=True, slots=True)
class LabelledQuestions:
    """Questions with all that their labels follow from.

    Attributes:
        stories: The stories.
        lie: Which messages the text calls lies, [time, story].
        cast: The word numbers of local numbers.
        asked: The questions.
        chain: The word numbers of the agents, [place in the chain, question], NO_WORD after the end.
        derived: What the oracle says.
        own: The reading that decides.
        unknown: Whether "unknown" is a candidate where a belief is asked for, of each question.
    """

    stories: PlotArrays
    lie: Flags
    cast: Cast
    asked: QuestionArrays
    chain: Words
    derived: DerivedCodes
    own: BeliefReading
    unknown: Flags

    def columns(self, words: LabelWords) -> dict[str, pa.Array]:
        """Return the label columns."""
        questions, codes = self.asked, self.derived.codes[self.own]
        order = (self.chain != NO_WORD).sum(axis=0, dtype=np.int8)
        is_place = _are(questions.ask, PLACES)
        is_false = is_place & (codes != NOBODY) & (codes != self._reality())
        compared = [reading for reading in ALL_READINGS if reading != self.own]
        holds = np.stack(
            [np.ones(questions.count, np.bool_), *(self.derived.codes[each] == codes for each in compared)]
        )
        sets = _Sets(self, words)
        proofs = self.derived.proofs.T
        numbers = np.broadcast_to(np.arange(1, proofs.shape[1] + 1, dtype=np.int16), proofs.shape)
        return {
            "answer": self._answers(words, sets, codes),
            "candidates": self._candidates(words, sets, is_place),
            "question_type": self._question_types(order, is_place, is_false),
            "order": pa.array(self._orders(order)),
            "chain": word_lists(words.agents, self.chain.T),
            "story_type": coded(_story_types(self.stories, self.lie)[questions.story], constant_words(_STORY_TYPES)),
            "false_belief": pa.array(is_false),
            "readings": flag_lists(holds.T, constant_words((str(self.own), *map(str, compared)))),
            "proof": number_lists(proofs, numbers),
        }

    def answers_under(self, words: LabelWords, reading: BeliefReading) -> pa.Array:
        """Return the answers under a reading."""
        return self._answers(words, _Sets(self, words), self.derived.codes[reading])

    def _reality(self) -> Codes:
        """Return where the object of each question really is, a container's number or NOBODY."""
        return last_places(self.stories)[self._things(), self.asked.story].astype(np.int64)

    def _things(self) -> Columns:
        """Return the objects of questions; those that are not in the story have the number after the last."""
        return np.minimum(self.asked.thing, _objects(self.stories)).astype(np.intp)

    def _orders(self, length: Small) -> Small:
        orders: Small = length + (self.asked.ask == ASKS.index(Ask.BELIEVERS))
        groups = np.flatnonzero(self.asked.ask == ASKS.index(Ask.COMMON))
        members = np.sort(self.chain[:, groups], axis=0)
        is_new = (members != NO_WORD) & (np.diff(members, axis=0, prepend=NO_WORD) != 0)
        orders[groups] = is_new.sum(axis=0, dtype=np.int8)
        return orders

    def _question_types(self, order: Small, is_place: Flags, is_false: Flags) -> pa.Array:
        is_belief = self.asked.ask == ASKS.index(Ask.BELIEF)
        kind = np.where(is_belief, len(ASKS) + order - 1, self.asked.ask).astype(np.int32)
        return coded(kind * len(_TOM) + is_place * (1 + is_false), _question_type_words(max(8, len(self.chain))))

    def _answers(self, words: LabelWords, sets: _Sets, codes: Codes) -> pa.Array:
        questions, boxes = self.asked, self.cast.containers
        place = (
            boxes[np.maximum(codes, 0) % max(1, len(boxes)), questions.story] if len(boxes) else np.zeros_like(codes)
        )
        number = np.where(codes == NOBODY, words.unknown, place)
        number = np.where(_are(questions.ask, _YES_NO), words.no + codes, number).astype(np.int32)
        if not len(sets.rows):
            return coded(number, words.answers)
        texts = sets.of(codes[sets.rows]).dictionary_encode()
        number[sets.rows] = np.asarray(texts.indices) + len(words.answers)
        return coded(number, pa.concat_arrays([words.answers, texts.dictionary]))

    def _candidates(self, words: LabelWords, sets: _Sets, is_place: Flags) -> pa.Array:
        questions = self.asked
        named, number = self._sorted_places(words)
        flags = named[self._things(), :, questions.story]  # [question, place in the alphabet]
        values = np.ascontiguousarray(number.T)[questions.story]
        may_be_unknown = is_place & self.unknown
        if may_be_unknown.any():
            flags |= (values == words.unknown) & may_be_unknown[:, None]
        flags[sets.rows] = False
        is_polar = np.flatnonzero(_are(questions.ask, _YES_NO))
        flags[is_polar] = False
        if len(is_polar):
            both = sorted((words.no, words.no + 1), key=lambda each: int(words.rank[each]))
            if values.shape[1] < 2:  # no story has a container
                values = np.repeat(values, 2, axis=1)
                flags = np.repeat(flags, 2, axis=1)
            values[is_polar, :2], flags[is_polar, :2] = both, True
        if not len(sets.rows):
            return word_lists(words.answers, np.where(flags, values, NO_WORD))
        counts = np.zeros(len(flags), np.intp)
        for column in flags.T:
            counts += column
        counts[sets.rows] = sets.counts
        ends = np.zeros(len(counts) + 1, np.int32)
        np.cumsum(counts, out=ends[1:])
        candidates = np.empty(int(ends[-1]), np.int32)
        is_set = np.zeros(len(counts), np.bool_)
        is_set[sets.rows] = True
        of_set = np.repeat(is_set, counts)
        candidates[~of_set] = values.reshape(-1).take(np.flatnonzero(flags))
        candidates[of_set] = np.arange(len(sets.texts)) + len(words.answers)
        every = pa.concat_arrays([words.answers, sets.texts])
        return pa.ListArray.from_arrays(pa.array(ends), every.take(pa.array(candidates)))

    def _sorted_places(self, words: LabelWords) -> tuple[Flags, Words]:
        """Return the containers of each story in alphabetical order, with "unknown" among them.

        Returns:
            Where each object is put or said to be, [object, place in the alphabet, story], never so for "unknown";
            and the numbers of the answers, [place in the alphabet, story].
        """
        boxes, stories = self.cast.containers, self.stories
        count, width = boxes.shape[1], len(boxes) + 1
        number = np.concatenate([boxes, np.full((1, count), words.unknown, np.int32)])
        # Stories may have fewer containers than others; those that are missing come last, and none is as another.
        rank = np.where(number == NO_WORD, np.int32(len(words.rank)), words.rank.take(number))
        at = ranks(rank * np.int32(width) + np.arange(width, dtype=np.int32)[:, None]) * count + np.arange(count)
        ordered = np.empty(number.shape, np.int32)
        ordered.reshape(-1)[at] = number
        named = np.zeros((_objects(stories) + 1, width, count), np.bool_)
        cell = np.flatnonzero((stories.thing >= 0) & (stories.container >= 0))
        thing, container = (each.reshape(-1).take(cell).astype(np.intp) for each in (stories.thing, stories.container))
        place = at.reshape(-1).take(container * count + cell % count)
        named.reshape(-1)[thing * (width * count) + place] = True
        return named, ordered


def _are(ask: npt.NDArray[np.uint8], kinds: Sequence[Ask]) -> Flags:
    is_kind = np.zeros(len(ASKS), np.bool_)
    is_kind[[ASKS.index(each) for each in kinds]] = True
    return is_kind[ask]


@lru_cache(maxsize=16)
def _question_type_words(orders: int) -> pa.Array:
    kinds = [kind_name(ask, 0) if ask != Ask.BELIEF else "" for ask in ASKS]
    kinds += [kind_name(Ask.BELIEF, order) for order in range(1, orders + 1)]
    return pa.array([kind + mark for kind in kinds for mark in _TOM], pa.string())


def last_places(stories: PlotArrays) -> Small:
    """Return where the objects of each story are at the end, [object, story], NOBODY if nowhere.

    The last row is for objects that are not in the story.
    """
    count = stories.kind.shape[1]
    places = np.full((_objects(stories) + 1, count), NOBODY, np.int8)
    puts = (stories.kind == EventKind.PLACE) | (stories.kind == EventKind.MOVE)
    cell = np.flatnonzero(puts & (stories.thing >= 0))
    thing, container = (each.reshape(-1).take(cell) for each in (stories.thing, stories.container))
    places.reshape(-1)[thing.astype(np.intp) * count + cell % count] = container  # the last value is kept
    return places


def _objects(stories: PlotArrays) -> int:
    return int(stories.thing.max(initial=0)) + 1


def _story_types(stories: PlotArrays, lie: Flags) -> npt.NDArray[np.int32]:
    """Return what each story has, as a place in _STORY_TYPES."""
    kind = stories.kind
    speaks = (kind >= min(MESSAGES)) & (kind <= max(MESSAGES))
    marks = (speaks & ~lie, lie, kind == EventKind.PEEK, kind == EventKind.DISTRACT)
    types = np.zeros(kind.shape[1], np.int32)
    for place, each in enumerate(marks):
        types += each.any(axis=0).astype(np.int32) << place
    return types


@lru_cache(maxsize=16)
def _subsets(count: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return all sets of 0, 1, … but the empty one, as lists in alphabetical order.

    Returns:
        The members of each set, -1 after the end, [set, place]; and the place of each set by its bit mask.
    """
    lists = sorted(chosen for size in range(1, count + 1) for chosen in combinations(range(count), size))
    members = np.full((len(lists), max(count, 1)), -1, np.int32)
    place = np.zeros(1 << count, np.int32)
    for number, chosen in enumerate(lists):
        members[number, : len(chosen)] = chosen
        place[sum(1 << each for each in chosen)] = number
    return members, place


class _Sets:
    """The sets of people that are candidates of questions for believers.

    Attributes:
        rows: These questions.
        counts: How many sets each has.
        texts: All of them in words, sorted within each question.
    """

    def __init__(self, asked: LabelledQuestions, words: LabelWords) -> None:
        questions, self._words = asked.asked, words
        self.rows: Columns = np.flatnonzero(questions.ask == ASKS.index(Ask.BELIEVERS))
        story = questions.story[self.rows]
        self._sizes = cast_sizes(asked.stories)[story]
        self.counts = np.left_shift(1, self._sizes)
        agents = asked.cast.agents[:, story]
        is_missing = np.arange(len(agents))[:, None] >= self._sizes
        rank = np.where(is_missing, len(words.agent_list), words.agent_rank[agents])
        order = np.argsort(rank, axis=0, kind="stable")
        self._names = np.take_along_axis(agents, order, axis=0)  # in alphabetical order
        self._rank_of = np.argsort(order, axis=0, kind="stable")
        self.starts = np.cumsum(self.counts) - self.counts
        parts = [self._lay_out(size, np.flatnonzero(self._sizes == size)) for size in np.unique(self._sizes).tolist()]
        self.texts, self._empty = pa.array([], pa.string()), np.zeros(len(self.rows), np.int32)
        for which, _, empty in parts:
            self._empty[which] = empty
        if len(parts) == 1:
            self.texts = parts[0][1]
        elif parts:
            place = np.empty(int(self.counts.sum()), np.int32)
            first = 0
            for which, texts, _ in parts:
                count = len(texts) // len(which)
                place[(self.starts[which][:, None] + np.arange(count)).reshape(-1)] = first + np.arange(len(texts))
                first += len(texts)
            self.texts = pa.concat_arrays([texts for _, texts, _ in parts]).take(pa.array(place))
        self._order = self._sort() if len(self.rows) and not words.are_lists_sorted_by_name else None

    def _lay_out(self, size: int, which: Columns) -> tuple[Columns, pa.Array, npt.NDArray[np.int32]]:
        """Return the sets of casts of one size in words, and where the empty one stands."""
        words, names = self._words, self._names[:size, which]
        members, _ = _subsets(size)
        agents = len(words.agent_list)
        pieces = np.zeros((len(which), 1 << size, max(size, 1)), np.int32)
        # As many sets begin with a name before the word for nobody as stand before it.
        begins = words.before_nobody[names].sum(axis=0) if size else np.zeros(len(which), np.intp)
        empty = ((1 << size) - (1 << (size - begins))).astype(np.int32)
        padded = np.concatenate([names.T, np.full((len(which), 1), -1)], axis=1)  # a member of -1 leads to nothing
        chosen = padded[:, members]  # [question, set, place]
        laid = np.where(chosen < 0, 0, chosen + 2 + agents * (np.arange(max(size, 1)) > 0)).astype(np.int32)
        number = np.arange(len(members))
        at = number + (number >= empty[:, None])
        pieces[np.arange(len(which))[:, None], at] = laid
        pieces[np.arange(len(which)), empty, 0] = 1
        return which, _join(words.pieces, pieces.reshape(-1, pieces.shape[2])), empty

    def _sort(self) -> npt.NDArray[np.int64]:
        """Sort the sets of each question by their texts, and return where each came from."""
        texts: list[str] = self.texts.to_pylist()
        ordered = np.concatenate(
            [
                sorted(range(start, start + count), key=texts.__getitem__)
                for start, count in zip(self.starts.tolist(), self.counts.tolist(), strict=True)
            ]
        )
        self.texts = self.texts.take(pa.array(ordered))
        return np.argsort(ordered, kind="stable")

    def of(self, codes: Codes) -> pa.Array:
        """Return the sets that some masks of local numbers stand for, one of each question."""
        masks = np.zeros(len(codes), np.int64)
        for agent, rank in enumerate(self._rank_of):
            masks |= (codes >> agent & 1) << rank
        number = np.zeros(len(codes), np.int64)
        for size in np.unique(self._sizes).tolist():
            which = np.flatnonzero(self._sizes == size)
            place = _subsets(size)[1][masks[which]]
            empty = self._empty[which]
            number[which] = np.where(masks[which] == 0, empty, place + (place >= empty))
        number += self.starts
        return self.texts.take(pa.array(number if self._order is None else self._order[number]))


def _join(pieces: pa.Array, chosen: npt.NDArray[np.int32]) -> pa.Array:
    """Return each row's pieces joined to one text."""
    count, width = chosen.shape
    texts = pieces.take(pa.array(chosen.reshape(-1)))
    offsets = np.frombuffer(texts.buffers()[1], np.int32, len(texts) + 1)[:: max(width, 1)]
    return pa.Array.from_buffers(
        pa.string(), count, [None, pa.py_buffer(np.ascontiguousarray(offsets)), texts.buffers()[2]]
    )
