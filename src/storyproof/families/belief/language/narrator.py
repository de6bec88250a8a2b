"""Stories and questions from arrays: looked up and joined, not formatted line by line.

A sentence is a few fragments, each with one word in all the forms that the sentence needs: "Ada took ", "the key and
put it into ", "the box.". One `take` over the table of fragments lays all sentences of a block end to end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.families.belief.arrays import Flags, PlotArrays
from storyproof.families.belief.language.choices import BY_NAME, SILENT, Choices, choose
from storyproof.families.belief.language.grammar import FEMALE, Forms
from storyproof.families.belief.language.pack import (
    AGENT,
    CONTAINER,
    HEARER,
    KEYS,
    ROLES,
    THING,
    LanguagePack,
    Part,
    Slot,
    question_parts,
    render,
    subjects,
    templates_of,
)
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.generation.arrow_columns import NO_WORD, Words
from storyproof.generation.seeds import Draws

_ASKS = tuple(Ask)
_NOTHING = len(ROLES)  # the role of a fragment without a word
_NO_FORMS: Forms = {}


def _pieces(parts: Sequence[Part]) -> list[tuple[int, tuple[Part, ...]]]:
    """Divide a sentence into pieces with words of one role each, as (role, parts)."""
    pieces: list[tuple[int, list[Part]]] = []
    role = _NOTHING
    for part in parts:
        role_number = ROLES.index(part.role) if isinstance(part, Slot) else role
        if pieces and (role_number == role or role == _NOTHING):
            pieces[-1] = (role_number, [*pieces[-1][1], part])
        else:
            pieces.append((role_number, [part]))
        role = role_number
    return [(role, tuple(piece)) for role, piece in pieces]


class Fragments:
    """A table of all fragments that the sentences of a language need."""

    def __init__(self, pack: LanguagePack) -> None:
        self.pack = pack
        self.texts = [""]
        self._table: pa.Array | None = None
        self._forms: dict[int, list[Forms]] = {
            number: [noun.forms for noun in pack.nouns[role]] for number, role in enumerate(ROLES)
        }
        self._forms[0] = [*self._forms[0], *subjects(pack)]
        self._forms[_NOTHING] = [_NO_FORMS]

    def add(self, role: int, parts: Sequence[Part], *, initial: bool, head: str = "") -> int:
        """Add a piece with all words of its role, each after the head, and return the number of the first."""
        start = len(self.texts)
        name = ROLES[role] if role < _NOTHING else ""
        naming = self.pack.grammar.naming
        for forms in self._forms[role]:
            self.texts.append(head + render(parts, {name: forms}, naming, initial=initial)[0])
        self._table = None
        return start

    def take(self, chosen: npt.NDArray[np.int32]) -> pa.Array:
        """Return each row's fragments joined to one text."""
        return self.join(chosen.reshape(-1), np.arange(0, chosen.size + 1, chosen.shape[1], dtype=np.int32))

    def join(self, chosen: npt.NDArray[np.int32], ends: npt.NDArray[np.int32]) -> pa.Array:
        """Return texts of fragments, those of each text side by side; `ends` says where they begin and end."""
        if self._table is None:
            self._table = pa.array(self.texts, pa.string())
        texts = self._table.take(pa.array(chosen))
        offsets = np.frombuffer(texts.buffers()[1], np.int32, len(texts) + 1)[ends]
        return pa.Array.from_buffers(pa.string(), len(ends) - 1, [None, pa.py_buffer(offsets), texts.buffers()[2]])


class StoryNarrator:
    """The narrator of one language, for blocks of stories."""

    def __init__(self, pack: LanguagePack, style: str) -> None:
        self.pack, self.style = pack, style
        self._fragments = Fragments(pack)
        starts = [prefix + pack.space for prefix in (*pack.connectives, *pack.times)]
        self._prefixes = len(starts)
        self._first_prefix = len(self._fragments.texts)
        self._fragments.texts += [*starts, *("\n" + start for start in starts)]
        templates = [(key, template) for key, name in enumerate(KEYS) for template in templates_of(pack, name)]
        self._start = np.searchsorted([key for key, _ in templates], np.arange(len(KEYS))).astype(np.int16)
        # How a sentence is laid out: alone as the first of its story, alone on a further line, or after a prefix.
        laid = [
            [_pieces(parts) for parts in (template.alone, template.alone, template.after)] for _, template in templates
        ]
        bases, roles, counts = list[int](), list[int](), list[int]()
        for each in laid:
            for order, pieces in enumerate(each):
                for place, (role, parts) in enumerate(pieces):
                    begins = order < 2 and place == 0
                    head = "\n" if begins and order else ""
                    bases.append(self._fragments.add(role, parts, initial=begins, head=head))
                    roles.append(role)
                counts.append(len(pieces))
        self._base, self._role, self._count = (np.array(numbers, np.int32) for numbers in (bases, roles, counts))
        self._first = (np.cumsum(self._count) - self._count).astype(np.int32)
        self._female = np.array([noun.gender == FEMALE for noun in pack.agents])

    def narrate(self, stories: PlotArrays, lie: Flags, cast: Cast, draws: Draws) -> pa.Array:
        """Return the text of all stories, one sentence per line."""
        choices = choose(self.pack, self.style, stories, lie, self._female[cast.agents], draws)
        steps, count = stories.kind.shape
        follows = choices.prefix >= 0
        layout = np.where(follows, np.int16(2), np.int16(1))
        layout[:1] -= ~follows[:1]
        layout += (self._start.take(choices.key) + choices.variant) * np.int16(3)
        counts = self._count.take(layout) + follows
        # The sentences of a story lie side by side in the text; `first` is where the pieces of each begin, and `cell`
        # where arrays have a sentence.
        ends = np.cumsum(counts.T, dtype=np.int32)
        first = (ends.reshape(count, steps).T.astype(np.intp, order="C") - counts).reshape(-1)
        chosen = np.empty(ends[-1], np.int32)
        if follows.any():
            cell = np.flatnonzero(follows)
            prefix = choices.prefix.reshape(-1)[cell] + np.int32(self._first_prefix)
            prefix[np.searchsorted(cell, count) :] += self._prefixes
            chosen[first[cell]] = prefix
            first[cell] += 1
        words = _SentenceWords(stories, cast, choices, self._female)
        # Sentences of one layout need the same pieces.
        by_layout = np.argsort(layout, axis=None, kind="stable")
        sizes = np.bincount(layout.reshape(-1))
        stops = np.cumsum(sizes)
        for number in np.flatnonzero(sizes).tolist():
            cell = by_layout[stops[number] - sizes[number] : stops[number]]
            at, story = first.take(cell), cell % count
            for piece in range(self._first[number], self._first[number] + self._count[number]):
                chosen[at] = words.of(self._role[piece], cell, story) + self._base[piece]
                at += 1
        return self._fragments.join(chosen, np.concatenate([[0], ends[steps - 1 :: steps]]))


