"""A story about nested beliefs that has nothing but its text: where it cannot be read, and what can be asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import combinations, islice, permutations

from storyproof.errors import DataError, ParseError, VocabularyError, quoted, suggest
from storyproof.families.belief.arrays import MOST_AGENTS, MOST_NAMES, MOST_SENTENCES
from storyproof.families.belief.clauses import known_words
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.read_text import PlotText, is_nested, read_question, read_story, reads_further
from storyproof.families.belief.rows import places_of
from storyproof.families.belief.tomi_labels import MOST_ORDER
from storyproof.families.belief.tomi_text import (
    SENTENCE_FORMS,
    parse_question,
    parse_sentence,
    resolve_rooms,
)
from storyproof.families.belief.wording import find_wording
from storyproof.families.belief.world import EventKind, PlotEvent, cast_of, plot_problems
from storyproof.families.family import QuestionForm, ReadingProblem

MOST_QUESTIONS = 300
_MOST_SUGGESTED = 3  # minds
_ANY_ROOM = "room"  # what any room is called
_WORDS = re.compile(r"\S+")
_KNOWN = "entered, exited, is in, moved … to, likes, dislikes, loves, hates"
_SAMPLE_QUESTION = "Where will Ada look for the key?"
# What people write for the words that are known.
_SYNONYMS = {
    "entered": "enters went goes came comes arrived walked stepped joined returned reentered",
    "exited": "exits left leaves departed quit quits",
    "moved": "moves put puts placed places hid hides took takes carried shifted transferred stored",
    "is": "was lies lay sits sat stands stood stays stayed",
    "in": "inside into at on within",
    "to": "into onto in inside under behind",
    "likes": "liked enjoys adores",
    "loves": "loved",
    "hates": "hated detests",
    "dislikes": "disliked",
    "the": "a an his her their its this that",
}
_MEANT = {word: known for known, words in _SYNONYMS.items() for word in words.split()}


def find_problems_in_tomi(story: str, question: str) -> list[ReadingProblem]:
    """Return the places where text in ToMi's wording cannot be read, and sentences that cannot happen."""
    lines = story.split("\n")
    problems, events = list[ReadingProblem](), list[PlotEvent]()
    for number, line in enumerate(lines, start=1):
        try:
            events.append(parse_sentence(line))
        except ParseError:
            problems.append(_unread(line, number))
    if problems:
        written = [each for each in problems if lines[each.line - 1].strip()]  # empty lines matter if nothing else does
        return [*(written or problems), *_question_problems(question, None)]
    problems += _beyond_limits(lines, events)
    problems += _mixed_roles(events)
    problems += [
        ReadingProblem(f"this cannot happen: {what}.", line=number, is_fatal=False, is_impossible=True)
        for number, what in plot_problems(resolve_rooms(list(events)), tells_rooms=False)
    ]
    return [*problems, *_question_problems(question, events)]


def _unread(line: str, number: int) -> ReadingProblem:
    """Return the place from which on a sentence has none of the known forms: the first word that does not fit."""
    words = list(_WORDS.finditer(line))
    forms = [form.split(" ") for form in SENTENCE_FORMS.split(" / ")]
    fitting = max(_fitting(words, form) for form in forms)
    if not words:
        return ReadingProblem("this line is empty; write a sentence, or delete the line.", line=number)
    wanted = [form[fitting] for form in forms if _fitting(words, form) == fitting < len(form)]
    if fitting >= len(words):  # the end is missing
        column, length, what = len(line.rstrip()) + 1, 0, "the sentence is not complete"
        fixes: tuple[str, ...] = ()
    else:
        at = words[fitting]
        column, length, what = at.start() + 1, len(at[0]), f"'{at[0][:80]}' does not fit here"
        fixes = _fixes(at[0], wanted)
    hint = "" if fixes else f"; the words known are: {_KNOWN}"
    return ReadingProblem(f"{what}{hint}.", "story", number, column, length, fixes=fixes)


