"""What the family says about single examples with nested beliefs: answers, states, mistakes, pictures, texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, islice, permutations

import numpy as np
import pyarrow as pa

from storyproof.errors import DataError, ParseError, quoted
from storyproof.example import Example, plain_schema
from storyproof.families.belief.arrays import NOBODY
from storyproof.families.belief.baselines import apply_rules
from storyproof.families.belief.events import Event, Kind
from storyproof.families.belief.nested.arrays import encode_plots
from storyproof.families.belief.nested.checker import MindWorlds
from storyproof.families.belief.nested.oracle import Minds, reality, whereabouts
from storyproof.families.belief.nested.questions import Ask, NestedQuestion, Reply
from storyproof.families.belief.nested.reading import PlotText, is_question, read_question, read_story
from storyproof.families.belief.nested.readings import (
    ALWAYS,
    FRESHER,
    HI_TOM,
    NEVER_LIARS,
    NestedReading,
    parse_reading,
)
from storyproof.families.belief.nested.rows import (
    READINGS,
    AskedRow,
    candidates_of,
    kind_of,
    places_of,
    prove_rows,
    reading_of,
)
from storyproof.families.belief.nested.world import EventKind, PlotEvent
from storyproof.families.belief.own_text import MOST_QUESTIONS, chains_of, check_order
from storyproof.families.belief.readings import CONVENTIONS
from storyproof.families.belief.text import Question
from storyproof.families.belief.timeline import Moment, Timeline
from storyproof.families.family import ReadingProblem, StateEntry, Step, StoryModel
from storyproof.seeds import digest

MOST_CHAINS = 400  # each is a row of the page
_RULED = {
    EventKind.ENTER: Kind.ENTER,
    EventKind.EXIT: Kind.EXIT,
    EventKind.PLACE: Kind.PLACE,
    EventKind.MOVE: Kind.MOVE,
}
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_QUESTION = re.compile(r"[^.!?。！？\n]*[?？]")
_SIGHTS = (
    *CONVENTIONS[:2],
    "What Ada thinks that Bo believes is what the two last saw together, or heard together and believed.",
    "Who secretly watches a room also notices what happens in it, and nobody else knows that.",
    "Who is distracted notices nothing until paying attention again, and the others do not notice that.",
    "What is said to everybody in a room, all there hear; what is said in private, only the two; what is announced "
    "everywhere, everybody.",
)
_TRUST = {
    ALWAYS: "Hearers believe what they are told unless they see the object; nobody is convinced by its own words.",
    FRESHER: "Hearers believe what they are told unless, as far as they know, they have seen the object later.",
    NEVER_LIARS: "Hearers believe what they are told unless they know that the speaker has lied.",
    HI_TOM: "Hearers believe only who left the object's room later than they did; everybody knows who left when.",
}


def complete_rows(table: pa.Table, *, proved: bool) -> pa.Table:
    """Fill in the columns that rows lack, or with `proved` replace all labels, from the text.

    Raises:
        DataError: If a row cannot be read.
    """
    rows = table.to_pylist()
    found = prove_rows([AskedRow.of(row) for row in rows], check=False)
    for problem in found.problems:
        if found.labels[problem.row] is None:
            raise DataError(f"row {rows[problem.row].get('id')}: {problem.what}: {problem.found}.")
    for row, labels in zip(rows, found.labels, strict=True):
        if labels is None:  # another row of the same story says why
            raise DataError(f"row {row.get('id')}: the story cannot be read.")
        for name, value in labels.items():
            if row.get(name) is None or proved:
                row[name] = value
        row["story_id"] = row.get("story_id") or f"story-{digest(row['story']).hex()[:16]}"
    return pa.Table.from_pylist(rows, schema=plain_schema())


@lru_cache(maxsize=256)
def _worlds(story: str, reading: NestedReading) -> MindWorlds:
    return MindWorlds(read_story(story).events, reading)


def checked_answer(
    example: Example, reading: NestedReading | None = None, question: NestedQuestion | None = None
) -> str:
    """Answer by the checker, in the words of the story; empty where nobody knows and that is not a candidate."""
    text = read_story(example.story)
    found = _worlds(example.story, reading or reading_of(example.readings)).answer(
        question or read_question(example.question)
    )
    said = text.wording.answer(found)
    return said if found is not None or said in example.candidates else ""


def answers_by_reading(example: Example) -> dict[str, str]:
    """Return the answer under each reading of trust, by the checker."""
    return {name: checked_answer(example, parse_reading(name)) for name in READINGS}


def models_of(example: Example) -> list[StoryModel]:
    """Return the world that the last of a chain holds possible; agents hold one world possible at a time."""
    question = read_question(example.question)
    if question.ask != Ask.BELIEF:
        return []
    place = _worlds(example.story, reading_of(example.readings)).belief(question.chain, question.thing)
    thinks = " ".join(f"{agent} thinks that" for agent in question.chain[:-1])
    where = f"the {question.thing} is in the {place}" if place else f"the {question.thing} may be anywhere"
    caption = f"{thinks} {question.chain[-1]} holds this world possible: {where}.".strip()
    return [StoryModel(checked_answer(example), caption)]


def candidates(example: Example) -> list[str]:
    """Return the possible answers, as the text gives them."""
    text = read_story(example.story)
    unknown = text.wording.answer(None) in (*example.candidates, example.answer)
    return candidates_of(text.events, read_question(example.question), text.wording, unknown=unknown)


def positions(example: Example) -> list[str]:
    """Return the candidates in an order that means the same in all examples: places in the order of the story."""
    question = read_question(example.question)
    known = list(example.candidates) or candidates(example)
    if question.ask in (Ask.KNOWS_WHERE, Ask.KNOWS_WRONG, Ask.BELIEVERS):
        return known
    places = [place for place in places_of(read_story(example.story).events, question.thing) if place in known]
    return [*places, *(each for each in known if each not in places)]


def is_answered_by_place(example: Example) -> bool:
    """Return whether all candidates of an example are containers of its story."""
    return set(candidates(example)) <= set(containers_of(example.story))


def rules_answer(example: Example) -> str:
    """Answer by the ToMi paper's rules: they know placings, moves and exits, and all agents believe the same."""
    question, text = read_question(example.question), read_story(example.story)
    plain = [
        Event(_RULED[event.kind], event.agent, event.room, event.thing, event.container)
        for event in text.events
        if event.kind in _RULED
    ]

    def place(order: int) -> str:
        asked = Question(question.thing, ("?",) * order, question.ask == Ask.MEMORY)
        return apply_rules(plain, asked)

    found: Reply = place(question.order)
    if question.ask == Ask.KNOWS_WHERE:
        found = "yes" if place(1) == place(0) else "no"
    elif question.ask == Ask.KNOWS_WRONG:
        found = "yes" if place(0) != place(1) != place(2) else "no"
    elif question.ask == Ask.BELIEVERS:
        found = tuple(sorted(text.cast)) if place(question.order) == question.place else ()
    elif question.ask == Ask.COMMON:
        found = place(2)
    return text.wording.answer(found)


