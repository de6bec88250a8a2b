"""Text from arrays: looked up and joined, not formatted line by line.

Every sentence is two or three fragments ("Ada moved the ", "key to the ", "box."). One `take` over a small table of
fragments lays all sentences of a block end to end in one buffer; stories are then offsets into that buffer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.families.belief.arrays import Flags, PlotArrays
from storyproof.families.belief.tomi_text import FEELINGS, NOISE
from storyproof.families.belief.world import EventKind
from storyproof.generation.arrow_columns import NO_WORD, Words

Bytes = npt.NDArray[np.uint8]

_UNUSED = 255  # the form of an absent fragment of a question

# A fragment's form is its index here; each form times each word is one fragment.
_BEGINNINGS = {
    EventKind.NOISE: NOISE,
    EventKind.IS_IN: "{} is in the ",
    EventKind.ENTER: "{} entered the ",
    EventKind.EXIT: "{} exited the ",
    EventKind.PLACE: "The {} is in the ",
    EventKind.MOVE: "{} moved the ",
}
_SENTENCE_FORMS = (
    *(f"{{}} {feeling} the " for feeling in FEELINGS),
    *_BEGINNINGS.values(),
    "{} to the ",
    "{}.",
    "",
)
TO, END, EMPTY = (_SENTENCE_FORMS.index(form) for form in ("{} to the ", "{}.", ""))
FORM_OF = {kind: _SENTENCE_FORMS.index(form) for kind, form in _BEGINNINGS.items()}  # of a sentence's first fragment
# Of plots in arrays, which do not say how somebody feels: they like it.
_FORMS = np.array([{EventKind.FEEL: 0, **FORM_OF}.get(kind, EMPTY) for kind in EventKind], np.int32)
_NEXT_LINE = len(_SENTENCE_FORMS)  # added to a form, it begins with a line break
_QUESTION_FORMS = (
    "Where was the {} at the beginning?",
    "Where is the {} really?",
    "Where will {} look for the ",
    "Where does {} think that ",
    "{} thinks that ",
    "{} searches for the ",
    "{}?",
)
_MEMORY, _REALITY, _LOOKS, _THINKS, _THOUGHT, _SEARCHES, _ASKED = map(np.uint8, range(len(_QUESTION_FORMS)))


@dataclass(frozen=True, slots=True)
class Cast:
    """What local numbers stand for, as word numbers [local number, story]."""

    agents: Words
    rooms: Words
    things: Words
    containers: Words

    def pick(self, columns: npt.NDArray[np.intp]) -> Cast:
        """Return the casts of the stories in the given columns."""
        return Cast(*(names.take(columns, axis=1) for names in (self.agents, self.rooms, self.things, self.containers)))

    def between(self, start: int, end: int) -> Cast:
        """Return the casts of the stories from one column up to another."""
        return Cast(*(names[:, start:end] for names in (self.agents, self.rooms, self.things, self.containers)))


class Narrator:
    """Words by number, in alphabetical order, with all fragments of text that they occur in."""

    def __init__(self, words: Iterable[str]) -> None:
        self.list = sorted(set(words))
        self.words = pa.array(self.list, pa.string())
        self.number = {word: number for number, word in enumerate(self.list)}
        lines = (*_SENTENCE_FORMS, *("\n" + form for form in _SENTENCE_FORMS))
        self._sentences = pa.array([form.format(word) for form in lines for word in self.list], pa.string())
        self._questions = pa.array([form.format(word) for form in _QUESTION_FORMS for word in self.list], pa.string())

    def numbers(self, words: Sequence[str]) -> Words:
        """Look up the numbers of words."""
        return np.array([self.number[word] for word in words], np.int32)

    def narrate(self, stories: PlotArrays, cast: Cast, ends: npt.NDArray[Any]) -> pa.Array:
        """Return the text of beginnings of stories, those of one story side by side.

        Args:
            stories: The stories.
            cast: The names.
            ends: [part, story], after how many sentences each beginning ends; the least comes first, and the last is
                the end of the story.
        """
        parts, count = ends.shape
        starts = np.cumsum(ends[-1]) - ends[-1]
        bounds = 3 * np.append((starts + np.concatenate([np.zeros((1, count), np.int64), ends[:-1]])).T, ends[-1].sum())
        pieces = _join(self._sentences, self._fragments(stories, cast, ends[-1]), bounds.astype(np.int32))
        if parts == 1:
            return pieces
        chosen = [number for part in range(parts) for number in range(part + 1)]
        numbers = np.arange(count, dtype=np.int32)[:, None] * np.int32(parts) + np.array(chosen, np.int32)
        return _join(pieces, numbers.reshape(-1), _repeated(np.cumsum(range(parts + 1)).tolist(), count))

    def _fragments(self, stories: PlotArrays, cast: Cast, length: npt.NDArray[Any]) -> Words:
        """Return the three fragments of each sentence of all stories, one story after the other."""
        steps, count = stories.kind.shape
        used = np.flatnonzero(np.arange(steps) < length[:, None])
        story = (used // steps).astype(np.int32)
        kind, agent, room, thing, container = (
            _by_row(array).reshape(-1)[used].astype(np.int32)
            for array in (stories.kind, stories.agent, stories.room, stories.thing, stories.container)
        )
        to_room = len(cast.agents)
        to_thing = to_room + len(cast.rooms)
        to_container = to_thing + len(cast.things)
        names = np.concatenate([cast.agents, cast.rooms, cast.things, cast.containers]).reshape(-1)
        form = _FORMS[kind] + np.where(used % steps > 0, np.int32(_NEXT_LINE), np.int32(0))
        first = np.where(kind == EventKind.PLACE, to_thing + thing, np.maximum(agent, 0))
        last = np.where(kind <= EventKind.EXIT, to_room + room, to_container + container)
        feels = np.flatnonzero(kind == EventKind.FEEL)
        last[feels] = to_thing + thing[feels]
        fragments = np.empty((len(used), 3), np.int32)
        width = np.int32(len(self.list))
        fragments[:, 0] = form * width + names[first * count + story]
        fragments[:, 1] = EMPTY * width
        moves = np.flatnonzero(kind == EventKind.MOVE)
        fragments[moves, 1] = TO * width + names[(to_thing + thing[moves]) * count + story[moves]]
        ending = names[np.maximum(last, 0) * count + story]
        fragments[:, 2] = np.where(kind != EventKind.NOISE, END * width + ending, EMPTY * width)
        return fragments.reshape(-1)

    def tell(self, forms: Words, slots: Words, names: Words) -> pa.Array:
        """Return stories joined from sentences with an equal number of fragments.

        Args:
            forms: [story, sentence, fragment], the forms; EMPTY where there are fewer. A line break is added before
                each sentence but the first.
            slots: [story, sentence, fragment], whose name goes into each.
            names: [story, slot], word numbers; a number may stand for a form and a word at once, with form 0.
        """
        count, sentences, fragments = forms.shape
        chosen = forms * np.int32(len(self.list))
        chosen[:, 1:, 0] += np.where(forms[:, 1:, 0] == EMPTY, np.int32(0), np.int32(_NEXT_LINE * len(self.list)))
        chosen += names.reshape(-1)[slots + np.arange(0, names.size, names.shape[1], dtype=np.int32)[:, None, None]]
        ends = np.arange(0, count * sentences * fragments + 1, sentences * fragments, dtype=np.int32)
        return _join(self._sentences, chosen.reshape(-1), ends)

    def ask_alike(self, asked: Sequence[tuple[bool, tuple[int, ...]]], cast: Cast) -> tuple[pa.Array, pa.Array]:
        """Return the text of the same questions for every story.

        Args:
            asked: For each question whether it is for memory, and the chain's local numbers.
            cast: The names; object 0 is asked about.

        Returns:
            The questions, and the names of their chains.
        """
        forms, slots, ends, chains, chain_ends = [], [], [0], list[int](), [0]
        for memory, chain in asked:
            inner = [_THOUGHT] * (len(chain) - 2) + [_SEARCHES] * (len(chain) > 1)
            outer = [_LOOKS if len(chain) == 1 else _THINKS] if chain else []
            last = _ASKED if chain else _MEMORY if memory else _REALITY
            forms += [*outer, *inner, last]
            slots += [*chain, len(cast.agents)]
            ends.append(len(forms))
            chains += chain
            chain_ends.append(len(chains))
        names = _by_row(np.concatenate([cast.agents, cast.things[:1]]))
        chosen = names[:, slots] + np.array(forms, np.int32) * np.int32(len(self.list))
        questions = _join(self._questions, chosen.reshape(-1), _repeated(ends, len(names)))
        people = self.words.take(pa.array(names[:, chains].reshape(-1)))
        return questions, pa.ListArray.from_arrays(pa.array(_repeated(chain_ends, len(names))), people)

    def ask(self, thing: Words, chain: Words, memory: Flags) -> pa.Array:
        """Return the text of all questions.

        Args:
            thing: The word number of the object asked about in each row.
            chain: Word numbers [place in the chain, row], NO_WORD after the end.
            memory: Whether a question without a chain asks for memory.
        """
        is_named = chain != NO_WORD
        order = is_named.sum(axis=0, dtype=np.int8)
        forms = np.empty((len(chain) + 1, len(thing)), np.uint8)
        for place in range(len(chain)):
            if place == 0:
                form = np.where(order == 1, _LOOKS, _THINKS)
            else:
                form = np.where(order == place + 1, _SEARCHES, _THOUGHT)
            forms[place] = np.where(is_named[place], form, np.uint8(_UNUSED))
        forms[-1] = np.where(order > 0, _ASKED, np.where(memory, _MEMORY, _REALITY))
        used, ends, form = _lay_out(forms)
        word = _by_row(np.concatenate([chain, thing[None]]))[used]
        return _join(self._questions, form * np.int32(len(self.list)) + word, ends)


def _lay_out(forms: Bytes) -> tuple[Flags, Words, Bytes]:
    """Return which of the [item, row] forms are used as [row, item] flags, the bounds of rows, and the used forms."""
    used, ends = _used(forms != _UNUSED)
    return used, ends, _by_row(forms)[used]


def _by_row(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(array.T)  # flags pick from contiguous arrays several times as fast


def _used(flags: Flags) -> tuple[Flags, Words]:
    """Return [item, row] flags as [row, item] ones, and where the items of each row begin and end."""
    ends = np.zeros(flags.shape[1] + 1, np.int32)
    np.cumsum(flags.sum(axis=0, dtype=np.uint8), dtype=np.int32, out=ends[1:])
    return _by_row(flags), ends


def _repeated(ends: Sequence[int], times: int) -> Words:
    """Return the same steps repeated `times` times, counted on."""
    starts = np.arange(times, dtype=np.int32)[:, None] * np.int32(ends[-1])
    return np.concatenate([[0], (starts + np.array(ends[1:], np.int32)).reshape(-1)]).astype(np.int32)


def _join(fragments: pa.Array, chosen: Words, ends: Words) -> pa.Array:
    """Return each row's fragments joined to one string."""
    texts = fragments.take(pa.array(chosen))
    offsets = np.frombuffer(texts.buffers()[1], np.int32, len(texts) + 1)[ends]
    return pa.Array.from_buffers(pa.string(), len(ends) - 1, [None, pa.py_buffer(offsets), texts.buffers()[2]])
