"""Narration: facts are grouped, put in random order, worded by placeholders, and joined into stories.

A chain is cut into pieces of one to three facts for which there are placeholders; each piece, and each noise fact, is a
line. All rows of a block are narrated at once: the choices are arrays, and the text is one `take` over a table of
fragments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.errors import ConfigError
from storyproof.families.kinship.generation.puzzle_table import PuzzleArrays
from storyproof.families.kinship.placeholders.collection import Key, Placeholders
from storyproof.families.kinship.relations import GENDERS
from storyproof.families.kinship.rules import RuleSet
from storyproof.families.kinship.tasks import MEMORY, TASKS
from storyproof.families.kinship.templates import placeholder_id
from storyproof.generation.seeds import Draws

Numbers = npt.NDArray[np.int32]
LONGEST = 3  # the most facts that one placeholder states
NOBODY = -1
_SLOT = re.compile(r"ENT_(\d)_(?:male|female)")


@dataclass(frozen=True, slots=True)
class Wordings:
    """How the parts of some puzzles can be worded, as arrays [puzzle, …]; NOBODY where there is nothing.

    Attributes:
        k: The number of facts in the chain.
        pieces: [puzzle, place in the chain, choice], the keys of pieces that may begin there.
        lengths: The same, the number of facts that they state.
        choices: [puzzle, place], the number of such pieces.
        noise: [puzzle, noise fact], the keys of noise facts.
        noise_people: [puzzle, noise fact, 2], their people.
        asked: The place of the fact that a memory puzzle asks for; else NOBODY.
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
    """The lines of the rows of a block, as arrays [row, line].

    Attributes:
        used: Whether the row has such a line.
        template: The number of its template.
        people: [row, line, slot], the people in its slots.
        proves: Whether the proof needs it.
    """

    used: npt.NDArray[np.bool_]
    template: Numbers
    people: Numbers
    proves: npt.NDArray[np.bool_]


class ToldRows(NamedTuple):
    """Stories, as the narrators of all kinds of text return them.

    Attributes:
        story: The texts.
        proves: Whether the answer rests on a line, [row, line].
        template: The number of the placeholder of each line, NOBODY after the last; None if there are none.
    """

    story: pa.Array
    proves: npt.NDArray[np.bool_]
    template: Numbers | None = None


