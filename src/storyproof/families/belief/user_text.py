"""A story about nested beliefs that has nothing but its text: where it cannot be read, and what can be asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import combinations, islice, permutations

from storyproof.errors import DataError, ParseError, quoted, suggest
from storyproof.families.belief.arrays import MOST_AGENTS, MOST_NAMES, MOST_SENTENCES
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.read_text import PlotText, is_nested, read_question, read_story, reads_further
from storyproof.families.belief.rows import places_of
from storyproof.families.belief.tomi_labels import MOST_ORDER
from storyproof.families.belief.tomi_text import (
    QUESTION_FORMS,
    SENTENCE_FORMS,
    parse_question,
    parse_sentence,
    resolve_rooms,
)
from storyproof.families.belief.wording import find_wording
from storyproof.families.belief.world import EventKind, PlotEvent, cast_of, plot_problems
from storyproof.families.family import ReadingProblem

MOST_QUESTIONS = 300
_MOST_SUGGESTED = 3  # minds
_ANY_ROOM = "room"  # what any room is called
_WORDS = re.compile(r"\S+")


def find_problems_in_tomi(story: str, question: str) -> list[ReadingProblem]:
    """Return the places where text in ToMi's wording cannot be read, and sentences that cannot happen."""
    lines = story.split("\n")
    found, events = list[ReadingProblem](), list[PlotEvent]()
    for number, line in enumerate(lines, start=1):
        try:
            events.append(parse_sentence(line))
        except ParseError:
            found.append(_unread(line, number))
    if found:
        written = [each for each in found if lines[each.line - 1].strip()]  # empty lines matter if nothing else does
        return [*(written or found), *_question_problems(question, None)]
    found += _beyond_limits(lines, events)
    found += _mixed_roles(events)
    found += [
        ReadingProblem(f"this cannot happen: {what}.", line=number, is_fatal=False, is_impossible=True)
        for number, what in plot_problems(resolve_rooms(list(events)), tells_rooms=False)
    ]
    return [*found, *_question_problems(question, events)]


def _unread(line: str, number: int) -> ReadingProblem:
    """Return the place from which on a sentence has none of the known forms: the first word that does not fit."""
    words = list(_WORDS.finditer(line))
    fitting = max((_fitting(words, form.split(" ")) for form in SENTENCE_FORMS.split(" / ")), default=0)
    if not words:
        return ReadingProblem(f"this line is empty; expected one of: {SENTENCE_FORMS}", line=number)
    if fitting >= len(words):  # the end is missing
        column, length, what = len(line.rstrip()) + 1, 0, "the sentence is not complete"
    else:
        at = words[fitting]
        column, length, what = at.start() + 1, len(at[0]), f"'{at[0][:80]}' does not fit here"
    return ReadingProblem(f"{what}; expected one of: {SENTENCE_FORMS}", "story", number, column, length)


def _fitting(words: Sequence[re.Match[str]], form: Sequence[str]) -> int:
    """Return how many words at the beginning of a sentence fit a form; single capitals stand for any name."""
    for place, wanted in enumerate(form):
        if place >= len(words):
            return place
        bare = wanted.rstrip(".")
        allowed = r"[^\s.?]+" if len(bare) == 1 else re.escape(bare).replace(r"\|", "|")
        ending = r"\." if wanted.endswith(".") else ""
        if re.fullmatch(f"(?:{allowed}){ending}", words[place][0]) is None:
            return place
    return len(form)


def _mixed_roles(events: Sequence[PlotEvent]) -> Iterator[ReadingProblem]:
    """Yield sentences whose words are people in one place and things in another, or may mean several rooms."""
    acting = {name for event in events for name in (event.agent, event.hearer) if name}
    rooms = {event.room for event in events if event.room}
    used = {event.container for event in events if event.container}
    for number, event in enumerate(events, start=1):
        words = (event.room, event.thing, event.container)
        if event.thing is not None and event.thing == event.container:
            yield ReadingProblem(f"the {event.thing} cannot be in itself.", line=number)
        elif named := [word for word in words if word in acting]:
            yield ReadingProblem(f"{named[0]} is somebody elsewhere in the story.", line=number)
        elif event.kind == EventKind.PLACE and event.thing in used and event.thing != event.container:
            yield ReadingProblem(f"the {event.thing} is a container elsewhere in the story.", line=number)
        elif event.room == _ANY_ROOM and len(rooms) > 1:
            others = " or ".join(f"the {room}" for room in sorted(rooms - {_ANY_ROOM}))
            yield ReadingProblem(f"the room can be {others}; name it.", line=number)


def _beyond_limits(lines: Sequence[str], events: Sequence[PlotEvent]) -> Iterator[ReadingProblem]:
    if len(lines) > MOST_SENTENCES:
        yield ReadingProblem(f"the story has {len(lines)} sentences; at most {MOST_SENTENCES} can be handled.")
    for role, most in (("agent", MOST_AGENTS), ("room", MOST_NAMES), ("thing", MOST_NAMES), ("container", MOST_NAMES)):
        count = len({getattr(event, role) for event in events} - {None})
        if count > most:
            yield ReadingProblem(f"the story has {count} {role}s; at most {most} can be handled.")


