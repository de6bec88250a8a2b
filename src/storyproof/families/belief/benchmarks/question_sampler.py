"""Which questions a block of stories is asked, so that nothing but following minds predicts the answers.

For every story and order some chains of agents are drawn, and one of them is taken. *Cheap readers* answer without the
whole chain: by where the object is, was first, or is said to be last, or by a shorter chain. Each has a price, and of a
story's chains the cheapest is taken: the sum of the prices of the readers who would answer it correctly, and a random
part. Prices are raised as long as a reader is right more often than one who guesses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from storyproof.families.belief import oracle, provers
from storyproof.families.belief.arrays import NOBODY, Flags, PlotArrays, Small
from storyproof.families.belief.benchmarks.plot_sampler import Bytes, pick_members, select
from storyproof.families.belief.benchmarks.short_chains import ShortChains, arrangements, find_short
from storyproof.families.belief.questions import ASKS, Ask, QuestionArrays
from storyproof.families.belief.readings import ALL_READINGS, BeliefReading
from storyproof.families.belief.time_sets import until
from storyproof.families.belief.trajectories import Course
from storyproof.families.belief.world import MESSAGES, EventKind
from storyproof.generation.seeds import Draws, Indices

Columns = npt.NDArray[np.intp]
Shares = npt.NDArray[np.float64]
ReaderSets = npt.NDArray[np.uint16]

DRAWN = 16  # chains that are drawn for each story and order
READERS = {
    "reality": "where the object really is",
    "first_mention": "where the object was first",
    "last_mention": "where the object was last put or said to be",
    "algorithm_1": "where the object was put before the last exit, or for beliefs about beliefs before the first one",
    "last_announced": "where the object was last announced to be, or else what Algorithm 1 answers",
    "without_last": "the belief of the chain without its last agent",
    "without_first": "the belief of the chain without its first agent",
    "first_alone": "what the first agent believes",
    "last_alone": "what the last agent believes",
}
_ROUNDS, _STEP = 24, 2.0  # of raising prices, and by how much at first for each story that is answered too often
_FASTER, _SLOWER, _FASTEST = 1.25, 0.5, 8.0  # how a reader's step changes as its price nears what is needed, or swings
_ENOUGH = 0.003  # by which all readers together may miss their share: the root of the sum of squares
_EXACT = ("reality", "first_mention", "last_mention")  # who is right too seldom helps those who name another place
# Where minds think of minds, reality is the answer less often than by guessing, so that ignoring minds does not pay;
# not much less, or else one could rule it out.
_REALITY = 0.87
_LOWEST = 2.0  # by which a reader who is right too seldom is favoured
_SCALE = 1 << 12  # prices are whole parts of the greatest random part
_NEVER = 1 << 26  # the price of a question that cannot be asked
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
        announced: Where it was last announced to be; NOBODY if it was not.
    """

    count: Small
    first: Small
    last: Small
    real: Small
    before_exit: Small
    before_last_exit: Small
    announced: Small

    def pick(self, stories: Columns) -> ObjectPlaces:
        """Return the places of some of the stories."""
        return ObjectPlaces(*(np.take(getattr(self, item.name), stories, axis=-1) for item in fields(self)))


def find_places(stories: PlotArrays, objects: int, containers: int) -> ObjectPlaces:
    """Return where the objects of each story are put or said to be; there are 64 containers at most."""
    kind, count = stories.kind, stories.kind.shape[1]
    puts = (kind == EventKind.PLACE) | (kind == EventKind.MOVE)
    mentions, announces, leaves = puts | (kind >= min(MESSAGES)), kind == EventKind.ANNOUNCE, kind == EventKind.EXIT
    first, last, real, before, before_last, announced = (np.full((objects, count), NOBODY, np.int8) for _ in range(6))
    mask = np.uint32 if containers <= 32 else np.uint64
    named = np.zeros((objects, count), mask)  # sets of containers
    own = np.arange(objects, dtype=np.int8)[:, None]
    for now, place in enumerate(stories.container):
        exits = leaves[now] & (real != NOBODY)
        before = select(exits & (before == NOBODY), real, before)
        before_last = select(exits, real, before_last)
        concerned = stories.thing[now] == own
        real = select(concerned & puts[now], place, real)
        mentioned = concerned & mentions[now]
        first = select(mentioned & (first == NOBODY), place, first)
        last = select(mentioned, place, last)
        announced = select(mentioned & announces[now], place, announced)
        named |= mentioned * (mask(1) << place.view(np.uint8))
    before, before_last = (select(each == NOBODY, real, each) for each in (before, before_last))
    places = np.bitwise_count(named).view(np.int8)
    return ObjectPlaces(places, first, last, real, before, before_last, announced)


