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
from storyproof.families.belief.arrays import MOST_AGENTS, MOST_NAMES, MOST_SENTENCES, NOBODY, STRANGER, Flags
from storyproof.families.belief.questions import Ask
from storyproof.families.belief.tomi_labels import MOST_ORDER
from storyproof.families.belief.tomi_text import FEELINGS, parse_question, parse_sentence
from storyproof.families.belief.world import EventKind
from storyproof.generation.seeds import Indices

Words = npt.NDArray[np.int32]

_BROKEN = len(EventKind)  # the kind of a sentence that cannot be parsed


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
        broken: PlotArrays that cannot be parsed.
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
    words, fields = _parse_distinct(coded.dictionary)
    flat = fields[coded.indices.to_numpy()]
    story = np.repeat(np.arange(len(stories)), lengths)
    starts = np.cumsum(lengths) - lengths
    sentence = np.arange(len(flat)) - starts[story] + 1
    broken = lengths > MOST_SENTENCES
    broken[story[flat[:, 0] == _BROKEN]] = True

    _state_rooms(flat, story, fields)
    happens = (flat[:, 0] > EventKind.FEEL) & ~broken[story]
    flat, story, sentence = flat[happens], story[happens], sentence[happens]
    counts = np.bincount(story, minlength=len(stories))
    firsts = np.cumsum(counts) - counts
    event = np.arange(len(flat)) - firsts[story]
    height = int(counts.max(initial=1))
    cells = np.full((len(stories), height, 5), NOBODY, np.int8)
    cells[:, :, 0] = EventKind.NOISE
    cells[story, event, 0] = flat[:, 0]
    sentences = np.zeros((len(stories), height), np.int16)
    sentences[story, event] = sentence
    names = []
    for role in range(1, 5):
        wide = np.full((len(stories), height), NOBODY, np.int32)
        wide[story, event] = flat[:, role]
        local, distinct = number_names(wide)
        too_many = MOST_AGENTS if role == 1 else MOST_NAMES
        broken |= (distinct[:, too_many:] != NOBODY).any(axis=1)
        cells[:, :, role] = np.minimum(local, MOST_NAMES)
        names.append(distinct)
    return ParsedStories(words, cells, sentences, names[0], names[2], names[3], broken)


def _state_rooms(flat: Words, story: Indices, fields: Words) -> None:
    """Add the rooms of containers of which a sentence says where they are; see `tomi_text.parse`.

    Args:
        flat: [sentence of a story, 5]: kind and names.
        story: Which story each is of.
        fields: The same as `flat` for distinct sentences, of which there are few.
    """
    places, puts = fields[:, 0] == EventKind.PLACE, fields[:, 4] != NOBODY
    if not len(np.intersect1d(fields[places, 3], fields[puts, 4])):
        return
    width = 2 + int(fields[:, 1:].max())
    room, thing, container = (story * width + flat[:, role] + 1 for role in (2, 3, 4))  # a name in a story
    puts = flat[:, 4] != NOBODY
    holds_containers = puts & np.isin(thing, container[puts])
    stating = holds_containers & (flat[:, 0] == EventKind.PLACE)
    stating &= ~np.isin(container, container[puts & ~holds_containers]) | np.isin(container, room[flat[:, 2] != NOBODY])
    if not stating.any():
        return
    order = np.flatnonzero(stating)[::-1]  # the last such sentence about a container counts
    named, first = np.unique(thing[order], return_index=True)
    rooms = flat[order[first], 4]
    for keys in (thing, container):
        place = np.minimum(np.searchsorted(named, keys), len(named) - 1)
        stated = puts & (named[place] == keys)
        flat[stated, 2] = rooms[place[stated]]


# The sentences of stories in ASCII; the few others are left to `parse_sentence`. Groups that do not apply are empty.
_WORD = r"[^\s.?\x0b\x1c-\x1f]+"
_VERBS = {
    "entered": EventKind.ENTER,
    "exited": EventKind.EXIT,
    "is in": EventKind.IS_IN,
    **dict.fromkeys(FEELINGS, EventKind.FEEL),
}
_SENTENCE = (
    rf"^(?:The (?P<placed>{_WORD}) is in the|(?P<agent>{_WORD}) (?:(?P<verb>{'|'.join(_VERBS)}) the|"
    rf"moved the (?P<moved>{_WORD}) to the)) (?P<last>{_WORD})\.?$"
)


