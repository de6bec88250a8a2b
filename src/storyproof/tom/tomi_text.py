"""How ToMi's sentence codes are told: straight from codes to fragments of text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from storyproof.columns import Words
from storyproof.tom.arrays import PAD
from storyproof.tom.events import Kind
from storyproof.tom.lexicon import EMPTY, END, TO, Cast
from storyproof.tom.tomi_plots import SENTENCES, Plots

# The slots of a story's names: three agents, two rooms, the object, two containers; then for each of the two statements
# its whole beginning ("Ada likes the ") and the thing.
_ROOM, _THING, _CONTAINER, _BEGINNING, _LIKED = 3, 5, 6, 8, 9


def _tables() -> tuple[Words, Words]:
    """Say for each sentence code which forms its three fragments have and whose names go into them."""
    forms, slots = [], []
    statement = 0
    for kind, agent, room, thing, container in SENTENCES.values():
        match kind:
            case Kind.ENTER | Kind.EXIT:
                form, slot = (kind, EMPTY, END), (agent, 0, _ROOM + room)
            case Kind.PLACE:
                form, slot = (kind, EMPTY, END), (_THING + thing, 0, _CONTAINER + container)
            case Kind.MOVE:
                form, slot = (kind, TO, END), (agent, _THING + thing, _CONTAINER + container)
            case Kind.FEEL:
                form, slot = (0, EMPTY, END), (_BEGINNING + 2 * statement, 0, _LIKED + 2 * statement)
                statement += 1
            case _:
                assert kind == PAD
                form, slot = (EMPTY, EMPTY, EMPTY), (0, 0, 0)
        forms.append(form)
        slots.append(slot)
    return np.array(forms, np.int32), np.array(slots, np.int32)


_FORMS, _SLOTS = _tables()


def told(plots: Plots) -> tuple[Words, Words]:
    """Give forms and slots of all fragments, [story, sentence, fragment]."""
    codes = np.ascontiguousarray(plots.told.T)
    return np.take(_FORMS, codes, axis=0), np.take(_SLOTS, codes, axis=0)


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