def structure(example: Example) -> str:
    """Return what the question asks, without agents."""
    return kind_of(read_question(example.question))


def people(example: Example) -> list[str]:
    """Return the agents of a story in order of appearance; none if it cannot be read."""
    try:
        return list(read_story(example.story).cast)
    except ParseError:
        return []


def conventions(example: Example) -> list[str]:
    """Return what the reading of an example takes for granted."""
    reading = reading_of(example.readings)
    return [*_SIGHTS, _TRUST[reading.trust]]


def mistaken_answers(example: Example) -> dict[str, Collection[str]]:
    """Return the answers to which mistakes lead, by the checker."""
    question, text = read_question(example.question), read_story(example.story)
    own = reading_of(example.readings)
    worlds = _worlds(example.story, own)
    thing, chain = question.thing, question.chain
    if question.ask not in (Ask.BELIEF, Ask.SAYS, Ask.REALITY, Ask.MEMORY):
        others = {checked_answer(example, parse_reading(name)) for name in READINGS if name != str(own)}
        return {"other_reading": frozenset(filter(None, others))}

    def believed(chains: Collection[tuple[str, ...]]) -> list[str | None]:
        return [worlds.belief(each, thing) for each in chains]

    shorter = {each for length in range(1, len(chain)) for each in combinations(chain, length)}
    swapped = {
        (*chain[:one], chain[other], *chain[one + 1 : other], chain[one], *chain[other + 1 :])
        for one, other in combinations(range(len(chain)), 2)
    }
    replaced = {
        (*chain[:place], agent, *chain[place + 1 :])
        for place in range(len(chain))
        for agent in text.cast
        if agent != chain[place]
    }
    places = places_of(text.events, thing)
    said = [event.container for event in text.events if event.thing == thing and event.container]
    found: dict[str, list[str | None]] = {
        "other_reading": [_worlds(example.story, parse_reading(name)).belief(chain, thing) for name in READINGS],
        "reality": [worlds.reality(thing)],
        "lower_order": believed(shorter),
        "swapped_minds": believed(swapped),
        "other_agent": believed(replaced or {(agent,) for agent in text.cast}),
        "first_mention": [worlds.memory(thing)],
        "last_mention": [*said[-1:]],
        "earlier_place": [*places[1:-1]],
        "other_object": [event.container for event in text.events if event.thing != thing and event.container],
    }
    if not chain:
        del found["other_reading"]
    return {name: frozenset(text.wording.answer(place) for place in found[name] if place) for name in found}


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


