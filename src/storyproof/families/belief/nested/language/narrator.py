"""Stories and questions from arrays: looked up and joined, not formatted line by line.

A sentence is a few fragments, each with one word in all the forms that the sentence needs: "Ada took ", "the key and
put it into ", "the box.". One `take` over the table of fragments lays all sentences of a block end to end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.columns import NO_WORD, Words
from storyproof.families.belief.arrays import Flags
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.nested.arrays import PlotArrays
from storyproof.families.belief.nested.language.choices import BY_NAME, SILENT, choose
from storyproof.families.belief.nested.language.grammar import FEMALE, Forms
from storyproof.families.belief.nested.language.pack import (
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
from storyproof.families.belief.nested.questions import Ask, NestedQuestion
from storyproof.seeds import Draws

_ASKS = tuple(Ask)
_NOTHING = len(ROLES)  # the role of a fragment without a word
_NO_FORMS: Forms = {}


def _pieces(parts: Sequence[Part]) -> list[tuple[int, tuple[Part, ...]]]:
    """Divide a sentence into pieces with words of one role each, as (role, parts)."""
    pieces: list[tuple[int, list[Part]]] = []
    role = _NOTHING
    for part in parts:
        found = ROLES.index(part.role) if isinstance(part, Slot) else role
        if pieces and (found == role or role == _NOTHING):
            pieces[-1] = (found, [*pieces[-1][1], part])
        else:
            pieces.append((found, [part]))
        role = found
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

    def add(self, role: int, parts: Sequence[Part], *, initial: bool) -> int:
        """Add a piece with all words of its role, and return the number of the first."""
        start = len(self.texts)
        name = ROLES[role] if role < _NOTHING else ""
        naming = self.pack.grammar.naming
        for forms in self._forms[role]:
            self.texts.append(render(parts, {name: forms}, naming, initial=initial)[0])
        self._table = None
        return start

    def take(self, chosen: npt.NDArray[np.int32]) -> pa.Array:
        """Return each row's fragments joined to one text."""
        count, width = chosen.shape
        if self._table is None:
            self._table = pa.array(self.texts, pa.string())
        texts = self._table.take(pa.array(chosen.reshape(-1)))
        ends = np.arange(0, count * width + 1, width)
        offsets = np.frombuffer(texts.buffers()[1], np.int32, len(texts) + 1)[ends]
        return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), texts.buffers()[2]])


class StoryNarrator:
    """The narrator of one language, for blocks of stories."""

    def __init__(self, pack: LanguagePack, style: str) -> None:
        self.pack, self.style = pack, style
        self._fragments = Fragments(pack)
        starts = ["", *(prefix + pack.space for prefix in (*pack.connectives, *pack.times))]
        self._prefixes = len(starts)
        self._first_prefix = len(self._fragments.texts)
        self._fragments.texts += [*starts, *("\n" + start for start in starts)]
        templates = [(key, template) for key, name in enumerate(KEYS) for template in templates_of(pack, name)]
        self._start = np.searchsorted([key for key, _ in templates], np.arange(len(KEYS))).astype(np.int32)
        laid = [[_pieces(parts) for parts in (template.alone, template.after)] for _, template in templates]
        width = max(len(pieces) for both in laid for pieces in both)
        self._base = np.zeros((len(templates), 2, width), np.int32)
        self._role = np.full((len(templates), 2, width), _NOTHING, np.int32)
        for number, both in enumerate(laid):
            for order, pieces in enumerate(both):
                for place, (role, parts) in enumerate(pieces):
                    initial = order == 0 and place == 0
                    self._base[number, order, place] = self._fragments.add(role, parts, initial=initial)
                    self._role[number, order, place] = role
        self._female = np.array([noun.gender == FEMALE for noun in pack.agents])

    def narrate(self, stories: PlotArrays, lie: Flags, cast: Cast, draws: Draws) -> pa.Array:
        """Return the text of all stories, one sentence per line."""
        is_female = self._female[cast.agents]
        choices = choose(self.pack, self.style, stories, lie, is_female, draws)
        steps, count = stories.kind.shape
        words = np.zeros((len(ROLES) + 1, steps, count), np.int32)
        numbers = (stories.agent, stories.room, stories.thing, stories.container, stories.hearer)
        lists = (cast.agents, cast.rooms, cast.things, cast.containers, cast.agents)
        columns = np.arange(count)
        for role, (number, names) in enumerate(zip(numbers, lists, strict=True)):
            words[role] = names[np.maximum(number, 0), columns]
        female = self._female[words[0]]
        other = choices.subject != BY_NAME
        if other.any():
            stands = len(self._female) + 2 * (choices.subject == SILENT) + female
            words[0] = np.where(other, stands, words[0])
        template = self._start[choices.key] + choices.variant
        follows = (choices.prefix >= 0).astype(np.int32)
        base, role = self._base[template, follows], self._role[template, follows]
        where = role * np.int32(steps * count) + np.arange(steps * count, dtype=np.int32).reshape(steps, count, 1)
        chosen = np.empty((count, steps, 1 + base.shape[2]), np.int32)
        chosen[:, :, 1:] = (base + words.reshape(-1)[where]).transpose(1, 0, 2)
        chosen[:, :, 0] = choices.prefix.T + (1 + self._first_prefix)
        chosen[:, 1:, 0] += self._prefixes
        return self._fragments.take(chosen.reshape(count, -1))


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
        found = self._known.get((ask, count))
        if found is not None:
            return found
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
        order = (chain != NO_WORD).sum(axis=0)
        code = asked.astype(np.int64) * (len(chain) + 1) + order
        layouts = {
            int(each): self._layout(_ASKS[int(each) // (len(chain) + 1)], int(each) % (len(chain) + 1))
            for each in np.unique(code)
        }
        width = max((len(bases) for bases, _ in layouts.values()), default=1)
        chosen = np.zeros((len(thing), width), np.int32)
        for each, (bases, words) in layouts.items():
            rows = np.flatnonzero(code == each)
            count = each % (len(chain) + 1)
            known = np.concatenate([chain[:count, rows], [thing[rows], place[rows], np.zeros(len(rows), np.int32)]])
            chosen[rows, : len(bases)] = (known[words] + np.array(bases)[:, None]).T
        return self._fragments.take(chosen)


def word_question(pack: LanguagePack, question: NestedQuestion, forms: Mapping[str, Mapping[str, Forms]]) -> str:
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
