"""Stories as the explorer shows them: freshly made or a user's own, with answer, proof, pictures and worlds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from secrets import randbelow
from typing import Any

from storyproof.errors import ConfigError, DataError, StoryproofError, UnknownNameError
from storyproof.example import SPLITS, Example
from storyproof.families.family import Family, Picture, ReadingProblem, load_family, own_example
from storyproof.language.display_names import display_name
from storyproof.stories import OwnText, prove_own, read_own
from storyproof.web.dials import DialSettings, Recipes

_FORMS = re.compile(r"[;,]? expected one of:? .*", re.DOTALL)  # the grammar of a family is not for a page
_WHOLE = re.compile(r"sentence \d+: not understood: '.*'\.?", re.DOTALL)  # the place says which
_MEANT = re.compile(r" ?Did you mean '(.+?)'\?")
_QUOTED = re.compile(r"'(.+?)'(?=[.;,: ]|$)")
MOST_MINDS = 8
MOST_MODELS = 24  # worlds that are shown; kinship has at most 12
_MOST_PLACES = 1_000_000


@dataclass(frozen=True, slots=True)
class StoryPlace:
    """Where a fresh story comes from; the same reference is the same story.

    Attributes:
        dials: Its benchmark.
        split: Its split.
        place: Its block; -1 for a new story.
        number: Its place in the block.
    """

    dials: DialSettings
    split: str = "test"
    place: int = -1
    number: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        found = asdict(self)
        return {**found.pop("dials"), **found}


@dataclass(frozen=True, slots=True)
class StoryView:
    """What the page shows of a story.

    Attributes:
        family: The name of its family.
        lines: Its sentences.
        question: What is asked; empty if nothing can be.
        answer: The answer by the oracle; empty if none follows.
        problems: Where it cannot be read, or says something impossible.
        reference: Where it comes from; None for a user's own.
        asked: Which of its questions is shown.
        given: Its questions with their answers, if it was made by a benchmark.
        facts: What else is known, by name: type, order, status.
        people: The names of its people.
        proof: The deciding sentences, counted from 1.
        confirmed: Whether the checker gives the same answer.
        readings: Each reading with its description and its answer.
        models: Worlds that differ in the answer.
        pictures: Pictures of it.
        note: Why there is no picture.
        conventions: The rules that the answer rests on.
        questions: Other questions that can be asked.
        forms: Kinds of question, to be completed with the names of people.
    """

    family: str
    lines: Sequence[str]
    question: str = ""
    answer: str = ""
    problems: Sequence[dict[str, Any]] = ()
    reference: dict[str, Any] | None = None
    asked: int = 0
    given: Sequence[dict[str, Any]] = ()
    facts: dict[str, str] = field(default_factory=dict)
    people: Sequence[str] = ()
    proof: Sequence[int] = ()
    confirmed: bool = False
    readings: Sequence[dict[str, str]] = ()
    models: Sequence[dict[str, Any]] = ()
    pictures: Sequence[dict[str, str]] = ()
    note: str = ""
    conventions: Sequence[str] = ()
    questions: Sequence[str] = ()
    forms: Sequence[dict[str, Any]] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def fresh_story(recipes: Recipes, wanted: StoryPlace) -> tuple[StoryPlace, list[Example]]:
    """Make a story, or the one that a reference names; return where it comes from, and its questions.

    Raises:
        ConfigError: If there is no such benchmark, split, dial or place.
    """
    if wanted.split not in SPLITS:
        raise UnknownNameError("split", wanted.split, SPLITS)
    made, lock = recipes.find(wanted.dials)
    with lock:
        places = min(made.capacity(wanted.split) // made.round, _MOST_PLACES)
        if places < 1:
            raise ConfigError(f"these dials allow no story in the {wanted.split} split; turn them otherwise.")
        if wanted.place < 0:
            wanted = replace(wanted, place=randbelow(places), number=randbelow(made.round))
        if wanted.place >= places or not 0 <= wanted.number < made.round:
            raise ConfigError(f"there is no story {wanted.number} at place {wanted.place}; there are {places} places.")
        table = made.beginning(wanted.split, wanted.place, wanted.number + 1)
    rows = made.rows_per_story(wanted.split)
    family = made.family
    return wanted, [Example.from_row(row, family) for row in table.slice(wanted.number * rows, rows).to_pylist()]


def choose_question(examples: Sequence[Example]) -> int:
    """Return which question to show first: the simplest about a false belief, else the last."""
    false = [number for number, each in enumerate(examples) if each.false_belief]
    return min(false, key=lambda number: examples[number].order) if false else len(examples) - 1


def view_made(
    reference: StoryPlace, examples: Sequence[Example], asked: int | None = None, order: int = 2
) -> StoryView:
    """Return what to show of a story that a benchmark made.

    Args:
        reference: Where it comes from.
        examples: Its questions.
        asked: Which of them is shown; by default `choose_question` decides.
        order: Through how many minds other questions may go.

    Raises:
        ConfigError: If it has no such question.
    """
    number = choose_question(examples) if asked is None else asked
    if not 0 <= number < len(examples):
        raise ConfigError(f"the question is {number}; the story has {len(examples)}, counted from 0.")
    family = load_family(examples[number].family)
    given = [{"question": each.question, "answer": each.answer, "kind": family.kind(each)} for each in examples]
    others = [*examples[:number], *examples[number + 1 :]]
    view = _view(family, examples[number], others)
    possible = _questions(family, examples[number].story, _reach(order, examples[number]), view.people)
    return replace(
        view, reference=reference.as_dict(), asked=number, given=given, questions=possible[0], forms=possible[1]
    )


def ask_about(text: OwnText) -> Example:
    """Return an example to put to a model: with its answer if the text can be read, else without one."""
    try:
        return prove_own(text)
    except DataError:
        return own_example({"story": text.story.strip(), "question": text.question.strip()}, text.family)


def view_own(text: OwnText, order: int = 2) -> StoryView:
    """Return what to show of a user's own text; problems if it cannot be read."""
    family, text, problems = read_own(text)
    lines = text.story.split("\n")
    listed = [each._asdict() for each in _shown_problems(family, problems, lines)]
    possible = _questions(family, text.story, order, text.people)
    if not any(each.is_fatal for each in problems):
        try:
            example = family.prove_text(text.story, text.question, text.people)
            view = _view(family, example)
            people = view.people or text.people
            if _reach(order, example) > order:
                possible = _questions(family, text.story, _reach(order, example), text.people)
            return replace(view, problems=listed, people=people, questions=possible[0], forms=possible[1])
        except StoryproofError as error:
            listed.append(ReadingProblem(str(error))._asdict())
    try:
        people = family.people(own_example({"story": text.story, "question": text.question}, family.name))
    except StoryproofError:
        people = text.people
    return StoryView(
        family.name,
        lines,
        question=text.question,
        problems=listed,
        people=list(people),
        questions=possible[0],
        forms=possible[1],
    )


