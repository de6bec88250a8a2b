"""Answers and proofs by the oracle, for every kind of question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, LocalNames, Small
from storyproof.families.belief.nested import oracle
from storyproof.families.belief.nested.arrays import PlotArrays, encode_plots
from storyproof.families.belief.nested.oracle import Instants, Whereabouts
from storyproof.families.belief.nested.questions import Ask, NestedQuestion, Reply
from storyproof.families.belief.nested.readings import ALWAYS, NEVER_LIARS, NestedReading
from storyproof.families.belief.nested.world import MESSAGES, EventKind, PlotEvent
from storyproof.families.belief.oracle import STRANGER
from storyproof.families.belief.readings import INFER_MOVER

Codes = npt.NDArray[np.int64]
Columns = npt.NDArray[np.intp]
# Takes stories, and for each answer wanted the story and the question; returns the answers.
Evaluate = Callable[[PlotArrays, Columns, Columns], Codes]

_MISSING = 99  # the number of an object that is not in the story
_WIDTH = 1 << 12  # changed stories that are evaluated at once


def _places(
    stories: PlotArrays, names: LocalNames, chains: Sequence[tuple[str, ...]], thing: str, reading: NestedReading
) -> npt.NDArray[np.int8]:
    """Return where chains believe an object to be, [chain, story]; all stories have the same names."""
    count = stories.kind.shape[1]
    asked = np.full((max(map(len, chains)), len(chains)), NOBODY, np.int8)
    for place, chain in enumerate(chains):
        asked[: len(chain), place] = [names.agents.get(agent, STRANGER) for agent in chain]
    columns = np.tile(np.arange(count), len(chains))
    things = np.full(len(columns), names.things.get(thing, _MISSING), np.int8)
    found = oracle.beliefs(stories, columns, things, np.repeat(asked, count, axis=1), reading)
    return found.reshape(len(chains), count)


def answer_codes(stories: PlotArrays, names: LocalNames, question: NestedQuestion, reading: NestedReading) -> Codes:
    """Return the answer to a question about each of some stories with the same names.

    Returns:
        A container's number or NOBODY, 0 or 1 for no or yes, or the bit mask of a set of agents.
    """
    ask, chain, thing = question.ask, question.chain, question.thing
    found: npt.NDArray[Any]
    if ask == Ask.MEMORY:
        number = np.full(stories.kind.shape[1], names.things.get(thing, _MISSING), np.int8)
        found = oracle.memory(stories, number)
    elif ask == Ask.BELIEVERS:
        agents = tuple(names.agents)
        places = _places(stories, names, [(agent, *chain) for agent in agents], thing, reading)
        believe = places == names.containers.get(str(question.place), _MISSING)
        found = (believe << np.arange(len(agents))[:, None]).sum(axis=0)
    elif ask == Ask.COMMON:
        group = tuple(dict.fromkeys(chain))
        chains = [tuple(group[member] for member in each) for each in chain_classes(len(group))]
        places = _places(stories, names, chains, thing, reading)
        found = np.where((places == places[0]).all(axis=0), places[0], NOBODY)
    elif ask == Ask.KNOWS_WHERE:
        own, real = _places(stories, names, [chain, ()], thing, reading)
        found = (own != NOBODY) & (own == real)
    elif ask == Ask.KNOWS_WRONG:
        own, other, thought, real = _places(stories, names, [chain[:1], chain[1:], chain, ()], thing, reading)
        found = (other != NOBODY) & (real != NOBODY) & (other != real)
        found &= (own != NOBODY) & (thought != NOBODY) & (own != thought)
    else:
        found = _places(stories, names, [() if ask == Ask.REALITY else chain], thing, reading)[0]
    return found.astype(np.int64)


@lru_cache(maxsize=64)
def chain_classes(count: int) -> tuple[tuple[int, ...], ...]:
    """Return chains of the agents 0, 1 …, one for each way in which the oracle can tell chains apart.

    It sees the first agent, the set of those after the first and before the last, and the last two agents.
    """
    found: dict[tuple[int, frozenset[int], tuple[int, ...]], tuple[int, ...]] = {}
    chains: list[tuple[int, ...]] = [(agent,) for agent in range(count)]
    for chain in chains:  # grows on the way
        key = chain[0], frozenset(chain[1:-1]), chain[-2:]
        if key not in found:
            found[key] = chain
            chains += [(*chain, agent) for agent in range(count) if agent != chain[-1]]
    return tuple(found.values())


def reply(code: int, names: LocalNames, question: NestedQuestion) -> Reply:
    """Return an answer in words."""
    if question.ask in (Ask.KNOWS_WHERE, Ask.KNOWS_WRONG):
        return "yes" if code else "no"
    if question.ask == Ask.BELIEVERS:
        return tuple(sorted(name for name, number in names.agents.items() if code >> number & 1))
    return None if code == NOBODY else tuple(names.containers)[code]


def oracle_answer(events: Sequence[PlotEvent], question: NestedQuestion, reading: NestedReading) -> Reply:
    """Return the oracle's answer to a question about a story."""
    stories, (names,) = encode_plots([events])
    return reply(int(answer_codes(stories, names, question, reading)[0]), names, question)


