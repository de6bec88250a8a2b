"""Beliefs that a chain of thought states, such as "Bob believes that Anne thinks the ball is in the box".

Which sentences are read at all is decided in `storyproof.statements`; here is what such a statement looks like, and
what the oracle and the checker say about it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from storyproof.errors import ParseError
from storyproof.example import Example
from storyproof.families.belief.arrays import number, stack
from storyproof.families.belief.baselines import events_of
from storyproof.families.belief.labels import MOST_ORDER
from storyproof.families.belief.readings import DEFAULT
from storyproof.families.belief.states import answers_by_reading
from storyproof.families.belief.text import Question, ask, parse_question
from storyproof.families.belief.timeline import places_over_time
from storyproof.families.family import own_example
from storyproof.statements import (
    RIGHT,
    UNCLEAR,
    WRONG,
    ClauseGrammar,
    NameIndex,
    PlacedWord,
    Statement,
    StatementVerdict,
    lower_at,
    read_statements,
    skip_words,
    tokenize,
)

_THINK = frozenset(("think", "believe", "expect", "assume", "know"))
_THINKS = frozenset(f"{verb}s" for verb in _THINK)
_LOOK = frozenset(("look", "search", "check"))
_LOOKS = frozenset(("looks", "searches", "checks"))
_AUX = frozenset(("will", "would", "does", "do", "should", "must", "is", "are"))
_ENDS = frozenset(("will", "would"))  # what somebody will do, they do after the story
_SURE = frozenset(("convinced", "sure", "certain", "confident"))
_MANNER = frozenset(
    (
        *("still", "now", "also", "really", "actually", "falsely", "wrongly", "mistakenly", "incorrectly", "correctly"),
        *("rightly", "truly", "therefore", "thus", "hence", "definitely", "certainly", "surely", "both", "currently"),
    )
)
_LASTING = frozenset(("still", "really", "actually", "currently"))
_AT = frozenset(("in", "inside", "within"))
_ARTICLES = frozenset(("the", "a", "an"))
_STAYS = frozenset(("is", "'s", "remains", "stays", "are"))
_AT_FIRST = tuple(
    tuple(phrase.split())
    for phrase in (
        *("initially", "originally", "at first", "in the beginning", "at the beginning", "at the start"),
        *("at the beginning of the story", "at the start of the story"),
    )
)
_FIRST = frozenset(("initially", "originally", "first"))
_PUT = frozenset(("placed", "put", "located", "stored", "kept"))
# Words of events. What stands before the last of them may be about the story so far.
_HAPPENS = frozenset(
    (
        *(
            "moved",
            "moves",
            "exited",
            "exits",
            "left",
            "leaves",
            "entered",
            "enters",
            "returned",
            "returns",
            "reentered",
        ),
        *("placed", "places", "puts", "put", "came", "comes", "went", "goes", "arrives", "arrived", "transferred"),
        *("transfers", "relocates", "shifts", "brings", "brought", "carries", "carried", "leaving", "moving"),
        *("relocated", "shifted", "takes", "took", "step", "sentence"),
    )
)


class _Names(NamedTuple):
    """Who and what a story is about."""

    agents: NameIndex
    things: NameIndex
    containers: NameIndex
    only: str  # the only thing; empty if there are several


class _Place(NamedTuple):
    """Where something is said to be."""

    thing: str
    container: str
    is_denied: bool
    end: int
    is_lasting: bool = False


class _Verb(NamedTuple):
    """What somebody does: think, or look for something."""

    looks: bool
    is_denied: bool
    end: int
    is_lasting: bool


class _BeliefGrammar(ClauseGrammar):
    """Where things are, were, or are thought to be."""

    embeds = _THINK | _THINKS | {"thinking", "believing", "knowing", "thought", "believed", "knew", "unaware", "aware"}

    def __init__(self, names: _Names) -> None:
        self._names = names

    def parse(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        """Read a statement about minds, about the beginning, or about how things are."""
        return self._parse_minds(tokens, start) or self._parse_memory(tokens, start) or self._parse_real(tokens, start)

    def _parse_minds(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        subjects = self._names.agents.match_list(tokens, start)
        if subjects is None:
            return None
        who, place = subjects
        verb = _parse_verb(tokens, place, is_plural=len(who) > 1)
        if verb is None:
            return None
        chain: list[str] = []
        denied, lasting = verb.is_denied, verb.is_lasting
        while not verb.looks:
            place = verb.end + (lower_at(tokens, verb.end) == "that")
            inner = self._names.agents.match(tokens, place)
            if inner is None:
                break
            following = _parse_verb(tokens, inner[1], is_plural=False)
            if following is None or len(chain) + 2 > MOST_ORDER:
                return None
            chain.append(inner[0])
            verb = following
            if denied and verb.is_denied:
                return None
            denied, lasting = denied or verb.is_denied, lasting or verb.is_lasting
        found = self._parse_look(tokens, verb.end) if verb.looks else self._parse_place(tokens, place, is_thought=True)
        if found is None or (denied and found.is_denied):
            return None
        stated = []
        for agent in who:
            minds = (agent, *chain)
            if any(one == other for one, other in itertools.pairwise(minds)):
                return None
            question = Question(found.thing, minds)
            stated.append(
                _statement(question, found, denied or found.is_denied, lasting or found.is_lasting, tokens, start)
            )
        return stated, found.end

    def _parse_memory(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        place = start
        for phrase in sorted(_AT_FIRST, key=len, reverse=True):
            if all(lower_at(tokens, start + step) == word for step, word in enumerate(phrase)):
                place = start + len(phrase)
                place += lower_at(tokens, place) == ","
                break
        thing = self._match_thing(tokens, place)
        if thing is None or lower_at(tokens, thing[1]) not in ("is", "was"):
            return None
        said_first = place > start
        after = skip_words(tokens, thing[1] + 1, _FIRST | _PUT)
        said_first = said_first or any(token.lower in _FIRST for token in tokens[thing[1] + 1 : after])
        container = self._match_container(tokens, after) if said_first else None
        if container is None:
            return None
        question = Question(thing[0], memory=True)
        found = _Place(thing[0], container[0], False, container[1])
        return [_statement(question, found, False, True, tokens, start)], container[1]

    def _parse_real(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        found = self._parse_place(tokens, start, is_thought=False)
        if found is None:
            return None
        said = _statement(Question(found.thing), found, found.is_denied, found.is_lasting, tokens, start)
        return [said], found.end

    def _parse_place(self, tokens: Sequence[PlacedWord], start: int, *, is_thought: bool) -> _Place | None:
        """Read "the ball is (not) in the box"; of a thought also "the ball to be in the box"."""
        thing = self._match_thing(tokens, start)
        if thing is None:
            return None
        place = skip_words(tokens, thing[1], _MANNER)
        if is_thought and lower_at(tokens, place) == "to" and lower_at(tokens, place + 1) == "be":
            place += 2
        elif lower_at(tokens, place) in _STAYS:
            place += 1
        else:
            return None
        place, denied = _parse_denial(tokens, skip_words(tokens, place, _MANNER))
        after = skip_words(tokens, place, _MANNER)
        container = self._match_container(tokens, after)
        if container is None:
            return None
        lasting = any(token.lower in _LASTING for token in tokens[thing[1] : after])
        return _Place(thing[0], container[0], denied, container[1], lasting)

    def _parse_look(self, tokens: Sequence[PlacedWord], start: int) -> _Place | None:
        """Read "for the ball in the box", "in the box for the ball" or "in the box" after a verb of looking."""
        place = skip_words(tokens, start, ("first",))
        thing = self._match_thing(tokens, place + 1) if lower_at(tokens, place) == "for" else None
        if thing is not None:
            place = skip_words(tokens, thing[1], ("first",))
        if lower_at(tokens, place) not in _AT:
            return None
        container = self._match_container(tokens, place)
        if container is None:
            return None
        end = container[1]
        if thing is None and lower_at(tokens, end) == "for":
            thing = self._match_thing(tokens, end + 1)
            if thing is None:
                return None
            end = thing[1]
        end = skip_words(tokens, end, ("first",))
        name = thing[0] if thing is not None else self._names.only
        return _Place(name, container[0], False, end) if name else None

    def _match_thing(self, tokens: Sequence[PlacedWord], place: int) -> tuple[str, int] | None:
        if lower_at(tokens, place) == "it" and self._names.only:
            return self._names.only, place + 1
        return self._names.things.match(tokens, place + (lower_at(tokens, place) in _ARTICLES))

    def _match_container(self, tokens: Sequence[PlacedWord], place: int) -> tuple[str, int] | None:
        if lower_at(tokens, place) not in _AT:
            return None
        place += 1
        found = self._names.containers.match(tokens, place + (lower_at(tokens, place) in _ARTICLES))
        if found is None:
            return None
        after = found[1] + (lower_at(tokens, found[1]) == ",")
        if lower_at(tokens, after) == "and":  # "in the box and the jar"
            after += 1
            after += lower_at(tokens, after) in _AT
            if self._names.containers.match(tokens, after + (lower_at(tokens, after) in _ARTICLES)) is not None:
                return None
        return found


def _parse_verb(tokens: Sequence[PlacedWord], start: int, *, is_plural: bool) -> _Verb | None:
    place = skip_words(tokens, start, _MANNER)
    aux = lower_at(tokens, place)
    has_aux = aux in _AUX
    place, denied = _parse_denial(tokens, place + has_aux)
    after = skip_words(tokens, place, _MANNER | {"first"})
    lasting = aux in _ENDS or any(token.lower in _LASTING for token in tokens[start:after])
    word = lower_at(tokens, after)
    if aux in ("is", "are"):
        if word == "going" and lower_at(tokens, after + 1) == "to" and lower_at(tokens, after + 2) in _LOOK:
            return _Verb(True, denied, after + 3, True)
        return _Verb(False, denied, after + 1, lasting) if word in _SURE else None
    if has_aux or is_plural:
        thinks, looks = word in _THINK, word in _LOOK
    else:
        thinks, looks = word in _THINKS, word in _LOOKS
    if not (thinks or looks):
        return None
    return _Verb(looks, denied, after + 1, lasting or looks)


def _parse_denial(tokens: Sequence[PlacedWord], place: int) -> tuple[int, bool]:
    if lower_at(tokens, place) in ("not", "never"):
        return place + 1, True
    if lower_at(tokens, place) == "no" and lower_at(tokens, place + 1) == "longer":
        return place + 2, True
    return place, False


def _statement(
    question: Question, found: _Place, denied: bool, lasting: bool, tokens: Sequence[PlacedWord], start: int
) -> Statement:
    where = f"the {found.thing} {'was first' if question.memory else 'is'} in the {found.container}"
    minds = "".join(f"{agent} thinks that " for agent in question.chain)
    said = f"{'not: ' if denied else ''}{minds}{where}"
    begins, ends = tokens[start].start, tokens[found.end - 1].end
    return Statement(ask(question), (found.container,), said, "", begins, ends, denied, lasting)


@lru_cache(maxsize=64)  # several replies to one story come after each other
def _names_of(story: str) -> _Names | None:
    try:
        events = events_of(story)
    except ParseError:
        return None
    things = list(dict.fromkeys(event.thing for event in events if event.thing and event.container))
    return _Names(
        NameIndex((event.agent for event in events if event.agent and event.room), is_proper=True),
        NameIndex(things),
        NameIndex(event.container for event in events if event.container),
        things[0] if len(things) == 1 else "",
    )


def find_statements(text: str, example: Example) -> list[Statement]:
    """Return what a text says about minds, the beginning and the end of a story."""
    names = _names_of(example.story)
    if names is None:
        return []
    found = read_statements(text, _BeliefGrammar(names), example.story.split("\n"))
    if not found:
        return []
    happens = max((token.start for token in tokenize(text) if token.lower in _HAPPENS), default=-1)
    return [each._replace(is_final=each.is_final or each.start > happens) for each in found]


def check_statement(statement: Statement, example: Example) -> StatementVerdict:
    """Compare a statement with the oracle, at the end of the story and before, and with the checker in all readings."""
    if example.readings and DEFAULT not in example.readings:
        return StatementVerdict(UNCLEAR, reason="the answer of this row holds under another reading than the default.")
    places, answers = _proved(example.story, statement.question)
    holds, said = places[-1] or "", statement.answers[0]
    if holds != answers[DEFAULT] or not holds:
        return StatementVerdict(UNCLEAR, reason="no belief follows.")
    earlier = not statement.is_final and said in places
    if statement.is_denied:
        if said != holds:
            return StatementVerdict(RIGHT, holds)
        return StatementVerdict(WRONG if statement.is_final else UNCLEAR, holds)
    if said == holds:
        return StatementVerdict(RIGHT, holds)
    if earlier:
        return StatementVerdict(UNCLEAR, holds, "it held at an earlier moment.")
    if said in answers.values():
        return StatementVerdict(UNCLEAR, holds, "it depends on the reading.")
    return StatementVerdict(WRONG, holds)


@lru_cache(maxsize=512)
def _proved(story: str, asked: str) -> tuple[tuple[str | None, ...], dict[str, str]]:
    """Return the answer after each sentence, by the oracle, and under each reading, by the checker."""
    question = parse_question(asked)
    numbers, names = number(list(events_of(story)))
    places = places_over_time(stack([numbers]), names, question.thing, question.chain)
    if question.memory:
        first = next((place for place in places if place is not None), None)
        places = [first] * len(places)

    return tuple(places), answers_by_reading(own_example({"story": story, "question": asked}))