def join_places(parts: Sequence[ObjectPlaces]) -> ObjectPlaces:
    """Return the places of several sets of stories as one."""
    names = [item.name for item in fields(ObjectPlaces)]
    return ObjectPlaces(*(np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in names))


@dataclass(frozen=True, slots=True)
class DrawnChains:
    """Questions of one order that each story could be asked, as [row, story] arrays.

    Attributes:
        thing: The object.
        chain: The agents, [place in the chain, row, story].
        fits: Whether the question can be asked: the object was in several places, and somebody knows the answer.
        right: Which of READERS answer correctly, as bits in their order.
        choices: Among how many answers one guesses.
        chance: A random number below 256 for each question.
    """

    thing: Small
    chain: Small
    fits: Flags
    right: ReaderSets
    choices: Small
    chance: Bytes

    def pick(self, stories: Columns) -> DrawnChains:
        """Return what was drawn for some of the stories."""
        return DrawnChains(*(np.take(getattr(self, item.name), stories, axis=-1) for item in fields(self)))

    @property
    def readers(self) -> tuple[str, ...]:
        """The readers that questions of this order have."""
        return tuple(READERS)[: {1: 5, 2: 7}.get(len(self.chain), 9)]

    @property
    def merit(self) -> Columns:
        """How well each story tells readers of shorter chains from others, from 0 to 2.

        1 if it has a question that both of them answer wrongly, 2 if Algorithm 1 is wrong there too. For single agents,
        where no chain is shorter, the readers of what is real and of what is mentioned last.
        """
        cheap = _bits("reality", "last_mention") if len(self.chain) == 1 else _bits("without_last", "without_first")
        either, all_three = (
            (self.fits & (self.right & wrong == 0)).any(axis=0) for wrong in (cheap, cheap | _bits("algorithm_1"))
        )
        merit: Columns = either.astype(np.intp) + all_three
        return merit


def _bits(*names: str) -> np.uint16:
    """Return the set of some readers."""
    return np.uint16(sum(1 << tuple(READERS).index(name) for name in names))


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
    right: dict[str, Flags]
    guess: Shares

    def pick(self, stories: Columns) -> OrderChoice:
        """Return what some of the stories are asked."""
        right = {name: flags[stories] for name, flags in self.right.items()}
        return OrderChoice(self.thing[stories], self.chain.take(stories, axis=1), right, self.guess[stories])


@dataclass(frozen=True, slots=True)
class DrawnQuestions:
    """Questions about beliefs that each story could be asked.

    Attributes:
        orders: Those of each order, from the first on.
        known: What chains of few agents believe.
    """

    orders: list[DrawnChains]
    known: ShortChains

    def pick(self, stories: Columns) -> DrawnQuestions:
        """Return what was drawn for some of the stories."""
        return DrawnQuestions([each.pick(stories) for each in self.orders], self.known.pick(stories))


def join_questions(parts: Sequence[DrawnQuestions]) -> DrawnQuestions:
    """Return what was drawn for several sets of stories as one."""
    if len(parts) == 1:
        return parts[0]
    names = [item.name for item in fields(DrawnChains)]
    orders = [
        DrawnChains(*(np.concatenate([getattr(part, name) for part in chains], axis=-1) for name in names))
        for chains in zip(*(part.orders for part in parts), strict=True)
    ]
    known = np.concatenate([part.known.places for part in parts], axis=-1)
    return DrawnQuestions(orders, ShortChains(parts[0].known.rows, known))


def draw_chains(draws: Draws, agents: int, length: int, count: int) -> Small:
    """Draw chains of agents, [place in the chain, chain].

    Nobody occurs twice, or only after all the others: what somebody else thinks again would not make a chain longer
    (`answers.chain_classes`).
    """
    ways = arrangements(agents, min(length, agents))
    order = np.take(ways, draws.below(ways.shape[1], count), axis=1)
    places = np.arange(length)
    return order[places % agents] if length > agents else order


