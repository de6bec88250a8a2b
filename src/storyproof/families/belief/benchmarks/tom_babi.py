"""The benchmarks `tom-babi` and `tom-babi-easy`: scenarios by template."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.benchmark import option
from storyproof.example import SPLITS
from storyproof.families.belief.arrays import NOBODY, Flags, PlotArrays, Small
from storyproof.families.belief.benchmarks.base import BeliefBenchmark, BeliefConfig, others
from storyproof.families.belief.columns import in_words, table
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.plot_index import Plot
from storyproof.families.belief.restriction import focus
from storyproof.families.belief.tomi_labels import Questions, ask_plainly, confirm, label, story_type
from storyproof.families.belief.world import EventKind
from storyproof.generation.arrow_columns import identity, number_lists
from storyproof.generation.seeds import Draws, Indices

TASKS = ("tb", "fb", "sofb")
QUESTIONS = ("memory", "reality", "search", "belief")
_KINDS = len(TASKS) * len(QUESTIONS)
_AGENTS, _ROOMS = 4, 6
_ACTS = 7


@dataclass(frozen=True)
class TomBabiConfig(BeliefConfig):
    """Settings of ToM-bAbI.

    Attributes:
        noise: The probability of an unrelated sentence before each sentence and before the question.
    """

    noise: float = field(
        default=0.1, metadata=option("How likely a distractor sentence is.", read=float, default="0.1", least=0, most=1)
    )


Field = Indices | int
Step = tuple[Field, Field, Field, Field, Field]  # kind, agent, room, thing, container


@dataclass(frozen=True, slots=True)
class ScenarioPlan:
    """What happens in each scenario of each story, as [scenario, story] arrays of local numbers."""

    task: Indices
    question: Indices
    mover: Indices
    other: Indices
    room: Indices
    thing: Indices


class TomBabi(BeliefBenchmark):
    """ToM-bAbI: true, false and second-order false belief by template, several scenarios per story.

    World: four agents, six rooms with two containers and two objects each. A scenario: two agents are in a room, an
    object is named, the first agent moves it; for a false belief the second has left before; for a second-order false
    belief the first then leaves and the second comes back.

    Questions: memory (where the object was when the story began), reality, where the second agent searches, and what
    the first believes about that. Types of belief and questions come in equal numbers.

    Splits: a training story is five scenarios of mixed types, each followed by its question; a val or test story is
    four of one type with a question about the last.

    Known artefacts, which are the benchmark's own: strict templates, so that `rules` answers everything without looking
    at the agents; the belief asked for is always the second agent's, or the first's about the second's.

    Sources: Nematzadeh et al., "Evaluating Theory of Mind in Question Answering" (2018); Le, Boureau and Nickel (2019).
    """

    name = "tom-babi"
    version = 1
    usual_counts: ClassVar[dict[str, int]] = dict.fromkeys(SPLITS, 1200)
    round = _KINDS
    config_type = TomBabiConfig
    formats = ("tom-babi",)

    config: TomBabiConfig
    scenarios: ClassVar[dict[str, int]] = {"train": 5, "val": 4, "test": 4}
    needed: ClassVar[dict[str, int]] = {
        "agents": _AGENTS,
        "rooms": _ROOMS,
        "containers": 2 * _ROOMS,
        "objects": 2 * _ROOMS,
    }

    @classmethod
    def breach(cls, plot: Plot, thing: int) -> str | None:
        """Return whether somebody else than the first agent of the scenario moves the object."""
        scene = plot.scene(thing)
        return (
            None if scene.mover == scene.leader else "the object is not moved by the one who came into the scene first"
        )

    def rows_per_story(self, split: str) -> int:
        """Return the number of questions: one per scenario in training, else one."""
        return self.scenarios[split] if split == "train" else 1

    def plan(self, draws: Draws, split: str) -> ScenarioPlan:
        """Draw what happens, in rounds that have every task with every question equally often."""
        count, scenarios, asked = self.block_stories, self.scenarios[split], self.rows_per_story(split)
        size = _KINDS * asked
        mixed = draws.orders(count // _KINDS, size) % _KINDS
        kinds = mixed.reshape(count, asked).T
        if asked == 1:
            kinds = np.broadcast_to(kinds, (scenarios, count))
        shape = (scenarios, count)
        mover = draws.below(_AGENTS, scenarios * count).reshape(shape)
        other = draws.below(_AGENTS - 1, scenarios * count).reshape(shape)
        other += other >= mover
        room = draws.below(_ROOMS, scenarios * count).reshape(shape)
        thing = 2 * room + draws.below(2, scenarios * count).reshape(shape)
        mover[0], other[0], room[0], thing[0] = 0, 1, 0, 0  # the first scenario's names make the story unique
        return ScenarioPlan(kinds // len(QUESTIONS), kinds % len(QUESTIONS), mover, other, room, thing)

    def cast(self, split: str, index: int) -> Cast:
        """Draw the words of a block's stories; a room's things and containers are numbered with it."""
        draws = Draws(*self.identity, split, index, "words")
        words, number = self.vocabularies[split], self.narrator.numbers
        mover, other, room, thing, before, after = self.casts[split](
            split, index * self.block_stories, self.block_stories
        )

        def fill(taken: list[Indices], role: str) -> npt.NDArray[np.int32]:
            known: tuple[str, ...] = getattr(words, role)
            return number(known)[np.stack(others(draws, len(known), taken, self.needed[role]))]

        return Cast(
            fill([mover, other], "agents"),
            fill([room], "rooms"),
            fill([thing], "objects"),
            fill([before, after], "containers"),
        )

    def block(self, split: str, index: int) -> pa.Table:
        """Generate one block: plan, act, label by the oracle, confirm every story by the checker, narrate."""
        return self.beginning(split, index, self.block_stories)

    def beginning(self, split: str, index: int, stories: int) -> pa.Table:
        """Generate the first stories of a block; only these are labelled, confirmed and narrated."""
        draws = Draws(*self.identity, split, index, "plan")
        plan = self.plan(draws, split)
        acted, ends = act(plan, draws, self.config.noise)
        asked = self.rows_per_story(split)
        at = np.arange(len(ends) - asked, len(ends))  # the scenarios that are followed by a question
        row_story = np.repeat(np.arange(stories), asked)
        scenario = np.tile(at, stories)
        mover, other, thing = (
            numbers[scenario, row_story].astype(np.int8) for numbers in (plan.mover, plan.other, plan.thing)
        )
        heard = ends[scenario, row_story]
        about = focus(acted, row_story, thing, np.stack([mover, other]), heard)
        questions = _ask(about.stories, row_story, mover, other, thing, plan.question[scenario, row_story])
        confirm(acted.pick(row_story).until(heard), replace(questions, story=np.arange(len(row_story))), mover, other)
        cast = self.cast(split, index)
        home = 2 * plan.room[scenario, row_story]
        candidates = np.sort(cast.containers[np.stack([home, home + 1]), row_story], axis=0)
        first = np.arange(stories)
        who = identity(self.name, split, index * self.block_stories, stories, asked)
        told = acted.pick(first)
        return table(
            self.narrator,
            self.narrator.narrate(told, cast.pick(first), ends[at, :stories]),
            who,
            in_words(questions, cast, candidates),
            number_lists(questions.labels.proof.T, about.time.T + np.int16(1)),
        )


class TomBabiEasy(TomBabi):
    """ToM-bAbI with one scenario per story.

    World: two agents, one room with two containers and one object; otherwise a scenario of `tom-babi`.

    Questions: one per story, of the kinds of `tom-babi`.

    Splits: all have the same form.

    Known artefacts and Sources: those of `tom-babi`.
    """

    name = "tom-babi-easy"
    scenarios: ClassVar[dict[str, int]] = {"train": 1, "val": 1, "test": 1}
    needed: ClassVar[dict[str, int]] = {"agents": 2, "rooms": 1, "containers": 2, "objects": 1}


def act(plan: ScenarioPlan, draws: Draws, noise: float) -> tuple[PlotArrays, Indices]:
    """Turn scenarios into sentences.

    Returns:
        The stories, and after how many sentences each scenario is over, [scenario, story].
    """
    scenarios, count = plan.task.shape
    columns = np.arange(count)
    where = np.full((_AGENTS, count), NOBODY)
    side = np.zeros((2 * _ROOMS, count), np.int64)  # in which of its room's two containers each object is
    side[1:] = draws.below(2, (2 * _ROOMS - 1) * count).reshape(-1, count)
    threshold = round(noise * 2**31)
    steps: list[Step] = []
    present = []
    for number in range(scenarios):
        task, mover, other = plan.task[number], plan.mover[number], plan.other[number]
        room, thing = plan.room[number], plan.thing[number]
        leaves, swaps = task >= 1, task == 2
        before, after = 2 * room + side[thing, columns], 2 * room + 1 - side[thing, columns]
        acts = (
            (np.where(where[mover, columns] == room, EventKind.IS_IN, EventKind.ENTER), mover, True),
            (np.where(where[other, columns] == room, EventKind.IS_IN, EventKind.ENTER), other, True),
            (EventKind.PLACE, NOBODY, True),
            (EventKind.EXIT, other, leaves),
            (EventKind.MOVE, mover, True),
            (EventKind.EXIT, mover, swaps),
            (EventKind.ENTER, other, swaps),
        )
        for kind, agent, happens in acts:
            happening = np.broadcast_to(happens, count)
            is_put = kind in (EventKind.PLACE, EventKind.MOVE) if isinstance(kind, EventKind) else False
            container = (before if kind is EventKind.PLACE else after) if is_put else NOBODY
            steps.append((EventKind.NOISE, NOBODY, NOBODY, NOBODY, NOBODY))
            present.append(happening & (draws.below(2**31, count) < threshold))
            steps.append((kind, agent, room, thing if is_put else NOBODY, container))
            present.append(happening)
        steps.append((EventKind.NOISE, NOBODY, NOBODY, NOBODY, NOBODY))
        present.append(draws.below(2**31, count) < threshold)
        where[mover, columns] = np.where(swaps, NOBODY, room)
        where[other, columns] = np.where(task == 1, NOBODY, room)
        side[thing, columns] ^= 1
    return _compact(steps, np.stack(present), scenarios)


def _compact(steps: list[Step], present: Flags, scenarios: int) -> tuple[PlotArrays, Indices]:
    """Remove the sentences that do not occur."""
    so_far = np.empty(present.shape, np.int16)
    count = np.zeros(present.shape[1], np.int16)
    for time, happening in enumerate(present):
        count += happening
        so_far[time] = count
    height = int(count.max())
    source = np.flatnonzero(present)
    target = (so_far.reshape(-1)[source] - 1).astype(np.int64) * present.shape[1] + source % present.shape[1]

    def moved_up(values: Iterable[Field], empty: int) -> Small:
        wide = np.empty(present.shape, np.int8)
        for row, value in zip(wide, values, strict=True):
            row[:] = value
        moved = np.full((height, present.shape[1]), empty, np.int8)
        moved.reshape(-1)[target] = wide.reshape(-1)[source]
        return moved

    kinds, agents, rooms, things, containers = zip(*steps, strict=True)
    stories = PlotArrays.plain(
        kind=moved_up(kinds, EventKind.NOISE).view(np.uint8),
        agent=moved_up(agents, NOBODY),
        room=moved_up(rooms, NOBODY),
        thing=moved_up(things, NOBODY),
        container=moved_up(containers, NOBODY),
        agents=_AGENTS,
    )
    ends = so_far[2 * _ACTS :: 2 * _ACTS + 1].astype(np.int64)
    assert len(ends) == scenarios
    return stories, ends


def _ask(about: PlotArrays, story: Indices, mover: Small, other: Small, thing: Small, question: Indices) -> Questions:
    """Answer each row's question about its last scenario.

    Args:
        about: The rows' stories, cut down to their object and two agents.
        story: The number of each row's story.
        mover: Who moves the object, in the numbers of the whole story.
        other: The other agent.
        thing: The object.
        question: Index into QUESTIONS.
    """
    zeros = np.zeros(len(question), np.int8)
    searches, believes = question == QUESTIONS.index("search"), question == QUESTIONS.index("belief")
    memory = question == QUESTIONS.index("memory")

    def chain(first: Small, second: Small) -> Small:
        outer = np.where(believes, first, np.where(searches, second, np.int8(NOBODY)))
        return np.stack([outer, np.where(believes, second, np.int8(NOBODY))])

    columns, ones = np.arange(len(question)), zeros + np.int8(1)
    labels = label(about, ask_plainly(columns, zeros, chain(zeros, ones), memory), zeros)
    types = story_type(about, columns, zeros, zeros, ones)
    return Questions(story, thing, chain(mover, other), memory, types, labels)
