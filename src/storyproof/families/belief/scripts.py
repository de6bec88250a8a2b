"""The sentences that a benchmark's stories are made of, by code: straight from codes to arrays, and to text."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from storyproof.columns import Words
from storyproof.families.belief.arrays import NOBODY, PAD, Stories
from storyproof.families.belief.events import Kind
from storyproof.families.belief.labels import Codes
from storyproof.families.belief.lexicon import EMPTY, END, TO, Cast
from storyproof.families.belief.statements import Plots, add_statements
from storyproof.seeds import Draws, Indices

Sentence = tuple[int, int, int, int, int]  # kind, agent, room, thing, container

_CODE_BITS = 4
# What every script ends with: the statements of likes and dislikes, about things 1 and 2, and what is not there.
_LAST: dict[str, Sentence] = {
    "first statement": (Kind.FEEL, NOBODY, NOBODY, 1, NOBODY),
    "second statement": (Kind.FEEL, NOBODY, NOBODY, 2, NOBODY),
    "": (PAD, NOBODY, NOBODY, NOBODY, NOBODY),
}


class Script:
    """Every sentence that a story may hold, by code.

    A story's names have slots: its agents, its rooms, the object, two containers; then for each of the two statements
    its whole beginning ("Ada likes the ") and the thing.

    Attributes:
        code: The code of each sentence, by what it is called.
        end: The code of what comes after the end.
        agent: [code], who acts, or NOBODY.
    """

    def __init__(self, sentences: Mapping[str, Sentence], *, agents: int, rooms: int) -> None:
        every = {**sentences, **_LAST}
        assert len(every) <= 1 << _CODE_BITS
        self.code = {name: code for code, name in enumerate(every)}
        self.end = self.code[""]
        self._agents = agents
        self._thing = agents + rooms  # the first slot after those of agents and rooms
        self._fields = np.array(list(every.values()), np.int8).T.copy()
        self.agent = self._fields[1]
        lines = [self._fragments(*sentence) for sentence in every.values()]
        self._forms, self._slots = (np.array([line[part] for line in lines], np.int32) for part in range(2))

    def _fragments(self, kind: int, agent: int, room: int, thing: int, container: int) -> tuple[tuple[int, ...], ...]:
        """Say which forms a sentence's three fragments have and whose names go into them."""
        to_container, to_statement = self._thing + 1, self._thing + 3
        match kind:
            case Kind.ENTER | Kind.EXIT:
                return (kind, EMPTY, END), (agent, 0, self._agents + room)
            case Kind.PLACE:
                return (kind, EMPTY, END), (self._thing + thing, 0, to_container + container)
            case Kind.MOVE:
                return (kind, TO, END), (agent, self._thing + thing, to_container + container)
            case Kind.FEEL:
                beginning = to_statement + 2 * (thing - 1)
                return (0, EMPTY, END), (beginning, 0, beginning + 1)
        assert kind == PAD
        return (EMPTY, EMPTY, EMPTY), (0, 0, 0)

    def spell(self, bare: Codes) -> Stories:
        """Spell the codes of bare plots out as arrays."""
        kind, agent, room, thing, container = (fields[bare] for fields in self._fields)
        nobody = np.full(bare.shape, NOBODY, np.int8)
        return Stories(kind.view(np.uint8), agent, room, thing, container, nobody, agents=self._agents)

    def add_statements(self, draws: Draws, bare: Codes, length: Indices) -> Plots:
        """Insert up to two statements about what anybody likes or dislikes."""
        codes = self.code["first statement"], self.code["second statement"]
        return add_statements(draws, bare, length, agents=self._agents, codes=codes, end=self.end)

    def told(self, plots: Plots) -> tuple[Words, Words]:
        """Give forms and slots of all fragments, [story, sentence, fragment]."""
        codes = np.ascontiguousarray(plots.told.T)
        return np.take(self._forms, codes, axis=0), np.take(self._slots, codes, axis=0)


def keys(bare: Codes) -> npt.NDArray[np.uint64]:
    """Give each plot of at most sixteen sentences a number of its own."""
    found = np.zeros(bare.shape[1], np.uint64)
    for code in bare:
        found = (found << np.uint64(_CODE_BITS)) | code
    return found


def told_names(plots: Plots, cast: Cast, words: int) -> Words:
    """Give the names for the slots, [story, slot]; a statement's beginning is form and word in one."""
    story = np.arange(plots.told.shape[1])

    def beginning(statement: int) -> npt.NDArray[np.int32]:
        form = int(Kind.FEEL) + plots.feelings[statement].astype(np.int32)
        whole: npt.NDArray[np.int32] = form * np.int32(words) + cast.agents[plots.feelers[statement], story]
        return whole

    statements = [beginning(0), cast.things[1], beginning(1), cast.things[2]]
    names = (*cast.agents, *cast.rooms, cast.things[0], *cast.containers, *statements)
    return np.stack(names, axis=1)
