"""Many questions read at once: text to arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from storyproof.errors import ParseError
from storyproof.families.belief.arrays import NOBODY, Flags
from storyproof.families.belief.labels import MOST_ORDER
from storyproof.families.belief.oracle import STRANGER
from storyproof.families.belief.sheets import Sheets, Words
from storyproof.families.belief.text import parse_question

# The usual questions by how they begin; whatever fits none of these is left to `parse_question`.
_THING, _FIRST, _SECOND = (rf"(?P<{role}>[^\s.?]+)" for role in ("thing", "first", "second"))
_USUAL = {
    "Where was ": rf"^Where was the {_THING} at the beginning\?$",
    "Where is ": rf"^Where is the {_THING} really\?$",
    "Where will ": rf"^Where will {_FIRST} look for the {_THING}\?$",
    "Where does ": rf"^Where does {_FIRST} think that {_SECOND} searches for the {_THING}\?$",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions in the local numbers of their stories.

    Attributes:
        thing: The object asked about; STRANGER if it is not in the story.
        chain: [row, place in the chain]; STRANGER for who is not in the story, NOBODY after the end.
        memory: Whether a question without a chain asks for memory.
        broken: Rows whose question cannot be read.
    """

    thing: npt.NDArray[np.int8]
    chain: npt.NDArray[np.int8]
    memory: Flags
    broken: Flags

    def pick(self, rows: npt.NDArray[np.intp]) -> Asked:
        """Give the questions of the given rows."""
        return Asked(self.thing[rows], self.chain[rows], self.memory[rows], self.broken[rows])


def read_questions(questions: pa.Array, sheets: Sheets, story: npt.NDArray[np.intp]) -> Asked:
    """Read each row's question about its story."""
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
        things[rows] = _words(found.field("thing"), sheets)
        for place, role in enumerate(("first", "second")):
            if f"<{role}>" in pattern:
                chains[rows, place] = _words(found.field(role), sheets)
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
        things[row], memory[row] = _words(pa.array([question.thing]), sheets)[0], question.memory
        chains[row, : len(agents)] = _words(pa.array(agents, pa.string()), sheets)
    local = [_local(agents, sheets.agents[story]) for agents in chains.T]
    return Asked(_local(things, sheets.things[story]), np.stack(local, axis=1), memory, broken)


def _words(names: pa.Array, sheets: Sheets) -> Words:
    """Look names up among the words of all stories."""
    return np.asarray(pc.fill_null(pc.index_in(names, value_set=sheets.words), STRANGER), np.int32)


def _local(words: Words, known: Words) -> npt.NDArray[np.int8]:
    """Find words among each row's names."""
    found = np.full(len(words), STRANGER, np.int8)
    for number, names in enumerate(known.T):
        found[(names == words) & (words >= 0)] = number
    return np.where(words == NOBODY, np.int8(NOBODY), found)
