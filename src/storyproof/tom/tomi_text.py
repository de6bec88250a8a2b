"""How ToMi's sentence codes are told: straight from codes to fragments of text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from storyproof.tom.arrays import PAD, Small
from storyproof.tom.events import Kind
from storyproof.tom.lexicon import END, TO, UNUSED, Bytes, Cast, Words
from storyproof.tom.tomi_plots import SENTENCES, Plots

# The slots of a story's names: three agents, two rooms, the object, two containers; then for each of the two statements
# its whole beginning ("Ada likes the ") and the thing.
_ROOM, _THING, _CONTAINER, _BEGINNING, _LIKED = 3, 5, 6, 8, 9


def _tables() -> tuple[Bytes, Small]:
    """Say for each sentence code which forms its three fragments have and whose names go into them."""
    forms, slots = [], []
    statement = 0
    for kind, agent, room, thing, container in SENTENCES.values():
        match kind:
            case Kind.ENTER | Kind.EXIT:
                form, slot = (kind, UNUSED, END), (agent, 0, _ROOM + room)
            case Kind.PLACE:
                form, slot = (kind, UNUSED, END), (_THING + thing, 0, _CONTAINER + container)
            case Kind.MOVE:
                form, slot = (kind, TO, END), (agent, _THING + thing, _CONTAINER + container)
            case Kind.FEEL:
                form, slot = (0, UNUSED, END), (_BEGINNING + 2 * statement, 0, _LIKED + 2 * statement)
                statement += 1
            case _:
                assert kind == PAD
                form, slot = (UNUSED, UNUSED, UNUSED), (0, 0, 0)
        forms.append(form)
        slots.append(slot)
    return np.array(forms, np.uint8).T.copy(), np.array(slots, np.int8).T.copy()


_FORMS, _SLOTS = _tables()


def told(plots: Plots) -> tuple[Bytes, Small]:
    """Give forms and slots of all fragments, [time, fragment, story]."""
    forms, slots = np.take(_FORMS, plots.told, axis=1), np.take(_SLOTS, plots.told, axis=1)
    return np.ascontiguousarray(forms.transpose(1, 0, 2)), slots.transpose(1, 0, 2)


def told_names(plots: Plots, cast: Cast, words: int) -> Words:
    """Give the names for the slots, [slot, story]; a statement's beginning is form and word in one."""
    story = np.arange(plots.told.shape[1])

    def beginning(statement: int) -> npt.NDArray[np.int32]:
        form = int(Kind.FEEL) + plots.feelings[statement].astype(np.int32)
        whole: npt.NDArray[np.int32] = form * np.int32(words) + cast.agents[plots.feelers[statement], story]
        return whole

    statements = [beginning(0), cast.things[1], beginning(1), cast.things[2]]
    return np.concatenate([cast.agents, cast.rooms, cast.things[:1], cast.containers, np.stack(statements)])
