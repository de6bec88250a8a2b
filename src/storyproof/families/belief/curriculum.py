"""What a small model learns to follow beliefs from: random stories as arrays, with the answer after every sentence.

Nothing is put into words here. Every sentence and question has a form, such as "_ moved the _ to the _", and the
numbers of who and what stand in its blanks; the forms are what `Blanker` makes of sentences that the narrators write.
So a model that reads the text of such a story by a `Blanker` sees the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.answers import PlotAnswers
from storyproof.families.belief.arrays import NOBODY, PlotArrays, Small
from storyproof.families.belief.benchmarks.plot_blocks import fill_noise
from storyproof.families.belief.benchmarks.plot_sampler import CONTAINERS, PlotDials, draw_some
from storyproof.families.belief.benchmarks.question_sampler import draw_chains, find_places
from storyproof.families.belief.questions import ASKS, Ask, BeliefQuestion, QuestionArrays
from storyproof.families.belief.readings import ALWAYS, HI_TOM
from storyproof.families.belief.rooms import infer_rooms
from storyproof.families.belief.wording import find_wording
from storyproof.families.belief.world import IDLE, MESSAGES, EventKind, PlotEvent
from storyproof.generation.seeds import Draws
from storyproof.language.blanks import BLANK, Blanker

Bytes = npt.NDArray[np.int8]

AGENTS, ROOMS, THINGS, BOXES, OTHERS = 0, 8, 14, 20, 38  # the first number of each role
SLOTS = 48  # numbers in all; what follows are answers that are no names
UNKNOWN, YES, NO = SLOTS, SLOTS + 1, SLOTS + 2
BLANKS = 5  # of a form at most
SHORT, LONG = 31, 63  # sentences of a block at most
PLAIN, TOMI, FIELD = range(3)  # wordings: of tom-k, of ToMi, and of Hi-ToM
_ROLES = ("agent", "hearer", "thing", "container", "room")
_STARTS = (AGENTS, AGENTS, THINGS, BOXES, ROOMS)
_MARKS = {"agent": "Ada", "hearer": "Amir", "container": "box", "room": "attic"}
_THINGS = "key", "jeans"  # one, and one that is many
_CHAIN = ("Ada", "Amir", "Anya", "Bruno")
_FEELINGS = ("likes", "dislikes", "loves", "hates")
_IDLE = (
    "{agent} made no movements and stayed in the {room} for 1 minute.",
    "{agent} lost his gloves.",
    "{agent} lost his phone.",
    "{agent} lost his watch.",
    "{agent} saw a cat.",
)
# Words that Hi-ToM has for messages; "The" and "now" are there or not.
_CLAIMS = (
    "{agent} publicly claimed that {thing} is in the {container}.",
    "{agent} publicly claimed that {thing} is in the {container} now.",
)
_SECRETS = (
    "{agent} privately told {hearer} that the {thing} is in the {container}.",
    "{agent} privately told {hearer} that the {thing} is in the {container} now.",
)
_OWN_RULE = "hi-tom:"  # how a question says that messages are believed by Hi-ToM's rule
_PLURALS = 26  # of 256 objects are words such as "jeans"
_VARIANTS = 60  # a multiple of how many ways there are to say anything
_SPARE = 3  # stories that are drawn for each that is needed
_TRIED = 3  # questions that are drawn for each that is asked


@dataclass(frozen=True, slots=True)
class Lessons:
    """Stories with questions and the answers to them after every sentence.

    Attributes:
        form: The form of each sentence, [story, sentence]; 0 after the end.
        names: Who and what stands in its blanks, [story, sentence, blank]; -1 for none.
        question: The form of each question, [story, question].
        asked: What stands in its blanks, [story, question, blank].
        ask: The kind of each question.
        answer: [story, question, sentence], a number, UNKNOWN, YES or NO; of a question for a set of people, whether
            the one who stands in its last blank is among them.
        room: The number of the room in which each sentence happens, also where it is not said; -1 for none.
        present: Who is there after it, as a bit mask of agents.
    """

    form: npt.NDArray[np.uint8]
    names: Bytes
    question: npt.NDArray[np.uint8]
    asked: Bytes
    ask: npt.NDArray[np.uint8]
    answer: npt.NDArray[np.uint8]
    room: Bytes
    present: npt.NDArray[np.uint8]

    def pick(self, stories: npt.NDArray[Any]) -> Lessons:
        """Return some of the stories."""
        return Lessons(*(getattr(self, item.name)[stories] for item in fields(self)))


def join_lessons(parts: Sequence[Lessons]) -> Lessons:
    """Return the lessons of several blocks as one; all have as many sentences and questions."""
    return Lessons(*(np.concatenate([getattr(each, item.name) for each in parts]) for item in fields(Lessons)))


@dataclass(frozen=True)
class _Form:
    """A form, and which field or place of a question stands in each blank."""

    words: tuple[str, ...]
    blanks: tuple[str, ...]


class BeliefCurriculum:
    """Random stories without a recipe, as `tom-k` draws them, of many sizes, in the plain wordings.

    Args:
        seed: Determines all stories.
        restatements: Whether stories say again where objects are.
        order: The highest order of the questions.
        hi_tom: Whether there are stories in the words of Hi-ToM under its rule.
    """

    family: ClassVar[str] = "belief"
    questions: ClassVar[dict[int, int]] = {TOMI: 16, PLAIN: 16, FIELD: 16}

    def __init__(self, seed: int = 0, *, restatements: bool = True, order: int = 4, hi_tom: bool = True) -> None:
        self.seed, self.restatements, self.order, self.hi_tom = seed, restatements, order, hi_tom

    @cached_property
    def words(self) -> list[str]:
        """The words that forms are made of: all that sentences and questions have besides names (see `Blanker`)."""
        texts = [Blanker([]).question(text).names for text in (*self._sentences.values(), *self._questions.values())]
        names = {name.lower() for name in (*_MARKS.values(), *_THINGS, *_CHAIN, "cat", "his", "gloves")}
        pairs = {pair for text in texts for pair in pairwise(text) if pair[0] == "the" and pair[1] not in names}
        return sorted({word for text in texts for word in text} - names) + sorted(map(" ".join, pairs))

    @cached_property
    def _sentences(self) -> dict[tuple[int, EventKind, bool, int, int], str]:
        """Return the text of a sentence of each wording, kind, lie, number of its object and variant."""
        texts: dict[tuple[int, EventKind, bool, int, int], str] = {}
        for number, style in ((PLAIN, "plain"), (TOMI, "tomi"), (FIELD, "tomi")):
            wording = find_wording("en", style)
            for kind in EventKind:
                if number == TOMI and kind > EventKind.MOVE:
                    continue
                for plural, thing in enumerate(_THINGS):
                    for lie in (False, True) if kind in MESSAGES and number == PLAIN else (False,):
                        room = None if kind == EventKind.PLACE and number != PLAIN else _MARKS["room"]
                        event = PlotEvent(
                            kind, _MARKS["agent"], room, thing, _MARKS["container"], _MARKS["hearer"], lie
                        )
                        (text,) = wording.narrate([event])
                        variants: Sequence[str] = (text,)
                        if kind == EventKind.FEEL:
                            variants = [
                                text.replace("likes", feeling) for feeling in _FEELINGS[: 1 if number == PLAIN else 4]
                            ]
                        if number == FIELD:
                            variants = self._field(kind, variants, {**_MARKS, "thing": thing})
                        for variant, each in enumerate(variants):
                            texts[number, kind, lie, plural, variant] = each
        return texts

    @staticmethod
    def _field(kind: EventKind, texts: Sequence[str], marks: Mapping[str, str]) -> Sequence[str]:
        own = {EventKind.NOISE: _IDLE, EventKind.ANNOUNCE: _CLAIMS, EventKind.WHISPER: _SECRETS}
        return [text.format(**marks) for text in own[kind]] if kind in own else texts

    @cached_property
    def _questions(self) -> dict[tuple[int, Ask, int, int], str]:
        """Return the text of a question of each wording, kind, number of people and number of its object."""
        wording, texts = find_wording("en", "plain"), {}
        sizes = {
            Ask.REALITY: [0],
            Ask.MEMORY: [0],
            Ask.BELIEF: range(1, 5),
            Ask.SAYS: [1],
            Ask.KNOWS_WHERE: [1],
            Ask.KNOWS_WRONG: [2],
            Ask.BELIEVERS: range(3),
            Ask.COMMON: [2, 3],
        }
        for ask, counts in sizes.items():
            for count in counts:
                for plural, thing in enumerate(_THINGS):
                    question = BeliefQuestion(ask, thing, _CHAIN[:count], "box" if ask == Ask.BELIEVERS else None)
                    texts[PLAIN, ask, count, plural] = texts[TOMI, ask, count, plural] = wording.ask(question)
                    if ask in (Ask.REALITY, Ask.MEMORY):
                        texts[FIELD, ask, count, plural] = _own(wording.ask(question))
                    if ask == Ask.BELIEF:
                        asked = " thinks ".join(_CHAIN[1:count])
                        asked = f"does {_CHAIN[0]} think {asked} thinks" if asked else f"does {_CHAIN[0]} really think"
                        texts[FIELD, ask, count, plural] = _own(f"Where {asked} the {thing} is?")
        return texts

    @cached_property
    def _tables(self) -> tuple[list[tuple[str, ...]], dict[Any, int], dict[Any, int], npt.NDArray[np.int64]]:
        """Return all forms, the form of each sentence and question, and the field of each form's blanks."""
        blanker = Blanker(self.words)
        marks = {text.lower(): role for role, text in _MARKS.items()} | dict.fromkeys(_THINGS, "thing")
        places = {text.lower(): f"chain{place}" for place, text in enumerate(_CHAIN)} | dict.fromkeys(_THINGS, "thing")
        forms: list[_Form] = [_Form((), ())]
        numbers: list[dict[Any, int]] = []
        for texts, known in ((self._sentences, marks), (self._questions, {**places, "box": "container"})):
            by_key = {}
            for key, text in texts.items():
                words, names = blanker.question(text)
                blanks = tuple(known.get(name, "other") for name in names)
                if Ask.BELIEVERS in key:
                    words, blanks = candidate_form(words), (*blanks, "candidate")
                form = _Form(words, blanks)
                if form not in forms:
                    forms.append(form)
                by_key[key] = forms.index(form)
            numbers.append(by_key)
        columns = [*_ROLES, *(f"chain{place}" for place in range(4)), "other", "candidate", ""]
        filled = np.array([[columns.index(name) for name in (*form.blanks, *[""] * BLANKS)[:BLANKS]] for form in forms])
        return [form.words for form in forms], numbers[0], numbers[1], filled

    @property
    def forms(self) -> list[tuple[str, ...]]:
        """The words of every form, BLANK for a blank; the first is that of no sentence."""
        return self._tables[0]

    def block(self, index: int, stories: int) -> tuple[int, Lessons]:
        """Return the sentences at most, and the stories of a block.

        Args:
            index: Which block; it determines the stories alone, with the seed.
            stories: How many to draw; there are fewer if too many of those that are tried are not complete.
        """
        draws = Draws("curriculum", self.seed, self.restatements, self.order, self.hi_tom, index)
        wording, dials = self._draw_dials(draws)
        trust = HI_TOM if wording == FIELD else ALWAYS
        drawn = draw_some(dials, draws, _SPARE * stories)
        plots = fill_noise(drawn.stories, dials.objects, draws)
        if wording != PLAIN:
            plots, kept = self._told(plots, draws)
            drawn = drawn.pick(kept)
        first = np.arange(min(stories, plots.count))
        plots, drawn = plots.pick(first), drawn.pick(first)
        asked, codes = self._ask(plots, dials, wording, trust, draws)
        candidate = draws.below(dials.agents, asked.count).astype(np.int64)
        return self._lay_out(plots, drawn.lie, asked, candidate, codes, wording, draws)

    def _draw_dials(self, draws: Draws) -> tuple[int, PlotDials]:
        """Draw a wording, and how much happens in a block's stories."""

        def some(least: int, most: int) -> int:
            return least + int(draws.below(most - least + 1, 1)[0])

        choice = some(0, 99)
        again = some(0, 3) if self.restatements else some(0, 0)
        if choice < 40:
            agents, rooms, gathering = some(2, 5), some(1, 3), 3 * some(0, 1)
            walks = some(4, 16)
            counts = {"moves": some(1, 4), "noise": some(0, 3), "restatements": again, "walks": walks}
            return TOMI, PlotDials(
                agents=agents, rooms=rooms, objects=1, gathering=gathering if rooms > 1 else 0, **counts
            )
        wording = FIELD if choice > 92 and self.hi_tom else PLAIN
        rooms, objects = some(1, 3), some(1, 3)
        agents = some(2 if rooms == 1 else 3, 6)
        secrets = rooms > 1 and wording == PLAIN
        counts = {
            "moves": some(1, 14),
            "tells": some(0, 5),
            "lies": some(0, 4) if rooms > 1 else 0,
            "peeks": some(0, 4) if secrets else 0,
            "distractions": some(0, 3) if wording == PLAIN else 0,
            "noise": some(0, 4),
            "restatements": again * some(0, 1),
        }
        left = LONG - agents - objects - sum(counts.values())
        # A few people may come and go as often as many do in stories that are longer than these.
        least = agents + counts["moves"] // 2 + counts["lies"] + counts["peeks"]
        walks = min(left, some(least, least + (3 * agents if some(0, 1) else LONG)))
        return wording, PlotDials(
            agents=agents, rooms=rooms, objects=objects, gathering=3 if rooms > 1 else 0, walks=walks, **counts
        )

    @staticmethod
    def _told(plots: PlotArrays, draws: Draws) -> tuple[PlotArrays, npt.NDArray[np.intp]]:
        """Return stories whose text does not say where containers stand, and which they are; readers must find out."""
        enters = (plots.kind == EventKind.ENTER) & (draws.below(16, plots.kind.size).reshape(plots.kind.shape) == 0)
        plots = replace(plots, kind=np.where(enters, np.uint8(EventKind.IS_IN), plots.kind))
        puts = (plots.kind == EventKind.PLACE) | (plots.kind == EventKind.MOVE)
        hidden = replace(plots, room=np.where(puts, np.int8(NOBODY), plots.room))
        kept = np.flatnonzero((infer_rooms(hidden).room == plots.room).all(axis=0))
        told = plots.pick(kept)
        # Some sentences that change nothing are about nobody, or about others.
        noise = (told.kind == EventKind.FEEL) & (draws.below(3, told.kind.size).reshape(told.kind.shape) == 0)
        return replace(told, kind=np.where(noise, np.uint8(EventKind.NOISE), told.kind)), kept

    def _ask(
        self, plots: PlotArrays, dials: PlotDials, wording: int, trust: str, draws: Draws
    ) -> tuple[QuestionArrays, npt.NDArray[np.int64]]:
        """Draw questions, story by story, with the answers after every sentence."""
        count = plots.count
        places = find_places(plots, dials.objects, CONTAINERS * dials.rooms)
        belief = [(Ask.BELIEF, min(length, self.order)) for length in (1, 1, 2, 2, 3, 3, 4, 4)]
        control = (Ask.REALITY, 0) if draws.below(2, 1)[0] else (Ask.MEMORY, 0)
        if wording == TOMI:
            kinds = [(Ask.REALITY, 0), (Ask.MEMORY, 0), *[(Ask.BELIEF, 1)] * 6, *[(Ask.BELIEF, 2)] * 8]
        elif wording == FIELD:
            kinds = [(Ask.REALITY, 0), (Ask.MEMORY, 0), *belief, *belief[2:]]
        else:
            kinds = [control, *belief, (Ask.SAYS, 1), (Ask.KNOWS_WHERE, 1), (Ask.KNOWS_WRONG, 2), (Ask.KNOWS_WRONG, 2)]
            kinds += [(Ask.BELIEVERS, 0), (Ask.BELIEVERS, int(draws.below(3, 1)[0]))]
            kinds += [(Ask.COMMON, 2 + int(draws.below(2, 1)[0]))]
        kinds = kinds[: self.questions[wording]]
        parts = []
        story = np.arange(count)
        for ask, length in kinds:
            tried = []
            for _ in range(_TRIED if length else 1):
                thing = draws.below(dials.objects, count).astype(np.int8)
                chain = np.full((4, count), NOBODY, np.int8)
                if length:
                    chain[:length] = draw_chains(draws, dials.agents, length, count)
                named = np.stack([places.first, places.last, places.real])[draws.below(3, count), thing, story]
                place = named if ask == Ask.BELIEVERS else np.full(count, NOBODY, np.int8)
                tried.append(QuestionArrays(story, np.full(count, ASKS.index(ask), np.uint8), thing, chain, place))
            parts.append(self._choose(plots, tried, ask, places.real, trust, draws))
        every = _by_story(parts)
        return every, PlotAnswers(plots, every).over_time(trust)

    @staticmethod
    def _choose(
        plots: PlotArrays, tried: Sequence[QuestionArrays], ask: Ask, real: Small, trust: str, draws: Draws
    ) -> QuestionArrays:
        """Return one of the questions drawn for each story, mostly one that is not answered by what is real."""
        if ask in (Ask.REALITY, Ask.MEMORY, Ask.BELIEVERS):
            return tried[0]
        count = plots.count
        (codes,) = PlotAnswers(plots, _by_story(tried)).codes(trust)
        codes = codes.reshape(count, len(tried))
        wanted = {Ask.KNOWS_WHERE: codes == 0, Ask.KNOWS_WRONG: codes == 1}.get(ask)
        if wanted is None:
            actual = np.stack([real[each.thing, each.story] for each in tried], axis=1)
            wanted = (codes != NOBODY) & ((codes != actual) | (ask == Ask.COMMON))
        chosen = np.where(draws.below(4, count) > 0, wanted.argmax(axis=1), 0)
        return _by_story(tried).pick(np.arange(count) * len(tried) + chosen)

    def _lay_out(
        self,
        plots: PlotArrays,
        lie: npt.NDArray[np.bool_],
        asked: QuestionArrays,
        candidate: npt.NDArray[np.int64],
        codes: npt.NDArray[np.int64],
        wording: int,
        draws: Draws,
    ) -> tuple[int, Lessons]:
        """Return stories and questions as forms with numbers in their blanks."""
        _, sentences, questions, blanks = self._tables
        steps, count = plots.kind.shape
        length = SHORT if steps <= SHORT else LONG
        plural = draws.below(256, 6 * count).reshape(6, count) < _PLURALS
        is_plural = np.take_along_axis(plural, np.maximum(plots.thing, 0).astype(np.intp) % 6, axis=0)
        table = np.zeros((len(EventKind), 2, 2, _VARIANTS), np.uint8)
        for kind in EventKind:
            for lying in (False, True):
                for many in range(2):
                    found = [sentences.get((wording, kind, lying, many, variant)) for variant in range(5)]
                    known = [each for each in found if each is not None] or [0]
                    table[kind, int(lying), many] = np.resize(known, _VARIANTS)
        variant = draws.below(_VARIANTS, steps * count).reshape(steps, count)
        told = lie & (wording == PLAIN)
        form = table[plots.kind, told.astype(np.int8), is_plural.astype(np.int8), variant]
        numbers = [getattr(plots, role).astype(np.int16) for role in _ROLES]
        # What is liked may be anything, and so may be who likes it.
        strange = (plots.kind == EventKind.FEEL) & (draws.below(3, steps * count).reshape(steps, count) == 0)
        numbers = [np.where(each < 0, -1, each + start) for each, start in zip(numbers, _STARTS, strict=True)]
        other = [OTHERS + draws.below(SLOTS - OTHERS, steps * count).reshape(steps, count) for _ in range(3)]
        numbers[2] = np.where(strange, other[0], numbers[2])
        # Who makes no movements is anybody, anywhere.
        idle = plots.kind == EventKind.NOISE
        numbers[0] = np.where(idle, np.where(numbers[0] < 0, other[1], numbers[0]), numbers[0])
        numbers[4] = np.where(idle, ROOMS + draws.below(3, steps * count).reshape(steps, count), numbers[4])
        none = np.full((steps, count), -1)
        stacked = np.stack([*numbers, *[none] * 4, other[2], none, none]).astype(np.int8)
        names = np.take_along_axis(stacked, blanks[form].transpose(2, 0, 1), axis=0)
        per_story = asked.count // count
        by_key = np.zeros((len(ASKS), 5, 2), np.uint8)
        for (style, ask, size, many), number in questions.items():
            if style == wording:
                by_key[ASKS.index(ask), size, many] = number
        sizes = (asked.chain != NOBODY).sum(axis=0)
        question = by_key[asked.ask, sizes, plural[asked.thing, asked.story].astype(np.int8)]
        nothing = np.full(asked.count, -1)
        chain = np.where(asked.chain < 0, -1, asked.chain + AGENTS)
        place = np.where(asked.place < 0, -1, asked.place + BOXES)
        roles = [nothing, nothing, asked.thing + THINGS, place, nothing]
        fields_of = np.stack([*roles, *chain, nothing, candidate + AGENTS, nothing])
        filled = np.take_along_axis(fields_of.astype(np.int8), blanks[question].T, axis=0)
        is_set = asked.ask == ASKS.index(Ask.BELIEVERS)
        codes = np.where(is_set, codes >> candidate & 1, codes)
        is_yes = np.isin(asked.ask, [ASKS.index(Ask.KNOWS_WHERE), ASKS.index(Ask.KNOWS_WRONG)]) | is_set
        answer = np.where(codes < 0, UNKNOWN, codes + BOXES)
        answer = np.where(is_yes, np.where(codes > 0, YES, NO), answer).astype(np.uint8)
        room, present = _scenes(plots)

        def padded(array: npt.NDArray[Any], value: int) -> npt.NDArray[Any]:
            widths = [(0, 0)] * array.ndim
            widths[1] = (0, length - steps)
            return np.pad(array, widths, constant_values=value)

        shape = (count, per_story)
        answers = answer.T.reshape(*shape, steps)
        last = np.repeat(answers[:, :, -1:], length - steps, axis=2)
        return length, Lessons(
            padded(np.ascontiguousarray(form.T), 0),
            padded(np.ascontiguousarray(names.transpose(2, 1, 0)), -1),
            question.reshape(shape),
            np.ascontiguousarray(filled.T.reshape(*shape, BLANKS)),
            asked.ask.reshape(shape),
            np.concatenate([answers, last], axis=2),
            padded(np.where(room < 0, -1, room + ROOMS).astype(np.int8).T, -1),
            padded(present.T, 0),
        )


