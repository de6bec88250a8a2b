"""Beliefs that a chain of thought states about a story with secrets and messages.

Such statements look as in plain stories (`belief.statements`). They are compared with the oracle after each sentence,
under the reading of the row, and with the checker under all readings of trust.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from storyproof.errors import ParseError
from storyproof.example import Example
from storyproof.families.belief.baselines import checked_answers
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.read_text import is_nested, read_question, read_story
from storyproof.families.belief.readings import READINGS as SIGHTS
from storyproof.families.belief.readings import BeliefReading, parse_reading
from storyproof.families.belief.rows import READINGS, reading_of
from storyproof.families.belief.timeline import ObjectFollower
from storyproof.families.belief.tomi_labels import MOST_ORDER
from storyproof.families.belief.tomi_text import ask as ask_in_tomi
from storyproof.families.belief.wording import PlotWording
from storyproof.families.family import own_example
from storyproof.language.chain_of_thought import (
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
HAPPENS = frozenset(
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
YES, NO = "yes", "no"


class StoryNames(NamedTuple):
    """Who and what a story is about.

    Attributes:
        agents: The people.
        things: The objects.
        containers: What they are in.
        only: The only object; empty if there are several.
    """

    agents: NameIndex
    things: NameIndex
    containers: NameIndex
    only: str

    @classmethod
    def of(cls, agents: Collection[str], things: Collection[str], containers: Collection[str]) -> StoryNames:
        """Index the names of a story."""
        only = next(iter(things)) if len(set(things)) == 1 else ""
        return cls(NameIndex(agents, is_proper=True), NameIndex(things), NameIndex(containers), only)


class StatedQuestion(NamedTuple):
    """What a statement answers: a question of a story, or whether somebody knows where the thing is."""

    thing: str
    chain: tuple[str, ...] = ()
    memory: bool = False
    knows_where: bool = False


QuestionWording = Callable[[StatedQuestion], str]


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


class BeliefGrammar(ClauseGrammar):
    """Where things are, were, or are thought to be, and who knows where.

    Args:
        names: Who and what the story is about.
        ask: Words the question that a statement answers.
    """

    embeds = _THINK | _THINKS | {"thinking", "believing", "knowing", "thought", "believed", "knew", "unaware", "aware"}

    def __init__(self, names: StoryNames, ask: QuestionWording) -> None:
        self._names = names
        self._ask = ask

    def parse(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        """Read a statement about minds, about the beginning, or about how things are."""
        return (
            self._parse_minds(tokens, start)
            or self._parse_knowledge(tokens, start)
            or self._parse_memory(tokens, start)
            or self._parse_real(tokens, start)
        )

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
        parsed = self._parse_look(tokens, verb.end) if verb.looks else self._parse_place(tokens, place, is_thought=True)
        if parsed is None or (denied and parsed.is_denied):
            return None
        stated = []
        for agent in who:
            minds = (agent, *chain)
            if any(one == other for one, other in itertools.pairwise(minds)):
                return None
            question = StatedQuestion(parsed.thing, minds)
            stated.append(
                self._state(question, parsed, denied or parsed.is_denied, lasting or parsed.is_lasting, tokens, start)
            )
        return stated, parsed.end

    def _parse_knowledge(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        """Read "Anne knows where the ball is", "Anne does not know where it is" or "Anne has no idea where it is"."""
        subjects = self._names.agents.match_list(tokens, start)
        if subjects is None:
            return None
        who, place = subjects
        after = skip_words(tokens, place, _MANNER)
        if [lower_at(tokens, after + step) for step in range(3)] in (["has", "no", "idea"], ["have", "no", "idea"]):
            place, denied, lasting = after + 3, True, any(token.lower in _LASTING for token in tokens[place:after])
        else:
            verb = _parse_verb(tokens, place, is_plural=len(who) > 1)
            if verb is None or tokens[verb.end - 1].lower not in ("know", "knows"):
                return None
            place, denied, lasting = verb.end, verb.is_denied, verb.is_lasting
        if lower_at(tokens, place) != "where":
            return None
        thing = self._match_thing(tokens, place + 1)
        if thing is None:
            return None
        after = skip_words(tokens, thing[1], _MANNER)
        if lower_at(tokens, after) not in _STAYS:
            return None
        end = skip_words(tokens, after + 1, _MANNER)
        stated = []
        for agent in who:
            knows = f"{agent} {'does not know' if denied else 'knows'} where the {thing[0]} is"
            question = self._ask(StatedQuestion(thing[0], (agent,), knows_where=True))
            begins, ends = tokens[start].start, tokens[end - 1].end
            stated.append(
                Statement(
                    question, (NO if denied else YES,), knows, "", begins, ends, is_denied=False, is_final=lasting
                )
            )
        return stated, end

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
        question = StatedQuestion(thing[0], memory=True)
        memory = _Place(thing[0], container[0], False, container[1])
        return [self._state(question, memory, False, True, tokens, start)], container[1]

    def _parse_real(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        parsed = self._parse_place(tokens, start, is_thought=False)
        if parsed is None:
            return None
        said = self._state(StatedQuestion(parsed.thing), parsed, parsed.is_denied, parsed.is_lasting, tokens, start)
        return [said], parsed.end

    def _state(
        self,
        question: StatedQuestion,
        parsed: _Place,
        denied: bool,
        lasting: bool,
        tokens: Sequence[PlacedWord],
        start: int,
    ) -> Statement:
        where = f"the {parsed.thing} {'was first' if question.memory else 'is'} in the {parsed.container}"
        minds = "".join(f"{agent} thinks that " for agent in question.chain)
        said = f"{'not: ' if denied else ''}{minds}{where}"
        begins, ends = tokens[start].start, tokens[parsed.end - 1].end
        return Statement(self._ask(question), (parsed.container,), said, "", begins, ends, denied, lasting)

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
        match = self._names.containers.match(tokens, place + (lower_at(tokens, place) in _ARTICLES))
        if match is None:
            return None
        after = match[1] + (lower_at(tokens, match[1]) == ",")
        if lower_at(tokens, after) == "and":  # "in the box and the jar"
            after += 1
            after += lower_at(tokens, after) in _AT
            if self._names.containers.match(tokens, after + (lower_at(tokens, after) in _ARTICLES)) is not None:
                return None
        return match


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


def read_beliefs(text: str, story: str, grammar: BeliefGrammar, happens: Collection[str] = HAPPENS) -> list[Statement]:
    """Return what a text says about minds, the beginning and the end of a story.

    Args:
        text: A chain of thought.
        story: One sentence per line.
        grammar: What statements look like.
        happens: Words of events; what stands before the last of them may be about the story so far.
    """
    statements = read_statements(text, grammar, story.split("\n"))
    if not statements:
        return []
    last = max((token.start for token in tokenize(text) if token.lower in happens), default=-1)
    return [each._replace(is_final=each.is_final or each.start > last) for each in statements]


def compare(
    statement: Statement, over_time: Sequence[str | None], by_reading: Mapping[str, str], reading: str
) -> StatementVerdict:
    """Compare a statement with what is proved.

    Args:
        statement: The statement.
        over_time: The answer to its question after each sentence, by the oracle; None for none.
        by_reading: The answer at the end under each reading, by the checker; empty for none.
        reading: The reading that counts.
    """
    holds, said = over_time[-1] or "", statement.answers[0]
    if holds != by_reading[reading] or not holds:
        return StatementVerdict(UNCLEAR, reason="no belief follows.")
    if statement.is_denied:
        if said != holds:
            return StatementVerdict(RIGHT, holds)
        return StatementVerdict(WRONG if statement.is_final else UNCLEAR, holds)
    if said == holds:
        return StatementVerdict(RIGHT, holds)
    if not statement.is_final and said in over_time:
        return StatementVerdict(UNCLEAR, holds, "it held at an earlier moment.")
    if said in by_reading.values():
        return StatementVerdict(UNCLEAR, holds, "it depends on the reading.")
    return StatementVerdict(WRONG, holds)


def is_known(believed: str | None, real: str | None) -> str:
    """Return yes or no: a person who knows where something is believes so, and is right."""
    return YES if believed and believed == real else NO


_LANGUAGE = "en"  # that of the grammar
_HAPPENS = HAPPENS | frozenset(  # words of secrets and messages
    (
        *("told", "tells", "telling", "said", "says", "saying", "lied", "lies", "lying", "announced", "announces"),
        *("announcing", "whispered", "whispers", "whispering", "hears", "heard", "hearing", "watched", "watches"),
        *("watching", "watch", "peeks", "peeked", "spies", "spied", "spying", "distracted", "attention", "attentive"),
    )
)


def find_statements(text: str, example: Example) -> list[Statement]:
    """Return what a text says about minds, the beginning and the end of a story; nothing unless that is in English."""
    grammar = _grammar_of(example.story)
    return read_beliefs(text, example.story, grammar, _HAPPENS) if grammar is not None else []


@lru_cache(maxsize=64)  # several replies to one story come after each other
def _grammar_of(story: str) -> BeliefGrammar | None:
    try:
        text = read_story(story)
    except ParseError:
        return None
    if text.wording.language != _LANGUAGE:
        return None
    placed = [event for event in text.events if event.thing and event.container]
    names = StoryNames.of(
        text.cast,
        [event.thing for event in placed if event.thing],
        [event.container for event in placed if event.container],
    )
    return BeliefGrammar(names, partial(_word_question, text.wording, not is_nested(story, "")))


def _word_question(wording: PlotWording, is_tomi: bool, question: StatedQuestion) -> str:
    if question.knows_where:
        ask = Ask.KNOWS_WHERE
    elif question.chain:
        ask = Ask.BELIEF
    else:
        ask = Ask.MEMORY if question.memory else Ask.REALITY
    wanted = BeliefQuestion(ask, question.thing, question.chain)
    return ask_in_tomi(wanted) if is_tomi and ask != Ask.KNOWS_WHERE else wording.ask(wanted)


def check_statement(statement: Statement, example: Example) -> StatementVerdict:
    """Compare a statement with both provers, under the reading of the example."""
    reading = reading_of(example.readings)
    return compare(statement, *_prove(example.story, statement.question, reading), str(reading))


@lru_cache(maxsize=512)
def _prove(story: str, asked: str, reading: BeliefReading) -> tuple[tuple[str | None, ...], dict[str, str]]:
    """Return the answer after each sentence, by the oracle, and at the end under each reading, by the checker."""
    question = read_question(asked)
    follower = ObjectFollower(read_story(story).events, question.thing, reading)
    over_time = follower.believed(question.chain)[0] if question.chain else follower.really
    if question.ask == Ask.MEMORY:
        over_time = [next((place for place in over_time if place is not None), None)] * len(over_time)
    elif question.ask == Ask.KNOWS_WHERE:
        over_time = [is_known(place, real) for place, real in zip(over_time, follower.really, strict=True)]
    row = own_example({"story": story, "question": asked})
    names = dict.fromkeys((str(reading), *(READINGS if is_nested(story, "") else SIGHTS)))
    answers = checked_answers(row, [parse_reading(name) for name in names])
    return tuple(over_time), dict(zip(names, answers, strict=True))
