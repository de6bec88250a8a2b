"""ToMi: one randomised generator for all stories, six questions each, balanced by rejection.

World: two agents and a third who comes and goes, two rooms, one object, two containers. Somebody moves the object;
whoever is out of the room misses it. Questions: memory, reality, and what either agent believes and believes of the
other. Splits differ in their stories, and on request in their words.

Known artefacts, kept because the paper's algorithms make them: every second-order false-belief story has the same four
actions (exit, move, exit, re-entry); the object is moved exactly once; nothing is told after the last core sentence.

Source: Le, Boureau and Nickel, "Revisiting the Evaluation of Theory of Mind through Question Answering" (2019) and the
three algorithms of its supplement, with the labels taken from the oracle after all sentences are in.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.benchmark import BLOCK_STORIES, Benchmark
from storyproof.example import SPLITS
from storyproof.seeds import Draws
from storyproof.tom import beliefs
from storyproof.tom.agreement import confirm
from storyproof.tom.arrays import NOBODY
from storyproof.tom.labels import Codes, Questions, join, label, story_type
from storyproof.tom.readings import READINGS
from storyproof.tom.tables import Cast, Lexicon, identity, in_words, number_lists, table
from storyproof.tom.tomi_plots import ANNE, SALLY, Plots, add_distractors, balanced_cores, cells, keys, spell
from storyproof.tom.words import Casting, TomConfig, another, split_vocabulary

_NEEDED = {"agents": 3, "rooms": 2, "containers": 2, "objects": 1}

# The six questions in the published order: memory, what Anne believes, and believes of Sally; reality, and so on.
_CHAINS = np.array([(NOBODY, NOBODY), (ANNE, NOBODY), (ANNE, SALLY)] * 2, np.int8)
_CHAINS[4:] = [(SALLY, NOBODY), (SALLY, ANNE)]
_MEMORY = np.array([True] + [False] * 5)
_ASKED = len(_CHAINS)


def ask(bare: Codes) -> Questions:
    """Ask the oracle the six questions of every plot."""
    count = bare.shape[1]
    zeros = np.zeros(count, np.int8)
    seen = beliefs.view(spell(bare), zeros)
    story = np.repeat(np.arange(count), _ASKED)
    chain = np.tile(_CHAINS.T, count)
    memory = np.tile(_MEMORY, count)
    labels = label(seen.pick(story), chain, memory, np.full(len(story), ANNE, np.int8))
    types = story_type(seen, zeros + np.int8(ANNE), zeros + np.int8(SALLY))
    return Questions(story, np.zeros(len(story), np.int8), chain, memory, types[story], labels)


class _Proved:
    """Answers by plot. Some thousand plots underlie all stories, so oracle and checker meet each plot once."""

    def __init__(self) -> None:
        self._keys = np.empty(0, np.uint64)
        self._learnt: list[Questions] = []

    def __call__(self, bare: Codes) -> Questions:
        """Give the six questions of every plot with their answers."""
        wanted = keys(bare)
        distinct, first, which = np.unique(wanted, return_index=True, return_inverse=True)
        new = ~np.isin(distinct, self._keys, assume_unique=True)
        if new.any():
            self._learn(distinct[new], bare[:, first[new]])
        order = np.argsort(self._keys)
        slot = order[np.searchsorted(self._keys, distinct, sorter=order)][which]
        rows = (slot[:, None] * _ASKED + np.arange(_ASKED)).reshape(-1)
        return self._learnt[0].pick(rows, story=np.repeat(np.arange(len(wanted)), _ASKED))

    def _learn(self, new_keys: npt.NDArray[np.uint64], bare: Codes) -> None:
        questions = ask(bare)
        mover, other = (np.full(bare.shape[1], agent, np.int8) for agent in (ANNE, SALLY))
        confirm(spell(bare), questions, np.arange(bare.shape[1]), mover, other)
        self._keys = np.concatenate([self._keys, new_keys])
        self._learnt = [join([*self._learnt, questions])]


class Tomi(Benchmark):
    """ToMi with proved labels; see the module."""

    name = "tomi"
    version = 1
    usual_stories = 999
    round = 3
    config_type = TomConfig
    readings = READINGS

    config: TomConfig

    def __init__(self, config: TomConfig | None = None, seed: int = 0) -> None:
        super().__init__(config or TomConfig(), seed)
        self.vocabularies = {split: split_vocabulary(self.config, seed, split, _NEEDED, self.name) for split in SPLITS}
        self._proved = _Proved()

    @cached_property
    def _lexicon(self) -> Lexicon:
        vocabulary = self.config.vocabulary
        return Lexicon((*vocabulary.agents, *vocabulary.rooms, *vocabulary.containers, *vocabulary.objects))

    @cached_property
    def _castings(self) -> dict[str, Casting]:
        return {split: Casting(self.vocabularies[split], *self.identity) for split in SPLITS}

    def rows_per_story(self, split: str) -> int:
        """Six questions a story."""
        return 6

    def capacity(self, split: str) -> int:
        """As many stories as there are casts of visible words."""
        return self._castings[split].capacity

    def plots(self, split: str, index: int) -> Plots:
        """Draw a block of balanced stories, without their words."""
        draws = Draws(*self.identity, split, index, "plot")
        return add_distractors(draws, cells()[0][:, balanced_cores(draws, BLOCK_STORIES)])

    def cast(self, split: str, index: int) -> Cast:
        """Draw the words of a block's stories."""
        draws = Draws(*self.identity, split, index, "words")
        words = self.vocabularies[split]
        mover, other, room, thing, before, after = self._castings[split](split, index * BLOCK_STORIES, BLOCK_STORIES)
        third = another(draws, len(words.agents), [mover, other])
        elsewhere = another(draws, len(words.rooms), [room])
        number = self._lexicon.numbers
        things = number((*words.containers, *words.objects))
        liked = things[draws.below(len(things), 2 * BLOCK_STORIES)].reshape(2, -1)
        return Cast(
            agents=number(words.agents)[np.stack([mover, other, third])],
            rooms=number(words.rooms)[np.stack([room, elsewhere])],
            things=np.concatenate([number(words.objects)[thing][None], liked]),
            containers=number(words.containers)[np.stack([before, after])],
        )

    def block(self, split: str, index: int) -> pa.Table:
        """Make one block: draw, label each plot by the oracle and have the checker confirm it, tell."""
        drawn, cast = self.plots(split, index), self.cast(split, index)
        questions = self._proved(drawn.bare)
        proof = number_lists(questions.labels.proof, np.repeat(drawn.sentence + np.int8(1), _ASKED, axis=1))
        texts = self._lexicon.narrate(drawn.stories(), cast)
        who = identity(self.name, split, index * BLOCK_STORIES, BLOCK_STORIES, _ASKED)
        return table(self._lexicon, texts, who, in_words(questions, cast), proof)
