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

from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.benchmark import BLOCK_STORIES
from storyproof.columns import coded, constant_words, flag_lists, identity, number_lists, word_lists
from storyproof.example import SCHEMA
from storyproof.seeds import Draws
from storyproof.tom import beliefs
from storyproof.tom.agreement import confirm
from storyproof.tom.arrays import NOBODY, Flags
from storyproof.tom.labels import QUESTION_TYPES, STORY_TYPES, Codes, Questions, label, story_type
from storyproof.tom.lexicon import Cast
from storyproof.tom.readings import READINGS
from storyproof.tom.tomi_plots import (
    ANNE,
    SALLY,
    Plots,
    add_distractors,
    all_bare,
    balanced_cores,
    cells,
    keys,
    send_elsewhere,
    spell,
    swappable,
)
from storyproof.tom.tomi_text import told, told_names
from storyproof.tom.words import TomBenchmark, TomConfig, another, may_be_first

# The six questions in the published order: memory, what Anne believes, and believes of Sally; reality, and so on.
_QUESTIONS = (
    (True, ()),
    (False, (ANNE,)),
    (False, (ANNE, SALLY)),
    (False, ()),
    (False, (SALLY,)),
    (False, (SALLY, ANNE)),
)
_ASKED = len(_QUESTIONS)
_ORDERS = np.array([len(chain) for _, chain in _QUESTIONS], np.int8)


def ask(bare: Codes) -> Questions:
    """Ask the oracle the six questions of every plot."""
    count = bare.shape[1]
    zeros = np.zeros(count, np.int8)
    seen = beliefs.view(spell(bare), zeros)
    story = np.repeat(np.arange(count), _ASKED)
    chain = np.tile(np.array([(*chain, NOBODY, NOBODY)[:2] for _, chain in _QUESTIONS], np.int8).T, count)
    memory = np.tile(np.array([memory for memory, _ in _QUESTIONS]), count)
    labels = label(seen.pick(story), chain, memory, np.full(len(story), ANNE, np.int8))
    types = story_type(seen, zeros + np.int8(ANNE), zeros + np.int8(SALLY))
    return Questions(story, np.zeros(len(story), np.int8), chain, memory, types[story], labels)


