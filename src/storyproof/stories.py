"""Stories as objects that can be asked: a text of a user's own, or one that a benchmark made.

Not called `story`, because `storyproof.story` is the function.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from storyproof.errors import ConfigError, DataError, ParseError, StoryproofError, quoted
from storyproof.example import Example
from storyproof.families.family import (
    Family,
    Picture,
    ReadingProblem,
    Rewording,
    Step,
    StoryModel,
    families,
    load_family,
    recognise,
)
from storyproof.runtime.notebook import NotebookView

_SUGGESTS = "Did you mean"  # with which messages say what may have been meant
_SEVERAL = re.compile(r"^[^\n]*[.!?] [^\n]*$")  # sentences of running text
_LABELLED = re.compile(r"^\s*(?:\d+[.):]?\s+|[-*•]\s+)", re.MULTILINE)  # numbers and bullets of lists


@dataclass(frozen=True, slots=True)
class OwnText:
    """A story of a user's own, with a question.

    Attributes:
        story: Its text.
        question: What is asked about it.
        people: The names of its people, if the user says so.
        family: The name of its family; empty to find out by the question.
        read_as: What was read as something else, as (what was written, what it was read as).
    """

    story: str
    question: str
    people: tuple[str, ...] = ()
    family: str = ""
    read_as: tuple[tuple[str, str], ...] = ()


def read_own(text: OwnText) -> tuple[Family, OwnText, list[ReadingProblem]]:
    """Divide a text into sentences, and look for problems.

    A text that cannot be read as it is may be reworded by its family.

    Returns:
        Its family, the text with one sentence per line, and its problems.
    """
    family = load_family(text.family) if text.family else recognise((), text.question)
    question = _LABELLED.sub("", " ".join(text.question.split()))
    story, _, last = text.story.rstrip().rpartition("\n")
    if story and _LABELLED.sub("", " ".join(last.split())) == question:  # pasted with its question
        text = replace(text, story=story)
    text = replace(text, question=question)
    attempts = _divisions(family, text.story)
    reading_problems: list[ReadingProblem] = []
    as_written = replace(text, story=attempts[0])  # problems are at the places of what the user wrote
    for place, story in enumerate(attempts):
        problems = family.find_problems(story, question, text.people)
        if not any(each.is_fatal for each in problems):
            return family, replace(text, story=story), problems
        is_question = not any(each.is_fatal for each in problems if each.part == "story")
        if place == 0 or is_question:
            reading_problems, as_written = problems, replace(text, story=story)
        if is_question:
            break
    try:
        readings = family.reword(attempts[0], question)
    except ParseError as error:
        match = re.match(r"sentence (\d+)", str(error))
        number = int(match[1]) if match else 0
        unread = [each.line for each in reading_problems if each.is_fatal and each.part == "story"]
        # The sentences of a running text have no lines of their own.
        further = bool(unread) and (number > min(unread) or _SEVERAL.search(attempts[0]) is not None)
        further |= bool(unread) and _SUGGESTS in str(error) and "\n" not in attempts[0]
        if further or (unread and match is None):
            left = [each for each in reading_problems if each.part != "story" or each.line >= number]
            return family, as_written, [ReadingProblem(str(error)), *left]
        return family, as_written, reading_problems
    if not readings:
        return family, as_written, reading_problems
    chosen, problems = _choose_reading(family, text, readings)
    if any(each.is_fatal and each.part == "story" for each in problems[:1]):
        return family, as_written, reading_problems
    return family, chosen, problems


def _choose_reading(
    family: Family, text: OwnText, readings: Sequence[Rewording]
) -> tuple[OwnText, list[ReadingProblem]]:
    """Return the first reading of a text that can be read; with a problem if another one gives another answer."""
    tried = []
    for story, read_as, question in readings:
        reading = replace(text, story=story, question=question or text.question, read_as=read_as)
        problems = family.find_problems(story, reading.question, text.people)
        notes = [ReadingProblem(f"{quoted(one)} is read as {quoted(other)}.", is_fatal=False) for one, other in read_as]
        tried.append((reading, [*problems, *notes]))
    readable = [each for each in tried if not any(problem.is_fatal for problem in each[1])]
    if not readable:
        return tried[0]
    chosen, problems = readable[0]
    if len(readable) == 1:
        return chosen, problems
    proved = [family.prove_text(each.story, each.question, each.people) for each, _ in readable]
    answers = {tuple(family.answers_by_reading(each).values()): each.story for each in proved}
    if len(answers) > 1:
        shown = " or ".join(map(quoted, answers.values()))
        problems.append(ReadingProblem(f"this can be read in several ways, with different answers: {shown}."))
    return chosen, problems


def prove_own(text: OwnText) -> Example:
    """Read and answer a user's own text.

    Raises:
        DataError: If it cannot be read.
    """
    return prove_reworded(text)[0]


def prove_reworded(text: OwnText) -> tuple[Example, tuple[tuple[str, str], ...]]:
    """Read and answer a user's own text, and return also what was read as something else; see `prove_own`."""
    family, text, problems = read_own(text)
    stopping = [each for each in problems if each.is_fatal or each.is_impossible]
    if stopping:
        first = stopping[0]
        where = f"{first.part}{f', line {first.line}' if first.line and first.part == 'story' else ''}"
        raise DataError(f"{where}: {first.message}")
    return family.prove_text(text.story, text.question, text.people), text.read_as