def oracle_proof(events: Sequence[PlotEvent], question: NestedQuestion, reading: NestedReading) -> tuple[int, ...]:
    """Return the 1-based numbers of the sentences that an answer rests on (see `prove`)."""
    stories, (names,) = encode_plots([events])

    def evaluate(changed: PlotArrays, columns: Columns, _: Columns) -> Codes:
        return answer_codes(changed, names, question, reading)[columns]

    everything = np.ones((len(stories.kind), 1), np.bool_)
    flags = prove(stories, np.zeros(1, np.intp), evaluate, everything, everything)
    return tuple((np.flatnonzero(flags[:, 0]) + 1).tolist())


def prove_beliefs(stories: PlotArrays, columns: Columns, thing: Small, chain: Small, reading: NestedReading) -> Flags:
    """Return the sentences that beliefs rest on, [time, question]; the arguments are those of `oracle.beliefs`."""

    def evaluate(changed: PlotArrays, story: Columns, question: Columns) -> Codes:
        return oracle.beliefs(changed, story, thing[question], chain[:, question], reading).astype(np.int64)

    concerns = _concerns(stories, columns, thing, chain, reading)
    may_matter = concerns
    if reading.trust == ALWAYS and reading.sight != INFER_MOVER:
        minds = oracle.Minds(stories, columns, chain, reading)
        may_matter = concerns & _bears_on(stories, minds.where, columns, thing, minds.decided(thing))
    return prove(stories, columns, evaluate, concerns, may_matter)


def _concerns(stories: PlotArrays, columns: Columns, thing: Small, chain: Small, reading: NestedReading) -> Flags:
    """Return which sentences concern a belief: about the object, or about where those asked about or speaking are.

    The others can be deleted, alone or together, without any effect.
    """
    agents, questions = stories.agents, np.arange(len(columns))
    agent = np.where(stories.agent < 0, agents, stories.agent)[:, columns].astype(np.intp)
    kind = stories.kind[:, columns]
    speaks = np.isin(stories.kind, MESSAGES)[:, columns]
    concerned = np.zeros((agents + 1, len(columns)), np.bool_)
    for row in chain:
        concerned[np.where(row < 0, agents, row), questions] = True
    for row, is_spoken in zip(agent, speaks, strict=True):
        concerned[row, questions] |= is_spoken
    concerned[-1] = False
    tells = speaks | (kind == EventKind.PLACE) | (kind == EventKind.MOVE)
    about = stories.thing[:, columns] == thing
    if reading.trust == NEVER_LIARS:  # who lied about another object is not believed about this one
        about[:] = True
    found: Flags = np.where(tells, about, (kind != EventKind.NOISE) & concerned[agent, questions])
    return found


def _bears_on(stories: PlotArrays, where: Whereabouts, columns: Columns, thing: Small, decided: Instants) -> Flags:
    """Return which sentences can, alone, bear on a belief that an event decided, if everybody is always believed.

    Nothing is weighed then: the belief rests on this event, on how things stood then, and on whatever kept the chain
    from learning more.
    """
    kind = stories.kind
    walks = (kind == EventKind.ENTER) | (kind == EventKind.EXIT)
    looks = (kind == EventKind.PEEK) | (kind == EventKind.UNPEEK)
    heeds = (kind == EventKind.DISTRACT) | (kind == EventKind.ATTEND)
    agent = np.where(stories.agent < 0, stories.agents, stories.agent).astype(np.intp)
    # What is done later matters if without it somebody would still be somewhere, or still notice.
    room, watched = (_before(array, agent) for array in (where.room, where.watched))
    keeps = (walks & ((room >= 0) | (watched >= 0))) | (looks & (watched >= 0)) | (kind == EventKind.DISTRACT)
    follows = _followers(stories, agent, walks, looks, heeds)
    now = np.arange(len(kind))[:, None]
    acts = (walks | looks | heeds)[:, columns]
    found: Flags = acts & np.where(now > decided, keeps[:, columns], follows[:, columns] > decided)
    put = ((kind == EventKind.PLACE) | (kind == EventKind.MOVE))[:, columns] & (stories.thing[:, columns] == thing)
    found |= put & _puts_matter(put, stories.room[:, columns], decided)
    found |= np.isin(kind, MESSAGES)[:, columns] & (now == decided)
    return found


def _before(array: Small, agent: Columns) -> Small:
    """Return the entry of a [time, agent, story] array for each event's agent right before the event."""
    found = np.full(agent.shape, NOBODY, np.int8)
    known = np.minimum(agent, array.shape[1] - 1)[1:, None]
    found[1:] = np.take_along_axis(array[:-1], known, axis=1)[:, 0]
    return found