@dataclass(frozen=True, slots=True)
class _Labels:
    """All that plots decide about their six questions, as [plot, question, …] arrays.

    Attributes:
        place: Which of the two containers is the answer.
        holds: Under which of READINGS it holds.
        proof: The sentences of the bare plot that it rests on.
        false_belief: Whether the belief is false.
        question_type: Index into QUESTION_TYPES.
        story_type: Index into STORY_TYPES.
    """

    place: npt.NDArray[np.int8]
    holds: Flags
    proof: Flags
    false_belief: Flags
    question_type: Codes
    story_type: Codes

    @classmethod
    def of(cls, questions: Questions) -> _Labels:
        """Lay the oracle's answers out by plot."""

        def by_plot(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.ascontiguousarray(array).reshape(-1, _ASKED, *array.shape[1:])

        labels = questions.labels
        return cls(
            place=by_plot(labels.place),
            holds=by_plot(labels.holds.T),
            proof=by_plot(labels.proof.T),
            false_belief=by_plot(labels.false_belief),
            question_type=by_plot(labels.question_type),
            story_type=by_plot(questions.story_type),
        )

    def pick(self, plots: npt.NDArray[np.intp]) -> _Labels:
        """Give the labels of the given plots."""
        return _Labels(*(getattr(self, item.name)[plots] for item in fields(self)))


@cache
def _proved() -> tuple[npt.NDArray[np.uint64], _Labels]:
    """Label every plot there can be, confirmed by the checker; gives their keys, sorted, and their labels."""
    bare = all_bare()
    questions = ask(bare)
    mover, other = (np.full(bare.shape[1], agent, np.int8) for agent in (ANNE, SALLY))
    confirm(spell(bare), questions, np.arange(bare.shape[1]), mover, other)
    return keys(bare), _Labels.of(questions)


class Tomi(TomBenchmark):
    """ToMi with proved labels; see the module."""

    name = "tomi"
    version = 1
    usual_stories = 999
    round = 3
    config_type = TomConfig
    readings = READINGS

    needed: ClassVar[dict[str, int]] = {"agents": 3, "rooms": 2, "containers": 2, "objects": 1}

    def rows_per_story(self, split: str) -> int:
        """Six questions a story."""
        return 6

    def plots(self, split: str, index: int) -> Plots:
        """Draw a block of balanced stories, without their words."""
        draws = Draws(*self.identity, split, index, "plot")
        return add_distractors(draws, cells()[0][:, balanced_cores(draws, BLOCK_STORIES)])

    def cast(self, split: str, index: int, swappable: Flags) -> tuple[Cast, Flags]:
        """Draw the words of a block's stories.

        Two stories could tell the same with other and third agent swapped, where the telling does not show which is
        which (`swappable`). There, of any two agents in any place only one may be the other: the third is the next one
        that fits.

        Returns:
            The words, and the stories for which no third agent fits.
        """
        draws = Draws(*self.identity, split, index, "words")
        words, number = self.vocabularies[split], self.lexicon.numbers
        mover, other, room, thing, before, after = self.castings[split](split, index * BLOCK_STORIES, BLOCK_STORIES)
        third = another(draws, len(words.agents), [mover, other])
        elsewhere = another(draws, len(words.rooms), [room])
        things = number((*words.containers, *words.objects))
        liked = things[draws.below(len(things), 2 * BLOCK_STORIES)].reshape(2, -1)
        agents, rooms = number(words.agents), number(words.rooms)
        visible = [agents[mover], rooms[room], number(words.objects)[thing]]
        visible += [number(words.containers)[place] for place in (before, after)]
        unfit = np.flatnonzero(swappable)
        for _ in agents:
            here = [part[unfit] for part in visible]
            taken = (third[unfit] == mover[unfit]) | (third[unfit] == other[unfit])
            fits = ~taken & may_be_first(agents[other[unfit]], agents[third[unfit]], here, self.seed)
            unfit = unfit[~fits]
            if not len(unfit):
                break
            third[unfit] = (third[unfit] + 1) % len(agents)
        alone = np.zeros(BLOCK_STORIES, np.bool_)
        alone[unfit] = True
        third = np.where(alone, another(draws, len(agents), [mover, other]), third) if len(unfit) else third
        cast = Cast(
            agents=agents[np.stack([mover, other, third])],
            rooms=rooms[np.stack([room, elsewhere])],
            things=np.concatenate([visible[2][None], liked]),
            containers=np.stack(visible[3:]),
        )
        return cast, alone

    def block(self, split: str, index: int) -> pa.Table:
        """Make one block: draw, label each plot by the oracle and have the checker confirm it, tell."""
        drawn = self.plots(split, index)
        cast, alone = self.cast(split, index, swappable(drawn.bare))
        drawn = send_elsewhere(drawn, alone) if alone.any() else drawn
        known, proved = _proved()
        labels = proved.pick(np.searchsorted(known, keys(drawn.bare)))
        words = self.lexicon.words
        questions, chains = self.lexicon.ask_alike(_QUESTIONS, cast)
        story = np.repeat(np.arange(BLOCK_STORIES, dtype=np.int32), _ASKED)
        answer = np.where(labels.place.reshape(-1) == 0, cast.containers[0][story], cast.containers[1][story])
        candidates = np.repeat(np.sort(cast.containers, axis=0).T, _ASKED, axis=0)
        sentences = np.repeat(drawn.sentence.T + np.int8(1), _ASKED, axis=0)
        columns = {
            **identity(self.name, split, index * BLOCK_STORIES, BLOCK_STORIES, _ASKED),
            "story": coded(story, self.lexicon.tell(*told(drawn), told_names(drawn, cast, len(words)))),
            "question": questions,
            "answer": coded(answer, words),
            "candidates": word_lists(words, candidates),
            "question_type": coded(labels.question_type.reshape(-1), constant_words(QUESTION_TYPES)),
            "order": pa.array(np.tile(_ORDERS, BLOCK_STORIES)),
            "chain": chains,
            "story_type": coded(labels.story_type.reshape(-1), constant_words(STORY_TYPES)),
            "false_belief": pa.array(labels.false_belief.reshape(-1)),
            "readings": flag_lists(labels.holds.reshape(-1, len(READINGS)), constant_words(READINGS)),
            "proof": number_lists(labels.proof.reshape(-1, len(drawn.bare)), sentences),
        }
        return pa.table([columns[name] for name in SCHEMA.names], schema=SCHEMA)