class PuzzleNarrator:
    """Narrates puzzles in the words of a collection of placeholders."""

    def __init__(self, rules: RuleSet, placeholders: Placeholders, names: Sequence[str]) -> None:
        """Number the texts.

        Args:
            rules: The rules that define relations.
            placeholders: The texts.
            names: The names of people.
        """
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
                self._templates += [" ".join(template.split("\n")) for template in templates]  # one line each
                self._owners += [key] * len(templates)
        self._starts, self._counts = np.array(starts, np.int64), np.array(counts, np.int64)
        groups = dict.fromkeys(self._alike(key) for key in self._keys)
        number = {group: place for place, group in enumerate(groups)}
        self._groups = np.array([number[self._alike(key)] for key in self._keys], np.int64)
        self._names = list(names)

    def _alike(self, key: Key) -> tuple[str, ...]:
        """Return what keys that differ only in genders have in common."""
        return tuple(self._rules.by_word[word][0] for word in key[0])

    @cached_property
    def id_array(self) -> pa.Array:
        """The id of each template."""
        each = zip(self._owners, self._templates, strict=True)
        return pa.array([placeholder_id(key, template) for key, template in each], pa.string())

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

    @cached_property
    def _pieces(self) -> list[Numbers]:
        """The keys of one, two and three facts by the gender of the first person and the numbers of the words."""
        words = len(self._rules.predicates) * len(GENDERS)
        keys = [np.full((len(GENDERS), *[words] * length), NOBODY, np.int32) for length in range(1, LONGEST + 1)]
        for (relations, genders), number in self._keys.items():
            parts = [self._rules.by_word[relation] for relation in relations]
            numbers = [self._rules.number[name] * len(GENDERS) + GENDERS.index(gender) for name, gender in parts]
            keys[len(relations) - 1][GENDERS.index(genders[0]), *numbers] = number
        return keys

    def find_wordings(self, puzzles: PuzzleArrays) -> Wordings:
        """Return how the parts of puzzles can be worded.

        Raises:
            ConfigError: If there is no placeholder for a fact.
        """
        longest = int(puzzles.k.max())
        first, second = (np.maximum(people, 0) for people in (puzzles.first, puzzles.second))
        genders = np.take_along_axis(puzzles.genders, first, axis=1)
        words = puzzles.predicate * len(GENDERS) + np.take_along_axis(puzzles.genders, second, axis=1)
        single = np.where(puzzles.first != NOBODY, self._pieces[0][genders, np.maximum(words, 0)], NOBODY)
        if ((single == NOBODY) & (puzzles.first != NOBODY)).any():
            raise self._no_placeholder(puzzles, words, genders)
        shape = len(puzzles), longest, LONGEST
        pieces, lengths = np.full(shape, NOBODY, np.int32), np.zeros(shape, np.int32)
        in_chain = np.arange(longest) < puzzles.k[:, None]
        pieces[:, :, 0] = np.where(in_chain, single[:, :longest], NOBODY)
        lengths[:, :, 0] = in_chain
        choices = in_chain.astype(np.int32)
        for length in range(2, min(LONGEST, longest) + 1):
            start = longest - length + 1
            several = [words[:, place : place + start] for place in range(length)]
            wordings = np.full((len(puzzles), longest), NOBODY, np.int32)
            wordings[:, :start] = self._pieces[length - 1][genders[:, :start], *several]
            fits = (wordings != NOBODY) & (np.arange(longest) + length <= puzzles.k[:, None])
            row, place = np.nonzero(fits)
            pieces[row, place, choices[row, place]] = wordings[row, place]
            lengths[row, place, choices[row, place]] = length
            choices += fits
        noise, noise_people = self._noise(puzzles, single)
        remembered = np.where(puzzles.task == TASKS.index(MEMORY), puzzles.asked[:, 0], NOBODY)
        return Wordings(puzzles.k, pieces, lengths, choices, noise, noise_people, remembered.astype(np.int32))

    def _noise(self, puzzles: PuzzleArrays, keys: Numbers) -> tuple[Numbers, Numbers]:
        """Return the keys of noise facts and their people, [puzzle, noise fact]."""
        counts = puzzles.facts - puzzles.k
        place = puzzles.k[:, None] + np.arange(int(counts.max()))
        used = place < puzzles.facts[:, None]
        place = np.minimum(place, keys.shape[1] - 1)
        noise_keys, first, second = (
            np.take_along_axis(array, place, axis=1) for array in (keys, puzzles.first, puzzles.second)
        )
        return np.where(used, noise_keys, NOBODY), np.where(used[:, :, None], np.stack([first, second], axis=2), 0)

    def _no_placeholder(self, puzzles: PuzzleArrays, words: Numbers, genders: Numbers) -> ConfigError:
        """Return the error for the first fact that cannot be worded."""
        lacking = (self._pieces[0][genders, words] == NOBODY) & (puzzles.first != NOBODY)
        row, place = (int(each[0]) for each in np.nonzero(lacking))
        predicate, second = divmod(int(words[row, place]), len(GENDERS))
        first = GENDERS[genders[row, place]]
        word = self._rules.word(self._rules.predicates[predicate].name, GENDERS[second])
        return ConfigError(
            f"the placeholders '{self._name}' have none for '{word}' with genders {first}-{GENDERS[second]}; "
            "every single relation needs a placeholder: add one, or use --text synthetic."
        )

    def choose_lines(self, wordings: Wordings, puzzle: Numbers, draws: Draws) -> Lines:
        """Choose for each row how its puzzle is cut into lines, ordered and worded.

        Args:
            wordings: How the puzzles can be worded.
            puzzle: The number of each row's puzzle.
            draws: Random draws for the choices.
        """
        rows, places = len(puzzle), wordings.pieces.shape[1]
        keys = np.full((rows, places + wordings.noise.shape[1]), NOBODY, np.int32)
        people = np.zeros((*keys.shape, LONGEST + 1), np.int32)
        proves = np.zeros(keys.shape, np.bool_)
        at, remembered = np.zeros(rows, np.int32), wordings.asked[puzzle]
        everyone = np.arange(LONGEST + 1, dtype=np.int32)
        for step in range(places):
            going = at < wordings.k[puzzle]
            where = np.minimum(at, places - 1)
            choice = draws.below(np.maximum(wordings.choices[puzzle, where], 1), rows)
            keys[:, step] = np.where(going, wordings.pieces[puzzle, where, choice], NOBODY)
            length = np.where(going, wordings.lengths[puzzle, where, choice], 0)
            people[:, step] = at[:, None] + everyone
            proves[:, step] = (remembered == NOBODY) | ((at <= remembered) & (remembered < at + length))
            at += length
        keys[:, places:] = wordings.noise[puzzle]
        people[:, places:, :2] = wordings.noise_people[puzzle]
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

    def tell(self, puzzles: PuzzleArrays, names: Numbers, draws: Draws) -> ToldRows:
        """Narrate the puzzles of rows.

        Args:
            puzzles: The puzzle of each row.
            names: Numbers of names, [row, person].
            draws: Random draws for all choices.
        """
        lines = self.choose_lines(self.find_wordings(puzzles), np.arange(len(puzzles), dtype=np.int32), draws)
        template = np.where(lines.used, lines.template, NOBODY).astype(np.int32)
        return ToldRows(self.narrate(lines, names), lines.proves, template)

    def narrate(self, lines: Lines, names: Numbers) -> pa.Array:
        """Return the stories of rows.

        Args:
            lines: Their lines.
            names: Numbers of names, [row, person].
        """
        table, text, slot = self._fragments
        texts = text[lines.template]
        slots = slot[lines.template]
        rows = np.arange(len(names), dtype=np.int32)[:, None, None]
        who = np.take_along_axis(lines.people, np.maximum(slots, 0), axis=2)
        who = np.minimum(who, names.shape[1] - 1)  # for lines that are not used
        fragments = np.full((*texts.shape, 2), NOBODY, np.int32)
        texts[:, 1:, 0] += self._texts  # a line break before each line but the first
        fragments[..., 0] = texts
        fragments[..., 1] = np.where(slots != NOBODY, names[rows, who] + 2 * self._texts, NOBODY)
        fragments[~lines.used] = NOBODY
        flat = fragments.reshape(len(names), -1)
        chosen = flat != NOBODY
        ends = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))]).astype(np.int32)
        stories = table.take(pa.array(flat[chosen]))
        offsets = np.frombuffer(stories.buffers()[1], np.int32, len(stories) + 1)[ends]
        return pa.Array.from_buffers(pa.string(), len(names), [None, pa.py_buffer(offsets), stories.buffers()[2]])


def _varied(
    number: npt.NDArray[np.int64],
    group: npt.NDArray[np.int64],
    count: npt.NDArray[np.int64],
    used: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int64]:
    """Take the next template where a story would have the same one twice, possibly for other genders."""
    for line in range(1, number.shape[1]):
        for _ in range(line):
            same = (number[:, :line] == number[:, line, None]) & (group[:, :line] == group[:, line, None])
            again = (same & used[:, :line]).any(axis=1)
            if not again.any():
                break
            number[:, line] = (number[:, line] + again) % count[:, line]
    return number
