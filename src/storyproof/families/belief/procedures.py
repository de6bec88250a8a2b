"""Procedures that a solver may follow instead of the rules: each changes the story or the question, and proves that.

A procedure says what any chain of people believes, so it answers every kind of question: whether somebody knows where
the object is, for example, follows from what they believe and where the object is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, product
from typing import NamedTuple

from storyproof.example import Example
from storyproof.families.belief.baselines import rules_answer
from storyproof.families.belief.provers import CheckedStory
from storyproof.families.belief.questions import Ask, BeliefQuestion, Reply
from storyproof.families.belief.read_text import read_question, read_story
from storyproof.families.belief.readings import BeliefReading
from storyproof.families.belief.rows import reading_of
from storyproof.families.belief.world import MESSAGES, NOTHING, EventKind, PlotEvent, cast_of

Chain = tuple[str, ...]
Events = Sequence[PlotEvent]


class Procedure(NamedTuple):
    """A way to find what a chain of people believes, by the checker.

    Attributes:
        description: What the solver does, in words that follow "the solver".
        chain: Which chain it asks about instead; the empty one stands for where the object is.
        events: Which story it asks about instead.
        reading: Which reading it follows instead.
    """

    description: str
    chain: Callable[[Chain], Chain] = lambda chain: chain
    events: Callable[[Events], Events] = lambda events: events
    reading: Callable[[BeliefReading], BeliefReading] = lambda reading: reading


def _without(*kinds: EventKind) -> Callable[[Events], Events]:
    """Return what leaves out all sentences of some kinds; they become noise."""
    return lambda events: [NOTHING if event.kind in kinds else event for event in events]


def _without_lies(events: Events) -> Events:
    return [NOTHING if event.lie else event for event in events]


def _heard_by_all(events: Events) -> Events:
    return [
        event._replace(kind=EventKind.ANNOUNCE, hearer=None) if event.kind in MESSAGES else event for event in events
    ]


def _believed_by_speakers(events: Events) -> Events:
    """Let messages move the object: speakers and all who are there believe what was said."""
    places: dict[str | None, str | None] = {}
    changed = []
    for event in events:
        if event.kind in (EventKind.PLACE, EventKind.MOVE):
            places[event.thing] = event.room
        is_told = event.kind in MESSAGES and event.thing in places
        changed.append(event._replace(kind=EventKind.MOVE, room=places[event.thing], hearer=None) if is_told else event)
    return changed


def _without_returns(events: Events) -> Events:
    """Leave out that people come back into a room that they have left."""
    left = set[tuple[str | None, str | None]]()
    changed = []
    for event in events:
        changed.append(NOTHING if event.kind == EventKind.ENTER and (event.agent, event.room) in left else event)
        if event.kind == EventKind.EXIT:
            left.add((event.agent, event.room))
    return changed


def _sight(name: str) -> Callable[[BeliefReading], BeliefReading]:
    return lambda reading: BeliefReading(name, reading.trust)


def _trust(name: str) -> Callable[[BeliefReading], BeliefReading]:
    return lambda reading: BeliefReading(reading.sight, name)


def _swap(chain: Chain) -> Chain:
    return (*chain[1::-1], *chain[2:])


PROVED, FIRST, LAST, LAST_OF_ALL, RULES = "proved", "first_mention", "last_mention", "last_place", "rules"
OTHER_OBJECT, BEFORE_LAST = "other_object", "before_last"
PROCEDURES: Mapping[str, Procedure] = {
    PROVED: Procedure("follows the rules of the prompt"),
    "reality": Procedure("answers with the real place of the object", chain=lambda chain: ()),
    "last_person": Procedure("answers what the last person named believes", chain=lambda chain: chain[-1:]),
    "first_person": Procedure("answers what the first person named believes", chain=lambda chain: chain[:1]),
    "drops_first": Procedure("leaves out the first person named", chain=lambda chain: chain[1:]),
    "drops_last": Procedure("leaves out the last person named", chain=lambda chain: chain[:-1]),
    "two_at_most": Procedure("follows the last two people named only", chain=lambda chain: chain[-2:]),
    "swaps": Procedure("swaps the first two people named", chain=_swap),
    "reverses": Procedure("reads the people named from last to first", chain=lambda chain: chain[::-1]),
    "closed": Procedure(
        "assumes that entering a room does not show what is in its containers", reading=_sight("closed")
    ),
    "infer-mover": Procedure(
        "assumes that people who were left behind know what has been moved", reading=_sight("infer-mover")
    ),
    "open": Procedure("assumes that entering a room shows what is in its containers", reading=_sight("open")),
    "always": Procedure("assumes that people believe everything they are told", reading=_trust("always")),
    "fresher": Procedure("assumes that people believe those who saw the object later", reading=_trust("fresher")),
    "never-liars": Procedure("assumes that people do not believe known liars", reading=_trust("never-liars")),
    "hi-tom": Procedure("assumes that people believe those who left the room later", reading=_trust("hi-tom")),
    "ignores_messages": Procedure("ignores what people say", events=_without(*MESSAGES)),
    "ignores_lies": Procedure("ignores messages that the story calls lies", events=_without_lies),
    "heard_by_all": Procedure("assumes that everybody hears every message", events=_heard_by_all),
    "naive_speaker": Procedure(
        "assumes that messages are true and that speakers believe them", events=_believed_by_speakers
    ),
    "ignores_exits": Procedure("ignores that people leave", events=_without(EventKind.EXIT)),
    "ignores_returns": Procedure("ignores that people come back", events=_without_returns),
    "ignores_watching": Procedure("ignores secret watching", events=_without(EventKind.PEEK)),
    "ignores_distraction": Procedure("ignores distraction", events=_without(EventKind.DISTRACT)),
    FIRST: Procedure("answers with the first place of the object"),
    LAST: Procedure("answers with the place last named with the object, in a move or a message"),
    BEFORE_LAST: Procedure("answers with the last but one place named with the object"),
    LAST_OF_ALL: Procedure("answers with the last place named in the story"),
    OTHER_OBJECT: Procedure("answers for another object"),
    RULES: Procedure("follows the ToMi paper's Algorithm 1"),
}
DESCRIPTIONS = {name: each.description for name, each in PROCEDURES.items()}
_LEXICAL = (FIRST, LAST, BEFORE_LAST, LAST_OF_ALL)


def procedure_answers(example: Example) -> dict[str, str]:
    """Return what each procedure answers, in the words of the story; nothing for those that give no answer.

    Raises:
        ParseError: If story or question cannot be read.
    """
    text, question = read_story(example.story), read_question(example.question)
    own = reading_of(example.readings)
    others = [event.thing for event in text.events if event.container and event.thing != question.thing]
    stories = _changed_stories(example.story)
    asked = {
        name: _Asked(
            procedure,
            *stories[name],
            replace(question, thing=str(others[-1])) if name == OTHER_OBJECT else question,
            procedure.reading(own),
        )
        for name, procedure in PROCEDURES.items()
        if name not in (*_LEXICAL, RULES) and (others or name != OTHER_OBJECT)
    }
    # All questions about one story are asked together, which takes hardly longer than one of them.
    together: dict[int, list[_Asked]] = {}
    for each in asked.values():
        together.setdefault(id(each.checked), []).append(each)
    for alike in together.values():
        needed = dict.fromkeys(needed for each in alike for needed in each.needed())
        alike[0].checked.answers(list(needed), [each.reading for each in alike])
    found = {
        name: asked[name].answer() if name in asked else _lexical_answer(name, text.events, question)
        for name in PROCEDURES
        if name in asked or name in _LEXICAL
    }
    answers = {name: text.wording.answer(reply) for name, reply in found.items()}
    return {name: answer for name, answer in {**answers, RULES: rules_answer(example)}.items() if answer}


class _Asked(NamedTuple):
    """What a procedure makes of a question.

    Attributes:
        procedure: The procedure.
        cast: Who is in its story.
        checked: What the checker says about its story.
        question: What it asks.
        reading: The reading it follows.
    """

    procedure: Procedure
    cast: Sequence[str]
    checked: CheckedStory
    question: BeliefQuestion
    reading: BeliefReading

    def needed(self) -> list[BeliefQuestion]:
        """Return the questions whose answers decide: where chains believe the object to be, unless no mind is asked."""
        ask, chain = self.question.ask, self.question.chain
        if ask in (Ask.REALITY, Ask.MEMORY):
            return [self.question]
        chains = [chain]
        if ask == Ask.KNOWS_WHERE:
            chains = [chain, ()]
        elif ask == Ask.KNOWS_WRONG:
            chains = [(), chain[:1], chain[1:], chain]
        elif ask == Ask.BELIEVERS:
            chains = [(name, *chain) for name in self._counted()]
        elif ask == Ask.COMMON:
            group = tuple(dict.fromkeys(chain))
            chains = [each for length in (1, 2, 3) for each in product(group, repeat=length) if _is_proper(each)]
        followed = [self.procedure.chain(each) if each else () for each in chains]
        return [BeliefQuestion(Ask.BELIEF if each else Ask.REALITY, self.question.thing, each) for each in followed]

    def answer(self) -> Reply:
        """Return the answer, from what the procedure takes chains to believe."""
        ask, places = self.question.ask, self.checked.answers(self.needed(), [self.reading])[self.reading]
        if ask == Ask.KNOWS_WHERE:
            held, real = places
            return "yes" if held is not None and held == real else "no"
        if ask == Ask.KNOWS_WRONG:
            real, own, theirs, seen = places
            return "yes" if None not in (real, theirs) and own == real != theirs == seen else "no"
        if ask == Ask.BELIEVERS:
            return tuple(
                name for name, place in zip(self._counted(), places, strict=True) if place == self.question.place
            )
        return places[0] if len(set(places)) == 1 else None

    def _counted(self) -> list[str]:
        return [name for name in self.cast if name not in self.question.chain[:1]]


@lru_cache(maxsize=256)  # the questions of a story are adjacent
def _changed_stories(story: str) -> dict[str, tuple[Sequence[str], CheckedStory]]:
    """Return who is in the story that each procedure asks about, and what the checker says about it."""
    events = read_story(story).events
    stories: dict[Events, tuple[Sequence[str], CheckedStory]] = {}
    found = {}
    for name, procedure in PROCEDURES.items():
        changed = tuple(procedure.events(events))
        if changed not in stories:
            stories[changed] = sorted(cast_of(changed)), CheckedStory(changed)
        found[name] = stories[changed]
    return found


def _is_proper(chain: Chain) -> bool:
    return all(first != second for first, second in pairwise(chain))


def _lexical_answer(name: str, events: Events, question: BeliefQuestion) -> Reply:
    """Return a place by its position in the text; comparisons of beliefs come out as for people who all think so."""
    named = [event.container for event in events if event.container and event.thing == question.thing]
    if name == LAST_OF_ALL:
        named = [event.container for event in events if event.container]
    place = named[0] if name == FIRST else named[-2] if name == BEFORE_LAST and len(named) > 1 else named[-1]
    if question.ask == Ask.KNOWS_WHERE:
        return "yes"
    if question.ask == Ask.KNOWS_WRONG:
        return "no"
    if question.ask == Ask.BELIEVERS:
        counted = sorted(set(cast_of(events)) - set(question.chain[:1]))
        return tuple(counted) if place == question.place else ()
    return place