def _question_problems(question: str, events: Sequence[PlotEvent] | None) -> Iterator[ReadingProblem]:
    """Yield what is wrong with a question; without events, as far as it does not depend on the story."""
    try:
        asked = parse_question(question)
    except ParseError:
        meant = suggest_question(question, events or ())
        yield ReadingProblem(f"this question cannot be read; expected one of: {QUESTION_FORMS}{meant}", "question", 1)
        return
    if asked.order > MOST_ORDER:
        yield ReadingProblem(f"the question goes through {asked.order} minds; at most {MOST_ORDER} can.", "question", 1)
    if events is None:
        return
    placed = {event.thing for event in events if event.container}
    if asked.thing not in placed:
        column = question.rfind(asked.thing) + 1
        known = f"; it places: {', '.join(sorted(filter(None, placed)))}" if placed else ""
        message = f"the story does not say where the {asked.thing} is{known}."
        message += suggest(asked.thing, filter(None, placed))
        yield ReadingProblem(message, "question", 1, column, len(asked.thing))
    acting = {event.agent for event in events if event.agent and event.room}
    for agent in dict.fromkeys(asked.chain):
        if agent not in acting:
            column = question.find(agent) + 1
            message = f"{agent} is in no room of the story, and so has no beliefs.{suggest(agent, acting)}"
            yield ReadingProblem(message, "question", 1, column, len(agent), is_fatal=False)


def _events(story: str) -> Sequence[PlotEvent]:
    try:
        return read_story(story).events
    except ParseError:
        return ()


def suggest_question(question: str, events: Sequence[PlotEvent]) -> str:
    """Return the known question nearest to one that cannot be read, with the words of a story; or nothing."""
    things = sorted({event.thing for event in events if event.thing and event.container})
    agents = [name for name in cast_of(events) if re.search(rf"\b{re.escape(name)}\b", question)]
    named = [thing for thing in things if re.search(rf"\b{re.escape(thing)}\b", question)]
    if len(named or things) != 1 or len(agents) > _MOST_SUGGESTED:
        return ""
    kinds = [Ask.BELIEF] if agents else [Ask.REALITY, Ask.MEMORY]
    known = [find_wording("en").ask(BeliefQuestion(kind, (named or things)[0], tuple(agents))) for kind in kinds]
    close = get_close_matches(" ".join(question.split()), known, 1, 0.7)
    return f" Did you mean {quoted(close[0])}?" if close else ""


def check_order(order: int) -> int:
    """Return an order of beliefs; raise DataError if it cannot be followed."""
    if not 1 <= order <= MOST_ORDER:
        raise DataError(f"the order is {order}; expected 1 to {MOST_ORDER}.")
    return order


def chains_of(agents: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """Yield all chains of so many minds in which nobody thinks of their own thoughts."""
    if length == 1:
        yield from ((agent,) for agent in agents)
        return
    for chain in chains_of(agents, length - 1):
        yield from ((*chain, agent) for agent in agents if agent != chain[-1])


def find_problems(story: str, question: str) -> list[ReadingProblem]:
    """Return the places where story or question cannot be read, and sentences that cannot happen."""
    if not is_nested(story, question) and not reads_further(story):
        return find_problems_in_tomi(story, question)
    found: list[ReadingProblem] = []
    try:
        asked = read_question(question)
    except ParseError as error:
        return [ReadingProblem(f"{error}{suggest_question(question, _events(story))}", "question", 1)]
    try:
        text = read_story(story)
    except ParseError as error:
        number = re.match(r"sentence (\d+)", str(error))
        return [ReadingProblem(str(error), line=int(number[1]) if number else 0)]
    found += _mixed_roles(text.events) if text.wording.language == "en" else ()
    for line, what in text.problems:
        message = f"this cannot happen: {what}."
        found.append(ReadingProblem(message, line=line, is_fatal=False, is_impossible=True))
    if not places_of(text.events, asked.thing):
        placed = {event.thing for event in text.events if event.container}
        message = f"the story does not say where the {asked.thing} is.{suggest(asked.thing, filter(None, placed))}"
        found.append(ReadingProblem(message, "question", 1))
    for agent in dict.fromkeys(asked.chain):
        if agent not in text.cast:
            message = f"{agent} is not in the story, and so has no beliefs.{suggest(agent, text.cast)}"
            found.append(ReadingProblem(message, "question", 1, is_fatal=False))
    return found


def list_questions(story: str, order: int) -> list[str]:
    """Return questions about the objects of a story up to an order, those about fewer minds first.

    Raises:
        ParseError: If the story cannot be read.
        DataError: If there is no such order.
    """
    text = read_story(story)
    things = list(dict.fromkeys(event.thing for event in text.events if event.thing and event.container))
    check_order(order)
    return list(islice((text.wording.ask(each) for each in _questions(text, things, order)), MOST_QUESTIONS))


def _questions(text: PlotText, things: Sequence[str], order: int) -> Iterator[BeliefQuestion]:
    for thing in things:
        yield from (BeliefQuestion(ask, thing) for ask in (Ask.MEMORY, Ask.REALITY))
    for thing in things:
        yield from (BeliefQuestion(Ask.BELIEF, thing, (agent,)) for agent in text.cast)
        yield from (BeliefQuestion(Ask.KNOWS_WHERE, thing, (agent,)) for agent in text.cast)
        yield from (BeliefQuestion(Ask.SAYS, thing, (agent,)) for agent in text.cast)
        yield from (BeliefQuestion(Ask.BELIEVERS, thing, (), place) for place in places_of(text.events, thing))
    for thing in things if order > 1 else ():
        yield from (BeliefQuestion(Ask.BELIEF, thing, pair) for pair in permutations(text.cast, 2))
        yield from (BeliefQuestion(Ask.KNOWS_WRONG, thing, pair) for pair in permutations(text.cast, 2))
        yield from (BeliefQuestion(Ask.COMMON, thing, pair) for pair in combinations(sorted(text.cast), 2))
    for depth in range(3, order + 1):
        for thing in things:
            yield from (BeliefQuestion(Ask.BELIEF, thing, chain) for chain in chains_of(text.cast, depth))
