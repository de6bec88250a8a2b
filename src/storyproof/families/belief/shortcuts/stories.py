"""Stories and questions of theory of mind as arrays, with every word as a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from storyproof.example import Example
from storyproof.families.belief.questions import Ask
from storyproof.families.belief.tomi_text import parse_question, parse_sentence
from storyproof.families.belief.world import EventKind
from storyproof.families.family import family_of
from storyproof.stats import Flags, Ints

NONE = -1  # no word, no sentence, no candidate
_BATCH = 20_000  # questions that are worked on at a time
FIRST, LAST, BEFORE_LAST = POSITIONS = ("first", "last", "before_last")


@dataclass(frozen=True, slots=True)
class Told:
    """Examples as arrays; stories have their sentences from the left, and NONE to the right of the last.

    Attributes:
        kind: [story, time], the kind of each sentence.
        agent: [story, time], who does it.
        room: [story, time], which room it names.
        thing: [story, time], what is placed, moved or liked.
        container: [story, time], where that ends up.
        story: [question], which story is asked about.
        memory: [question], whether the beginning is asked about.
        order: [question], how many minds it goes through.
        asked: [question], the object.
        believer: [question], the first of the chain.
        searcher: [question], the last of the chain.
        candidates: [question, place], what could be answered.
        answer: [question], the label.
    """

    kind: Ints
    agent: Ints
    room: Ints
    thing: Ints
    container: Ints
    story: Ints
    memory: Flags
    order: Ints
    asked: Ints
    believer: Ints
    searcher: Ints
    candidates: Ints
    answer: Ints

    def sentences(self, change: Callable[[Ints], Ints]) -> Told:
        """Apply a function to all columns of sentences."""
        fields = ("kind", "agent", "room", "thing", "container")
        changed: dict[str, Any] = {name: change(getattr(self, name)) for name in fields}
        return replace(self, **changed)

    def pick(self, rows: Ints) -> Told:
        """Return the chosen questions, each with a story of its own."""
        story = self.story[rows]
        encoded = self.sentences(lambda column: column[story])
        fields = ("memory", "order", "asked", "believer", "searcher", "candidates", "answer")
        picked: dict[str, Any] = {name: getattr(self, name)[rows] for name in fields}
        return replace(encoded, story=np.arange(len(rows)), **picked)

    @property
    def all_words(self) -> tuple[Ints, ...]:
        """All columns that hold words of the story or the question."""
        story = self.agent, self.room, self.thing, self.container
        return (*story, self.asked, self.believer, self.searcher, self.candidates)

    @property
    def speaks_of_it(self) -> Flags:
        """[story, time], whether the sentence says where the asked object is; only for what `pick` gives."""
        matches: Flags = (self.thing == self.asked[:, None]) & (self.container != NONE)
        return matches

    @property
    def mover(self) -> Ints:
        """[question], who moves the asked object; of several the last; only for what `pick` gives."""
        return _last(self.agent, self.speaks_of_it & (self.kind == EventKind.MOVE))


def tell(examples: Sequence[Example]) -> Told:
    """Read examples into arrays.

    Raises:
        ParseError: If a sentence or question is in no known form.
    """
    words: dict[str, int] = {}

    def number(word: str | None) -> int:
        return NONE if word is None else words.setdefault(word, len(words))

    stories: dict[str, int] = {}
    story = [stories.setdefault(each.story, len(stories)) for each in examples]
    columns = []
    for text in stories:
        events = [parse_sentence(sentence) for sentence in text.split("\n")]
        columns.append([(int(e.kind), *map(number, (e.agent, e.room, e.thing, e.container))) for e in events])
    longest = max(map(len, columns), default=0)
    blank = (NONE,) * 5
    sentences = np.array([events + [blank] * (longest - len(events)) for events in columns], np.int64)
    questions = [parse_question(each.question) for each in examples]
    most = max(len(each.candidates) for each in examples)
    candidates = [[*map(number, each.candidates)] + [NONE] * (most - len(each.candidates)) for each in examples]
    kind, agent, room, thing, container = (np.ascontiguousarray(sentences[:, :, place]) for place in range(5))
    return Told(
        kind=kind,
        agent=agent,
        room=room,
        thing=thing,
        container=container,
        story=np.array(story, np.int64),
        memory=np.array([question.ask == Ask.MEMORY for question in questions], np.bool_),
        order=np.array([question.order for question in questions], np.int64),
        asked=np.array([number(question.thing) for question in questions], np.int64),
        believer=np.array([number((*question.chain, None)[0]) for question in questions], np.int64),
        searcher=np.array([number((None, *question.chain)[-1]) for question in questions], np.int64),
        candidates=np.array(candidates, np.int64).reshape(len(examples), most),
        answer=np.array([number(each.answer) for each in examples], np.int64),
    )


def by_batch(encoded: Told, rows: Ints, work: Callable[[Told], Ints]) -> Ints:
    """Apply a function to some thousand questions at a time, each with its story, and concatenate the results."""
    batches = [rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH)]
    return np.concatenate([work(encoded.pick(batch)) for batch in batches]) if batches else np.array([], np.int64)


def positions(encoded: Told) -> Ints:
    """Find the first, last, and last but one place of the asked object by [position, question].

    The last but one is the last place told of that is not the last one; if there is but one place, it is that.
    """

    def find(part: Told) -> Ints:
        spoken = part.speaks_of_it
        first, last = _first(part.container, spoken), _last(part.container, spoken)
        before = _last(part.container, spoken & (part.container != last[:, None]))
        return np.stack([first, last, np.where(before == NONE, last, before)], axis=1)

    return by_batch(encoded, np.arange(len(encoded.story)), find).T


def slots(encoded: Told, examples: Sequence[Example]) -> list[str]:
    """Return what is asked with the role of the first of the chain: `first_order_0` for the mover, else `_1`.

    These are the published question types without what they reveal of the answer.
    """
    movers = by_batch(encoded, np.arange(len(encoded.story)), lambda part: part.mover)
    other = (encoded.believer != movers).astype(int).tolist()
    kinds = [family_of(each).kind(each) for each in examples]
    return [f"{kind}_{role}" if each.order else kind for kind, role, each in zip(kinds, other, examples, strict=True)]


def _first(values: Ints, where: Flags) -> Ints:
    """Return the first chosen value of each row; NONE if none is chosen."""
    first = np.take_along_axis(values, where.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(where.any(axis=1), first, NONE)


def _last(values: Ints, where: Flags) -> Ints:
    return _first(values[:, ::-1], where[:, ::-1])
