"""Answers and proofs by the oracle, for every kind of question, about many stories at once.

Every question comes down to some beliefs: whether Ada knows where the key is rests on what she believes and on where
the key is. The beliefs of all questions are asked together, and then combined question by question. A proof deletes
sentences from the course of a story and asks again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from storyproof.families.belief import oracle
from storyproof.families.belief.arrays import (
    NOBODY,
    STRANGER,
    Flags,
    LocalNames,
    Mask,
    PlotArrays,
    Small,
    distinct,
    encode_plots,
    encode_questions,
    starts_of_runs,
)
from storyproof.families.belief.oracle import Chains, Minds, contract
from storyproof.families.belief.questions import ASKS, Ask, BeliefQuestion, QuestionArrays, Reply
from storyproof.families.belief.readings import ALWAYS, NEVER_LIARS, OPEN, BeliefReading
from storyproof.families.belief.time_sets import (
    Instants,
    collect,
    delay,
    first,
    keep_last,
    last,
    members,
    one_of,
    single,
    unpack,
    until,
)
from storyproof.families.belief.trajectories import Course, member
from storyproof.families.belief.world import PlotEvent

Codes = npt.NDArray[np.int64]
Columns = npt.NDArray[np.intp]

_COMMON = ASKS.index(Ask.COMMON)  # the only kind whose value is its answer though it has several beliefs
_BELIEFS = 1 << 16  # that are evaluated together
_WIDTH = 4 << 10  # changed stories that are evaluated together: their sets fit into a processor's cache
_RUN = 8  # sentences that are left out together at most
_CELLS = 1 << 21  # sentences times beliefs that are proved together


@lru_cache(maxsize=64)
def chain_classes(count: int, *, is_weighed: bool) -> tuple[tuple[int, ...], ...]:
    """Return chains of the agents 0, 1 …, one for each way in which the oracle can tell chains apart.

    Where nothing is weighed, it sees the first agent and the set of those after it. Else it sees the first agent, the
    set of those after the first and before the last, and the last two agents.

    Args:
        count: How many agents.
        is_weighed: Whether messages or surprises are weighed; see `oracle.is_weighed`.
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
        is_memory: Whether it stands for where the object was first.
    """

    start: Columns
    chain: Small
    contracted: Chains
    thing: Small
    is_memory: Flags

    def of(self, questions: Columns) -> tuple[Columns, Columns]:
        """Return the numbers of the beliefs of some questions, and where those of each begin among them."""
        begin = self.start[questions]
        return _spans(begin, self.start[questions + 1] - begin)


def _spans(begin: Columns, counts: Columns) -> tuple[Columns, Columns]:
    """Return spans of numbers one after the other, and where each begins among them."""
    start = np.cumsum(counts) - counts
    return np.repeat(begin - start, counts) + np.arange(int(counts.sum())), start


def _divide(stories: PlotArrays, asked: QuestionArrays, *, is_weighed: bool) -> _Parts:
    """Return the beliefs that questions come down to."""
    questions, chains = list[Columns](), list[Small]()

    def those(*asks: Ask) -> Columns:
        return np.flatnonzero(np.array([ask in asks for ask in ASKS]).take(asked.ask))

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
    cast = np.maximum(cast, 0)  # one belief at least, of a stranger if there is nobody
    for agent in range(1 + int(cast.max(initial=NOBODY))):
        some = chosen[cast >= agent]
        # Who is asked about is not counted: a stranger, who believes nothing, takes that place.
        believer = np.where(asked.chain[:1, some] == agent, np.int8(STRANGER), np.int8(agent))
        add(some, np.concatenate([believer, asked.chain[:, some]]))
    chosen = those(Ask.COMMON)
    group = asked.chain[:, chosen]  # who is named twice believes the same both times
    sizes = (group != NOBODY).sum(axis=0)
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
    # Unlike an index, `take` keeps the agents at one place of the chains side by side in memory.
    chain, question = chain.take(order, axis=1), question[order]
    is_memory = asked.ask[question] == ASKS.index(Ask.MEMORY)
    return _Parts(start, chain, contract(chain, stories.agents), asked.thing[question], is_memory)


class _Beliefs(NamedTuple):
    """The beliefs that some questions come down to, as they are evaluated.

    Attributes:
        parts: The beliefs of all questions.
        course: What happens.
        column: The column of the course that each question is about.
        question: The numbers of the questions.
        which: The numbers of their beliefs.
        begin: Where the beliefs of each question begin among these.
        places: What they are: where objects really are, and what was evaluated last.
        some: Which of them are to be evaluated.
        minds: Those who have these.
    """

    parts: _Parts
    course: Course
    column: Columns
    question: Columns
    which: Columns
    begin: Columns
    places: Codes
    some: Columns
    minds: Minds

    def of(self, questions: Columns) -> tuple[Columns, Columns]:
        """Return the places of the beliefs of some questions, and where those of each begin among them."""
        begin, end = self.begin[questions], np.append(self.begin, len(self.which))[questions + 1]
        return _spans(begin, end - begin)


class PlotAnswers:
    """The oracle's answers to many questions about many stories."""

    def __init__(
        self, stories: PlotArrays, asked: QuestionArrays, sight: str = OPEN, course: Course | None = None
    ) -> None:
        """Prepare to answer questions.

        Args:
            stories: The stories.
            asked: The questions.
            sight: What people see; whom they believe is said with each question.
            course: The course of the stories, if it is known.
        """
        self._stories, self._asked, self._sight = stories, asked, sight
        self._course = course or Course.of(stories)
        self._divided: dict[bool, _Parts] = {}
        self._told: tuple[tuple[int, int, bool], _Beliefs] | None = None
        self._first: PlotAnswers | None = None  # the same questions under the sight that was asked for first

    def under(self, sight: str) -> PlotAnswers:
        """Return the answers to the same questions if people see something else."""
        other = copy(self)  # what questions come down to is the same
        other._sight, other._told, other._first = sight, None, self
        return other

    def _is_weighed(self, trust: str) -> bool:
        return oracle.is_weighed(BeliefReading(self._sight, trust))

    def _parts(self, *, is_weighed: bool) -> _Parts:
        if is_weighed not in self._divided:
            self._divided[is_weighed] = _divide(self._stories, self._asked, is_weighed=is_weighed)
        return self._divided[is_weighed]

    def codes(self, *trusts: str, unsurprised: Sequence[Codes] = ()) -> list[Codes]:
        """Return the answers (see `QuestionArrays`) under some readings of trust.

        Args:
            trusts: Which messages are believed.
            unsurprised: The answers under the same readings of trust if nobody infers who moved an object, if known.
        """
        if unsurprised:
            return self._surprise(trusts, unsurprised)
        found, few, rest = dict[str, Codes](), self, np.arange(self._asked.count)
        if not self._is_weighed(ALWAYS):
            # Distrust takes messages away: people who saw an object after all messages believe the same if they trust.
            (found[ALWAYS],), doubtful = self._answers(ALWAYS)
            rest = np.flatnonzero(doubtful)
            few = PlotAnswers(self._stories, self._asked.pick(rest), self._sight, self._course)
        others = [trust for trust in trusts if trust not in found]
        if others:
            answers, _ = few._answers(*others)
            for trust, codes in zip(others, answers, strict=True):
                found[trust] = found[ALWAYS].copy() if ALWAYS in found else np.zeros(self._asked.count, np.int64)
                found[trust][rest] = codes
        return [found[trust] for trust in trusts]

    def over_time(self, trust: str) -> Codes:
        """Return the answers after each sentence, as if the story ended there, [time, question].

        Not for `infer-mover` with trust in some messages only, where what is a surprise rests on what is known later.
        """
        steps = len(self._stories.kind)
        codes = np.zeros((steps, self._asked.count), np.int64)
        for told in self._tell(is_weighed=self._is_weighed(trust)):
            places = self._real_over_time(told)
            if len(told.some):
                places[:, told.some] = told.minds.over_time(trust)
            for time in range(steps):
                codes[time, told.question] = self._combine(told.question, places[time], told.begin)
        return codes

    def _real_over_time(self, told: _Beliefs) -> Codes:
        """Return where objects are after each sentence, or were first, for the beliefs that stand for this."""
        course, question = told.course, np.repeat(told.column, np.diff(told.begin, append=len(told.which)))
        things = told.parts.thing.take(told.which)
        is_memory = told.parts.is_memory.take(told.which)
        spot = np.minimum(things, course.objects - 1) * np.intp(course.count) + question
        puts = unpack(course.puts.reshape(len(course.puts), -1), len(self._stories.kind)).take(spot, axis=1)
        puts &= things < course.objects
        puts &= ~is_memory | (np.cumsum(puts, axis=0) == 1)
        times = np.maximum.accumulate(np.where(puts, np.arange(len(puts))[:, None], -1), axis=0)
        return course.place_at(times, np.broadcast_to(question, times.shape)).astype(np.int64)

    def _surprise(self, trusts: Sequence[str], unsurprised: Sequence[Codes]) -> list[Codes]:
        """Return the answers where people infer who moved an object; see `codes`."""
        parts, course, found = self._parts(is_weighed=False), self._course, [codes.copy() for codes in unsurprised]
        question, agent = np.repeat(np.arange(self._asked.count), np.diff(parts.start)), parts.contracted.first
        story = self._asked.story[question]
        thing = np.minimum(parts.thing, course.objects - 1)
        infers, doubts = (flags[agent, thing, story] for flags in oracle.surprises(course))
        infers &= parts.contracted.length == 2  # only pairs infer a mover

        def few(differs: Flags) -> tuple[Columns, PlotAnswers]:
            some = distinct(question[differs & (agent >= 0)])
            return some, PlotAnswers(self._stories, self._asked.pick(some), self._sight, course)

        if not len(course.messages.time):  # nobody is trusted or distrusted
            some, asked = few(infers)
            (codes,), _ = asked._answers(trusts[0])
            for each in found:
                each[some] = codes
            return found
        for is_liars, differs in ((False, infers), (True, infers | doubts)):
            some, asked = few(differs)
            places = [place for place, trust in enumerate(trusts) if (trust == NEVER_LIARS) == is_liars]
            answers, _ = asked._answers(*(trusts[place] for place in places))
            for place, codes in zip(places, answers, strict=True):
                found[place][some] = codes
        return found

    def _answers(self, *trusts: str) -> tuple[list[Codes], Flags]:
        """Return the answers under some readings of trust, and which of them may depend on trust."""
        found = [np.zeros(self._asked.count, np.int64) for _ in trusts]
        doubtful = np.zeros(self._asked.count, np.bool_)
        for told in self._tell(is_weighed=any(map(self._is_weighed, trusts))):
            for codes, trust in zip(found, trusts, strict=True):
                codes[told.question] = self._answer(told, trust)
            doubtful[told.question] = _doubtful(told)
        return found, doubtful

    def _tell(self, *, is_weighed: bool) -> Iterator[_Beliefs]:
        """Yield the beliefs that the questions come down to, as many at once as fit into memory."""
        if not self._asked.count:
            return
        parts = self._parts(is_weighed=is_weighed)
        size = max(1, min(_BELIEFS, _CELLS // len(self._stories.kind)))
        bounds = np.unique(np.searchsorted(parts.start, np.arange(0, parts.start[-1], size)))
        for begin, end in zip(bounds.tolist(), [*bounds[1:].tolist(), self._asked.count], strict=True):
            key = begin, end, is_weighed
            if self._told is None or self._told[0] != key:  # answers and proofs ask for the same
                known = self._first._told if self._first is not None else None
                if known is not None and known[0] == key:
                    told = known[1]
                    self._told = key, told._replace(places=told.places.copy(), minds=told.minds.under(self._sight))
                else:
                    questions = np.arange(begin, end)
                    column = self._asked.story[questions].astype(np.intp)
                    self._told = key, self._ask(parts, self._course, column, questions)
            yield self._told[1]

    def _ask(self, parts: _Parts, course: Course, column: Columns, question: Columns) -> _Beliefs:
        """Prepare to evaluate the beliefs that some questions come down to.

        Args:
            parts: The beliefs of all questions.
            course: What happens; sentences may have been deleted.
            column: The column of the course that each question is about.
            question: The numbers of the questions.
        """
        which, begin = parts.of(question)
        at = np.repeat(column, np.diff(begin, append=len(which)))
        places, some = self._real_places(parts, course, at, which)
        minds = self._minds(parts, course, at.take(some), which.take(some))
        return _Beliefs(parts, course, column, question, which, begin, places, some, minds)

    def _minds(self, parts: _Parts, course: Course, at: Columns, which: Columns) -> Minds:
        """Return the minds that have some beliefs."""
        return Minds(course, at, parts.contracted.pick(which), parts.thing.take(which), self._sight)

    def _real_places(self, parts: _Parts, course: Course, at: Columns, which: Columns) -> tuple[Codes, Columns]:
        """Return where objects are, or were first, for those of some beliefs that stand for this; and the others."""
        places, is_real = np.full(len(which), NOBODY, np.int64), parts.chain[0].take(which) == NOBODY
        real = np.flatnonzero(is_real)
        if not len(real):
            return places, np.arange(len(which))
        is_memory = parts.is_memory.take(which.take(real))
        for some, wanted in ((real[~is_memory], last), (real[is_memory], first)):
            if len(some):
                places[some] = course.put(at.take(some), parts.thing.take(which.take(some)), wanted)
        return places, np.flatnonzero(~is_real)

    def _answer(self, beliefs: _Beliefs, trust: str) -> Codes:
        """Return the answers to questions under a reading of trust."""
        return self._combine(beliefs.question, self._evaluate(beliefs, trust), beliefs.begin)

    def _evaluate(self, beliefs: _Beliefs, trust: str) -> Codes:
        """Return what beliefs are under a reading of trust."""
        if len(beliefs.some):
            beliefs.places[beliefs.some] = beliefs.minds.at_the_end(trust)
        return beliefs.places

    def _combine(self, question: Columns, places: Codes, begin: Columns) -> Codes:
        """Return the answers to questions whose beliefs are known, those of each question from its `begin` on."""
        found: Codes = places[begin]
        asked = self._asked.ask[question]

        def rows(ask: Ask) -> Columns:
            return np.flatnonzero(asked == ASKS.index(ask))

        chosen = rows(Ask.KNOWS_WHERE)
        own, real = found[chosen], places[begin[chosen] + 1]
        found[chosen] = (own != NOBODY) & (own == real)
        chosen = rows(Ask.KNOWS_WRONG)
        if len(chosen):
            own, other, thought, real = (places[begin[chosen] + place] for place in range(4))
            found[chosen] = (own == real) & (thought == other) & _known_to_differ(other, real)
        counts = np.diff(begin, append=len(places))
        chosen = rows(Ask.BELIEVERS)
        if len(chosen):
            which, start = _spans(begin[chosen], counts[chosen])
            agent = np.arange(len(which)) - np.repeat(start, counts[chosen])
            believe = places[which] == np.repeat(self._asked.place[question[chosen]], counts[chosen])
            found[chosen] = np.add.reduceat(believe.astype(np.int64) << agent, start)
        chosen = rows(Ask.COMMON)
        if len(chosen):
            which, start = _spans(begin[chosen], counts[chosen])
            lowest, highest = (each.reduceat(places[which], start) for each in (np.minimum, np.maximum))
            found[chosen] = np.where(lowest == highest, lowest, NOBODY)
        return found

    def prove(self, trust: str = ALWAYS) -> Flags:
        """Return the sentences that the answers rest on, [time, question].

        The *value* of a question is its answer; for questions that compare beliefs (knows-where, knows-wrong and
        believers), it is the tuple of all that they compare. A proof has every sentence whose deletion changes the
        value. If these alone do not give the value, further ones are added: of the whole story, the sentences that are
        not needed are left out one after the other, from the first to the last, if what remains still gives the value;
        and so on until none can be left out.
        """
        found = np.zeros((len(self._stories.kind), self._asked.count), np.bool_)
        for told in self._tell(is_weighed=self._is_weighed(trust)):
            found[:, told.question] = self._prove(told, trust)
        return found

    def decisive(self, trust: str = ALWAYS, *, is_plain: bool = False) -> Flags:
        """Return the sentences whose deletion changes the value of questions (see `prove`), [time, question].

        Args:
            trust: Which messages are believed.
            is_plain: Whether to try every sentence, also those that can have no effect.
        """
        found = np.zeros((len(self._stories.kind), self._asked.count), np.bool_)
        for told in self._tell(is_weighed=self._is_weighed(trust)):
            answer = self._answer(told, trust)
            bearing = self._bearing(told, trust)
            if is_plain:
                bearing[:] = told.course.kept[:, :1]
            found[:, told.question] = unpack(self._decisive(told, bearing, answer, trust), len(found))
        return found

    def _prove(self, told: _Beliefs, trust: str) -> Flags:
        answer = self._answer(told, trust)
        bearing = self._bearing(told, trust)
        proof = self._decisive(told, bearing, answer, trust)
        # All that bears on the beliefs gives the value; what is decisive may be less.
        bearing = np.bitwise_or.reduceat(bearing, told.begin, axis=1)
        unsure = np.flatnonzero((bearing & ~proof).any(axis=0))
        lacking = unsure[~self._gives(told, unsure, proof[:, unsure], answer, trust)]
        if len(lacking):
            proof[:, lacking] = self._complete(told, lacking, proof[:, lacking], bearing[:, lacking], answer, trust)
        return unpack(proof, len(self._stories.kind))

    def _decisive(self, told: _Beliefs, bearing: Instants, answer: Codes, trust: str) -> Instants:
        """Return the sentences whose deletion changes the value of questions, [word, question].

        Args:
            told: The beliefs that the questions come down to.
            bearing: The sentences that may change each belief, [word, belief].
            answer: The answers.
            trust: Which messages are believed.
        """
        steps, parts = len(self._stories.kind), told.parts
        width = max(1, _WIDTH // told.course.words.number)
        question = np.repeat(np.arange(len(answer)), np.diff(told.begin, append=len(told.which)))
        # Beliefs about one story share its changed versions, which are numbered by story and deleted sentence.
        time, belief = members(bearing, steps)
        version = told.column[question].take(belief) * steps + time
        order = np.argsort(version)
        time, belief, version = time.take(order), belief.take(order), version.take(order)
        starts = starts_of_runs(version)
        places = np.empty(len(version), np.int64)
        for start in range(0, len(starts), width):
            part = slice(starts[start], starts[start + width] if start + width < len(starts) else len(version))
            deleted = version[starts[start : start + width]]
            changed = told.course.without(deleted // steps, deleted % steps)
            at = np.cumsum(np.diff(version[part], prepend=-1) != 0) - 1
            which = told.which[belief[part]]
            found, some = self._real_places(parts, changed, at, which)
            if len(some):
                found[some] = self._minds(parts, changed, at.take(some), which.take(some)).at_the_end(trust)
            places[part] = found
        differs = np.flatnonzero(places != told.places.take(belief))
        time, belief, places = time.take(differs), belief.take(differs), places.take(differs)
        is_common = (self._asked.ask[told.question] == _COMMON)[question].take(belief)
        keys = distinct((question.take(belief) * steps + time)[~is_common])
        decisive = collect(keys % steps, keys // steps, told.course.words, len(answer))
        # What a group shares may stay the same if one of many beliefs is another.
        others = np.flatnonzero(is_common)
        time, belief, places = time[others], belief[others], places[others]
        keys, of = np.unique(question[belief] * steps + time, return_inverse=True)
        if len(keys):
            asked, deleted = keys // steps, keys % steps
            which, begin = parts.of(told.question[asked])
            all_places = told.places[which - told.which[0]]
            all_places[begin[of] + belief - told.begin[question[belief]]] = places
            changes = np.flatnonzero(self._combine(told.question[asked], all_places, begin) != answer[asked])
            decisive |= collect(deleted[changes], asked[changes], told.course.words, len(answer))
        return decisive

    def _gives(self, told: _Beliefs, some: Columns, kept: Instants, answer: Codes, trust: str) -> Flags:
        """Return whether some of the questions that were asked have the same value if only these sentences are there.

        Args:
            told: The beliefs that were asked for.
            some: The questions, a column for each.
            kept: The sentences that are there.
            answer: The answers to all questions that were asked.
            trust: Which messages are believed.
        """
        same = np.empty(len(some), np.bool_)
        width = max(1, _WIDTH // told.course.words.number)
        for begin in range(0, len(some), width):
            part = some[begin : begin + width]
            few = told.course.keep(told.column[part], kept[:, begin : begin + width])
            beliefs = self._ask(told.parts, few, np.arange(len(part)), told.question[part])
            places = self._evaluate(beliefs, trust)
            is_same = places == told.places.take(beliefs.which - told.which[0])
            by_value = np.logical_and.reduceat(is_same, beliefs.begin)
            shared = np.flatnonzero(self._asked.ask[beliefs.question] == _COMMON)
            which, start = beliefs.of(shared)
            by_value[shared] = self._combine(beliefs.question[shared], places[which], start) == answer[part[shared]]
            same[begin : begin + width] = by_value
        return same

    def _complete(
        self, told: _Beliefs, lacking: Columns, needed: Instants, bearing: Instants, answer: Codes, trust: str
    ) -> Instants:
        """Return sentences that give the values of questions; none of those that are not needed can be left out.

        Args:
            told: The beliefs that were asked for.
            lacking: The questions, a column for each.
            needed: The sentences whose deletion changes the value, which alone do not give it.
            bearing: The sentences that bear on the beliefs.
            answer: The answers to all questions that were asked.
            trust: Which messages are believed.
        """
        # Sentences that have to do with none of the beliefs can be left out at any time.
        kept = self._concerning(told, lacking, trust) | needed
        words, steps = told.course.words, len(self._stories.kind)
        failed = np.zeros_like(kept)  # what was tried in vain since the last change
        columns = np.arange(len(lacking))
        # As long as none that bears on the beliefs is left out, all others can be.
        position = first(bearing & ~needed) - 1
        kept &= needed | ~until(position, words)
        while len(columns):
            changed, active = np.zeros(len(lacking), np.bool_), columns
            while len(active):
                # Some sentences are left out together, up to each of them in turn: as many at once as can be left out
                # one after the other.
                trying = kept[:, active] & ~(needed | failed)[:, active] & ~until(position[active], words)
                place, time = np.nonzero(unpack(trying, steps).T)
                if not len(place):
                    break
                begin = np.flatnonzero(np.diff(place, prepend=-1))
                rank = np.arange(len(place)) - np.repeat(begin, np.diff(begin, append=len(place)))
                place, time = place[rank < _RUN], time[rank < _RUN]
                begin = np.flatnonzero(np.diff(place, prepend=-1))
                column = active[place]
                shorter = kept[:, column] & ~(trying[:, place] & until(time, words))
                is_wrong = ~self._gives(told, lacking[column], shorter, answer, trust)
                failing = np.minimum.reduceat(np.where(is_wrong, time, steps), begin)
                active, trying = active[place[begin]], trying[:, place[begin]]
                tried = np.maximum.reduceat(time, begin)
                unused = trying & until(np.minimum(failing - 1, tried), words)
                kept[:, active] &= ~unused
                is_shorter = unused.any(axis=0)
                changed[active] |= is_shorter
                failed[:, active[is_shorter]] = 0
                failed[:, active] |= single(np.where(failing == steps, -1, failing), words)
                position[active] = np.minimum(failing, tried)
            columns, position = np.flatnonzero(changed), np.full(len(lacking), -1)
        return kept

    def _subjects(self, told: _Beliefs, column: Columns, which: Columns, trust: str) -> _Subjects:
        """Return what some beliefs are about, each in a column of the course."""
        course, parts = told.course, told.parts
        chain, thing = parts.chain.take(which, axis=1), parts.thing.take(which)
        strange = thing >= course.objects
        puts, spoken = (
            one_of(sets, np.minimum(thing, course.objects - 1).astype(np.intp), column)
            for sets in (course.puts, course.about)
        )
        puts[:, strange] = spoken[:, strange] = 0
        is_real = chain[0] == NOBODY
        if trust == NEVER_LIARS:  # who lied about another object is not believed about this one
            every_put, spoken = (np.bitwise_or.reduce(each, axis=1)[:, column] for each in (course.puts, course.by))
            puts = np.where(is_real, puts, every_put)
        spoken[:, is_real] = 0
        agents = _speakers(course, column, spoken)
        for agent in chain:
            agents |= member(np.where(agent < self._stories.agents, agent, np.int8(NOBODY)), agents.dtype.type)
        agents[is_real] = 0
        return _Subjects(column, thing, puts, spoken, agents, chain[0], is_real)

    def _concerning(self, told: _Beliefs, some: Columns, trust: str) -> Instants:
        """Return the sentences that have to do with the beliefs of some questions, [word, question].

        Those about the object, about where the agents of the chain and speakers are, and about what the first agent
        notices. Without the others, however many are deleted, all beliefs are the same.
        """
        which, begin = told.parts.of(told.question[some])
        column = np.repeat(told.column[some], np.diff(begin, append=len(which)))
        about = self._subjects(told, column, which, trust)
        concerning = about.puts | about.spoken
        for _, few, acts in about.acts(told.course):
            concerning[:, few] |= np.bitwise_or.reduce(acts)
        return np.bitwise_or.reduceat(concerning, begin, axis=1)

    def _bearing(self, told: _Beliefs, trust: str) -> Instants:
        """Return which sentences bear on each belief, [word, belief]: without any number of the others, it is the same.

        A belief is decided by what was last seen or heard. It rests on how things stood then: where the object and the
        agents of the chain were, what the first of them noticed, and where the speaker was. It also rests on whatever
        kept the chain from learning something new: that somebody left, stopped watching or got distracted, and that the
        object came into another room. Without other sentences, agents and objects are where they were, or nowhere.

        Where messages or surprises are weighed, all sentences that concern a belief bear on it.
        """
        course, parts, which = told.course, told.parts, told.which
        column = np.repeat(told.column, np.diff(told.begin, append=len(which)))
        about = self._subjects(told, column, which, trust)
        puts, spoken, is_real = about.puts, about.spoken, about.is_real
        bearing = puts | spoken
        ends = np.where(parts.is_memory[which[is_real]], first(puts[:, is_real]), last(puts[:, is_real]))
        bearing[:, is_real] = single(ends, course.words)  # rests on one putting only
        if self._is_weighed(trust):
            for _, few, acts in about.acts(course):
                bearing[:, few] |= np.bitwise_or.reduce(acts)
            return bearing
        early, later = np.zeros_like(bearing), np.zeros_like(bearing)
        if len(told.some):
            minds, decided, is_told = told.some, told.minds.decided(), told.minds.doubtful()
            early[:, minds] = so_far = until(decided, course.words)
            # Who saw the object learns nothing new from another look, if it stays where it is and nobody speaks of it.
            is_news = is_told | ((puts | spoken)[:, minds] & ~so_far).any(axis=0)
            later[:, minds] = np.where(is_news, ~so_far, so_far.dtype.type(0))
            known = np.minimum(about.thing[minds], course.objects - 1).astype(np.intp)
            moved = one_of(_returns(course), known, column[minds])
            bearing[:, minds] = puts[:, minds] & (keep_last(puts[:, minds] & so_far) | (moved & ~so_far))
            # Who sees the object believes their eyes, whatever is said at that time.
            heard = np.where(is_told, decided, -1)
            bearing[:, minds] |= spoken[:, minds] & single(heard, course.words)
        keeps = _keeps(course)
        for agent, few, acts in about.acts(course):
            so_far = early[:, few]
            bearing[:, few] |= np.bitwise_or.reduce([keep_last(sets & so_far) for sets in acts])
            kept_away = np.bitwise_or.reduce(acts) & keeps[:, agent].take(column[few], axis=1)
            bearing[:, few] |= kept_away & later[:, few]
        return bearing


class _Subjects(NamedTuple):
    """What beliefs are about.

    Attributes:
        column: The column of the course that each belief is about.
        thing: The objects.
        puts: When the objects are placed or moved; under `never-liars` when any is, as lies about one count for all.
        spoken: When they are spoken of; under `never-liars` when any is.
        agents: The sets of the agents of chains, and of those who so speak; empty for where an object really is.
        first: The first agents.
        is_real: Whether it stands for where an object really is, or was first.
    """

    column: Columns
    thing: Small
    puts: Instants
    spoken: Instants
    agents: Mask
    first: Small
    is_real: Flags

    def acts(self, course: Course) -> Iterator[tuple[int, Columns, list[Instants]]]:
        """Yield agents, some of the beliefs that they are concerned with, and what they do that matters to these.

        Only of the first of a chain it matters what they watch, and whether they are distracted.
        """
        kind = self.agents.dtype.type
        for agent in range(course.stories.agents):
            for is_first in (True, False):
                few = np.flatnonzero(((self.agents & kind(1 << agent)) != 0) & ((self.first == agent) == is_first))
                if len(few):
                    doings = (course.walks, course.looks, course.heeds) if is_first else (course.walks,)
                    yield agent, few, [sets[:, agent].take(self.column[few], axis=1) for sets in doings]


def _doubtful(beliefs: _Beliefs) -> Flags:
    """Return which questions have a belief that may rest on a message."""
    found = np.zeros(len(beliefs.places), np.bool_)
    found[beliefs.some] = beliefs.minds.doubtful()
    doubtful: Flags = np.logical_or.reduceat(found, beliefs.begin)
    return doubtful


def _speakers(course: Course, column: Columns, spoken: Instants) -> Mask:
    """Return the sets of agents who send some of the messages."""
    kind = course.stories.mask_type
    speakers = np.zeros(len(column), kind)
    if spoken.any():
        for agent in range(course.stories.agents):
            speaks = (course.by[:, agent].take(column, axis=1) & spoken).any(axis=0)
            speakers |= speaks.astype(kind) << kind(agent)
    return speakers


def _keeps(course: Course) -> Instants:
    """Return the sentences without which somebody would still be somewhere, watch or notice, [word, agent, column]."""
    inside, watching = (delay(np.bitwise_or.reduce(sets, axis=2)) for sets in (course.inside, course.watching))
    keeps: Instants = (course.walks & inside) | (course.looks & watching) | (course.heeds & course.away)
    return keeps


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


def reply(code: int, names: LocalNames, question: BeliefQuestion) -> Reply:
    """Return an answer in words."""
    if question.ask in (Ask.KNOWS_WHERE, Ask.KNOWS_WRONG):
        return "yes" if code else "no"
    if question.ask == Ask.BELIEVERS:
        return tuple(sorted(name for name, number in names.agents.items() if code >> number & 1))
    return None if code == NOBODY else tuple(names.containers)[code]


def oracle_answer(events: Sequence[PlotEvent], question: BeliefQuestion, reading: BeliefReading) -> Reply:
    """Return the oracle's answer to a question about a story."""
    stories, (names,) = encode_plots([events])
    asked = encode_questions([names], [0], [question])
    (codes,) = PlotAnswers(stories, asked, reading.sight).codes(reading.trust)
    return reply(int(codes[0]), names, question)


def oracle_proof(events: Sequence[PlotEvent], question: BeliefQuestion, reading: BeliefReading) -> tuple[int, ...]:
    """Return the 1-based numbers of the sentences that an answer rests on (see `PlotAnswers.prove`)."""
    stories, (names,) = encode_plots([events])
    flags = PlotAnswers(stories, encode_questions([names], [0], [question]), reading.sight).prove(reading.trust)
    return tuple((np.flatnonzero(flags[:, 0]) + 1).tolist())
