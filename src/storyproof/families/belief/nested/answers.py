"""Answers and proofs by the oracle, for every kind of question, about many stories at once.

Every question comes down to some beliefs: whether Ada knows where the key is rests on what she believes and on where
the key is. The beliefs of all questions are asked together, and then combined question by question. A proof deletes
sentences from the course of a story and asks again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, LocalNames, Small
from storyproof.families.belief.nested.arrays import PlotArrays, encode_plots, encode_questions
from storyproof.families.belief.nested.course import Course, member
from storyproof.families.belief.nested.instants import (
    Instants,
    Times,
    before,
    delay,
    first,
    has,
    keep_last,
    last,
    one_of,
    pack,
    single,
    unpack,
    until,
)
from storyproof.families.belief.nested.oracle import Chains, Minds, contract
from storyproof.families.belief.nested.questions import ASKS, Ask, NestedQuestion, QuestionArrays, Reply
from storyproof.families.belief.nested.readings import ALWAYS, NEVER_LIARS, NestedReading
from storyproof.families.belief.nested.world import PlotEvent
from storyproof.families.belief.readings import INFER_MOVER, OPEN

Codes = npt.NDArray[np.int64]
Columns = npt.NDArray[np.intp]

_AT_ONCE = 1 << 16  # beliefs that are evaluated together
_WIDTH = 1 << 13  # changed stories that are evaluated together


@lru_cache(maxsize=64)
def chain_classes(count: int, *, is_weighed: bool) -> tuple[tuple[int, ...], ...]:
    """Return chains of the agents 0, 1 …, one for each way in which the oracle can tell chains apart.

    Where nothing is weighed, it sees the first agent and the set of those after it. Else it sees the first agent, the
    set of those after the first and before the last, and the last two agents.

    Args:
        count: How many agents.
        is_weighed: Whether messages are weighed, or a surprise (see `_is_weighed`).
    """
    found: dict[tuple[int, frozenset[int], tuple[int, ...]], tuple[int, ...]] = {}
    chains: list[tuple[int, ...]] = [(agent,) for agent in range(count)]
    for chain in chains:  # grows on the way
        key = (chain[0], frozenset(chain[1:-1]), chain[-2:]) if is_weighed else (chain[0], frozenset(chain[1:]), ())
        if key not in found:
            found[key] = chain
            chains += [(*chain, agent) for agent in range(count) if agent != chain[-1]]
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class _Parts:
    """The beliefs that questions come down to, those of one question side by side.

    Attributes:
        start: Where the beliefs of each question begin, and at last where those of the last one end.
        chain: The agents, [place in the chain, belief]; all NOBODY for where the object really is.
        contracted: The same as the oracle sees them.
        thing: The objects.
    """

    start: Columns
    chain: Small
    contracted: Chains
    thing: Small

    def of(self, questions: Columns) -> tuple[Columns, Columns]:
        """Return the numbers of the beliefs of some questions, and where those of each begin among them."""
        counts = (self.start[1:] - self.start[:-1])[questions]
        begin = np.cumsum(counts) - counts
        return np.repeat(self.start[questions] - begin, counts) + np.arange(int(counts.sum())), begin


def _divide(stories: PlotArrays, asked: QuestionArrays, *, is_weighed: bool) -> _Parts:
    """Return the beliefs that questions come down to."""
    questions, chains = list[Columns](), list[Small]()

    def those(*asks: Ask) -> Columns:
        return np.flatnonzero(np.isin(asked.ask, [ASKS.index(ask) for ask in asks]))

    def add(chosen: Columns, *parts: Small) -> None:
        for chain in parts:
            questions.append(chosen)
            chains.append(chain)

    nobody = np.full((1, asked.count), NOBODY, np.int8)  # the chain that stands for reality
    chosen = those(Ask.REALITY, Ask.MEMORY)
    add(chosen, nobody[:, chosen])
    chosen = those(Ask.BELIEF, Ask.SAYS)
    add(chosen, asked.chain[:, chosen])
    chosen = those(Ask.KNOWS_WHERE)
    add(chosen, asked.chain[:1, chosen], nobody[:, chosen])
    chosen = those(Ask.KNOWS_WRONG)
    add(chosen, asked.chain[:1, chosen], asked.chain[1:2, chosen], asked.chain[:2, chosen], nobody[:, chosen])
    chosen = those(Ask.BELIEVERS)
    cast = np.maximum(stories.agent, stories.hearer).max(axis=0, initial=NOBODY)[asked.story[chosen]]
    for agent in range(1 + int(cast.max(initial=NOBODY))):
        some = chosen[cast >= agent]
        add(some, np.concatenate([np.full((1, len(some)), agent, np.int8), asked.chain[:, some]]))
    chosen = those(Ask.COMMON)
    group, sizes = _members(asked.chain[:, chosen])
    for size in np.unique(sizes).tolist():
        some = np.flatnonzero(sizes == size)
        add(chosen[some], *(group[list(chain)][:, some] for chain in chain_classes(size, is_weighed=is_weighed)))
    question = np.concatenate(questions)
    longest = max(len(chain) for chain in chains)
    chain = np.full((longest, len(question)), NOBODY, np.int8)
    begin = 0
    for part in chains:
        chain[: len(part), begin : begin + part.shape[1]] = part
        begin += part.shape[1]
    order = np.argsort(question, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(question, minlength=asked.count))]).astype(np.intp)
    chain = chain[:, order]
    return _Parts(start, chain, contract(chain, stories.agents), asked.thing[question[order]])


def _members(chain: Small) -> tuple[Small, Columns]:
    """Return the different members of groups in order of appearance, and how many each has."""
    repeated = chain == NOBODY
    for place in range(1, len(chain)):
        repeated[place] |= (chain[:place] == chain[place]).any(axis=0)
    order = np.argsort(repeated, axis=0, kind="stable")
    return np.take_along_axis(chain, order, axis=0), (~repeated).sum(axis=0)


class _Known(NamedTuple):
    """What the beliefs of some questions are, and which sentences may change them.

    Attributes:
        first: The number of the first belief.
        places: What the beliefs are.
        bearing: The sentences that may change each if they alone are deleted, [word, belief].
        deleted: The sentence that is deleted, for each question.
    """

    first: int
    places: Codes
    bearing: Instants
    deleted: Times


class _Beliefs(NamedTuple):
    """The beliefs that some questions come down to, as they are evaluated.

    Attributes:
        parts: The beliefs of all questions.
        course: What happens.
        column: The column of the course that each question is about.
        question: The numbers of the questions.
        begin: Where the beliefs of each question begin.
        places: What they are: where objects really are, what is known already, and what was evaluated last.
        some: Which of them are to be evaluated.
        minds: Those who have these.
    """

    parts: _Parts
    course: Course
    column: Columns
    question: Columns
    begin: Columns
    places: Codes
    some: Columns
    minds: Minds


class PlotAnswers:
    """The oracle's answers to many questions about many stories."""

    def __init__(self, stories: PlotArrays, asked: QuestionArrays, sight: str = OPEN) -> None:
        """Prepare to answer questions.

        Args:
            stories: The stories.
            asked: The questions.
            sight: What people see; whom they believe is said with each question.
        """
        self._stories, self._asked, self._sight = stories, asked, sight
        self._divided: dict[bool, _Parts] = {}

    def _is_weighed(self, trust: str) -> bool:
        """Return whether beliefs depend on more than what was last seen or heard: on trust, or on a surprise."""
        return trust != ALWAYS or self._sight == INFER_MOVER

    def _parts(self, *, is_weighed: bool) -> _Parts:
        if is_weighed not in self._divided:
            self._divided[is_weighed] = _divide(self._stories, self._asked, is_weighed=is_weighed)
        return self._divided[is_weighed]

    @cached_property
    def _course(self) -> Course:
        return Course.of(self._stories)

    def codes(self, *trusts: str) -> list[Codes]:
        """Return the answers (see `QuestionArrays`) under some readings of trust."""
        everything, found = np.arange(self._asked.count), dict[str, Codes]()
        if not self._is_weighed(ALWAYS):
            # Distrust takes messages away: who was shown an object after all messages believes the same if it trusts.
            (found[ALWAYS],), doubtful = self._answers(everything, ALWAYS)
            everything = everything[doubtful]
        others = [trust for trust in trusts if trust not in found]
        if others:
            answers, _ = self._answers(everything, *others)
            for trust, codes in zip(others, answers, strict=True):
                found[trust] = found[ALWAYS].copy() if ALWAYS in found else np.zeros(self._asked.count, np.int64)
                found[trust][everything] = codes
        return [found[trust] for trust in trusts]

    def _answers(self, questions: Columns, *trusts: str) -> tuple[list[Codes], Flags]:
        """Return the answers to some questions, and which of them may depend on trust."""
        found, doubtful = [np.zeros(len(questions), np.int64) for _ in trusts], np.zeros(len(questions), np.bool_)
        if not len(questions):
            return found, doubtful
        parts = self._parts(is_weighed=any(map(self._is_weighed, trusts)))
        # Whole questions at a time, so that the arrays of a large block fit into memory.
        sizes = np.cumsum(np.diff(parts.start)[questions])
        bounds = np.unique(np.searchsorted(sizes, np.arange(0, sizes[-1], _AT_ONCE)))
        for begin, end in zip(bounds, [*bounds[1:], len(questions)], strict=True):
            part = questions[begin:end]
            story, column = np.unique(self._asked.story[part], return_inverse=True)
            few = self._course if len(story) == self._course.count else self._course.pick(story)
            beliefs = self._ask(parts, few, column, part)
            for codes, trust in zip(found, trusts, strict=True):
                codes[begin:end] = self._answer(beliefs, trust)
            doubtful[begin:end] = _doubtful(beliefs)
        return found, doubtful

    def _ask(
        self, parts: _Parts, course: Course, column: Columns, question: Columns, known: _Known | None = None
    ) -> _Beliefs:
        """Prepare to evaluate the beliefs that some questions come down to, but for those that are known.

        Args:
            parts: The beliefs of all questions.
            course: What happens; sentences may have been deleted.
            column: The column of the course that each question is about.
            question: The numbers of the questions.
            known: What is known already.
        """
        which, begin = parts.of(question)
        counts = np.diff(np.append(begin, len(which)))
        at, places = np.repeat(column, counts), np.full(len(which), NOBODY, np.int64)
        is_mind = parts.chain[0, which] != NOBODY
        real = np.flatnonzero(~is_mind)
        if len(real):
            places[real] = course.put(at[real], parts.thing[which[real]], last)
        if known is not None:
            is_open = has(known.bearing[:, which - known.first], np.repeat(known.deleted, counts))
            places = np.where(is_mind & ~is_open, known.places[which - known.first], places)
            is_mind &= is_open
        some = np.flatnonzero(is_mind)
        minds = Minds(course, at[some], parts.contracted.pick(which[some]), parts.thing[which[some]], self._sight)
        return _Beliefs(parts, course, column, question, begin, places, some, minds)

    def _answer(self, beliefs: _Beliefs, trust: str) -> Codes:
        """Return the answers to questions under a reading of trust."""
        if len(beliefs.some):
            beliefs.places[beliefs.some] = beliefs.minds.at_the_end(trust)
        return self._combine(beliefs.course, beliefs.column, beliefs.question, beliefs.places, beliefs.begin)

    def _combine(self, course: Course, column: Columns, question: Columns, places: Codes, begin: Columns) -> Codes:
        """Return the answers to questions whose beliefs are known, those of each question from its `begin` on."""
        found: Codes = places[begin]
        asked, thing = self._asked.ask[question], self._asked.thing[question]

        def rows(ask: Ask) -> Columns:
            return np.flatnonzero(asked == ASKS.index(ask))

        chosen = rows(Ask.MEMORY)
        if len(chosen):
            found[chosen] = course.put(column[chosen], thing[chosen], first)
        chosen = rows(Ask.KNOWS_WHERE)
        own, real = found[chosen], places[begin[chosen] + 1]
        found[chosen] = (own != NOBODY) & (own == real)
        chosen = rows(Ask.KNOWS_WRONG)
        if len(chosen):
            own, other, thought, real = (places[begin[chosen] + place] for place in range(4))
            found[chosen] = _known_to_differ(other, real) & _known_to_differ(own, thought)
        chosen = rows(Ask.BELIEVERS)
        if len(chosen):
            counts = np.diff(np.append(begin, len(places)))
            agent = np.arange(len(places)) - np.repeat(begin, counts)
            believe = (places == np.repeat(self._asked.place[question], counts)).astype(np.int64) << agent
            found[chosen] = np.add.reduceat(believe, begin)[chosen]
        chosen = rows(Ask.COMMON)
        if len(chosen):
            same = np.minimum.reduceat(places, begin) == np.maximum.reduceat(places, begin)
            found[chosen] = np.where(same, found, NOBODY)[chosen]
        return found

    def prove(self, trust: str = ALWAYS, *, is_plain: bool = False) -> Flags:
        """Return the sentences that the answers rest on, [time, question].

        A proof has every sentence without which the answer is another. If these alone do not give the answer, because
        it has several grounds, it also has some of the others, as few as can be found by leaving out one after the
        other from the beginning: the latest grounds are kept.

        Args:
            trust: Which messages are believed.
            is_plain: Whether to try every sentence, also those that can have no effect.
        """
        steps, count = len(self._stories.kind), self._asked.count
        needed = np.zeros((steps, count), np.bool_)
        # A piece of questions at a time, whose sentences fit into memory.
        piece = max(1, (_WIDTH << 8) // steps)
        for begin in range(0, count, piece):
            part = np.arange(begin, min(begin + piece, count))
            needed[:, part] = self._prove(part, trust, is_plain=is_plain)
        return needed

    def _prove(self, questions: Columns, trust: str, *, is_plain: bool) -> Flags:
        steps, width = len(self._stories.kind), max(1, _WIDTH // (1 + len(self._stories.kind) // 64))
        story, column = np.unique(self._asked.story[questions], return_inverse=True)
        course = self._course.pick(story)
        parts = self._parts(is_weighed=self._is_weighed(trust))
        told = self._ask(parts, course, column, questions)
        answer = self._answer(told, trust)
        concerns, bearing = self._bearing(told, trust)
        if is_plain:
            concerns[:] = bearing[:] = course.kept[:, :1]
        known = _Known(int(parts.start[questions[0]]), told.places, bearing, questions)
        concerns, bearing = (np.bitwise_or.reduceat(sets, told.begin, axis=1) for sets in (concerns, bearing))
        needed = np.zeros((steps, len(questions)), np.bool_)
        # Questions about one story share its changed versions, which are numbered by story and deleted sentence.
        time, question = (index.astype(np.intp) for index in np.nonzero(unpack(bearing, steps)))
        version = column[question] * steps + time
        order = np.argsort(version, kind="stable")
        starts = np.flatnonzero(np.diff(version[order], prepend=-1))
        for start in range(0, len(starts), width):
            end = starts[start + width] if start + width < len(starts) else len(order)
            tried = order[starts[start] : end]
            deleted = version[order[starts[start : start + width]]]
            changed = course.without(deleted // steps, deleted % steps)
            place = np.cumsum(np.diff(version[tried], prepend=-1) != 0) - 1
            beliefs = self._ask(parts, changed, place, questions[question[tried]], known._replace(deleted=time[tried]))
            needed[time[tried], question[tried]] = self._answer(beliefs, trust) != answer[question[tried]]
        proof = pack(needed)
        # Where no other sentence concerns the answer, there is nothing to add.
        unsure = np.flatnonzero((concerns & ~proof).any(axis=0))
        bare = course.keep(column[unsure], proof[:, unsure])
        alone = self._ask(parts, bare, np.arange(len(unsure)), questions[unsure])
        several = unsure[self._answer(alone, trust) != answer[unsure]]
        if len(several):
            started = course.keep(column[several], concerns[:, several])
            earliest = None if is_plain or self._is_weighed(trust) else _earliest(told)[several]
            proof[:, several] = self._complete(
                parts, started, proof[:, several], questions[several], answer[several], trust, earliest
            )
        return unpack(proof, steps)

    def _complete(
        self,
        parts: _Parts,
        course: Course,
        needed: Instants,
        questions: Columns,
        answer: Codes,
        trust: str,
        earliest: Times | None,
    ) -> Instants:
        """Leave out sentences that are not needed, one after the other, as long as any can be left out.

        Args:
            parts: The beliefs of all questions.
            course: What happens, a column for each question.
            needed: The sentences that cannot be left out.
            questions: The numbers of the questions.
            answer: Their answers.
            trust: Which messages are believed.
            earliest: When the first of each question's beliefs is decided (see `_earliest`); None if any sentence may
                matter for any belief, so that all are tried.

        Returns:
            The sentences that are left.
        """
        kept, words = course.kept, course.words
        # What can be left out without trying, and what was tried in vain since the last change.
        idle, failed = np.zeros_like(kept), np.zeros_like(kept)
        columns = np.arange(len(questions))
        if earliest is not None:
            idle = self._idle(course, columns, questions, earliest)
        while len(columns):
            # All questions try their first sentence at once, then all their second one, and so on.
            active, tested = columns, needed.copy()
            changed = np.zeros(len(questions), np.bool_)
            while len(active):
                unused = idle[:, active] & kept[:, active] & ~tested[:, active]
                time = first(kept[:, active] & ~tested[:, active] & ~failed[:, active] & ~unused)
                unused &= np.where(time < 0, ~np.uint64(0), before(np.maximum(time, 0), words))
                kept[:, active] &= ~unused
                lost = active[unused.any(axis=0)]
                changed[lost], failed[:, lost] = True, 0
                active, time = active[time >= 0], time[time >= 0]
                now = single(time, words)
                shorter = kept[:, active] & ~now
                tested[:, active] |= now
                failed[:, active] |= now
                tried = self._ask(parts, course.keep(active, shorter), np.arange(len(active)), questions[active])
                same = np.flatnonzero(self._answer(tried, trust) == answer[active])
                left = active[same]
                kept[:, left], failed[:, left], changed[left] = shorter[:, same], 0, True
                if earliest is not None:
                    idle[:, left] = self._idle(tried.course, same, questions[left], _earliest(tried)[same])
            columns = np.flatnonzero(changed)
        return kept

    def _idle(self, course: Course, column: Columns, question: Columns, earliest: Times) -> Instants:
        """Return sentences that can be left out, one after the other in any case, from the first one on.

        Beliefs are decided by what was last seen or heard. Whatever ended before that has no effect: where somebody
        was before its last walk until then, where the object was, and what was said.

        Args:
            course: What happens.
            column: The column of the course that each question is about.
            question: The numbers of the questions.
            earliest: When the first of each question's beliefs is decided.
        """
        so_far = until(earliest, course.words)
        known = np.minimum(self._asked.thing[question], course.objects - 1).astype(np.intp)
        found: Instants = course.kept[:, column] & so_far & ~single(earliest, course.words)
        found &= ~keep_last(one_of(course.puts, known, column) & so_far)
        for agent in range(self._stories.agents):
            for sets in (course.walks, course.looks, course.heeds):
                found &= ~keep_last(sets[:, agent].take(column, axis=1) & so_far)
        return found

    def _bearing(self, told: _Beliefs, trust: str) -> tuple[Instants, Instants]:
        """Return which sentences concern each belief, and which of them may change it if they alone are deleted.

        Sentences about the object concern a belief, those about where the agents of the chain and the speakers of
        messages are, and those about what the first agent notices. The others have no effect in any part of the story.
        """
        course, parts = told.course, told.parts
        which, begin = parts.of(told.question)
        at = np.repeat(told.column, np.diff(np.append(begin, len(which))))
        chain, thing = parts.chain[:, which], parts.thing[which]
        known = np.minimum(thing, course.objects - 1).astype(np.intp)
        puts, told_of = one_of(course.puts, known, at), _spoken_about(course, at, thing)
        puts[:, thing >= course.objects] = 0
        agents = _concerned(course, at, thing, chain)
        if trust == NEVER_LIARS:  # who lied about another object is not believed about this one
            puts, told_of = (
                np.bitwise_or.reduce(course.puts, axis=1)[:, at],
                np.bitwise_or.reduce(course.by, axis=1)[:, at],
            )
            agents = _concerned(course, at, None, chain)
        is_real = chain[0] == NOBODY  # rests on puttings only
        agents[is_real] = 0
        told_of[:, is_real] = 0
        concerns, bearing = puts | told_of, puts | told_of
        is_weighed = self._is_weighed(trust)
        decided = np.full(len(which), -1, np.int64)
        minds = np.flatnonzero(~is_real)
        if not is_weighed and len(minds):
            decided[minds] = told.minds.decided()
            early = until(decided[minds], course.words)
            bearing[:, minds] = keep_last(puts[:, minds] & early) | (_returns(course)[:, known, at][:, minds] & ~early)
            bearing[:, minds] |= told_of[:, minds] & single(decided[minds], course.words)
            bearing[:, minds] &= concerns[:, minds]
        keeps, kind = _keeps(course), agents.dtype.type
        for agent in range(course.inside.shape[1]):
            for is_first in (True, False):
                # Only of the first of a chain it matters what it watches, and whether it is distracted.
                some = np.flatnonzero(((agents & kind(1 << agent)) != 0) & ((chain[0] == agent) == is_first))
                if not len(some):
                    continue
                events = (course.walks, course.looks, course.heeds) if is_first else (course.walks,)
                acts = [sets[:, agent, at[some]] for sets in events]
                concerning = bearing_on = np.bitwise_or.reduce(acts)
                if not is_weighed:
                    # How things stood when the belief was decided; later, what kept the chain from learning more.
                    early = until(decided[some], course.words)
                    states = np.bitwise_or.reduce([keep_last(sets & early) for sets in acts])
                    bearing_on = states | (concerning & keeps[:, agent, at[some]] & ~early)
                concerns[:, some] |= concerning
                bearing[:, some] |= bearing_on
        return concerns, bearing


def _earliest(beliefs: _Beliefs) -> Times:
    """Return when the first of each question's beliefs is decided; -1 if one has no ground, or there is none."""
    never = np.iinfo(np.int64).max
    decided = np.full(len(beliefs.places), never)
    decided[beliefs.some] = beliefs.minds.decided()
    found: Times = np.minimum.reduceat(decided, beliefs.begin)
    found[found == never] = -1
    return found


def _doubtful(beliefs: _Beliefs) -> Flags:
    """Return which questions have a belief that may rest on a message."""
    found = np.zeros(len(beliefs.places), np.bool_)
    found[beliefs.some] = beliefs.minds.doubtful()
    doubtful: Flags = np.logical_or.reduceat(found, beliefs.begin)
    return doubtful


def _spoken_about(course: Course, column: Columns, thing: Small) -> Instants:
    """Return when messages about some objects are sent."""
    known = np.minimum(thing, course.objects - 1).astype(np.intp)
    about = one_of(course.about, known, column)
    about[:, thing >= course.objects] = 0
    return about


def _concerned(course: Course, column: Columns, thing: Small | None, chain: Small) -> npt.NDArray[np.unsignedinteger]:
    """Return the sets of the agents of chains, and of those who speak of an object, or of any."""
    stories, kind = course.stories, course.stories.mask_type
    found = np.zeros(len(column), kind)
    for agent in chain:
        found |= member(np.where(agent < stories.agents, agent, np.int8(NOBODY)), kind)
    if thing is None:
        spoken = np.bitwise_or.reduce(course.about, axis=1)[:, column]
    else:
        spoken = course.about[:, np.minimum(thing, course.objects - 1).astype(np.intp), column]
    for agent in range(stories.agents):
        speaks = (course.by[:, agent, column] & spoken).any(axis=0)
        found |= speaks.astype(kind) << kind(agent)
    return found


def _keeps(course: Course) -> Instants:
    """Return the sentences without which somebody would still be somewhere, watch or notice, [word, agent, column]."""
    inside, watching = (delay(np.bitwise_or.reduce(sets, axis=2)) for sets in (course.inside, course.watching))
    walks, looks = course.walks, course.looks & ~course.walks
    found: Instants = (walks & (inside | watching)) | (looks & watching) | (course.heeds & ~walks & course.away)
    return found


def _returns(course: Course) -> Instants:
    """Return when objects are put into another room than they were in, [word, object, column]."""
    before, moved = np.zeros_like(course.puts), np.zeros_like(course.puts)
    for room in range(course.home.shape[2]):
        there = course.home[:, :, room]
        before |= delay(there)
        moved |= there & ~delay(there)
    found: Instants = course.puts & before & moved
    return found


def _known_to_differ(one: Codes, other: Codes) -> Flags:
    found: Flags = (one != NOBODY) & (other != NOBODY) & (one != other)
    return found


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
    asked = encode_questions([names], [0], [question])
    (codes,) = PlotAnswers(stories, asked, reading.sight).codes(reading.trust)
    return reply(int(codes[0]), names, question)


def oracle_proof(events: Sequence[PlotEvent], question: NestedQuestion, reading: NestedReading) -> tuple[int, ...]:
    """Return the 1-based numbers of the sentences that an answer rests on (see `PlotAnswers.prove`)."""
    stories, (names,) = encode_plots([events])
    flags = PlotAnswers(stories, encode_questions([names], [0], [question]), reading.sight).prove(reading.trust)
    return tuple((np.flatnonzero(flags[:, 0]) + 1).tolist())