def _reach(order: int, example: Example) -> int:
    """Return through how many minds other questions may go: one more than that which is shown, or as many as wanted."""
    return max(order, min(example.order + 1, MOST_MINDS))


def _questions(family: Family, story: str, order: int, people: Sequence[str]) -> tuple[list[str], list[dict[str, Any]]]:
    """Return what else can be asked, and the kinds of question; nothing if the story cannot be read."""
    try:
        forms = [each._asdict() for each in family.question_forms(story, order, people)]
        return list(family.questions(story, order, people)), forms
    except StoryproofError:
        return [], []


def _shown_problems(family: Family, problems: Sequence[ReadingProblem], lines: Sequence[str]) -> list[ReadingProblem]:
    """Return problems as a page shows them: at their places, without lists of forms, and none around another one.

    Sentences that would be understood if it were not for the others are left out.
    """
    found = [_at_its_place(each, lines) for each in problems]
    inner = [each for each in found if each.is_fatal and each.part == "story" and each.length]
    found = [each for each in found if not any(_is_around(each, other) for other in inner)]
    hard = [each for each in found if not (each.is_fatal and _is_reworded(family, each, lines))]
    return hard if any(each.is_fatal for each in hard) else found


def _is_reworded(family: Family, problem: ReadingProblem, lines: Sequence[str]) -> bool:
    """Return whether a line that has a problem is understood in other words."""
    if problem.part != "story" or not problem.line or len(lines) < 2:
        return False
    try:
        return bool(family.reword(lines[problem.line - 1]))
    except StoryproofError:
        return False