def _followers(stories: PlotArrays, agent: Columns, walks: Flags, looks: Flags, heeds: Flags) -> Instants:
    """Return when the effect of each sentence about somebody's whereabouts is replaced by another's, else the end."""
    steps, count = stories.kind.shape
    following = np.full((3, stories.agents + 1, count), steps, np.int16)  # by walks, looks, and heeds
    found = np.full((steps, count), steps, np.int16)
    columns = np.arange(count)
    for time in range(steps - 1, -1, -1):
        who = agent[time]
        walk, look, heed = (following[which, who, columns] for which in range(3))
        found[time] = np.where(walks[time], walk, np.where(looks[time], look, np.where(heeds[time], heed, steps)))
        following[0, who, columns] = np.where(walks[time], time, walk)
        following[1, who, columns] = np.where(walks[time] | looks[time], time, look)
        following[2, who, columns] = np.where(walks[time] | heeds[time], time, heed)
    return found


def _puts_matter(put: Flags, room: Small, decided: Instants) -> Flags:
    """Return which puttings of an object can matter: the last until it is decided, and those into another room."""
    found = np.zeros_like(put)
    last = np.full(put.shape[1], -1, np.int16)
    home = np.full(put.shape[1], NOBODY, np.int8)
    for time, puts in enumerate(put):
        found[time] = puts & (time > decided) & (home != NOBODY) & (home != room[time])
        last = np.where(puts & (time <= decided), time, last)
        home = np.where(puts, room[time], home)
    which = np.flatnonzero(last >= 0)
    found[last[which], which] = True
    return found


def prove(stories: PlotArrays, columns: Columns, evaluate: Evaluate, concerns: Flags, may_matter: Flags) -> Flags:
    """Return the sentences that answers rest on, [time, question].

    A proof has every sentence without which the answer is another. If these alone do not give the answer, because it
    has several grounds, it also has some of the others, as few as can be found by leaving out one after the other from
    the beginning: the latest grounds are kept.

    Args:
        stories: The stories.
        columns: The story of each question.
        evaluate: Answers questions about changed stories.
        concerns: Which sentences may matter to which answers, [time, question]; the others have no effect in any part
            of the story.
        may_matter: Which of these may change the answer if they alone are deleted.
    """
    steps, count = may_matter.shape
    questions = np.arange(count)
    answer = evaluate(stories, columns, questions)
    needed = np.zeros((steps, count), np.bool_)
    # Questions about one story share its changed versions, which are numbered by story and deleted sentence.
    time, question = (index.astype(np.intp) for index in np.nonzero(may_matter))
    version = columns[question] * steps + time
    order = np.argsort(version, kind="stable")
    starts = np.flatnonzero(np.diff(version[order], prepend=-1))
    for start in range(0, len(starts), _WIDTH):
        end = starts[start + _WIDTH] if start + _WIDTH < len(starts) else len(order)
        tried = order[starts[start] : end]
        deleted = version[order[starts[start : start + _WIDTH]]]
        changed = stories.pick(deleted // steps).without(np.arange(steps)[:, None] == deleted % steps)
        place = np.cumsum(np.diff(version[tried], prepend=-1) != 0) - 1
        found = evaluate(changed, place, question[tried]) != answer[question[tried]]
        needed[time[tried], question[tried]] = found
    enough = evaluate(stories.pick(columns).without(~needed), questions, questions) == answer
    several = np.flatnonzero(~enough)
    if len(several):
        found, kept = needed[:, several], concerns[:, several]
        needed[:, several] = _complete(stories.pick(columns[several]), found, kept, several, answer, evaluate)
    return needed


def _complete(
    stories: PlotArrays, needed: Flags, kept: Flags, questions: Columns, answer: Codes, evaluate: Evaluate
) -> Flags:
    """Leave out sentences that are kept but not needed, one after the other, as long as any can be left out."""
    columns = np.arange(kept.shape[1])
    while len(columns):
        # All stories try their first sentence at once, then all their second one, and so on.
        rank = np.cumsum(kept[:, columns] & ~needed[:, columns], axis=0)
        changed = np.zeros(len(columns), np.bool_)
        for number in range(1, int(rank[-1].max(initial=0)) + 1):
            places = np.flatnonzero(rank[-1] >= number)
            tried, time = columns[places], (rank[:, places] >= number).argmax(axis=0)
            rest = kept[:, tried]
            rest[time, np.arange(len(tried))] = False
            same = evaluate(stories.pick(tried).without(~rest), np.arange(len(tried)), questions[tried])
            left_out = same == answer[questions[tried]]
            kept[time[left_out], tried[left_out]] = False
            changed[places[left_out]] = True
        columns = columns[changed]
    return kept
