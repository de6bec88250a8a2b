"""Works out from the text alone what rows should say: parse, ask the oracle, ask the checker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storyproof.errors import DataError, ParseError
from storyproof.tom import beliefs
from storyproof.tom.agreement import compare
from storyproof.tom.arrays import NOBODY, Names, Small, encode
from storyproof.tom.beliefs import STRANGER
from storyproof.tom.events import Event, Kind, impossibilities
from storyproof.tom.labels import Questions, label, story_type
from storyproof.tom.pairs import companion_of, mover_of, other_of
from storyproof.tom.tables import NO_WORD, Cast, Lexicon, Words, in_words, label_columns, number_lists
from storyproof.tom.text import Question, parse, parse_question


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a row that cannot be right, whatever its labels say."""

    row: int
    what: str
    found: str
    expected: str


@dataclass(slots=True)
class Scene:
    """A story with one object asked about."""

    events: list[Event]
    thing: str
    chains: list[tuple[str, ...]] = field(default_factory=list)
    mover: str | None = None
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Proved:
    """What rows should say.

    Attributes:
        rows: Which rows could be worked out.
        columns: The expected label columns, for those rows.
        typed: For those rows, whether the story type could be told.
        scenes: The stories, with what is asked about.
        scene_of: For those rows, which scene each asks about.
        problems: What is wrong with the text or the question of a row, or where oracle and checker differ.
    """

    rows: npt.NDArray[np.int64]
    columns: dict[str, pa.Array]
    typed: npt.NDArray[np.bool_]
    scenes: list[Scene]
    scene_of: npt.NDArray[np.intp]
    problems: list[Problem]


def prove(stories: Sequence[str], story_of: Sequence[int], questions: Sequence[str], *, check: bool = True) -> Proved:
    """Work out what rows should say.

    Args:
        stories: Distinct stories.
        story_of: Which of them each row is about.
        questions: What each row asks.
        check: Whether to ask the checker as well as the oracle.
    """
    problems: list[Problem] = []
    parsed = _parse_stories(stories, story_of, problems)
    scenes: list[Scene] = []
    numbers: dict[tuple[int, str], int] = {}
    rows, scene_of, asked = [], [], []
    for row, (story, text) in enumerate(zip(story_of, questions, strict=True)):
        events = parsed[story]
        if events is None:
            continue
        question = _parse_question(text, events, row, problems)
        if question is None:
            continue
        key = story, question.thing
        if key not in numbers:
            numbers[key] = len(scenes)
            scenes.append(Scene(events, question.thing))
        scenes[numbers[key]].chains.append(question.chain)
        rows.append(row)
        scene_of.append(numbers[key])
        asked.append(question)
    for scene in scenes:
        scene.mover = mover_of(scene.events, scene.thing)
        if any(scene.chains):
            scene.other = other_of(scene.mover, scene.chains)
        scene.other = scene.other or companion_of(scene.events, scene.thing, scene.mover)
    if not rows:
        return Proved(np.empty(0, np.int64), {}, np.empty(0, np.bool_), [], np.empty(0, np.intp), problems)
    return _label(rows, np.array(scene_of), scenes, asked, problems, check)


def _parse_stories(
    stories: Sequence[str], story_of: Sequence[int], problems: list[Problem]
) -> list[list[Event] | None]:
    """Read the stories; who cannot be read or cannot happen is a problem of its first row."""
    first: dict[int, int] = {}
    for row, story in enumerate(story_of):
        first.setdefault(story, row)
    parsed: list[list[Event] | None] = []
    for number, story in enumerate(stories):
        try:
            events = parse(story)
            parsed.append(events)
        except ParseError as error:
            parsed.append(None)
            problems.append(Problem(first.get(number, 0), "story", str(error).rstrip("."), "a story that can be read"))
            continue
        for sentence, what in impossibilities(events):
            problems.append(
                Problem(first.get(number, 0), "story", f"sentence {sentence}: {what}", "a story that can happen")
            )
    return parsed


def _parse_question(text: str, events: list[Event], row: int, problems: list[Problem]) -> Question | None:
    try:
        question = parse_question(text)
    except ParseError as error:
        problems.append(Problem(row, "question", str(error).rstrip("."), "a question that can be read"))
        return None
    if not any(event.thing == question.thing and event.container for event in events):
        problems.append(Problem(row, "question", f"the {question.thing} is nowhere in the story", "an object of it"))
        return None
    return question