def draw_questions(
    stories: PlotArrays,
    places: ObjectPlaces,
    draws: Draws,
    order: int,
    agents: int,
    reading: BeliefReading,
    *,
    unknown: bool,
    robust: bool = False,
) -> DrawnQuestions:
    """Draw questions about beliefs of each order up to `order` for each story.

    Args:
        stories: The stories.
        places: Where their objects are.
        draws: The source of randomness.
        order: The highest order.
        agents: How many agents each story has.
        reading: The reading.
        unknown: Whether questions may be asked to which nobody knows the answer.
        robust: Whether the answer shall be the same under all readings.
    """
    objects, count = places.count.shape
    story = np.tile(np.arange(count), DRAWN)
    course = Course.of(stories)
    known = find_short(course, objects, agents, order, reading)
    drawn = []
    for length in range(1, order + 1):
        chain = draw_chains(draws, agents, length, DRAWN * count)
        things = _draw_things(places, draws, DRAWN)
        thing = things.reshape(-1)
        at = thing * np.intp(count) + story

        def belief(start: int, end: int) -> Small:
            some = chain[start:end]  # noqa: B023
            if len(some) <= len(known.rows):
                return known.of(some, at).reshape(DRAWN, count)  # noqa: B023
            return oracle.beliefs(course, story, thing, some, reading).reshape(DRAWN, count)  # noqa: B023

        answer = belief(0, length)
        before = places.before_exit if length > 1 else places.before_last_exit
        announced = np.where(places.announced == NOBODY, before, places.announced)
        cheap = [_of_things(each, things) for each in (places.real, places.first, places.last, before, announced)]
        if length > 1:
            cheap += [belief(0, length - 1), belief(1, length)]
        if length > 2:
            cheap += [belief(0, 1), belief(length - 1, length)]
        right = np.zeros((DRAWN, count), np.uint16)
        for number, each in enumerate(cheap):
            right |= (each == answer) * np.uint16(1 << number)
        choices = _of_things(places.count, things)
        fits = choices > 1
        if unknown:
            choices = choices + np.int8(1)
        else:
            fits &= answer != NOBODY
        if robust:
            fits &= ~_depends(stories, QuestionArrays.of_beliefs(thing, chain, story)).reshape(DRAWN, count)
        chains = chain.reshape(length, DRAWN, count)
        drawn.append(DrawnChains(things, chains, fits, right, choices, draws.bytes(DRAWN, count)))
    return DrawnQuestions(drawn, known)


def _depends(stories: PlotArrays, asked: QuestionArrays) -> Flags:
    """Return which answers are not the same under all readings."""
    derived = provers.answer_all(stories, asked, ALL_READINGS)
    differs: Flags = np.any([codes != derived[0] for codes in derived[1:]], axis=0)
    return differs


def choose_stories(drawn: Sequence[DrawnChains], usable: Flags, count: int) -> Columns:
    """Choose stories that can be asked a question of every order; those that tell orders apart are preferred.

    Higher orders count more: the longer a chain, the fewer stories tell it from a shorter one.

    Args:
        drawn: What was drawn for them, by order.
        usable: Which stories may be chosen at all.
        count: How many are needed.

    Returns:
        Their numbers in rising order, fewer than `count` if there are not as many.
    """
    fits = usable & np.all([each.fits.any(axis=0) for each in drawn], axis=0)
    score = np.sum([each.merit * max(1, shorter**2) for shorter, each in enumerate(drawn)], axis=0)
    # Chance decides between equally good ones, not their place: the first stories shall be like the last.
    best = np.argsort(np.where(fits, -256 * score - drawn[0].chance[0], 1), kind="stable")[:count]
    stories: Columns = np.sort(best[fits[best]])
    return stories


def choose_beliefs(drawn: Sequence[DrawnChains]) -> list[OrderChoice]:
    """Choose one question of each order for each story, so that no cheap reader is right more often than by guessing.

    As far as the questions that were drawn allow it.
    """
    beliefs = []
    for each in drawn:
        columns = np.arange(each.fits.shape[1])
        exact = [name in _EXACT for name in each.readers]
        aims = [_REALITY if name == "reality" and len(each.chain) > 1 else 1.0 for name in each.readers]
        chosen = balance(each.fits, each.right, exact, aims, each.choices, each.chance)
        right = each.right[chosen, columns]
        beliefs.append(
            OrderChoice(
                each.thing[chosen, columns],
                each.chain[:, chosen, columns],
                {name: right & _bits(name) != 0 for name in each.readers},
                1 / each.choices[chosen, columns],
            )
        )
    return beliefs