def candidate_form(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the form of a question for a set of people when it is asked of one of them, in a last blank."""
    return (*words, BLANK)


def _scenes(plots: PlotArrays) -> tuple[Small, npt.NDArray[np.uint8]]:
    """Return the room in which each sentence happens, and who is there after it as a bit mask, [time, story]."""
    count = plots.count
    where, stories = np.full((plots.agents, count), NOBODY, np.int8), np.arange(count)
    rooms, present = plots.room.copy(), np.zeros(plots.room.shape, np.uint8)
    for time, kind in enumerate(plots.kind):
        agent = np.maximum(plots.agent[time], 0)
        acts = (plots.agent[time] >= 0) & ~np.isin(kind, IDLE)
        comes, goes = (kind == EventKind.ENTER) | (kind == EventKind.IS_IN), kind == EventKind.EXIT
        rooms[time] = np.where(acts & (rooms[time] < 0), where[agent, stories], rooms[time])
        where[agent, stories] = np.where(comes, rooms[time], np.where(goes, NOBODY, where[agent, stories]))
        rooms[time, np.isin(kind, IDLE)] = NOBODY
        is_there = (where == rooms[time]) & (rooms[time] >= 0)
        present[time] = (is_there << np.arange(plots.agents)[:, None]).sum(axis=0)
    return rooms, present


def _own(question: str) -> str:
    return f"{_OWN_RULE} {question[0].lower()}{question[1:]}"


def _by_story(parts: Sequence[QuestionArrays]) -> QuestionArrays:
    """Return several questions about each story, story by story."""
    joined = [np.concatenate([getattr(part, item.name) for part in parts], axis=-1) for item in fields(QuestionArrays)]
    count = parts[0].count
    order = np.arange(len(parts) * count).reshape(len(parts), count).T.reshape(-1)
    return QuestionArrays(*joined).pick(order)


__all__ = ["BLANK", "BeliefCurriculum", "Lessons", "join_lessons"]