class _SentenceWords:
    """The word numbers that sentences of stories need, by role."""

    def __init__(self, stories: PlotArrays, cast: Cast, choices: Choices, is_female: Flags) -> None:
        self._stories, self._female = stories.kind.shape[1], is_female
        numbers = (stories.agent, stories.room, stories.thing, stories.container, stories.hearer)
        lists = (cast.agents, cast.rooms, cast.things, cast.containers, cast.agents)
        self._local, self._names = [each.reshape(-1) for each in numbers], [each.reshape(-1) for each in lists]
        self._subject = choices.subject.reshape(-1) if (choices.subject != BY_NAME).any() else None

    def of(self, role: int, cell: npt.NDArray[np.intp], story: npt.NDArray[np.intp]) -> Words:
        """Return the words of one role.

        Args:
            role: The role.
            cell: The sentences, as places in the arrays of stories.
            story: Their stories.
        """
        if role == _NOTHING:
            return np.zeros(len(cell), np.int32)
        at = self._local[role].take(cell).astype(np.intp)
        at *= self._stories
        at += story
        words: Words = self._names[role].take(at)
        if role == 0 and self._subject is not None:
            subject = self._subject.take(cell)
            other = np.flatnonzero(subject != BY_NAME)
            words[other] = len(self._female) + 2 * (subject[other] == SILENT) + self._female[words[other]]
        return words


class Interviewer:
    """Questions of one language, for blocks of them."""

    def __init__(self, pack: LanguagePack) -> None:
        self.pack = pack
        self._known: dict[tuple[Ask, int], tuple[list[int], list[int]]] = {}
        self._fragments = Fragments(pack)

    def _layout(self, ask: Ask, count: int) -> tuple[list[int], list[int]]:
        """Return the first fragment of each piece of a question, and which word goes into it.

        Words are numbered: the chain, the object, the container, and none.
        """
        layout = self._known.get((ask, count))
        if layout is not None:
            return layout
        bases, words = [], []
        for template, number in question_parts(self.pack, ask, count):
            for role, piece in _pieces(template.alone):
                bases.append(self._fragments.add(role, piece, initial=False))
                name = ROLES[role] if role < _NOTHING else ""
                last = {THING: count, CONTAINER: count + 1, "": count + 2}
                words.append(number if name == AGENT else 1 if name == HEARER else last[name])
        self._known[ask, count] = bases, words
        return bases, words

    def ask(self, asked: npt.NDArray[np.uint8], thing: Words, chain: Words, place: Words) -> pa.Array:
        """Return the text of all questions; see `PlotWording.ask_block`."""
        code = asked.astype(np.int16) * np.int16(len(chain) + 1)
        for agent in chain:
            code += agent != NO_WORD
        layouts = {
            each: self._layout(_ASKS[each // (len(chain) + 1)], each % (len(chain) + 1))
            for each in np.flatnonzero(np.bincount(code)).tolist()
        }
        width = max((len(bases) for bases, _ in layouts.values()), default=1)
        chosen = np.zeros((len(thing), width), np.int32)
        for each, (bases, words) in layouts.items():
            rows = np.flatnonzero(code == each)
            named = (*chain[: each % (len(chain) + 1)], thing, place)
            for column, (base, word) in enumerate(zip(bases, words, strict=True)):
                chosen[rows, column] = named[word].take(rows) + np.int32(base) if word < len(named) else base
        return self._fragments.take(chosen)


def word_question(pack: LanguagePack, question: BeliefQuestion, forms: Mapping[str, Mapping[str, Forms]]) -> str:
    """Return a question in words.

    Args:
        pack: The language.
        question: The question.
        forms: The forms of every word, by role.
    """
    text = ""
    for template, number in question_parts(pack, question.ask, len(question.chain)):
        words = {THING: forms[THING][question.thing]}
        if question.place is not None:
            words[CONTAINER] = forms[CONTAINER][question.place]
        if question.chain:
            words[AGENT] = forms[AGENT][question.chain[number]]
            words[HEARER] = forms[AGENT][question.chain[-1]]
        text += _verbatim(template.alone, words)
    return text


def _verbatim(parts: Sequence[Part], words: Mapping[str, Forms]) -> str:
    return "".join(words[part.role][part.form] if isinstance(part, Slot) else part for part in parts)