def _draw_things(places: ObjectPlaces, draws: Draws, times: int) -> Small:
    """Draw objects that have been in several places, if a story has one, [time, story]."""
    objects, count = places.count.shape
    if objects == 1:
        return np.zeros((times, count), np.int8)
    several = np.zeros(count, np.uint8)
    for number, each in enumerate(places.count > 1):
        several |= each.view(np.uint8) << np.uint8(number)
    return pick_members(several, draws.bytes(times, count)).view(np.int8)


def _of_things(values: Small, things: Small) -> Small:
    """Return what [object, story] values are for some objects of each story, [row, story]."""
    repeated = np.repeat(values[:1], len(things), axis=0)
    for number, value in enumerate(values[1:], start=1):  # whole rows at a time, faster than one by one
        repeated = select(things == number, value, repeated)
    return repeated


def balance(
    fits: Flags, right: ReaderSets, exact: Sequence[bool], aims: Sequence[float], choices: Small, chance: Bytes
) -> Columns:
    """Choose a row in each column so that no reader is right more often than one who guesses, as far as possible.

    Args:
        fits: Which rows can be chosen at all, [row, column]; there are 16 rows at most.
        right: Which readers are right there, as bits.
        exact: Which of them shall not be right less often either.
        aims: How often each reader shall be right at most, as a share of how often one who guesses is.
        choices: Among how many answers one guesses.
        chance: A random number below 256, which decides between rows that are equally good.
    """
    rows, count = fits.shape
    columns = np.arange(count)
    # What a row costs, and in the last bits its number, so that one minimum finds both.
    bits = (rows - 1).bit_length()
    base = np.where(fits, chance * np.int32(_SCALE >> 8), np.int32(_NEVER)) << bits
    base |= np.arange(rows, dtype=np.int32)[:, None]
    # Whole numbers as floating-point ones, which are multiplied much faster and as exactly.
    members = (np.arange(1 << len(exact)) >> np.arange(len(exact))[:, None] & 1).astype(np.float64)
    sets, flat = right.astype(np.intp), right.reshape(-1)
    counted = np.flatnonzero(fits.any(axis=0))
    most = max(1, len(counted))
    prices, is_exact = np.zeros(len(exact)), np.array(exact)
    steps, before = np.full(len(exact), _STEP), np.zeros(len(exact))
    least = np.where(is_exact, -_LOWEST, 0)
    cost, best, fewest = base.copy(), columns, np.inf
    for _ in range(_ROUNDS):
        chosen = (np.minimum.reduce(cost, axis=0) & np.int32((1 << bits) - 1)).astype(np.intp)
        at = (chosen * count + columns)[counted]
        shares = members @ np.bincount(flat.take(at), minlength=members.shape[1]) / most
        options = np.bincount(choices.reshape(-1).take(at)).tolist()
        guess = sum(number / option for option, number in enumerate(options) if number) / most
        excess = shares - guess * np.array(aims)
        # Of all rounds the best one counts.
        misses = np.where(is_exact, excess, np.maximum(excess, 0)).tolist()
        wrong = math.hypot(*misses)  # so that one great miss counts more than several small ones
        if wrong < fewest:
            best, fewest = chosen, wrong
        if wrong < _ENOUGH:
            break
        # Each reader has a step of its own: longer while the error keeps its sign, shorter when it changes.
        steps = np.minimum(
            steps * np.array([1.0, _FASTER, _SLOWER])[np.sign(excess * before).astype(np.intp)], _FASTEST
        )
        prices, before = np.maximum(prices + steps * excess, least), excess
        table = (np.rint(prices * _SCALE) @ members).astype(np.int32) << bits
        table.take(sets, out=cost, mode="wrap")  # the fastest mode; nothing is out of bounds
        cost += base
    return best


def describe(choices: Sequence[OrderChoice]) -> dict[str, dict[str, float]]:
    """Return how often the cheap readers are right, by order, rounded for a manifest."""
    rates: dict[str, dict[str, float]] = {}
    for order, choice in enumerate(choices, start=1):
        shares = {name: float(flags.mean()) for name, flags in choice.right.items()}
        shares = {"guess": float(choice.guess.mean()), **shares}
        if order > 1:
            shares["differs_from_lower_order"] = 1 - shares["without_last"]
        rates[str(order)] = {name: round(share, 4) for name, share in shares.items()}
    return rates


