"""Which questions a block of stories is asked, so that nothing but following minds predicts the answers.

For every story and order some chains of agents are drawn, and one of them is taken. *Cheap readers* answer without the
whole chain: by where the object is, was first, or is said to be last, or by a shorter chain. Each has a price, and of a
story's chains the cheapest is taken: the sum of the prices of the readers who would answer it correctly, and a random
part. Prices are raised as long as a reader is right more often than one who guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, LocalNames, Small
from storyproof.families.belief.nested import oracle
from storyproof.families.belief.nested.arrays import PlotArrays
from storyproof.families.belief.nested.batches import QuestionBatch
from storyproof.families.belief.nested.questions import Ask, NestedQuestion
from storyproof.families.belief.nested.readings import NestedReading
from storyproof.families.belief.nested.world import MESSAGES, EventKind
from storyproof.seeds import Draws

Columns = npt.NDArray[np.intp]
Shares = npt.NDArray[np.float64]

DRAWN = 16  # chains that are drawn for each story and order
READERS = {
    "reality": "where the object really is",
    "first_mention": "where the object was first",
    "last_mention": "where the object was last put or said to be",
    "algorithm_1": "where the object was put before the last exit, or for beliefs about beliefs before the first one",
    "without_last": "the belief of the chain without its last agent",
    "without_first": "the belief of the chain without its first agent",
    "first_alone": "what the first agent believes",
    "last_alone": "what the last agent believes",
}
_ROUNDS, _STEP = 40, 4.0  # of raising prices, and by how much for each story that is answered too often
_EXACT = ("reality", "first_mention", "last_mention")  # who is right too seldom helps those who name another place
_LOWEST = 2.0  # by which a reader who is right too seldom is favoured
_PAIRED = 4  # agents of a longer chain in which two think of each other
_FURTHER = 8  # questions of other kinds that are drawn for each story


@dataclass(frozen=True, slots=True)
class ObjectPlaces:
    """Where the objects of stories are put or said to be.

    Attributes:
        count: In how many containers, [object, story].
        first: Where at first.
        last: Where at last, as the text mentions it.
        real: Where at the end.
        before_exit: Where it was put before the first exit that follows its placing; where at the end if none does.
        before_last_exit: The same for the last exit.
    """

    count: Small
    first: Small
    last: Small
    real: Small
    before_exit: Small
    before_last_exit: Small


def find_places(stories: PlotArrays, objects: int, containers: int) -> ObjectPlaces:
    """Return where the objects of each story are put or said to be."""
    kind = stories.kind
    puts = (kind == EventKind.PLACE) | (kind == EventKind.MOVE)
    tells = puts | np.isin(kind, MESSAGES)
    columns = np.arange(kind.shape[1])
    shape = (objects, kind.shape[1])
    named = np.zeros((objects, containers, kind.shape[1]), np.bool_)
    first, last, real, before, before_last = (np.full(shape, NOBODY, np.int8) for _ in range(5))
    for time in range(len(kind)):
        exits = (kind[time] == EventKind.EXIT) & (real != NOBODY)
        before = np.where(exits & (before == NOBODY), real, before)
        before_last = np.where(exits, real, before_last)
        thing, place = stories.thing[time], stories.container[time]
        which = np.flatnonzero(tells[time])
        at = thing[which], columns[which]
        named[thing[which], place[which], columns[which]] = True
        first[at] = np.where(first[at] == NOBODY, place[which], first[at])
        last[at] = place[which]
        which = np.flatnonzero(puts[time])
        real[thing[which], columns[which]] = place[which]
    before, before_last = (np.where(each == NOBODY, real, each) for each in (before, before_last))
    return ObjectPlaces(named.sum(axis=1, dtype=np.int8), first, last, real, before, before_last)


@dataclass(frozen=True, slots=True)
class DrawnChains:
    """Questions of one order that each story could be asked, as [row, story] arrays.

    Attributes:
        thing: The object.
        chain: The agents, [place in the chain, row, story].
        fits: Whether the question can be asked: the object was in several places, and somebody knows the answer.
        right: Where the cheap readers answer correctly, by name.
        guess: How often one who guesses among the places of the object is right.
        chance: A random number from 0 to 1 for each question.
    """

    thing: Small
    chain: Small
    fits: Flags
    right: Mapping[str, Flags]
    guess: Shares
    chance: Shares

    def pick(self, stories: Columns) -> DrawnChains:
        """Return what was drawn for some of the stories."""
        return DrawnChains(
            self.thing[:, stories],
            self.chain[:, :, stories],
            self.fits[:, stories],
            {name: flags[:, stories] for name, flags in self.right.items()},
            self.guess[:, stories],
            self.chance[:, stories],
        )

    @property
    def tells_apart(self) -> Flags:
        """Which stories have a question whose answer differs from that of both shorter chains, or from reality."""
        alike: Any = self.right["reality"]
        if "without_last" in self.right:
            alike = self.right["without_last"] | self.right["without_first"]
        found: Flags = (self.fits & ~alike).any(axis=0)
        return found


@dataclass(frozen=True, slots=True)
class OrderChoice:
    """The question of one order that each story is asked, as [story] arrays.

    Attributes:
        thing: The object.
        chain: The agents, [place in the chain, story].
        right: Which of the cheap readers answer correctly, by name.
        guess: How often one who guesses among the places of the object is right.
    """

    thing: Small
    chain: Small
    right: Mapping[str, Flags]
    guess: Shares

    def pick(self, stories: Columns) -> OrderChoice:
        """Return what some of the stories are asked."""
        right = {name: flags[stories] for name, flags in self.right.items()}
        return OrderChoice(self.thing[stories], self.chain[:, stories], right, self.guess[stories])


def join_chains(parts: Sequence[DrawnChains]) -> DrawnChains:
    """Return what was drawn for several sets of stories as one."""
    if len(parts) == 1:
        return parts[0]
    right = {name: np.concatenate([part.right[name] for part in parts], axis=1) for name in parts[0].right}
    thing, chain, fits, guess, chance = (
        np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in ("thing", "chain", "fits", "guess", "chance")
    )
    return DrawnChains(thing, chain, fits, right, guess, chance)


def draw_chains(draws: Draws, agents: int, length: int, count: int) -> Small:
    """Draw chains of agents, [place in the chain, chain].

    In half of those that are longer than four, two agents in the middle think of each other in turn, so that the first
    and the last of many matter. In the others nobody occurs twice, or only after all the others.
    """
    order = np.argsort(draws.below(1 << 31, agents * count).reshape(agents, count), axis=0, kind="stable")
    places = np.arange(length)
    found: Small = order[places % agents].astype(np.int8)
    if length > _PAIRED and agents >= _PAIRED:
        paired = np.where(places == 0, 0, np.where(places == length - 1, 3, 1 + (places - 1) % 2))
        half = draws.below(2, count) == 0
        found = np.where(half, order[paired], found).astype(np.int8)
    return found


def draw_questions(
    stories: PlotArrays,
    places: ObjectPlaces,
    draws: Draws,
    order: int,
    agents: int,
    reading: NestedReading,
    *,
    unknown: bool,
) -> list[DrawnChains]:
    """Draw questions about beliefs of each order up to `order` for each story.

    Args:
        stories: The stories.
        places: Where their objects are.
        draws: The source of randomness.
        order: The highest order.
        agents: How many agents each story has.
        reading: The reading.
        unknown: Whether questions may be asked to which nobody knows the answer.
    """
    count = stories.kind.shape[1]
    story = np.tile(np.arange(count), DRAWN)
    alone = _alone(stories, len(places.count), agents, reading)
    found = []
    for length in range(1, order + 1):
        chain = draw_chains(draws, agents, length, DRAWN * count)
        thing = _draw_things(places, draws, DRAWN).reshape(-1)

        def belief(start: int, end: int) -> Small:
            if end - start == 1:
                own: Small = alone[thing, chain[start], story]  # noqa: B023
                return own
            return oracle.beliefs(stories, story, thing, chain[start:end], reading)  # noqa: B023

        answer = belief(0, length)
        cheap = {
            "reality": places.real[thing, story],
            "first_mention": places.first[thing, story],
            "last_mention": places.last[thing, story],
            "algorithm_1": (places.before_exit if length > 1 else places.before_last_exit)[thing, story],
        }
        if length > 1:
            cheap |= {"without_last": belief(0, length - 1), "without_first": belief(1, length)}
        if length > 2:
            cheap |= {"first_alone": belief(0, 1), "last_alone": belief(length - 1, length)}
        fits = (places.count[thing, story] > 1) & (unknown | (answer != NOBODY))
        guess = 1 / np.maximum(places.count[thing, story] + unknown, 1)
        chance = draws.below(1 << 20, DRAWN * count) / (1 << 20)
        shape = (DRAWN, count)
        found.append(
            DrawnChains(
                thing.reshape(shape),
                chain.reshape(length, *shape),
                fits.reshape(shape),
                {name: (place == answer).reshape(shape) for name, place in cheap.items()},
                guess.reshape(shape),
                chance.reshape(shape),
            )
        )
    return found


def choose_stories(drawn: Sequence[DrawnChains], usable: Flags, count: int) -> Columns:
    """Choose stories that can be asked a question of every order; those that tell orders apart are preferred.

    Args:
        drawn: What was drawn for them, by order.
        usable: Which stories may be chosen at all.
        count: How many are needed.

    Returns:
        Their numbers in rising order, fewer than `count` if there are not as many.
    """
    fits = usable & np.all([each.fits.any(axis=0) for each in drawn], axis=0)
    score = np.sum([each.tells_apart for each in drawn], axis=0, dtype=np.int64)
    best = np.argsort(np.where(fits, -score, 1), kind="stable")[:count]
    found: Columns = np.sort(best[fits[best]])
    return found


def choose_beliefs(drawn: Sequence[DrawnChains]) -> list[OrderChoice]:
    """Choose one question of each order for each story, so that no cheap reader is right more often than by guessing.

    As far as the questions that were drawn allow it.
    """
    found = []
    for each in drawn:
        columns = np.arange(each.fits.shape[1])
        exact = [name in _EXACT for name in each.right]
        chosen = balance(each.fits, list(each.right.values()), exact, each.guess, each.chance)
        right = {name: flags[chosen, columns] for name, flags in each.right.items()}
        found.append(
            OrderChoice(each.thing[chosen, columns], each.chain[:, chosen, columns], right, each.guess[chosen, columns])
        )
    return found


def _alone(stories: PlotArrays, objects: int, agents: int, reading: NestedReading) -> Small:
    """Return what each agent believes about each object, [object, agent, story]."""
    count = stories.kind.shape[1]
    thing, agent, story = (each.reshape(-1) for each in np.indices((objects, agents, count)))
    found = oracle.beliefs(stories, story, thing.astype(np.int8), agent.astype(np.int8)[None], reading)
    return found.reshape(objects, agents, count)


def _draw_things(places: ObjectPlaces, draws: Draws, times: int) -> Small:
    """Draw objects that have been in several places, if a story has one, [time, story]."""
    objects, count = places.count.shape
    several = places.count > 1
    several[0] |= ~several.any(axis=0)
    rank = np.cumsum(several, axis=0)
    chosen = draws.below(np.tile(rank[-1], times).astype(np.int64), times * count).reshape(times, count)
    found: Small = np.minimum((rank[:, None] <= chosen).sum(axis=0), objects - 1).astype(np.int8)
    return found


def balance(fits: Flags, right: Sequence[Flags], exact: Sequence[bool], guess: Shares, chance: Shares) -> Columns:
    """Choose a row in each column so that no reader is right more often than one who guesses, as far as possible.

    Args:
        fits: Which rows can be chosen at all, [row, column].
        right: For each reader, where it is right.
        exact: Which of them shall not be right less often either.
        guess: How often one who guesses is right.
        chance: A random number from 0 to 1, which decides between rows that are equally good.
    """
    columns = np.arange(fits.shape[1])
    base = np.where(fits, chance, 1e6)
    prices, least = np.zeros(len(right)), np.where(exact, -_LOWEST, 0)
    counted = fits.any(axis=0)
    most = max(1, int(counted.sum()))
    chosen: Columns = base.argmin(axis=0)
    for step in range(_ROUNDS):
        expected = float(guess[chosen, columns][counted].sum()) / most
        shares = np.array([int(flags[chosen, columns][counted].sum()) / most for flags in right])
        prices += _STEP / (1 + step / 8) * (shares - expected)
        prices = np.maximum(prices, least)
        cost = base.copy()
        for price, flags in zip(prices.tolist(), right, strict=True):
            if price:
                cost += price * flags
        chosen = cost.argmin(axis=0)
    return chosen


def describe(choices: Sequence[OrderChoice]) -> dict[str, dict[str, float]]:
    """Return how often the cheap readers are right, by order, rounded for a manifest."""
    found: dict[str, dict[str, float]] = {}
    for order, choice in enumerate(choices, start=1):
        shares = {name: float(flags.mean()) for name, flags in choice.right.items()}
        shares = {"guess": float(choice.guess.mean()), **shares}
        if order > 1:
            shares["differs_from_lower_order"] = 1 - shares["without_last"]
        found[str(order)] = {name: round(share, 4) for name, share in shares.items()}
    return found


def choose_others(
    stories: PlotArrays,
    places: ObjectPlaces,
    draws: Draws,
    kinds: Sequence[Ask],
    agents: int,
    order: int,
    reading: NestedReading,
    names: LocalNames,
    *,
    unknown: bool,
) -> list[NestedQuestion]:
    """Choose a question of another kind for each story, the kinds equally often.

    Half of the answers are yes, and half of the places that are asked for are where the object really is, as far as
    stories have such questions.
    """
    count = stories.kind.shape[1]
    kind = draws.below(len(kinds), count)
    wanted = draws.below(2, count) == 0
    thing = _draw_things(places, draws, _FURTHER)
    chain = draw_chains(draws, agents, 3, _FURTHER * count).reshape(3, _FURTHER, count)
    length = draws.below(order, _FURTHER * count).reshape(_FURTHER, count)
    size = 2 + (draws.below(4, _FURTHER * count).reshape(_FURTHER, count) == 0) * (agents > 2)
    spot = draws.below(1 << 16, _FURTHER * count).reshape(_FURTHER, count)
    agent_names, thing_names, box_names = tuple(names.agents), tuple(names.things), tuple(names.containers)
    drawn: list[NestedQuestion] = []
    for column in range(count):
        ask = kinds[int(kind[column])]
        for row in range(_FURTHER):
            which = int(thing[row, column])
            people = [agent_names[agent] for agent in chain[:, row, column]]
            place = None
            if ask == Ask.COMMON:
                group = sorted({*people[: int(size[row, column])]})
                people = group if len(group) > 1 else sorted(people[:2])
            elif ask == Ask.BELIEVERS:
                people = people[: min(int(length[row, column]), 2)]
                named = [places.first[which, column], places.last[which, column], places.real[which, column]]
                place = box_names[named[int(spot[row, column]) % 3]]
            else:
                people = people[: 2 if ask == Ask.KNOWS_WRONG else 1]
            drawn.append(NestedQuestion(ask, thing_names[which], tuple(people), place))
    batch = QuestionBatch.of(stories, [names] * count, np.repeat(np.arange(count), _FURTHER).tolist(), drawn)
    codes = batch.answer(reading).reshape(count, _FURTHER)
    real = places.real[thing, np.arange(count)].T
    is_place = np.array([ask in (Ask.SAYS, Ask.COMMON) for ask in kinds])[kind]
    is_set = np.array([ask == Ask.BELIEVERS for ask in kinds])[kind]
    several = (places.count[thing, np.arange(count)] > 1).T
    fits = np.where(is_place[:, None], several & (unknown | (codes != NOBODY)), True)
    good = np.where(is_place[:, None], codes == real, np.where(is_set[:, None], True, codes == 1))
    score = 2 * fits + (good == wanted[:, None])
    chosen = score.argmax(axis=1)
    found = []
    for column, row in enumerate(chosen.tolist()):
        question = drawn[column * _FURTHER + row]
        if not fits[column, row]:  # whether somebody knows where an object is has an answer in every story
            question = NestedQuestion(Ask.KNOWS_WHERE, question.thing, question.chain[:1] or (agent_names[0],))
        found.append(question)
    return found


def choose_controls(
    places: ObjectPlaces, draws: Draws, kinds: Sequence[Ask], names: LocalNames
) -> list[NestedQuestion]:
    """Choose a question about memory or reality for each story."""
    count = places.count.shape[1]
    kind, thing = draws.below(len(kinds), count), _draw_things(places, draws, 1)[0]
    things = tuple(names.things)
    return [
        NestedQuestion(kinds[which], things[what]) for which, what in zip(kind.tolist(), thing.tolist(), strict=True)
    ]


def tells_truly(stories: PlotArrays, lie: Flags, reading: NestedReading) -> Flags:
    """Return in which stories exactly the messages that are called lies are not believed by their speakers."""
    found = np.ones(stories.kind.shape[1], np.bool_)
    spoken = np.isin(stories.kind, MESSAGES)
    columns = np.arange(stories.kind.shape[1])
    for time in np.flatnonzero(spoken.any(axis=1)).tolist():
        before = np.zeros_like(spoken)
        before[time:] = True
        which = np.flatnonzero(spoken[time])
        speaker, thing = stories.agent[time, which], stories.thing[time, which]
        earlier: Any = stories.without(before)
        believed = oracle.beliefs(earlier, columns[which], thing, speaker[None], reading)
        found[which] &= (believed != stories.container[time, which]) == lie[time, which]
    return found
