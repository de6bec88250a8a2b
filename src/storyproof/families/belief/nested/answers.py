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
from storyproof.families.belief.nested.questions import Ask, NestedQuestion, Reply
from storyproof.families.belief.nested.readings import NEVER_LIARS, NestedReading
from storyproof.families.belief.nested.world import MESSAGES, EventKind, PlotEvent
from storyproof.families.belief.oracle import STRANGER

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
        chains = [tuple(group[member] for member in each) for each in _classes(len(group))]
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
def _classes(count: int) -> tuple[tuple[int, ...], ...]:
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

    one = np.zeros(1, np.intp)
    flags = prove(stories, one, evaluate, np.ones((len(stories.kind), 1), np.bool_))
    return tuple((np.flatnonzero(flags[:, 0]) + 1).tolist())


def prove_beliefs(stories: PlotArrays, columns: Columns, thing: Small, chain: Small, reading: NestedReading) -> Flags:
    """Return the sentences that beliefs rest on, [time, question]; the arguments are those of `oracle.beliefs`."""

    def evaluate(changed: PlotArrays, story: Columns, question: Columns) -> Codes:
        return oracle.beliefs(changed, story, thing[question], chain[:, question], reading).astype(np.int64)

    return prove(stories, columns, evaluate, _may_matter(stories, columns, thing, chain, reading))


def _may_matter(stories: PlotArrays, columns: Columns, thing: Small, chain: Small, reading: NestedReading) -> Flags:
    """Return which sentences can bear on a belief: about the object, or about where those concerned are and look."""
    kind, agent = stories.kind[:, columns], stories.agent[:, columns]
    puts = (stories.kind == EventKind.PLACE) | (stories.kind == EventKind.MOVE)
    speaks = np.isin(stories.kind, MESSAGES)
    concerned = np.zeros((stories.agents + 1, len(columns)), np.bool_)
    for members in (chain, np.where(speaks, stories.agent, np.int8(NOBODY))[:, columns]):
        for row in members:
            concerned[np.where(row < 0, stories.agents, row), np.arange(len(columns))] = True
    concerned[-1] = False
    about = (stories.thing[:, columns] == thing) | (speaks[:, columns] & (reading.trust == NEVER_LIARS))
    if reading.trust == NEVER_LIARS:  # who lied about another object is not believed about this one
        about |= puts[:, columns]
    acts = (kind != EventKind.NOISE) & ~(puts | speaks)[:, columns]
    who = np.where(agent < 0, stories.agents, agent).astype(np.intp)
    found: Flags = ((puts | speaks)[:, columns] & about) | (acts & concerned[who, np.arange(len(columns))])
    return found


def prove(stories: PlotArrays, columns: Columns, evaluate: Evaluate, may_matter: Flags) -> Flags:
    """Return the sentences that answers rest on, [time, question].

    A proof has every sentence without which the answer is another. If these alone do not give the answer, because it
    has several grounds, it also has some of the others, as few as can be found by leaving out one after the other from
    the beginning: the latest grounds are kept.

    Args:
        stories: The stories.
        columns: The story of each question.
        evaluate: Answers questions about changed stories.
        may_matter: Which sentences may change which answers, [time, question]; the others are not tried.
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
        needed[:, several] = _complete(stories.pick(columns[several]), needed[:, several], several, answer, evaluate)
    return needed


def _complete(stories: PlotArrays, needed: Flags, questions: Columns, answer: Codes, evaluate: Evaluate) -> Flags:
    """Leave out sentences that are not needed, one after the other, as long as any can be left out."""
    kept = np.ones_like(needed)
    is_changed = True
    while is_changed:
        is_changed = False
        for time in range(len(kept)):
            tried = np.flatnonzero(kept[time] & ~needed[time])
            if not len(tried):
                continue
            rest = kept[:, tried].copy()
            rest[time] = False
            same = evaluate(stories.pick(tried).without(~rest), np.arange(len(tried)), questions[tried])
            left_out = tried[same == answer[questions[tried]]]
            kept[time, left_out] = False
            is_changed |= bool(len(left_out))
    return kept