def choose_others(
    stories: PlotArrays,
    places: ObjectPlaces,
    known: ShortChains,
    draws: Draws,
    kinds: Sequence[Ask],
    order: int,
    reading: BeliefReading,
    believer: OrderChoice | None = None,
    *,
    unknown: bool,
    robust: bool = False,
) -> QuestionArrays:
    """Choose a question of another kind for each story, the kinds equally often.

    Half of the answers are yes, and half of the places that are asked for are where the object really is, as far as
    stories have such questions.

    Args:
        stories: The stories.
        places: Where their objects are.
        known: What chains of few agents believe.
        draws: The source of randomness.
        kinds: The kinds of question.
        order: The highest order.
        reading: The reading.
        believer: The question of order one that each story is asked, which is not asked again in other words.
        unknown: Whether questions may be asked to which nobody knows the answer.
        robust: Whether the answer shall be the same under all readings.
    """
    count, agents = stories.kind.shape[1], len(known.rows[0])
    shape, columns = (_FURTHER, count), np.arange(count)
    ask = np.array([ASKS.index(each) for each in kinds], np.uint8)[draws.below(len(kinds), count)]
    chance = draws.below(1 << 30, count)
    thing = _draw_things(places, draws, _FURTHER)
    chain = draw_chains(draws, agents, 3, _FURTHER * count).reshape(3, *shape)
    agent = chain[0, 0].copy()
    further = draws.below(order, _FURTHER * count).reshape(shape)
    larger = (draws.below(4, _FURTHER * count).reshape(shape) == 0) & (agents > 2)
    spot = draws.below(3, _FURTHER * count).reshape(shape)

    says, knows_where, knows_wrong, believers, common = (
        ask == np.uint8(ASKS.index(each))
        for each in (Ask.SAYS, Ask.KNOWS_WHERE, Ask.KNOWS_WRONG, Ask.BELIEVERS, Ask.COMMON)
    )
    length = np.where(common, 2 + larger, np.where(believers, np.minimum(further, 2), 1 + knows_wrong))
    chain = np.where(np.arange(3)[:, None, None] < length, chain, np.int8(NOBODY))
    at = thing * np.intp(count) + columns
    real = places.real.reshape(-1).take(at)
    named = np.stack([places.first, places.last, places.real]).reshape(-1).take(spot * places.real.size + at)
    place = np.where(believers, named, np.int8(NOBODY))
    believed = known.of(chain[:1], at)  # of no use if nobody is named
    codes = np.where(knows_where, (believed != NOBODY) & (believed == real), believed).astype(np.int64)
    # What one mind believes is known, and mostly what it thinks of another; of sets of people any will do. The oracle
    # is asked where this leaves it open: nobody knows that somebody is wrong who is not, and those who differ have no
    # belief in common.
    story = np.tile(columns, _FURTHER)
    asked = QuestionArrays(story, ask[story], thing.reshape(-1), chain.reshape(3, -1), place.reshape(-1))
    second, third = (np.where(who < 0, believed, known.of(np.maximum(who, 0)[None], at)) for who in chain[1:])
    misled = (believed == real) & (second != NOBODY) & (real != NOBODY) & (second != real)
    alike = (believed != NOBODY) & (second == believed) & (third == believed)
    codes = np.where(knows_wrong, 0, np.where(common, np.int64(NOBODY), codes))
    wrong, shared = np.flatnonzero(misled & knows_wrong), np.flatnonzero(alike & common)
    if len(known.rows) > 1:
        thought = known.of(asked.chain[:2, wrong], at.reshape(-1)[wrong])
        codes.reshape(-1)[wrong] = thought == second.reshape(-1)[wrong]
        wrong = wrong[:0]
    open_ones = np.concatenate([wrong, shared])
    if len(open_ones):
        is_concerned = np.zeros(count, np.bool_)
        is_concerned[story[open_ones]] = True
        concerned, column = np.flatnonzero(is_concerned), np.cumsum(is_concerned) - 1
        few = asked.pick(open_ones)
        few = replace(few, story=column[few.story])
        codes.reshape(-1)[open_ones] = provers.answer(stories.pick(concerned), few, reading)
    several = places.count.reshape(-1).take(at) > 1
    is_place = says | common
    fits = ~is_place | (several & (unknown | (codes != NOBODY)))
    if robust:
        fits &= ~_depends(stories, asked).reshape(shape)
    if believer is not None:
        # What somebody would say is what they believe.
        fits &= ~(says & (thing == believer.thing) & (chain[0] == believer.chain[0]))
    good = np.where(is_place, codes == real, believers | (codes == 1))
    wanted = _half(ask, (fits & good).any(axis=0), (fits & ~good).any(axis=0), chance)
    chosen = (2 * fits + (good == wanted)).argmax(axis=0)
    questions = asked.pick(chosen * count + columns)
    # Whether somebody knows where an object is has an answer in every story, and where it is has one under any reading.
    instead = np.flatnonzero(~fits[chosen, columns])
    questions.ask[instead], questions.place[instead] = ASKS.index(Ask.KNOWS_WHERE), NOBODY
    questions.chain[0, instead], questions.chain[1:, instead] = agent[instead], NOBODY
    if robust:
        dependent = np.flatnonzero(_depends(stories, questions))
        questions.ask[dependent], questions.chain[:, dependent] = ASKS.index(Ask.REALITY), NOBODY
    return questions


