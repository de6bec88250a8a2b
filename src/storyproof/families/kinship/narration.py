"""Stories from arrays: facts are grouped, put in some order, worded by placeholders, and joined.

A chain is cut into pieces of one to three facts for which there are placeholders; each piece, and each noise fact, is a
line. All rows of a block are told at once: the choices are arrays, and the text is one `take` over a table of
fragments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.errors import ConfigError
from storyproof.families.kinship.placeholders import Key, Placeholders
from storyproof.families.kinship.puzzles import MEMORY, Puzzle
from storyproof.families.kinship.rules import Rules
from storyproof.families.kinship.text import placeholder_id
from storyproof.seeds import Draws

Numbers = npt.NDArray[np.int32]
LONGEST = 3  # facts that one placeholder tells
NOBODY = -1
_SLOT = re.compile(r"ENT_(\d)_(?:male|female)")


@dataclass(frozen=True, slots=True)
class Sheets:
    """What the telling of some puzzles has to know, as arrays [puzzle, …]; NOBODY where there is nothing.

    Attributes:
        k: Facts in the chain.
        pieces: [puzzle, place in the chain, choice], keys of the pieces that may begin there.
        lengths: The same, how many facts they tell.
        choices: [puzzle, place], how many there are.
        noise: [puzzle, noise fact], their keys.
        noise_people: [puzzle, noise fact, 2].
        asked: For a memory puzzle the place of the fact that is asked for; else NOBODY.
    """

    k: Numbers
    pieces: Numbers
    lengths: Numbers
    choices: Numbers
    noise: Numbers
    noise_people: Numbers
    asked: Numbers


@dataclass(frozen=True, slots=True)
class Lines:
    """How the rows of a block are told, as arrays [row, line].

    Attributes:
        used: Whether there is such a line.
        template: Which template it is worded by.
        people: [row, line, slot], who is in it.
        proves: Whether the answer rests on it.
    """

    used: npt.NDArray[np.bool_]
    template: Numbers
    people: Numbers
    proves: npt.NDArray[np.bool_]


class Teller:
    """Tells puzzles in the words of a collection of placeholders."""

    def __init__(self, rules: Rules, placeholders: Placeholders, names: Sequence[str]) -> None:
        self._rules = rules
        self._name = placeholders.name
        self._keys: dict[Key, int] = {}
        self._templates: list[str] = []
        self._owners: list[Key] = []
        starts: list[int] = []
        counts: list[int] = []
        for key, templates in placeholders.templates.items():
            if templates:
                self._keys[key] = len(starts)
                starts.append(len(self._templates))
                counts.append(len(templates))
                self._templates += [" ".join(template.split("\n")) for template in templates]  # a line each
                self._owners += [key] * len(templates)
        self._starts, self._counts = np.array(starts, np.int64), np.array(counts, np.int64)
        groups = dict.fromkeys(self._alike(key) for key in self._keys)
        number = {group: place for place, group in enumerate(groups)}
        self._groups = np.array([number[self._alike(key)] for key in self._keys], np.int64)
        self._names = list(names)

    def _alike(self, key: Key) -> tuple[str, ...]:
        """Give what keys of other genders share."""
        return tuple(self._rules.by_word[word][0] for word in key[0])

    @cached_property
    def id_array(self) -> pa.Array:
        """What each template is called."""
        ids = map(placeholder_id, self._owners, self._templates)
        return pa.array(list(ids), pa.string())

    @cached_property
    def _fragments(self) -> tuple[pa.Array, Numbers, Numbers]:
        """Cut templates at their slots.

        Returns:
            All fragments (texts, texts after a line break, names), and as [template, fragment] arrays the text before
            each slot and the slot; NOBODY where there is none.
        """
        texts: dict[str, int] = {}
        cut = [_SLOT.split(template) for template in self._templates]
        width = max(len(parts) // 2 + 1 for parts in cut)
        text = np.full((len(cut), width), NOBODY, np.int32)
        slot = np.full((len(cut), width), NOBODY, np.int32)
        for number, parts in enumerate(cut):
            for place, part in enumerate(parts[::2]):
                text[number, place] = texts.setdefault(part, len(texts))
            slot[number, : len(parts) // 2] = [int(part) for part in parts[1::2]]
        table = pa.array([*texts, *("\n" + part for part in texts), *self._names], pa.string())
        self._texts = len(texts)
        return table, text, slot

    def sheets(self, puzzles: Sequence[Puzzle]) -> Sheets:
        """Look up how the parts of puzzles can be told.

        Raises:
            ConfigError: If a fact cannot be told for want of a placeholder.
        """
        longest, noise = max(puzzle.k for puzzle in puzzles), max(len(puzzle.noise) for puzzle in puzzles)
        shape = len(puzzles), longest, LONGEST
        pieces, lengths = np.full(shape, NOBODY, np.int32), np.zeros(shape, np.int32)
        choices = np.zeros(shape[:2], np.int32)
        noise_keys = np.full((len(puzzles), noise), NOBODY, np.int32)
        noise_people = np.zeros((len(puzzles), noise, 2), np.int32)
        for number, puzzle in enumerate(puzzles):
            words = [self._rules.word(fact.predicate, puzzle.genders[fact.second]) for fact in puzzle.facts]
            for place in range(puzzle.k):
                for length in range(1, min(LONGEST, puzzle.k - place) + 1):
                    key = tuple(words[place : place + length]), puzzle.genders[place : place + length + 1]
                    found = self._keys.get(key)
                    if found is not None:
                        pieces[number, place, choices[number, place]] = found
                        lengths[number, place, choices[number, place]] = length
                        choices[number, place] += 1
                    elif length == 1:
                        raise self._wordless(key)
            for place, fact in enumerate(puzzle.facts[puzzle.k :]):
                key = (words[puzzle.k + place],), (puzzle.genders[fact.first], puzzle.genders[fact.second])
                if key not in self._keys:
                    raise self._wordless(key)
                noise_keys[number, place] = self._keys[key]
                noise_people[number, place] = fact.first, fact.second
        asked = [puzzle.query.first if puzzle.task == MEMORY else NOBODY for puzzle in puzzles]
        k = np.array([puzzle.k for puzzle in puzzles], np.int32)
        return Sheets(k, pieces, lengths, choices, noise_keys, noise_people, np.array(asked, np.int32))

    def _wordless(self, key: Key) -> ConfigError:
        return ConfigError(
            f"the placeholders '{self._name}' have none for '{key[0][0]}' with genders {'-'.join(key[1])}; "
            "every single relation must be tellable: add one, or use --text synthetic."
        )

    def lines(self, sheets: Sheets, puzzle: Numbers, draws: Draws) -> Lines:
        """Choose for each row how its puzzle is cut up, ordered and worded.

        Args:
            sheets: The puzzles.
            puzzle: Which of them each row is.
            draws: Where the choices come from.
        """
        rows, places = len(puzzle), sheets.pieces.shape[1]
        keys = np.full((rows, places + sheets.noise.shape[1]), NOBODY, np.int32)
        people = np.zeros((*keys.shape, LONGEST + 1), np.int32)
        proves = np.zeros(keys.shape, np.bool_)
        at, asked = np.zeros(rows, np.int32), sheets.asked[puzzle]
        everyone = np.arange(LONGEST + 1, dtype=np.int32)
        for step in range(places):
            going = at < sheets.k[puzzle]
            where = np.minimum(at, places - 1)
            choice = draws.below(np.maximum(sheets.choices[puzzle, where], 1), rows)
            keys[:, step] = np.where(going, sheets.pieces[puzzle, where, choice], NOBODY)
            length = np.where(going, sheets.lengths[puzzle, where, choice], 0)
            people[:, step] = at[:, None] + everyone
            proves[:, step] = (asked == NOBODY) | ((at <= asked) & (asked < at + length))
            at += length
        keys[:, places:] = sheets.noise[puzzle]
        people[:, places:, :2] = sheets.noise_people[puzzle]
        return self._worded(keys, people, proves, draws)

    def _worded(self, keys: Numbers, people: Numbers, proves: npt.NDArray[np.bool_], draws: Draws) -> Lines:
        """Put lines in random order, and choose a template for each."""
        used = keys != NOBODY
        order = draws.below(1 << 31, keys.size).reshape(keys.shape)
        order = np.argsort(np.where(used, order, 1 << 31), axis=1, kind="stable")
        keys, used, proves = (np.take_along_axis(array, order, axis=1) for array in (keys, used, proves))
        people = np.take_along_axis(people, order[:, :, None], axis=1)
        key = np.maximum(keys, 0).reshape(-1)
        number = draws.below(self._counts[key], key.size).reshape(keys.shape)
        number = _varied(number, self._groups[key].reshape(keys.shape), self._counts[key].reshape(keys.shape), used)
        template = self._starts[key].reshape(keys.shape) + number
        return Lines(used, template.astype(np.int32), people, proves & used)

    def tell(self, lines: Lines, names: Numbers) -> pa.Array:
        """Join lines to stories.

        Args:
            lines: How the rows are told.
            names: [row, person], numbers of names.
        """
        table, text, slot = self._fragments
        texts = text[lines.template]
        slots = slot[lines.template]
        rows = np.arange(len(names), dtype=np.int32)[:, None, None]
        who = np.take_along_axis(lines.people, np.maximum(slots, 0), axis=2)
        who = np.minimum(who, names.shape[1] - 1)  # of lines that are not there
        fragments = np.full((*texts.shape, 2), NOBODY, np.int32)
        texts[:, 1:, 0] += self._texts  # a line break before each line but the first
        fragments[..., 0] = texts
        fragments[..., 1] = np.where(slots != NOBODY, names[rows, who] + 2 * self._texts, NOBODY)
        fragments[~lines.used] = NOBODY
        flat = fragments.reshape(len(names), -1)
        chosen = flat != NOBODY
        ends = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))]).astype(np.int32)
        found = table.take(pa.array(flat[chosen]))
        offsets = np.frombuffer(found.buffers()[1], np.int32, len(found) + 1)[ends]
        return pa.Array.from_buffers(pa.string(), len(names), [None, pa.py_buffer(offsets), found.buffers()[2]])


def _varied(
    number: npt.NDArray[np.int64],
    group: npt.NDArray[np.int64],
    count: npt.NDArray[np.int64],
    used: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int64]:
    """Take the next template where a story has the same one twice, if only for other genders."""
    for line in range(1, number.shape[1]):
        for _ in range(line):
            same = (number[:, :line] == number[:, line, None]) & (group[:, :line] == group[:, line, None])
            again = (same & used[:, :line]).any(axis=1)
            if not again.any():
                break
            number[:, line] = (number[:, line] + again) % count[:, line]
    return number
