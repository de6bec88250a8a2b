"""What rows about nested beliefs should say, derived from their text by the oracle and confirmed by the checker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from storyproof.errors import ParseError, UnknownNameError
from storyproof.families.belief import provers
from storyproof.families.belief.answers import reply
from storyproof.families.belief.arrays import encode_plots, encode_questions
from storyproof.families.belief.labels import PLACES, LabelledQuestions, LabelWords, kind_name
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.proof_check import PROOF_BY_DELETION, PROOF_HOLDS, check_proofs
from storyproof.families.belief.questions import Ask, BeliefQuestion, Reply
from storyproof.families.belief.read_text import PlotText, read_question, read_story
from storyproof.families.belief.readings import ALL_READINGS, DEFAULT_READING, BeliefReading, parse_reading
from storyproof.families.belief.tomi_rows import RowProblem
from storyproof.families.belief.wording import PlotWording
from storyproof.families.belief.world import PlotEvent, cast_of
from storyproof.generation.arrow_columns import NO_WORD, Words

READINGS = tuple(map(str, ALL_READINGS))  # that rows of ours name
READABLE, POSSIBLE = "a text that can be read", "a story that can happen"
MOST_BELIEVERS = 6  # agents of a story up to which all sets of them are candidates
_AT_ONCE = 512  # stories that are proved together


@dataclass(frozen=True, slots=True)
class AskedRow:
    """A row to be proved.

    Attributes:
        story: Its text.
        question: What it asks.
        reading: The reading that it is judged under: the first of its own, else the default.
        keeps_unknown: Whether "unknown" is among its candidates.
    """

    story: str
    question: str
    reading: BeliefReading = DEFAULT_READING
    keeps_unknown: bool = False

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> AskedRow:
        """Return what a row asks, and how it wants to be judged."""
        candidates, answer = row.get("candidates") or (), row.get("answer")
        return cls(row["story"], row["question"], reading_of(row.get("readings")), _says_unknown((*candidates, answer)))


@cache
def unknown_words() -> frozenset[str]:
    """Return what "unknown" is in each language."""
    from storyproof.families.belief.wording import LANGUAGES, find_wording

    return frozenset(find_wording(language).answer(None) for language in LANGUAGES)


def _says_unknown(answers: Sequence[str | None]) -> bool:
    return not unknown_words().isdisjoint(answers)


def reading_of(names: Sequence[str] | None) -> BeliefReading:
    """Return the reading that a row is judged under: the first that it names, if that is a reading of such stories."""
    if not names:
        return DEFAULT_READING
    try:
        return parse_reading(str(names[0]))
    except UnknownNameError:
        return DEFAULT_READING


def places_of(events: Sequence[PlotEvent], thing: str) -> list[str]:
    """Return the containers in which an object is put or said to be, in the order of the story."""
    places = (event.container for event in events if event.thing == thing and event.container is not None)
    return list(dict.fromkeys(places))


def candidates_of(
    events: Sequence[PlotEvent], question: BeliefQuestion, wording: PlotWording, *, unknown: bool = False
) -> list[str]:
    """Return the possible answers to a question, sorted.

    Args:
        events: The story.
        question: The question.
        wording: The words of the answers.
        unknown: Whether "unknown" is a possible answer where a belief is asked for.
    """
    replies: list[Reply]
    if question.ask in (Ask.KNOWS_WHERE, Ask.KNOWS_WRONG):
        replies = ["no", "yes"]
    elif question.ask == Ask.BELIEVERS:
        cast = sorted(cast_of(events))
        replies = [chosen for size in range(len(cast) + 1) for chosen in combinations(cast, size)]
    else:
        replies = [*places_of(events, question.thing)]
        if unknown and question.ask in PLACES:
            replies.append(None)
    return sorted(map(wording.answer, replies))


def kind_of(question: BeliefQuestion) -> str:
    """Return what a question asks, such as `third_order`, `knows_wrong` or `common`."""
    return kind_name(question.ask, question.order)


@dataclass(frozen=True, slots=True)
class RowProofs:
    """What rows should say.

    Attributes:
        labels: The label columns of each row; None where the row cannot be read.
        by_reading: The answer under each reading that was asked for, in words.
        problems: What is wrong with the text or question of a row, and where oracle and checker differ.
    """

    labels: list[dict[str, Any] | None]
    by_reading: list[dict[str, str]]
    problems: list[RowProblem]


def prove_rows(
    rows: Sequence[AskedRow], *, check: bool = True, readings: Sequence[BeliefReading] = ALL_READINGS
) -> RowProofs:
    """Derive what rows should say.

    Args:
        rows: The rows; those of one story side by side.
        check: Whether to ask the checker as well as the oracle.
        readings: The readings that answers are compared under, at least ALL_READINGS.
    """
    proofs = RowProofs([None] * len(rows), [{} for _ in rows], [])
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(row.story, []).append(place)
    stories = list(places)
    for start in range(0, len(stories), _AT_ONCE):
        part = {story: places[story] for story in stories[start : start + _AT_ONCE]}
        _prove_stories(part, rows, proofs, readings, check=check)
    proofs.problems.sort(key=lambda problem: problem.row)
    return proofs


def _prove_stories(
    places: Mapping[str, Sequence[int]],
    rows: Sequence[AskedRow],
    proofs: RowProofs,
    readings: Sequence[BeliefReading],
    *,
    check: bool,
) -> None:
    texts: list[PlotText] = []
    story_of: list[int] = []
    numbered_questions: list[tuple[int, BeliefQuestion]] = []
    for story, numbers in places.items():
        try:
            text = read_story(story)
        except ParseError as error:
            proofs.problems.append(RowProblem(numbers[0], "story", str(error).rstrip("."), READABLE))
            continue
        for sentence, what in text.problems:
            proofs.problems.append(RowProblem(numbers[0], "story", f"sentence {sentence}: {what}", POSSIBLE))
        for number in numbers:
            question = _read(rows[number].question, text, number, proofs.problems)
            if question is not None:
                numbered_questions.append((number, question))
                story_of.append(len(texts))
        texts.append(text)
    if numbered_questions:
        _label(texts, story_of, numbered_questions, rows, proofs, readings, check=check)


def _read(question: str, text: PlotText, row: int, problems: list[RowProblem]) -> BeliefQuestion | None:
    """Read a question about a story; note a problem and return None if that is not possible."""
    try:
        parsed = read_question(question)
    except ParseError as error:
        problems.append(RowProblem(row, "question", str(error).rstrip("."), READABLE))
        return None
    if not places_of(text.events, parsed.thing):
        problems.append(RowProblem(row, "question", f"the {parsed.thing} is nowhere in the story", "an object of it"))
        return None
    return parsed


def _label(
    texts: Sequence[PlotText],
    story_of: Sequence[int],
    asked: Sequence[tuple[int, BeliefQuestion]],
    rows: Sequence[AskedRow],
    proofs: RowProofs,
    readings: Sequence[BeliefReading],
    *,
    check: bool,
) -> None:
    questions = [
        PlotQuestion(story, question, rows[number].reading, rows[number].keeps_unknown)
        for story, (number, question) in zip(story_of, asked, strict=True)
    ]
    stories = [(text.events, text.wording) for text in texts]
    labelled = label_questions(stories, questions, check=check, readings=readings)
    for (number, _), labels, by_reading in zip(asked, labelled.labels, labelled.by_reading, strict=True):
        proofs.labels[number], proofs.by_reading[number] = labels, by_reading
    proofs.problems.extend(replace(problem, row=asked[problem.row][0]) for problem in labelled.problems)


class PlotQuestion(NamedTuple):
    """A question about one of several stories.

    Attributes:
        story: The number of the story.
        question: What is asked.
        reading: The reading that decides.
        keeps_unknown: Whether "unknown" is a possible answer.
    """

    story: int
    question: BeliefQuestion
    reading: BeliefReading
    keeps_unknown: bool


def label_questions(
    stories: Sequence[tuple[Sequence[PlotEvent], PlotWording]],
    questions: Sequence[PlotQuestion],
    *,
    check: bool = True,
    readings: Sequence[BeliefReading] = ALL_READINGS,
) -> RowProofs:
    """Return the labels of questions by the oracle, and where the checker differs.

    Args:
        stories: What happens, and the words for it.
        questions: What is asked; problems are numbered in their order.
        check: Whether to ask the checker.
        readings: The readings that answers are compared under, at least ALL_READINGS.
    """
    proofs = RowProofs([None] * len(questions), [{} for _ in questions], [])
    groups: dict[tuple[str, BeliefReading], list[int]] = {}
    for place, each in enumerate(questions):
        groups.setdefault((stories[each.story][1].language, each.reading), []).append(place)
    for places in groups.values():
        _label_group(stories, questions, places, proofs, readings, check=check)
    return proofs


def _label_group(
    stories: Sequence[tuple[Sequence[PlotEvent], PlotWording]],
    questions: Sequence[PlotQuestion],
    places: Sequence[int],
    proofs: RowProofs,
    readings: Sequence[BeliefReading],
    *,
    check: bool,
) -> None:
    """Label questions of one language under one reading."""
    group = [questions[place] for place in places]
    columns = {story: column for column, story in enumerate(dict.fromkeys(each.story for each in group))}
    plots, wording, own = [stories[story][0] for story in columns], stories[group[0].story][1], group[0].reading
    arrays, names = encode_plots(plots)
    asked = [each.question for each in group]
    numbered = encode_questions(names, [columns[each.story] for each in group], asked)
    derived = provers.derive(arrays, numbered, own, readings)
    lie = np.zeros(arrays.kind.shape, np.bool_)
    for column, events in enumerate(plots):
        lie[: len(events), column] = [event.lie for event in events]
    agents, containers = dict[str, int](), dict[str, int]()
    nothing = np.zeros((0, len(plots)), np.int32)
    cast = Cast(
        _word_numbers([each.agents for each in names], agents),
        nothing,
        nothing,
        _word_numbers([each.containers for each in names], containers),
    )
    chain = np.ascontiguousarray(_word_numbers([each.chain for each in asked], agents))
    unknown = np.array([each.keeps_unknown for each in group], np.bool_)
    words = LabelWords.of(wording, tuple(agents), tuple(containers))
    labelled = LabelledQuestions(arrays, lie, cast, numbered, chain, derived, own, unknown)
    values = {name: column.to_pylist() for name, column in labelled.columns(words).items()}
    for place, *row in zip(places, *values.values(), strict=True):
        proofs.labels[place] = dict(zip(values, row, strict=True))
    answers = [labelled.answers_under(words, reading).to_pylist() for reading in readings]
    for place, *row in zip(places, *answers, strict=True):
        proofs.by_reading[place] = dict(zip(map(str, readings), row, strict=True))
    for reading, wrong, codes in provers.differences(arrays, numbered, derived) if check else ():
        for number, code in zip(wrong.tolist(), codes.tolist(), strict=True):
            known, question = names[numbered.story[number]], asked[number]
            said, checked = (str(reply(each, known, question)) for each in (int(derived.codes[reading][number]), code))
            what = f"answer under {reading} (oracle and checker)"
            proofs.problems.append(RowProblem(places[number], what, said, checked))
    if check:
        faults = check_proofs(arrays, numbered, derived.proofs, own)
        for number in np.flatnonzero(faults.is_wrong).tolist():
            proofs.problems.append(RowProblem(places[number], PROOF_BY_DELETION, faults.describe(number), PROOF_HOLDS))


def _word_numbers(words: Sequence[Iterable[str]], known: dict[str, int]) -> Words:
    """Return the numbers of words, [place, item], NO_WORD where an item has fewer; new words are added."""
    numbers = [[known.setdefault(word, len(known)) for word in each] for each in words]
    longest = max(map(len, numbers), default=0)
    rows = [each + [NO_WORD] * (longest - len(each)) for each in numbers]
    return np.array(rows, np.int32).reshape(len(rows), longest).T