def _half(kind: Bytes, can_be: Flags, need_not: Flags, chance: Indices) -> Flags:
    """Return for which stories something shall hold, so that it does for half of those of each kind if possible.

    Args:
        kind: The kind of each story's question.
        can_be: For which stories it can hold.
        need_not: For which it can fail to hold.
        chance: A random number for each story, which decides where both is possible.
    """
    half = can_be & ~need_not
    for each in np.unique(kind):
        free = np.flatnonzero((kind == each) & can_be & need_not)
        usable = (kind == each) & (can_be | need_not)
        missing = int(usable.sum()) // 2 - int((half & usable).sum())
        half[free[np.argsort(chance[free], kind="stable")[: max(0, missing)]]] = True
    return half


def choose_controls(places: ObjectPlaces, draws: Draws, kinds: Sequence[Ask]) -> QuestionArrays:
    """Choose a question about memory or reality for each story."""
    count = places.count.shape[1]
    ask = np.array([ASKS.index(each) for each in kinds], np.uint8)[draws.below(len(kinds), count)]
    thing, nobody = _draw_things(places, draws, 1)[0], np.full(count, NOBODY, np.int8)
    return QuestionArrays(np.arange(count), ask, thing, nobody[None], nobody)


def tells_truly(stories: PlotArrays, lie: Flags, reading: BeliefReading) -> Flags:
    """Return in which stories exactly the messages that are called lies are not believed by their speakers."""
    is_true = np.ones(stories.kind.shape[1], np.bool_)
    spoken = np.isin(stories.kind, MESSAGES)
    columns = np.arange(stories.kind.shape[1])
    for time in np.flatnonzero(spoken.any(axis=1)).tolist():
        before = np.zeros_like(spoken)
        before[time:] = True
        which = np.flatnonzero(spoken[time])
        speaker, thing = stories.agent[time, which], stories.thing[time, which]
        earlier = Course.of(stories.without(before))
        believed = oracle.beliefs(earlier, columns[which], thing, speaker[None], reading)
        is_true[which] &= (believed != stories.container[time, which]) == lie[time, which]
    return is_true


def share_of_lies_that_deceive(stories: PlotArrays, lie: Flags, reading: BeliefReading) -> float:
    """Return which share of the lies somebody believes right after they were told, rounded for a manifest."""
    deceive, course = list[Flags](), Course.of(stories)
    agents = np.arange(stories.agents, dtype=np.int8)
    for time in np.flatnonzero(lie.any(axis=1)).tolist():
        which = np.flatnonzero(lie[time])
        kept = course.kept & until(np.array([time]), course.words)
        so_far = course.keep(which, kept.take(which, axis=1))
        column, agent = np.repeat(np.arange(len(which)), len(agents)), np.tile(agents, len(which))
        story = which[column]
        believed = oracle.beliefs(so_far, column, stories.thing[time, story], agent[None], reading)
        is_misled = (believed == stories.container[time, story]) & (agent != stories.agent[time, story])
        deceive.append(is_misled.reshape(len(which), -1).any(axis=1))
    return round(float(np.concatenate(deceive).mean()), 4) if deceive else 0.0