def _questions(text: PlotText, things: Sequence[str], order: int) -> Iterator[NestedQuestion]:
    for thing in things:
        yield from (NestedQuestion(ask, thing) for ask in (Ask.MEMORY, Ask.REALITY))
    for thing in things:
        yield from (NestedQuestion(Ask.BELIEF, thing, (agent,)) for agent in text.cast)
        yield from (NestedQuestion(Ask.KNOWS_WHERE, thing, (agent,)) for agent in text.cast)
        yield from (NestedQuestion(Ask.SAYS, thing, (agent,)) for agent in text.cast)
        yield from (NestedQuestion(Ask.BELIEVERS, thing, (), place) for place in places_of(text.events, thing))
    for thing in things if order > 1 else ():
        yield from (NestedQuestion(Ask.BELIEF, thing, pair) for pair in permutations(text.cast, 2))
        yield from (NestedQuestion(Ask.KNOWS_WRONG, thing, pair) for pair in permutations(text.cast, 2))
        yield from (NestedQuestion(Ask.COMMON, thing, pair) for pair in combinations(sorted(text.cast), 2))
    for depth in range(3, order + 1):
        for thing in things:
            yield from (NestedQuestion(Ask.BELIEF, thing, chain) for chain in chains_of(text.cast, depth))


def find_problems(story: str, question: str) -> list[ReadingProblem]:
    """Return the places where story or question cannot be read, and sentences that cannot happen."""
    found = []
    try:
        asked = read_question(question)
    except ParseError as error:
        return [ReadingProblem(str(error), "question", 1)]
    try:
        text = read_story(story)
    except ParseError as error:
        number = re.match(r"sentence (\d+)", str(error))
        return [ReadingProblem(str(error), line=int(number[1]) if number else 0)]
    for line, what in text.problems:
        found.append(ReadingProblem(f"this cannot happen: {what}.", line=line, is_fatal=False))
    if not places_of(text.events, asked.thing):
        found.append(ReadingProblem(f"the story does not say where the {asked.thing} is.", "question", 1))
    for agent in dict.fromkeys(asked.chain):
        if agent not in text.cast:
            message = f"{agent} is not in the story, and so has no beliefs."
            found.append(ReadingProblem(message, "question", 1, is_fatal=False))
    return found


