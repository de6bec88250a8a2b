"""Many questions read at once: text to arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storyproof.errors import ParseError
from storyproof.tom.arrays import NOBODY, Flags
from storyproof.tom.beliefs import STRANGER
from storyproof.tom.labels import MOST_ORDER
from storyproof.tom.sheets import Sheets, Words
from storyproof.tom.text import parse_question


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


def read_questions(questions: list[str], sheets: Sheets, story: npt.NDArray[np.intp]) -> Asked:
    """Read each row's question about its story."""
    number = {word: place for place, word in enumerate(sheets.words.to_pylist())}
    count = len(questions)
    things, memory, broken = [STRANGER] * count, [False] * count, [False] * count
    chains: list[tuple[int, ...]] = [()] * count
    for row, text in enumerate(questions):
        try:
            thing, chain, memory[row] = parse_question(text)
        except ParseError:
            broken[row] = True
            continue
        things[row] = number.get(thing, STRANGER)
        if chain:
            chains[row] = tuple([number.get(agent, STRANGER) for agent in chain])
            broken[row] = len(chain) > MOST_ORDER
    depth = min(MOST_ORDER, max(1, max(map(len, chains), default=1)))
    padded = np.array([(*chain, *(NOBODY,) * (depth - len(chain)))[:depth] for chain in chains], np.int32)
    return Asked(
        _local(np.array(things, np.int32), sheets.things[story]),
        np.stack([_local(agents, sheets.agents[story]) for agents in padded.reshape(count, depth).T], axis=1),
        np.array(memory),
        np.array(broken),
    )


def _local(words: Words, known: Words) -> npt.NDArray[np.int8]:
    """Find words among each row's names."""
    same = known == words[:, None]
    found = np.where(same.any(axis=1), same.argmax(axis=1), STRANGER)
    return np.where(words == NOBODY, NOBODY, found).astype(np.int8)