def _parse_distinct(sentences: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """Parse sentences to [sentence, 5] arrays of kind and names, and return the names in alphabetical order."""
    names: dict[str, int] = {}
    fields = np.full((len(sentences), 5), NOBODY, np.int32)
    groups = pc.extract_regex(sentences, _SENTENCE)
    usual = np.asarray(pc.and_(groups.is_valid(), pc.string_is_ascii(sentences)))
    verbs, verb = _codes(groups.field("verb"), usual)
    kinds = np.array([_VERBS.get(name, EventKind.NOISE) for name in verbs], np.int32)[verb]
    parts = {}
    for role in ("placed", "agent", "moved", "last"):
        words, code = _codes(groups.field(role), usual)
        numbers = [names.setdefault(word, len(names)) if word else NOBODY for word in words]
        parts[role] = np.array(numbers, np.int32)[code]
    placed, moved = parts["placed"] != NOBODY, parts["moved"] != NOBODY
    kinds = np.where(placed, EventKind.PLACE, np.where(moved, EventKind.MOVE, kinds))
    ends = np.asarray(pc.ends_with(sentences, ".")) | (kinds == EventKind.FEEL)  # only likes may lack a full stop
    walks = (kinds >= EventKind.IS_IN) & (kinds <= EventKind.EXIT)
    feels = kinds == EventKind.FEEL
    last, nobody = parts["last"], np.int32(NOBODY)
    thing = np.where(placed, parts["placed"], np.where(feels, last, parts["moved"]))
    read = usual & ends
    columns = (kinds, parts["agent"], np.where(walks, last, nobody), thing, np.where(placed | moved, last, nobody))
    for column, values in enumerate(columns):
        fields[:, column] = np.where(read, values, nobody)
    for row in np.flatnonzero(~read).tolist():
        fields[row] = _parse_alone(sentences[row].as_py(), names)
    # Names of sentences that have no full stop were numbered as well; they must not be found in any story.
    used = np.zeros(len(names) + 1, np.bool_)
    used[fields[:, 1:]] = True
    used_names = [name for name, number in names.items() if used[number]]
    order = sorted(used_names)
    rank = np.full(len(names) + 1, NOBODY, np.int32)
    rank[[names[name] for name in order]] = np.arange(len(order))
    rank[NOBODY] = NOBODY
    fields[:, 1:] = rank[fields[:, 1:]]
    return pa.array(order, pa.string()), fields


def _codes(values: pa.Array, usual: Flags) -> tuple[list[str], npt.NDArray[np.int32]]:
    """Return the distinct values, and which of them each sentence has; the empty one where it is not read."""
    coded = pc.if_else(pa.array(usual), values, "").dictionary_encode()
    return coded.dictionary.to_pylist(), coded.indices.to_numpy()


def _parse_alone(sentence: str, names: dict[str, int]) -> tuple[int, int, int, int, int]:
    """Parse one sentence, and number its names."""
    try:
        event = parse_sentence(sentence)
    except ParseError:
        return (_BROKEN, NOBODY, NOBODY, NOBODY, NOBODY)
    agent, room, thing, container = (
        NOBODY if name is None else names.setdefault(name, len(names))
        for name in (event.agent, event.room, event.thing, event.container)
    )
    return (event.kind, agent, room, thing, container)


def number_names(wide: Words) -> tuple[Words, Words]:
    """Number names in each row by order of appearance; return the numbers and what they stand for.

    Beyond one more than can be handled, names are not told apart.
    """
    count, width = wide.shape
    local = np.full(wide.shape, NOBODY, np.int32)
    distinct = np.full((count, 1), NOBODY, np.int32)
    used = np.zeros(count, np.int64)
    for time in range(width):
        rows = np.flatnonzero(wide[:, time] != NOBODY)
        name = wide[rows, time]
        same = distinct[rows] == name[:, None]
        number = same.argmax(axis=1)
        new = np.flatnonzero(~same[np.arange(len(rows)), number] & (used[rows] <= MOST_NAMES))
        if len(new):
            fresh = rows[new]
            if used[fresh].max() == distinct.shape[1]:
                distinct = np.concatenate([distinct, np.full((count, 1), NOBODY, np.int32)], axis=1)
            distinct[fresh, used[fresh]] = name[new]
            number[new] = used[fresh]
            used[fresh] += 1
        local[rows, time] = number
    return local, distinct


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
        fields = pc.extract_regex(questions.take(pa.array(rows)), pattern)
        fits = np.asarray(fields.is_valid())
        rows, fields = rows[fits], fields.filter(pa.array(fits))
        read[rows] = True
        memory[rows] = start == "Where was "
        things[rows] = _words(fields.field("thing"), parsed)
        for place, role in enumerate(("first", "second")):
            if f"<{role}>" in pattern:
                chains[rows, place] = _words(fields.field(role), parsed)
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
        things[row], memory[row] = _words(pa.array([question.thing]), parsed)[0], question.ask == Ask.MEMORY
        chains[row, : len(agents)] = _words(pa.array(agents, pa.string()), parsed)
    local = [local_numbers(agents, parsed.agents[story]) for agents in chains.T]
    return ParsedQuestions(local_numbers(things, parsed.things[story]), np.stack(local, axis=1), memory, broken)


def _words(names: pa.Array, parsed: ParsedStories) -> Words:
    """Look names up among the words of all stories."""
    return np.asarray(pc.fill_null(pc.index_in(names, value_set=parsed.words), STRANGER), np.int32)


def local_numbers(words: Words, distinct: Words) -> npt.NDArray[np.int8]:
    """Return the local numbers of words in each row's story."""
    numbers = np.full(len(words), STRANGER, np.int8)
    for number, names in enumerate(distinct.T[:MOST_NAMES]):  # stories with more are broken
        numbers[(names == words) & (words >= 0)] = number
    return np.where(words == NOBODY, np.int8(NOBODY), numbers)