def divide_story(text: str) -> str:
    """Return a story with one sentence per line, also if it is running text.

    Raises:
        ParseError: If it cannot be read.
    """
    try:
        read_story(text)
    except ParseError:
        divided = "\n".join(_SENTENCE_END.split(" ".join(text.split())))
        read_story(divided)
        return divided
    return text


def last_question(text: str) -> str:
    """Return the last question of a text.

    Raises:
        ParseError: If it has none of the known forms.
    """
    found = [" ".join(match[0].split()) for match in _QUESTION.finditer(text)][-1:]
    found += [each.rpartition(": ")[2] for each in found]  # without a label, such as "Question:"
    for each in found:
        if is_question(each):
            return each
    raise ParseError(f"not a question about a story: {quoted(text.strip()[-80:])}.")


def split_messages(messages: Sequence[str]) -> tuple[str, str]:
    """Divide what a user says into story, one sentence per line, and question.

    The story is the longest run of lines before the question that can be read.

    Raises:
        ParseError: If there is no story or question.
    """
    text = "\n".join(messages)
    question = last_question(text)
    before = text[: text.rfind(question[:8])]
    lines = [line.strip() for line in _SENTENCE_END.sub("\n", before).split("\n")]
    lines = [re.sub(r"^(?:\d+[.):]|[-*•])\s+", "", line) for line in lines if line]
    best: list[str] = []
    for start in range(len(lines)):
        for end in range(len(lines), start + len(best), -1):
            try:
                read_story("\n".join(lines[start:end]))
            except ParseError:
                continue
            best = lines[start:end]
            break
    if not best:
        raise ParseError(f"no story before {quoted(question)}.")
    return "\n".join(best), question


def containers_of(story: str) -> list[str]:
    """Return the containers that a story names, sorted; none if it cannot be read."""
    try:
        return sorted({event.container for event in read_story(story).events if event.container})
    except ParseError:
        return []


