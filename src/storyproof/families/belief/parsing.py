"""Parse many stories and questions at once: text to arrays of local numbers.

Sentences recur, so each distinct one is parsed once. Sentences in which nothing happens (likes, noise) are left out;
names are numbered in each story by order of appearance. What remains is a story's plot: stories that differ only in
names have equal plots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.errors import ParseError
from storyproof.families.belief.arrays import MOST_AGENTS, MOST_NAMES, MOST_SENTENCES, NOBODY, PAD, Flags
from storyproof.families.belief.events import Kind
from storyproof.families.belief.labels import MOST_ORDER
from storyproof.families.belief.oracle import STRANGER
from storyproof.families.belief.text import parse_question, parse_sentence

Words = npt.NDArray[np.int32]

_BROKEN = 8  # the kind of a sentence that cannot be parsed


@dataclass(frozen=True, slots=True)
class ParsedStories:
    """Stories as [story, event] arrays.

    Attributes:
        words: All names in the stories, in alphabetical order.
        cells: [story, event, 5]: kind, agent, room, thing, container in local numbers; rooms as far as the text says.
        sentences: Where each event stands in the text, counted from 1.
        agents: [story, local number], indices into `words`; NOBODY after the last.
        things: The same for objects.
        containers: The same for containers.
        broken: Stories that cannot be parsed.
    """

    words: pa.Array
    cells: npt.NDArray[np.int8]
    sentences: npt.NDArray[np.int16]
    agents: Words
    things: Words
    containers: Words
    broken: Flags


def parse_stories(stories: pa.Array) -> ParsedStories:
    """Parse stories with one sentence per line."""
    lines = pc.split_pattern(stories, "\n")
    lengths = pc.list_value_length(lines).to_numpy()
    coded = lines.flatten().dictionary_encode()
    words, fields = _parse_distinct(coded.dictionary.to_pylist())
    flat = fields[coded.indices.to_numpy()]
    story = np.repeat(np.arange(len(stories)), lengths)
    starts = np.cumsum(lengths) - lengths
    sentence = np.arange(len(flat)) - starts[story] + 1
    broken = lengths > MOST_SENTENCES
    broken[story[flat[:, 0] == _BROKEN]] = True

    happens = (flat[:, 0] < Kind.FEEL) & ~broken[story]
    flat, story, sentence = flat[happens], story[happens], sentence[happens]
    counts = np.bincount(story, minlength=len(stories))
    firsts = np.cumsum(counts) - counts
    event = np.arange(len(flat)) - firsts[story]
    height = int(counts.max(initial=1))
    cells = np.full((len(stories), height, 5), NOBODY, np.int8)
    cells[:, :, 0] = PAD
    cells[story, event, 0] = flat[:, 0]
    sentences = np.zeros((len(stories), height), np.int16)
    sentences[story, event] = sentence
    names = []
    for role in range(1, 5):
        wide = np.full((len(stories), height), NOBODY, np.int32)
        wide[story, event] = flat[:, role]
        local, known = _number(wide)
        too_many = MOST_AGENTS if role == 1 else MOST_NAMES
        broken |= (known[:, too_many:] != NOBODY).any(axis=1)
        cells[:, :, role] = np.minimum(local, MOST_NAMES)
        names.append(known)
    return ParsedStories(words, cells, sentences, names[0], names[2], names[3], broken)


def _parse_distinct(sentences: list[str]) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """Parse sentences to [sentence, 5] arrays of kind and names, and return the names in alphabetical order."""
    numbers: dict[str | None, int] = {None: NOBODY}
    number = numbers.setdefault
    rows: list[tuple[int, ...]] = []
    for sentence in sentences:
        try:
            event = parse_sentence(sentence)
        except ParseError:
            rows.append((_BROKEN, NOBODY, NOBODY, NOBODY, NOBODY))
            continue
        rows.append(
            (
                event.kind,
                number(event.agent, len(numbers) - 1),
                number(event.room, len(numbers) - 1),
                number(event.thing, len(numbers) - 1),
                number(event.container, len(numbers) - 1),
            )
        )
    del numbers[None]
    names = list(numbers)
    order = sorted(range(len(names)), key=lambda number: names[number] or "")
    rank = np.empty(len(names) + 1, np.int32)
    rank[order] = np.arange(len(names))
    rank[NOBODY] = NOBODY
    fields = np.array(rows, np.int32).reshape(-1, 5)
    fields[:, 1:] = rank[fields[:, 1:]]
    return pa.array([names[number] for number in order], pa.string()), fields


def _number(wide: Words) -> tuple[Words, Words]:
    """Number names in each row by order of appearance; return the numbers and what they stand for.

    Beyond one more than can be handled, names are not told apart.
    """
    count, width = wide.shape
    local = np.full(wide.shape, NOBODY, np.int32)
    known = np.full((count, 1), NOBODY, np.int32)
    used = np.zeros(count, np.int64)
    rows = np.arange(count)
    for time in range(width):
        name = wide[:, time]
        same = (known == name[:, None]) & (name != NOBODY)[:, None]
        number = same.argmax(axis=1)
        new = (name != NOBODY) & ~same[rows, number]
        new &= used <= MOST_NAMES
        if new.any():
            if used[new].max() == known.shape[1]:
                known = np.concatenate([known, np.full((count, 1), NOBODY, np.int32)], axis=1)
            known[rows[new], used[new]] = name[new]
            number[new] = used[new]
            used += new
        local[:, time] = np.where(name == NOBODY, NOBODY, number)
    return local, known


# The usual questions by how they begin; anything else is left to `parse_question`.
_THING, _FIRST, _SECOND = (rf"(?P<{role}>[^\s.?]+)" for role in ("thing", "first", "second"))
_USUAL = {
    "Where was ": rf"^Where was the {_THING} at the beginning\?$",
    "Where is ": rf"^Where is the {_THING} really\?$",
    "Where will ": rf"^Where will {_FIRST} look for the {_THING}\?$",
    "Where does ": rf"^Where does {_FIRST} think that {_SECOND} searches for the {_THING}\?$",
}


@dataclass(frozen=True, slots=True)
class ParsedQuestions:
    """Questions in the local numbers of their stories.

    Attributes:
        thing: The object asked about; STRANGER if it is not in the story.
        chain: [row, place in the chain]; STRANGER for who is not in the story, NOBODY after the end.
        memory: Whether a question without a chain asks for memory.
        broken: Rows whose question cannot be parsed.
    """

    thing: npt.NDArray[np.int8]
    chain: npt.NDArray[np.int8]
    memory: Flags
    broken: Flags

    def pick(self, rows: npt.NDArray[np.intp]) -> ParsedQuestions:
        """Return the questions of the given rows."""
        return ParsedQuestions(self.thing[rows], self.chain[rows], self.memory[rows], self.broken[rows])


def parse_questions(questions: pa.Array, parsed: ParsedStories, story: npt.NDArray[np.intp]) -> ParsedQuestions:
    """Parse each row's question about its story."""
    count = len(questions)
    things = np.full(count, STRANGER, np.int32)
    chains = np.full((count, 2), NOBODY, np.int32)
    memory, read = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for start, pattern in _USUAL.items():
        rows = np.flatnonzero(np.asarray(pc.starts_with(questions, start)))
        found = pc.extract_regex(questions.take(pa.array(rows)), pattern)
        fits = np.asarray(found.is_valid())
        rows, found = rows[fits], found.filter(pa.array(fits))
        read[rows] = True
        memory[rows] = start == "Where was "
        things[rows] = _words(found.field("thing"), parsed)
        for place, role in enumerate(("first", "second")):
            if f"<{role}>" in pattern:
                chains[rows, place] = _words(found.field(role), parsed)
    broken = np.zeros(count, np.bool_)
    for row in np.flatnonzero(~read).tolist():
        try:
            question = parse_question(questions[row].as_py())
        except ParseError:
            broken[row] = True
            continue
        broken[row] = question.order > MOST_ORDER
        if question.order > chains.shape[1]:
            more = np.full((count, min(question.order, MOST_ORDER) - chains.shape[1]), NOBODY, np.int32)
            chains = np.concatenate([chains, more], axis=1)
        agents = question.chain[:MOST_ORDER]
        things[row], memory[row] = _words(pa.array([question.thing]), parsed)[0], question.memory
        chains[row, : len(agents)] = _words(pa.array(agents, pa.string()), parsed)
    local = [_local(agents, parsed.agents[story]) for agents in chains.T]
    return ParsedQuestions(_local(things, parsed.things[story]), np.stack(local, axis=1), memory, broken)


def _words(names: pa.Array, parsed: ParsedStories) -> Words:
    """Look names up among the words of all stories."""
    return np.asarray(pc.fill_null(pc.index_in(names, value_set=parsed.words), STRANGER), np.int32)


def _local(words: Words, known: Words) -> npt.NDArray[np.int8]:
    """Return the local numbers of words in each row's story."""
    found = np.full(len(words), STRANGER, np.int8)
    for number, names in enumerate(known.T[:MOST_NAMES]):  # stories with more are broken
        found[(names == words) & (words >= 0)] = number
    return np.where(words == NOBODY, np.int8(NOBODY), found)