def restated(row: Mapping[str, Any], example: Example, family: Family) -> dict[str, Any]:
    """Return a row in the sentences in which its text was read, with the facts that they state."""
    facts = {name: example.get(name) for name in family.facts}
    values = {**row, **facts, "story": example.story, "question": example.question}
    if example.story.count("\n") != row["story"].count("\n"):
        values["proof"] = None  # its sentences have other numbers
    return values


def _divisions(family: Family, story: str) -> list[str]:
    """Return a text as it is, and divided into sentences in the ways that there are."""
    given = story.replace("\r\n", "\n").replace("\r", "\n").rstrip()
    divisions = [given]
    for text in (given, _LABELLED.sub("", given)):
        try:
            divisions.append(family.lines(text))
        except StoryproofError:
            continue
    return list(dict.fromkeys(divisions))


@dataclass(frozen=True, slots=True)
class ProvedAnswer(NotebookView):
    """What follows from a story for a question.

    Attributes:
        example: The question as a row, with all labels that the oracle derives.
        is_confirmed: Whether the checker, which shares no code with the oracle, gives the same answer.
        read_as: Sentences that were read as others, as (what was written, what it was read as).

    Example:
        >>> import storyproof
        >>> found = storyproof.story("Ada is the mother of Ben. Cleo is Ben's sister.").ask("What is Cleo to Ada?")
        >>> found.answer, found.is_settled, found.is_confirmed
        ('daughter', True, True)
    """

    example: Example
    is_confirmed: bool
    read_as: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        if self.is_settled:
            return self.answer
        possible = " or ".join(dict.fromkeys(each.answer for each in self.models() if each.answer))
        return ": ".join(filter(None, (self.status or "no answer follows", possible)))

    @property
    def question(self) -> str:
        """What was asked."""
        return self.example.question

    @property
    def answer(self) -> str:
        """The answer; empty if none follows."""
        return self.example.answer

    @property
    def is_settled(self) -> bool:
        """Whether an answer follows."""
        return bool(self.answer)

    @property
    def status(self) -> str:
        """What the answer is by the standard of its family, such as `entailed` or `ambiguous`; empty without one."""
        column = self._family.status_column
        return str(self.example.get(column) or "") if column else ""

    @property
    def proof(self) -> list[str]:
        """The sentences on which the answer rests."""
        lines = self.example.story.split("\n")
        return [lines[number - 1] for number in self.example.proof]

    @property
    def by_reading(self) -> Mapping[str, str]:
        """The answer under each reading of the family; empty where none follows."""
        return self._family.answers_by_reading(self.example)

    def models(self) -> Sequence[StoryModel]:
        """Return worlds that fit the story and differ in the answer, found by the checker."""
        return self._family.models(self.example)

    def steps(self, order: int = 2) -> list[Step]:
        """Return the state of the story after each of its sentences, with beliefs through `order` minds."""
        return self._family.steps(self.example, order)

    def pictures(self) -> list[Picture]:
        """Return pictures of the story with the proof marked.

        Raises:
            DataError: If there is nothing to draw.
        """
        return self._family.pictures([self.example], self.example.proof)

    @property
    def _family(self) -> Family:
        return load_family(self.example.family)


