"""Stories as codes of sentences: drawn without words, then expanded to arrays and to text.

A benchmark whose stories are made of a few fixed sentences lists them in a `Script`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import permutations

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, PlotArrays, Small
from storyproof.families.belief.narration import EMPTY, END, FORM_OF, TO, Cast
from storyproof.families.belief.tomi_labels import Codes
from storyproof.families.belief.tomi_text import FEELINGS
from storyproof.families.belief.world import EventKind
from storyproof.generation.arrow_columns import Words
from storyproof.generation.seeds import Draws, Indices

MOST_STATEMENTS = 2


@dataclass(frozen=True, slots=True)
class Plots:
    """Stories without words.

    Attributes:
        bare: Sentence codes [time, story] before any statement is inserted; they decide every answer.
        told: Sentence codes [time, story] with the statements.
        sentence: [time, story], where each sentence of `bare` stands in `told`.
        feelers: Who feels something in the two statements [2, story].
        feelings: What they feel.
    """

    bare: Codes
    told: Codes
    sentence: Small
    feelers: Small
    feelings: Small

    def repeat(self, times: int) -> Plots:
        """Return every story `times` times in a row."""
        return Plots(*(np.repeat(getattr(self, item.name), times, axis=1) for item in fields(self)))

    def first(self, count: int) -> Plots:
        """Return the first stories."""
        return Plots(*(getattr(self, item.name)[:, :count] for item in fields(self)))


def add_statements(
    draws: Draws, bare: Codes, length: Indices, *, agents: int, codes: tuple[int, int], end: int
) -> Plots:
    """Insert up to two statements (the end of ToMi's Algorithm 3).

    An index i of the paper means that the new sentence becomes the i-th; the second insertion is made into the result
    of the first, as in the paper.

    Args:
        draws: The source of randomness.
        bare: Sentence codes [time, story].
        length: How many sentences each story has.
        agents: How many agents may feel something.
        codes: The codes of the two statements.
        end: The code of padding after the end.
    """
    height, count = bare.shape
    statements = draws.below(MOST_STATEMENTS + 1, count)
    places = draw_places(draws, length)
    told = np.concatenate([bare, np.full((MOST_STATEMENTS, count), end, np.uint8)])
    sentence = np.repeat(np.arange(height, dtype=np.int8)[:, None], count, axis=1)
    for number, code in enumerate(codes):
        chosen = statements > number
        told = insert(told, places[number], code, chosen)
        sentence += (sentence >= places[number].astype(np.int8)) & chosen
    feelers = draws.below(agents, MOST_STATEMENTS * count).reshape(MOST_STATEMENTS, -1).astype(np.int8)
    feelings = draws.below(len(FEELINGS), MOST_STATEMENTS * count).reshape(MOST_STATEMENTS, -1).astype(np.int8)
    return Plots(bare, told, sentence, feelers, feelings)


def draw_places(draws: Draws, length: Indices) -> Indices:
    """Draw two different places below each length, [2, story]; the first alone is uniform too."""
    first = draws.below(length, len(length))
    second = draws.below(length - 1, len(length))
    return np.stack([first, second + (second >= first)])


def insert(codes: Codes, place: Indices, code: Indices | int, where: npt.NDArray[np.bool_]) -> Codes:
    """Insert the sentence `code` at `place` in the stories chosen by `where`."""
    times = np.arange(len(codes), dtype=np.int8)[:, None]
    at = np.where(where, place, len(codes)).astype(np.int8)
    # Products of bytes and flags: several times as fast as assignments under a mask.
    inserted: Codes = codes * (times < at) + np.asarray(code, np.uint8) * (times == at)
    inserted[1:] += codes[:-1] * (times[1:] > at)
    return inserted


Sentence = tuple[int, int, int, int, int]  # kind, agent, room, thing, container

_CODE_BITS = 4
# The last sentences of every script: the statements of likes and dislikes, about things 1 and 2, and padding.
_LAST: dict[str, Sentence] = {
    "first statement": (EventKind.FEEL, NOBODY, NOBODY, 1, NOBODY),
    "second statement": (EventKind.FEEL, NOBODY, NOBODY, 2, NOBODY),
    "": (EventKind.NOISE, NOBODY, NOBODY, NOBODY, NOBODY),
}


class Script:
    """Every sentence that a story may have, by code.

    A story's names have slots: its agents, its rooms, the object, two containers; then for each of the two statements
    its whole beginning ("Ada likes the ") and the thing.

    Attributes:
        code: The code of each sentence, by its name.
        end: The code of padding after the end.
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
        """Return the forms of a sentence's three fragments, and the slots of the names in them."""
        to_container, to_statement = self._thing + 1, self._thing + 3
        match kind:
            case EventKind.ENTER | EventKind.EXIT:
                return (FORM_OF[EventKind(kind)], EMPTY, END), (agent, 0, self._agents + room)
            case EventKind.PLACE:
                return (FORM_OF[EventKind.PLACE], EMPTY, END), (self._thing + thing, 0, to_container + container)
            case EventKind.MOVE:
                return (FORM_OF[EventKind.MOVE], TO, END), (agent, self._thing + thing, to_container + container)
            case EventKind.FEEL:
                beginning = to_statement + 2 * (thing - 1)
                return (0, EMPTY, END), (beginning, 0, beginning + 1)
        assert kind == EventKind.NOISE
        return (EMPTY, EMPTY, EMPTY), (0, 0, 0)

    def spell(self, bare: Codes) -> PlotArrays:
        """Return bare plots as arrays of events."""
        kind, agent, room, thing, container = (fields[bare] for fields in self._fields)
        return PlotArrays.plain(kind.view(np.uint8), agent, room, thing, container, self._agents)

    def add_statements(self, draws: Draws, bare: Codes, length: Indices) -> Plots:
        """Insert up to two statements about what anybody likes or dislikes."""
        codes = self.code["first statement"], self.code["second statement"]
        return add_statements(draws, bare, length, agents=self._agents, codes=codes, end=self.end)

    def told(self, plots: Plots) -> tuple[Words, Words]:
        """Return forms and slots of all fragments, [story, sentence, fragment]."""
        codes = np.ascontiguousarray(plots.told.T)
        return np.take(self._forms, codes, axis=0), np.take(self._slots, codes, axis=0)


def keys(bare: Codes) -> npt.NDArray[np.uint64]:
    """Return a different number for each plot of at most sixteen sentences."""
    found = np.zeros(bare.shape[1], np.uint64)
    for code in bare:
        found = (found << np.uint64(_CODE_BITS)) | code
    return found


def slot_names(plots: Plots, cast: Cast, words: int) -> Words:
    """Return the names for the slots, [story, slot]; the beginning of a statement is form and word in one."""
    story = np.arange(plots.told.shape[1])

    def beginning(statement: int) -> npt.NDArray[np.int32]:
        form = plots.feelings[statement].astype(np.int32)  # the first forms
        whole: npt.NDArray[np.int32] = form * np.int32(words) + cast.agents[plots.feelers[statement], story]
        return whole

    statements = [beginning(0), cast.things[1], beginning(1), cast.things[2]]
    names = (*cast.agents, *cast.rooms, cast.things[0], *cast.containers, *statements)
    return np.stack(names, axis=1)


def orders_of_types(draws: Draws, count: int, types: int = 3) -> Indices:
    """Draw the order of the story types in each round of as many stories, [round, place]."""
    orders = np.array(list(permutations(range(types))))
    drawn: Indices = orders[draws.below(len(orders), count)]
    return drawn