def _at_its_place(problem: ReadingProblem, lines: Sequence[str]) -> ReadingProblem:
    """Return a problem with the place of what its message quotes, if it has none."""
    meant = _MEANT.search(problem.message)
    fixes = problem.fixes or ((meant[1],) if meant else ())
    problem = problem._replace(fixes=fixes)
    message = _FORMS.sub("", _MEANT.sub("", problem.message))
    quoted_text = _QUOTED.search(message)
    if problem.part == "story" and not problem.column and quoted_text:
        for number, line in enumerate(lines, start=1):
            column = line.find(quoted_text[1])
            if column >= 0 and problem.line in (0, number):
                if _WHOLE.fullmatch(message):
                    message = "This sentence is not understood."
                return problem._replace(message=message, line=number, column=column + 1, length=len(quoted_text[1]))
    return problem._replace(message=message)


def _is_around(outer: ReadingProblem, inner: ReadingProblem) -> bool:
    """Return whether a problem is about more of the same line than another one."""
    if outer.part != inner.part or outer.line != inner.line or outer is inner or not outer.is_fatal:
        return False
    return not outer.column or (outer.column <= inner.column and outer.length > inner.length)


def _view(family: Family, example: Example, others: Sequence[Example] = ()) -> StoryView:
    """Return what to show of an example that can be read."""
    pictures, note = [], ""
    try:
        pictures = [_plain(each) for each in family.pictures([*others, example], example.proof)]
    except DataError as error:
        note = f"There is no picture: {error}" if example.answer else ""
    try:
        by_reading = family.answers_by_reading(example)
        models = family.models(example)
        people = family.people(example)
    except DataError as error:  # of rows that a benchmark made, everything can be read; a family may still lack words
        by_reading, models, people = {}, (), ()
        note = note or str(error)
    facts = {
        "type": display_name(example.question_type),
        "story": display_name(example.story_type),
        "status": str(example.get(family.status_column) or "") if family.status_column else "",
    }
    if facts["story"] in facts["type"]:
        facts["story"] = ""  # "false belief" after "first order, false belief" says nothing
    return StoryView(
        family.name,
        example.story.split("\n"),
        question=example.question,
        answer=example.answer,
        facts={name: value for name, value in facts.items() if value},
        people=list(people),
        proof=list(example.proof),
        confirmed=family.checked_answer(example) == example.answer,
        readings=[
            {"name": name, "meaning": family.readings.get(name, ""), "answer": answer}
            for name, answer in by_reading.items()
        ],
        models=[
            {"answer": each.answer, "caption": each.caption, "picture": each.picture and _plain(each.picture)}
            for each in models[:MOST_MODELS]
        ],
        pictures=pictures,
        note=note,
        conventions=list(family.conventions(example)),
    )


def _plain(picture: Picture) -> dict[str, str]:
    return {"caption": picture.caption, "svg": picture.svg, "narrow": picture.narrow}


def step_through(example: Example, order: int) -> list[dict[str, Any]]:
    """Return the state of a story after each of its sentences.

    Raises:
        DataError: If it cannot be followed.
    """
    family = load_family(example.family)
    return [
        {
            "sentence": step.sentence,
            "entries": [entry._asdict() for entry in step.entries],
            "picture": step.picture and _plain(step.picture),
        }
        for step in family.steps(example, order)
    ]
