"""tomi-matched: ToMi without what its stories give away to a reader who does not follow who saw what.

World: a mover and three companions, one room, one object, two containers. All enter, the object is placed, the mover
leaves, comes back, moves it and leaves again; each companion leaves, comes back and leaves. In every story one
companion comes to a true belief (half of them there at the move, half back in time to be shown), one to a false belief,
and one makes it a second-order false belief; all three do the same, at other times (`matched_plots`). Questions: the
six of `tomi`, about the mover and one companion. Splits differ in their stories, and on request in their words.

Whom the questions are about is drawn independently of the telling: stories come in threes that are told alike but for
the words, each asked about another companion. So who cannot tell the companions apart, or not in which order they come
and go, cannot tell the type of a story; and who gives every telling the same answers gets no more than the structure of
the six questions forces: 5/6 on average and 1/3 of the stories, in every prefix of whole threes.

The object is spoken of twice after the move ("The key is in the jar."), once with the mover there and once without, and
the mover leaves once before the move. Without this the answers would hang on a reading: whether who returns sees where
the object is (`closed`), and whether it blames whom it left there (`infer-mover`). As it is, all readings agree on all
answers.

Known artefacts: the object is moved exactly once, and the mover knows where it is; memory, reality and the mover's own
belief are the same positions in every story. Of the three companions the first to leave for good has the false belief,
and the last to come back makes the second-order one, so who follows each of them can do without mover and object. The
first must be so with one move and a companion of each type in every story, the second as long as each comes back once.
Who knows the answers to two stories of a three knows the type of the third, so whoever cuts a split into folds should
keep threes together. Nothing is told after the last core sentence.

Source: after Le, Boureau and Nickel (2019), whose questions, statements and sentences it keeps.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.columns import identity
from storyproof.families.belief.casts import TomBenchmark, TomConfig, another
from storyproof.families.belief.lexicon import Cast
from storyproof.families.belief.matched_plots import AGENTS, SCRIPT, draw_plots, of_pair, pair_plots
from storyproof.families.belief.questions import ASKED, MOVER, Answers, lay_out, prove
from storyproof.families.belief.readings import READINGS
from storyproof.families.belief.scripts import keys, told_names
from storyproof.families.belief.statements import Plots
from storyproof.seeds import Draws, Indices


@cache
def _proved() -> tuple[npt.NDArray[np.uint64], Answers]:
    """Answer the questions of every plot of two people; gives their keys, sorted, and the answers."""
    bare = pair_plots()
    order = np.argsort(keys(bare))
    return keys(bare)[order], prove(SCRIPT.spell(bare[:, order]))


class TomiMatched(TomBenchmark):
    """ToMi with matched stories; see the module."""

    name = "tomi-matched"
    version = 1
    usual_stories = 999
    round = 3
    config_type = TomConfig
    readings = READINGS
    formats = ("tomi",)

    needed: ClassVar[dict[str, int]] = {"agents": AGENTS, "rooms": 1, "containers": 2, "objects": 1}

    def rows_per_story(self, split: str) -> int:
        """Six questions a story."""
        return ASKED

    def plots(self, split: str, index: int) -> tuple[Plots, Indices]:
        """Draw a block of stories without their words, and whom each is asked about."""
        return draw_plots(Draws(*self.identity, split, index, "plot"), self.block_stories)

    def cast(self, split: str, index: int) -> Cast:
        """Draw the words of a block's stories.

        The mover and one companion, room, object and containers are handed out never the same twice. A telling shows
        which companion that is by what it does, whoever is asked about, so no two stories tell the same.
        """
        draws = Draws(*self.identity, split, index, "words")
        words, number = self.vocabularies[split], self.lexicon.numbers
        mover, first, room, thing, before, after = self.castings[split](
            split, index * self.block_stories, self.block_stories
        )
        agents = [mover, first]
        while len(agents) < AGENTS:
            agents.append(another(draws, len(words.agents), agents))
        return Cast(
            agents=number(words.agents)[np.stack(agents)],
            rooms=number(words.rooms)[room][None],
            things=np.concatenate([number(words.objects)[thing][None], self.draw_liked(draws, split)]),
            containers=number(words.containers)[np.stack([before, after])],
        )

    def block(self, split: str, index: int) -> pa.Table:
        """Make one block: draw, look the answers of the two who are asked about up, tell."""
        drawn, asked = self.plots(split, index)
        cast = self.cast(split, index)
        pair, sentences = of_pair(drawn, asked)
        known, proved = _proved()
        answers = proved.pick(np.searchsorted(known, keys(pair)))
        texts = self.lexicon.tell(*SCRIPT.told(drawn), told_names(drawn, cast, len(self.lexicon.words)))
        who = identity(self.name, split, index * self.block_stories, self.block_stories, ASKED)
        two = np.stack([cast.agents[MOVER], cast.agents[asked, np.arange(self.block_stories)]])
        about = Cast(two, cast.rooms, cast.things, cast.containers)
        return lay_out(self.lexicon, who, texts, about, answers, sentences)