@dataclass(frozen=True, slots=True)
class StoryText(NotebookView):
    """A story that can be asked anything that its family understands.

    Attributes:
        text: Its text; of stories that storyproof made, one sentence per line.
        rows: The questions that a benchmark asks about it, with answers and proofs; none of a text of your own.
        people: The names of its people, where the text alone does not tell.
        family: The name of its family; empty if the question tells.
        index: Its place in the stream that it comes from; None of a text of your own.

    Example:
        >>> import storyproof
        >>> story = storyproof.stream("tomi", seed=7)[0]
        >>> len(story.rows), story.rows[0].id
        (6, 's7-train-000000000-0')
        >>> [story.ask(row.question).answer == row.answer for row in story.rows]
        [True, True, True, True, True, True]
    """

    text: str
    rows: tuple[Example, ...] = ()
    people: tuple[str, ...] = ()
    family: str = ""
    index: int | None = None

    def __str__(self) -> str:
        return self.text

    @property
    def sentences(self) -> list[str]:
        """The lines of its text."""
        return self.text.split("\n")

    def ask(self, question: str) -> ProvedAnswer:
        """Return what follows from the story for a question.

        Args:
            question: In a form that its family understands; `questions` lists some.

        Raises:
            DataError: If story or question cannot be read, with the place and what was expected.
        """
        made = (row for row in self.rows if row.question == question and row.story == self.text)
        example = next(made, None)
        read_as: tuple[tuple[str, str], ...] = ()
        if example is None:
            example, read_as = prove_reworded(OwnText(self.text, question, self._people(), self.family))
        confirmed = load_family(example.family).checked_answer(example) == example.answer
        return ProvedAnswer(example, confirmed, read_as)

    def questions(self, order: int = 2) -> list[str]:
        """Return questions that can be asked, with beliefs through at most `order` minds.

        Raises:
            DataError: If no family can read the story.
        """
        family, story = self._read()
        return list(family.questions(story, order, self._people()))

    def problems(self, question: str) -> list[ReadingProblem]:
        """Return where the story or a question cannot be read, or says something impossible; none if all is well."""
        return read_own(OwnText(self.text, question, self._people(), self.family))[2]

    def _people(self) -> tuple[str, ...]:
        """Return the names of its people: as given, or as the rows of a benchmark have them."""
        if self.people or not self.rows:
            return self.people
        return tuple(load_family(self.family).people(self.rows[-1]))

    def _read(self) -> tuple[Family, str]:
        """Return the family that can read the story, and the story with one sentence per line."""
        readers = [load_family(self.family)] if self.family else list(families())
        reasons: list[str] = []
        for family in readers:
            for story in _divisions(family, self.text):
                try:
                    if family.questions(story, 1, self._people()):
                        return family, story
                except DataError as error:
                    reasons.append(f"as {family.title}: {error}")
        why = f" ({reasons[0]})" if reasons else ""
        raise DataError(
            f"no question can be asked about this text{why}; write sentences as the benchmarks do, such as 'The key is "
            "in the box.' or 'Ada is the mother of Ben.'"
        )


def story(text: str, people: Sequence[str] = (), *, family: str = "") -> StoryText:
    """Return a text as a story that can be asked anything: who believes what, who is what to whom.

    Args:
        text: Sentences as the benchmarks write them, one per line or as running text.
        people: The names of the people in it, if they cannot be told from other words.
        family: The name of its family, such as `belief` or `kinship`; by default the question tells.

    Raises:
        ConfigError: If there is no text, or no such family.

    Example:
        >>> import storyproof
        >>> found = storyproof.story('''
        ...     Ada entered the kitchen. Ben entered the kitchen. The key is in the box.
        ...     Ben exited the kitchen. Ada moved the key to the jar.
        ... ''')
        >>> where = found.ask("Where will Ben look for the key?")
        >>> where.answer, where.is_confirmed
        ('box', True)
        >>> where.proof[-1]
        'Ben exited the kitchen.'
        >>> found.questions(order=1)
        ['Where was the key at the beginning?', 'Where is the key really?', ...]
    """
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f"the story is {quoted(text)}; expected a text of at least one sentence.")
    if isinstance(people, str):
        raise ConfigError(f"people is {quoted(people)}; expected a list of names.")
    if family:
        load_family(family)  # raises if it is not known
    lines = [" ".join(line.split()) for line in text.strip().splitlines()]
    return StoryText("\n".join(line for line in lines if line), people=tuple(people), family=family)