def roles_of(story: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a story, in lower case, with their roles; noise may be about anything."""
    for event in read_story(story).events:
        if event.kind == EventKind.NOISE:
            continue
        for role, word in (
            ("agent", event.agent),
            ("agent", event.hearer),
            ("thing", event.thing),
            ("container", event.container),
            ("room", event.room),
        ):
            if word:
                yield word.lower(), role


class BeliefFollower:
    """Follows an object and beliefs about it through a story."""

    def __init__(self, events: Sequence[PlotEvent], thing: str, reading: NestedReading) -> None:
        self._stories, (self._names,) = encode_plots([events])
        if thing not in self._names.things:
            raise ParseError(f"the {thing} is nowhere in the story.")
        self._reading = reading
        self._thing = np.array([self._names.things[thing]], np.int8)
        self._steps = len(events)

    def _words(self, places: Sequence[int]) -> list[str | None]:
        containers = tuple(self._names.containers)
        return [None if place == NOBODY else containers[place] for place in places][: self._steps]

    def really(self) -> list[str | None]:
        """Return where the object is after each sentence."""
        steps = np.arange(len(self._stories.kind))
        so_far = self._stories.pick(np.zeros(len(steps), np.intp)).without(steps[:, None] > steps)
        return self._words(reality(so_far, np.repeat(self._thing, len(steps))).tolist())

    def believed(self, chain: Sequence[str]) -> list[str | None]:
        """Return where a chain believes the object to be after each sentence."""
        asked = np.array([[self._names.agents[agent]] for agent in chain], np.int8)
        minds = Minds(self._stories, np.zeros(1, np.intp), asked, self._reading)
        return self._words(minds.over_time(self._thing)[:, 0].tolist())

    def rooms(self) -> list[dict[str, list[str]]]:
        """Return who is in which room after each sentence, with who watches it or is distracted."""
        where = whereabouts(self._stories)
        rooms, found = tuple(self._names.rooms), []
        for time in range(self._steps):
            here: dict[str, list[str]] = {}
            for agent, number in self._names.agents.items():
                room, watched = int(where.room[time, number, 0]), int(where.watched[time, number, 0])
                if room != NOBODY:
                    is_away = int(where.distracted[time, 0]) >> number & 1
                    here.setdefault(rooms[room], []).append(f"{agent} (distracted)" if is_away else agent)
                if watched != NOBODY:
                    here.setdefault(rooms[watched], []).append(f"{agent} (watching)")
            found.append(here)
        return found


def lay_out(examples: Sequence[Example]) -> Timeline:
    """Follow the object of a story's last question through the whole story.

    Raises:
        ParseError: If the story cannot be read, or lacks that object or somebody who is asked about.
    """
    last = examples[-1]
    text, question = read_story(last.story), read_question(last.question)
    for agent in question.chain:
        if agent not in text.cast:
            raise ParseError(f"{quoted(agent)}, who is asked about, is nowhere in the story.")
    follower = BeliefFollower(text.events, question.thing, reading_of(last.readings))
    chains: list[tuple[str, ...]] = [(agent,) for agent in text.cast]
    asked = [read_question(each.question) for each in examples]
    about = [each.chain for each in asked if each.thing == question.thing and each.ask != Ask.COMMON]
    deepest = question.chain if question.ask == Ask.BELIEF else max([(), *about], key=len)
    if set(deepest) <= set(text.cast):  # the others would need a column for each of their parts
        chains += [deepest[start:] for start in range(len(deepest))]
    places = {chain: follower.believed(chain) for chain in dict.fromkeys(chains)}
    real, rooms = follower.really(), follower.rooms()
    steps = [
        Moment(sentence, rooms[time], real[time], {chain: found[time] for chain, found in places.items()})
        for time, sentence in enumerate(last.story.split("\n"))
    ]
    return Timeline(last.story_id, last.story_type, question.thing, steps, list(examples))


def steps_of(example: Example, order: int) -> list[Step]:
    """Return who is where, where the asked object is, and who believes what after each sentence.

    Raises:
        DataError: If the story cannot be read, or the order is too high for so many agents.
    """
    check_order(order)
    text, question = read_story(example.story), read_question(example.question)
    follower = BeliefFollower(text.events, question.thing, reading_of(example.readings))
    chains = list(islice((c for depth in range(1, order + 1) for c in chains_of(text.cast, depth)), MOST_CHAINS + 1))
    if len(chains) > MOST_CHAINS:
        raise DataError(
            f"{len(text.cast)} people have more than {MOST_CHAINS} beliefs up to order {order}; choose a lower order."
        )
    real, rooms = follower.really(), follower.rooms()
    held = {chain: follower.believed(chain) for chain in chains}
    known = list(dict.fromkeys(room for here in rooms for room in here))
    found = []
    for time, sentence in enumerate(example.story.split("\n")):
        entries = [StateEntry(f"where the {question.thing} is", "really", real[time] or "")]
        for chain, places in held.items():
            about = held[chain[1:]][time] if len(chain) > 1 else real[time]
            is_wrong = places[time] is not None and places[time] != about
            name = " ".join(f"{agent} thinks" for agent in chain)
            entries.append(StateEntry(_group(len(chain)), name, places[time] or "", is_wrong))
        entries += [StateEntry("who is where", room, ", ".join(rooms[time].get(room, []))) for room in known]
        found.append(Step(sentence, tuple(entries)))
    return found


def _group(order: int) -> str:
    return {1: "beliefs about the object", 2: "beliefs about beliefs"}.get(order, f"beliefs of order {order}")
