"""Works out from the text alone what rows should say: parse, ask the oracle, ask the checker.

Plots recur, so each distinct question about each distinct plot is asked once and the answer shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.tom import beliefs
from storyproof.tom.agreement import compare
from storyproof.tom.arrays import NOBODY, Numbers, stack
from storyproof.tom.beliefs import STRANGER
from storyproof.tom.labels import Questions, label, story_type
from storyproof.tom.pairs import companion_of, mover_of, other_of
from storyproof.tom.tables import NO_WORD, Cast, Lexicon, Words, in_words, label_columns, number_lists
from storyproof.tom.tellings import Problem, Telling, read_question, read_stories
from storyproof.tom.text import Question

Asked = tuple[int, int, int, tuple[int, ...], bool]  # plot, thing, the other queried agent, chain, memory?

_agreed: set[int] = set()  # hashes of questions on which oracle and checker have met before
_REMEMBERED = 1_000_000


@dataclass(frozen=True, slots=True)
class Proved:
    """What rows should say.

    Attributes:
        rows: Which rows could be worked out.
        columns: The expected label columns, for those rows; null where there is no right value.
        problems: What is wrong with the text or question of a row, and where oracle and checker differ.
        tellings: The stories by their number; None where one cannot be read.
        pairs: For those rows, the mover and the other queried agent as far as they can be told.
    """

    rows: npt.NDArray[np.int64]
    columns: dict[str, pa.Array]
    problems: list[Problem]
    tellings: list[Telling | None]
    pairs: list[tuple[str | None, str | None]]


@dataclass(slots=True)
class _Book:
    """Each distinct question about each distinct plot, and which rows ask it."""

    plots: dict[tuple[Numbers, ...], int] = field(default_factory=dict)
    entries: dict[Asked, int] = field(default_factory=dict)
    movers: list[int] = field(default_factory=list)  # of each entry
    source: list[tuple[int, Telling]] = field(default_factory=list)  # of each entry: a row that asks it, and its story
    rows: list[int] = field(default_factory=list)
    row_entry: list[int] = field(default_factory=list)
    row_story: list[int] = field(default_factory=list)
    pairs: list[tuple[str | None, str | None]] = field(default_factory=list)
    things: list[str] = field(default_factory=list)  # of each row

    def enter(self, story: int, telling: Telling, thing: str, asked: list[tuple[int, Question]]) -> None:
        """Take in the rows that ask about one object of one story."""
        numbers = telling.names.agents
        mover = mover_of(telling.events, thing)
        other = other_of(mover, [question.chain for _, question in asked])
        if other is None:
            other = companion_of(telling.events, thing, mover)
        plot = self.plots.setdefault(telling.plot, len(self.plots))
        local = telling.names.things[thing]
        local_other = numbers.get(other or "", STRANGER)
        for row, question in asked:
            chain = tuple(numbers.get(agent, STRANGER) for agent in question.chain)
            entry = self.entries.setdefault((plot, local, local_other, chain, question.memory), len(self.entries))
            if entry == len(self.movers):
                self.movers.append(numbers.get(mover or "", STRANGER))
                self.source.append((row, telling))
            self.rows.append(row)
            self.row_entry.append(entry)
            self.row_story.append(story)
            self.pairs.append((mover, other))
            self.things.append(thing)


def prove(stories: Sequence[str], story_of: Sequence[int], questions: Sequence[str], *, check: bool = True) -> Proved:
    """Work out what rows should say.

    Args:
        stories: Distinct stories.
        story_of: Which of them each row is about.
        questions: What each row asks.
        check: Whether to ask the checker as well as the oracle.
    """
    problems: list[Problem] = []
    tellings = read_stories(stories, story_of, problems)
    scenes: dict[tuple[int, str], list[tuple[int, Question]]] = {}
    for row, (story, text) in enumerate(zip(story_of, questions, strict=True)):
        telling = tellings[story]
        question = read_question(text, telling, row, problems) if telling is not None else None
        if question is not None:
            scenes.setdefault((story, question.thing), []).append((row, question))
    book = _Book()
    for (story, thing), asked in scenes.items():
        telling = tellings[story]
        assert telling is not None
        book.enter(story, telling, thing, asked)
    if not book.rows:
        return Proved(np.empty(0, np.int64), {}, problems, tellings, [])
    answers = _answer(book)
    if check:
        problems += _differences(book, answers)
    return Proved(np.array(book.rows), _columns(book, answers, tellings), problems, tellings, book.pairs)


def _answer(book: _Book) -> Questions:
    """Ask the oracle."""
    plots, things, others, chains, memory = zip(*book.entries, strict=True)
    depth = max(1, max(map(len, chains)))
    chain = np.array([agents + (NOBODY,) * (depth - len(agents)) for agents in chains], np.int8).T.copy()
    thing, other, mover = (np.array(numbers, np.int8) for numbers in (things, others, book.movers))
    seen = beliefs.view(stack(list(book.plots)).pick(np.array(plots)), thing)
    labels = label(seen, chain, np.array(memory), mover)
    return Questions(np.array(plots), thing, chain, np.array(memory), story_type(seen, mover, other), labels)


def _differences(book: _Book, answers: Questions) -> Iterator[Problem]:
    """Ask the checker whatever it has not agreed on before."""
    plot_hashes = [hash(plot) for plot in book.plots]
    groups: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for entry, (plot, thing, other, chain, memory) in enumerate(book.entries):
        remembered = hash((plot_hashes[plot], thing, other, chain, memory))
        if remembered not in _agreed:
            groups.setdefault((plot, thing, other), []).append((entry, remembered))
    for (_, _, other), new in groups.items():
        mover, telling = book.movers[new[0][0]], book.source[new[0][0]][1]
        pair = (mover, other) if mover >= 0 and other >= 0 else None
        found = list(compare(telling.events, telling.names, answers, [entry for entry, _ in new], pair))
        for difference in found:
            row = book.source[difference.question][0]
            what = f"{difference.what} (oracle and checker)"
            yield Problem(row, what, str(difference.oracle), str(difference.checker))
        if not found:
            _agreed.update(remembered for _, remembered in new)
    if len(_agreed) > _REMEMBERED:
        _agreed.clear()


def _columns(book: _Book, answers: Questions, tellings: list[Telling | None]) -> dict[str, pa.Array]:
    """Lay out what the rows should say, in their own words."""
    told = [telling for telling in tellings if telling is not None]
    place = {id(telling): number for number, telling in enumerate(told)}
    lexicon, cast = _cast(told)
    story = np.array([place[id(tellings[number])] for number in book.row_story])
    rows = answers.pick(np.array(book.row_entry), story)
    sentences = _matrix([telling.sentences for telling in told], len(rows.labels.proof))
    columns = label_columns(
        lexicon,
        in_words(rows, cast, _candidates(book, lexicon, tellings)),
        number_lists(rows.labels.proof, sentences[:, story]),
    )
    answered = pa.array(rows.labels.place != NOBODY)
    others = np.array([key[2] for key in book.entries])
    typed = (np.array(book.movers) != STRANGER) & (others != STRANGER)
    columns["answer"] = _only(columns["answer"], answered)
    columns["story_type"] = _only(columns["story_type"], pa.array(typed[book.row_entry]))
    return columns


def _only(column: pa.Array, where: pa.Array) -> pa.Array:
    indices = pc.if_else(where, column.indices, pa.scalar(None, pa.int32()))
    return pa.DictionaryArray.from_arrays(indices, column.dictionary)


def _cast(told: list[Telling]) -> tuple[Lexicon, Cast]:
    roles = [[getattr(telling.names, role) for telling in told] for role in ("agents", "rooms", "things", "containers")]
    words: set[str] = set()
    for role in roles:
        words.update(*role)
    lexicon = Lexicon(words)
    numbers = lexicon.number
    return lexicon, Cast(*(_matrix([[numbers[word] for word in names] for names in role]) for role in roles))


def _matrix(lists: list[list[int]], height: int = 1) -> Words:
    """Lay lists out as [place, list], NO_WORD where they are shorter."""
    height = max(height, max(map(len, lists)))
    return np.array([numbers + [NO_WORD] * (height - len(numbers)) for numbers in lists], np.int32).T.copy()


def _candidates(book: _Book, lexicon: Lexicon, tellings: list[Telling | None]) -> Words:
    """Find the containers that each row's object was in, [candidate, row]."""
    known: dict[tuple[int, str], list[int]] = {}
    for key in zip(book.row_story, book.things, strict=True):
        telling = tellings[key[0]]
        if key not in known and telling is not None:
            places = {event.container for event in telling.events if event.thing == key[1] and event.container}
            known[key] = sorted(lexicon.number[place] for place in places)
    numbers = {key: number for number, key in enumerate(known)}
    matrix = _matrix(list(known.values()))
    return matrix[:, [numbers[key] for key in zip(book.row_story, book.things, strict=True)]]
