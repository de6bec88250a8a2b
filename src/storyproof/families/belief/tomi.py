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

from functools import cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.columns import identity
from storyproof.families.belief.arrays import Flags
from storyproof.families.belief.casts import TomBenchmark, TomConfig, another, may_be_first
from storyproof.families.belief.lexicon import Cast
from storyproof.families.belief.questions import ASKED, Answers, lay_out, prove
from storyproof.families.belief.readings import READINGS
from storyproof.families.belief.scripts import keys, told_names
from storyproof.families.belief.statements import Plots
from storyproof.families.belief.tomi_plots import (
    SCRIPT,
    add_distractors,
    all_bare,
    balanced_cores,
    cells,
    send_elsewhere,
    swappable,
)
from storyproof.seeds import Draws


@cache
def _proved() -> tuple[npt.NDArray[np.uint64], Answers]:
    """Answer the questions of every plot there can be; gives their keys, sorted, and the answers."""
    bare = all_bare()
    return keys(bare), prove(SCRIPT.spell(bare))


class Tomi(TomBenchmark):
    """ToMi with proved labels; see the module."""

    name = "tomi"
    version = 1
    usual_stories = 999
    round = 3
    config_type = TomConfig
    readings = READINGS
    formats = ("tomi",)

    needed: ClassVar[dict[str, int]] = {"agents": 3, "rooms": 2, "containers": 2, "objects": 1}

    def rows_per_story(self, split: str) -> int:
        """Six questions a story."""
        return ASKED

    def plots(self, split: str, index: int) -> Plots:
        """Draw a block of balanced stories, without their words."""
        draws = Draws(*self.identity, split, index, "plot")
        return add_distractors(draws, cells()[0][:, balanced_cores(draws, self.block_stories)])

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
        mover, other, room, thing, before, after = self.castings[split](
            split, index * self.block_stories, self.block_stories
        )
        third = another(draws, len(words.agents), [mover, other])
        elsewhere = another(draws, len(words.rooms), [room])
        liked = self.draw_liked(draws, split)
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
        alone = np.zeros(self.block_stories, np.bool_)
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
        answers = proved.pick(np.searchsorted(known, keys(drawn.bare)))
        texts = self.lexicon.tell(*SCRIPT.told(drawn), told_names(drawn, cast, len(self.lexicon.words)))
        who = identity(self.name, split, index * self.block_stories, self.block_stories, ASKED)
        return lay_out(self.lexicon, who, texts, cast, answers, drawn.sentence)