def _fixes(written: str, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the words that fit at a place and may be meant by what is written there, the likeliest first."""
    bare = written.rstrip(".,;!")
    known = [word for each in wanted if len(each.rstrip(".")) > 1 for word in each.split("|")]
    if not known:  # a name is wanted; what is too much are signs such as commas
        ending = "." if any(each.endswith(".") for each in wanted) else ""
        return (f"{bare}{ending}",) if bare and f"{bare}{ending}" != written else ()
    meant = _MEANT.get(bare.lower())
    near = [word for word in known if word[0] == bare[:1].lower() and bare.lower() not in known_words()]
    close = get_close_matches(bare.lower(), near, n=2, cutoff=0.5)
    return tuple(dict.fromkeys([*([meant] if meant in known else []), *close]))


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
        elif event.kind == EventKind.PLACE and event.thing in used:
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
        parsed = parse_question(question)
    except ParseError:
        meant = suggest_question(question, events or ())
        yield ReadingProblem(
            f"this question is not understood; write it as in: {_SAMPLE_QUESTION}{meant}", "question", 1
        )
        return
    if parsed.order > MOST_ORDER:
        yield ReadingProblem(
            f"the question goes through {parsed.order} minds; at most {MOST_ORDER} can.", "question", 1
        )
    if events is None:
        return
    placed = {event.thing for event in events if event.container}
    if parsed.thing not in placed:
        column = question.rfind(parsed.thing) + 1
        known = f"; it places: {', '.join(sorted(filter(None, placed)))}" if placed else ""
        message = f"the story does not say where the {parsed.thing} is{known}."
        message += suggest(parsed.thing, filter(None, placed))
        yield ReadingProblem(message, "question", 1, column, len(parsed.thing))
    acting = {event.agent for event in events if event.agent and event.room}
    for agent in dict.fromkeys(parsed.chain):
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
    """Yield all chains of a number of minds in which nobody thinks of their own thoughts."""
    if length == 1:
        yield from ((agent,) for agent in agents)
        return
    for chain in chains_of(agents, length - 1):
        yield from ((*chain, agent) for agent in agents if agent != chain[-1])


def find_problems(story: str, question: str) -> list[ReadingProblem]:
    """Return the places where story or question cannot be read, and sentences that cannot happen."""
    if not is_nested(story, question) and not reads_further(story):
        return find_problems_in_tomi(story, question)
    problems: list[ReadingProblem] = []
    try:
        parsed = read_question(question)
    except ParseError as error:
        return [ReadingProblem(f"{error}{suggest_question(question, _events(story))}", "question", 1)]
    try:
        text = read_story(story)
    except ParseError as error:
        number = re.match(r"sentence (\d+)", str(error))
        return [ReadingProblem(str(error), line=int(number[1]) if number else 0)]
    problems += _mixed_roles(text.events) if text.wording.language == "en" else ()
    for line, what in text.problems:
        message = f"this cannot happen: {what}."
        problems.append(ReadingProblem(message, line=line, is_fatal=False, is_impossible=True))
    if not places_of(text.events, parsed.thing):
        placed = {event.thing for event in text.events if event.container}
        message = f"the story does not say where the {parsed.thing} is.{suggest(parsed.thing, filter(None, placed))}"
        problems.append(ReadingProblem(message, "question", 1))
    for agent in dict.fromkeys(parsed.chain):
        if agent not in text.cast:
            message = f"{agent} is not in the story, and so has no beliefs.{suggest(agent, text.cast)}"
            problems.append(ReadingProblem(message, "question", 1, is_fatal=False))
    return problems


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


def question_forms(story: str, order: int) -> list[QuestionForm]:
    """Return the kinds of question about the objects of a story, each for up to `order` minds.

    Raises:
        ParseError: If the story cannot be read.
        DataError: If there is no such order.
    """
    text = read_story(story)
    check_order(order)
    things = list(dict.fromkeys(event.thing for event in text.events if event.thing and event.container))
    cast = len(text.cast)
    forms = []
    for thing in things:
        kinds: list[tuple[str, Ask, Sequence[int], str | None]] = [
            (f"where somebody looks for the {thing}", Ask.BELIEF, range(1, order + 1), None),
            (f"where the {thing} is really", Ask.REALITY, [0], None),
            (f"where the {thing} was at first", Ask.MEMORY, [0], None),
            (f"what somebody says about the {thing}", Ask.SAYS, [1], None),
            (f"who knows where the {thing} is", Ask.KNOWS_WHERE, [1], None),
            (f"who knows that somebody is wrong about the {thing}", Ask.KNOWS_WRONG, [2], None),
            (f"what two people commonly believe about the {thing}", Ask.COMMON, [2], None),
            *(
                (f"who believes that the {thing} is in the {place}", Ask.BELIEVERS, [0], place)
                for place in places_of(text.events, thing)
            ),
        ]
        for title, ask, minds, place in kinds:
            templates = [_template(text, ask, thing, number, place) for number in minds if number in (0, 1) or cast > 1]
            if templates:
                forms.append(QuestionForm(title, tuple(templates)))
    return forms


def _template(text: PlotText, ask: Ask, thing: str, minds: int, place: str | None) -> str:
    """Return a question with `{0}`, `{1}` … in the place of its people."""
    slots = [f"{{{number}}}" for number in range(minds)]
    try:
        return text.wording.ask(BeliefQuestion(ask, thing, tuple(slots), place))
    except VocabularyError:  # languages that decline names know theirs only
        names = [text.cast[number % len(text.cast)] for number in range(minds)]
        worded = text.wording.ask(BeliefQuestion(ask, thing, tuple(names), place))
        for slot, name in zip(slots, names, strict=True):
            worded = worded.replace(name, slot, 1)
        return worded


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