def _label(
    rows: list[int],
    scene_of: npt.NDArray[np.intp],
    scenes: list[Scene],
    asked: list[Question],
    problems: list[Problem],
    check: bool,
) -> Proved:
    stories, names = encode([scene.events for scene in scenes])
    agent_numbers = [{name: number for number, name in enumerate(known.agents)} for known in names]
    things = np.array([known.things.index(scene.thing) for known, scene in zip(names, scenes, strict=True)], np.int8)
    movers, others = (
        np.array([known.get(person or "", STRANGER) for known, person in zip(agent_numbers, people, strict=True)], np.int8)
        for people in ([scene.mover for scene in scenes], [scene.other for scene in scenes])
    )
    depth = max(1, max(question.order for question in asked))
    chains = np.full((len(asked), depth), NOBODY, np.int8)
    for row, (question, scene) in enumerate(zip(asked, scene_of.tolist(), strict=True)):
        if question.chain:
            known = agent_numbers[scene]
            chains[row, : question.order] = [known.get(agent, STRANGER) for agent in question.chain]
    seen = beliefs.view(stories, things)
    memory = np.array([question.memory for question in asked])
    labels = label(seen.pick(scene_of), chains.T.copy(), memory, movers[scene_of])
    typed = (movers != STRANGER) & (others != STRANGER)
    types = story_type(seen, movers, others)
    questions = Questions(scene_of, things[scene_of], chains.T.copy(), memory, types[scene_of], labels)
    if check:
        problems += _differences(scenes, names, questions, typed, rows)
    lexicon, cast = _cast(names)
    candidates = _candidates(lexicon, scenes)
    numbers = np.broadcast_to(np.arange(1, len(stories.kind) + 1)[:, None], (len(stories.kind), len(rows)))
    columns = label_columns(
        lexicon,
        in_words(questions, cast, candidates[:, scene_of]),
        number_lists(labels.proof, numbers),
    )
    unanswered = pa.array(labels.place == NOBODY)
    columns["answer"] = pa.compute.if_else(unanswered, pa.scalar(None, pa.string()), columns["answer"].cast(pa.string()))
    return Proved(np.array(rows), columns, typed[scene_of], scenes, scene_of, problems)


def _differences(
    scenes: list[Scene], names: list[Names], questions: Questions, typed: npt.NDArray[np.bool_], rows: list[int]
) -> Iterator[Problem]:
    order = np.argsort(questions.story, kind="stable")
    starts = np.searchsorted(questions.story[order], np.arange(len(scenes) + 1))
    for number, scene in enumerate(scenes):
        pair = (scene.mover or "", scene.other or "") if typed[number] else None
        asked = order[starts[number] : starts[number + 1]].tolist()
        for found in compare(scene.events, names[number], questions, asked, pair):
            yield Problem(rows[found.question], f"{found.what} (oracle and checker)", f"{found.oracle}", f"{found.checker}")


def _cast(names: list[Names]) -> tuple[Lexicon, Cast]:
    words = {word for known in names for role in (known.agents, known.rooms, known.things, known.containers) for word in role}
    lexicon = Lexicon(words)

    def numbers(lists: list[tuple[str, ...]]) -> Words:
        return _matrix([[lexicon.number[word] for word in words] for words in lists])

    return lexicon, Cast(
        numbers([known.agents for known in names]),
        numbers([known.rooms for known in names]),
        numbers([known.things for known in names]),
        numbers([known.containers for known in names]),
    )


def _matrix(lists: list[list[int]]) -> Words:
    """Lay lists out as [place, list], NO_WORD where they are shorter."""
    width = max(1, max(map(len, lists)))
    return np.array([numbers + [NO_WORD] * (width - len(numbers)) for numbers in lists], np.int32).T.copy()


def _candidates(lexicon: Lexicon, scenes: list[Scene]) -> Words:
    return _matrix(
        [
            sorted(
                {
                    lexicon.number[event.container or ""]
                    for event in scene.events
                    if event.thing == scene.thing and event.kind in (Kind.PLACE, Kind.MOVE)
                }
            )
            for scene in scenes
        ]
    )
