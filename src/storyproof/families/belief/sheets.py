"""Many stories read at once: text to arrays of local numbers.

Sentences recur, so each distinct one is parsed once. Sentences in which nothing happens (likes, noise) are left out;
names are numbered in each story by order of appearance. What remains is a story's plot: alike stories have equal plots.
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
from storyproof.families.belief.text import parse_sentence

Words = npt.NDArray[np.int32]

_BROKEN = 8  # the kind of a sentence that cannot be read


@dataclass(frozen=True, slots=True)
class Sheets:
    """Stories as [story, event] arrays.

    Attributes:
        words: All names in the stories, in alphabetical order.
        cells: [story, event, 5]: kind, agent, room, thing, container in local numbers; rooms as far as the text says.
        sentences: Where each event stands in the text, counted from 1.
        agents: [story, local number], indices into `words`; NOBODY after the last.
        things: The same for objects.
        containers: The same for containers.
        broken: Stories that cannot be read.
    """

    words: pa.Array
    cells: npt.NDArray[np.int8]
    sentences: npt.NDArray[np.int16]
    agents: Words
    things: Words
    containers: Words
    broken: Flags


def read_sheets(stories: pa.Array) -> Sheets:
    """Read stories, one sentence a line."""
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
    return Sheets(words, cells, sentences, names[0], names[2], names[3], broken)


def _parse_distinct(sentences: list[str]) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """Parse sentences to [sentence, 5] arrays of kind and names, and give the names in alphabetical order."""
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
    """Number names in each row by order of appearance; gives the numbers and what they stand for."""
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
        if new.any():
            if used[new].max() == known.shape[1]:
                known = np.concatenate([known, np.full((count, 1), NOBODY, np.int32)], axis=1)
            known[rows[new], used[new]] = name[new]
            number[new] = used[new]
            used += new
        local[:, time] = np.where(name == NOBODY, NOBODY, number)
    return local, known
