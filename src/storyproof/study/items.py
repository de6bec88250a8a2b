"""The items of a study: what participants answer or write about, drawn once and frozen in a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from storyproof.datasets.reading import Source, iterate_examples
from storyproof.errors import ConfigError, DataError
from storyproof.example import Example
from storyproof.families.family import families, family_of, load_family
from storyproof.families.paraphrasing import JudgedText, Paraphrasing, WritingTask
from storyproof.generation.seeds import Draws
from storyproof.io.atomic_files import write_whole
from storyproof.io.bounded_input import LARGEST_RUN, DocumentError, parse_json, read_text
from storyproof.study.design import SOLVE, StudyDesign

MAIN, PRACTICE, ATTENTION = "main", "practice", "attention"
ROLES = (MAIN, PRACTICE, ATTENTION)
_SHOWN_EXAMPLES = 3  # texts with known verdicts that the instructions show; the others are attention checks


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyItem:
    """One item.

    Attributes:
        number: Its number in the study.
        role: `main`, `practice` or `attention`.
        key: The id of the row in its data, or the key of the facts.
        stratum: The group over which a participant's items are balanced, such as `k=3`.
        story: The lines of the story (solve).
        question: What is asked.
        choices: The possible answers.
        parts: What each of them consists of, if they are sets of which a participant ticks the members; else empty.
        answer: The right one.
        proof: The numbers of the deciding sentences.
        row: The row as it was read, for the run.
        family: The name of its family.
        task: The facts to write about (paraphrase).
        text: A text to review with a known verdict, of an attention check (paraphrase).
        is_good: That verdict.
    """

    number: int
    role: str
    key: str
    stratum: str
    story: Sequence[str] = ()
    question: str = ""
    choices: Sequence[str] = ()
    answer: str = ""
    proof: Sequence[int] = ()
    row: Mapping[str, Any] = field(default_factory=dict)
    family: str = ""
    task: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    is_good: bool = False
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def members(self) -> list[str]:
        """What a participant can tick: all parts, and last the answer that has none."""
        single = sorted({part for parts in self.parts.values() for part in parts})
        return [*single, *(answer for answer, parts in self.parts.items() if not parts)]

    def compose(self, ticked: Collection[str]) -> str:
        """Return the answer that consists of what was ticked; empty if there is none."""
        for answer, parts in self.parts.items():
            if set(ticked) == (set(parts) or {answer}):
                return answer
        return ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)

    def example(self) -> Example:
        """Return the row as an example."""
        return Example.from_row(self.row, self.family)

    def writing_task(self) -> WritingTask:
        """Return the facts to write about."""
        return WritingTask.from_dict(dict(self.task))


# Drawing.


def draw_questions(design: StudyDesign, source: Source, attention_question: Callable[[str], str]) -> list[StudyItem]:
    """Draw the questions of a study from data, as many of each kind as possible.

    Questions with the label under which they are proved are drawn only: where the data's answer does not follow, the
    study would count right answers as wrong.

    Args:
        design: The design.
        source: The data.
        attention_question: Returns the wording of an attention check that asks for an answer.

    Raises:
        ConfigError: If there are not as many questions.
        DataError: If the data cannot be read.
    """
    proved = {each.id: each.answer for each in iterate_examples(source, proved=True)}
    groups: dict[str, list[Example]] = {}
    for each in iterate_examples(source):
        family = family_of(each)
        if proved.get(each.id) == each.answer and each.answer in family.candidates(each):
            groups.setdefault(family.kind(each), []).append(each)
    draws = Draws("study-items", design.seed)
    for name in sorted(groups):
        members = groups[name]
        groups[name] = [members[place] for place in draws.order(len(members)).tolist()]
    others = design.practice + design.attention_checks
    wanted = design.items + others
    chosen = _choose(groups, wanted, others)
    if len(chosen) < wanted:
        raise ConfigError(
            f"{source.name} has {len(chosen)} questions with a proved answer; {wanted} are wanted (items, practice and "
            "attention checks); use fewer --items, or more data."
        )
    questions: list[StudyItem] = []
    for number, each in enumerate([*chosen[others:], *chosen[:others]]):
        role = MAIN if number < design.items else PRACTICE if number < design.items + design.practice else ATTENTION
        questions.append(_question(number, role, each, draws, attention_question))
    return questions


def _choose(groups: dict[str, list[Example]], wanted: int, others: int) -> list[Example]:
    """Return `count` questions, of all kinds in turn; fewer if there are fewer.

    Each is of another story as long as there are enough. The stories of the first ones, which are for practice and
    attention checks, never come again: participants see the answers to these.

    Args:
        groups: The questions by kind, in random order; they are used up.
        wanted: How many.
        others: How many of them are for practice and attention checks.
    """
    chosen: list[Example] = []
    for is_new in (True, False):
        barred = {_story(each) for each in (chosen if is_new else chosen[:others])}
        left: dict[str, list[Example]] = {name: [] for name in groups}
        while len(chosen) < wanted and any(groups.values()):
            for name in sorted(groups):
                while groups[name] and len(chosen) < wanted:
                    each = groups[name].pop()
                    if _story(each) not in barred:
                        chosen.append(each)
                        if is_new or len(chosen) <= others:
                            barred.add(_story(each))
                        break
                    left[name].append(each)
        for name, members in left.items():
            groups[name] += reversed(members)
    return chosen


def _story(example: Example) -> tuple[str, str]:
    return example.split, example.story_id


def _question(
    number: int, role: str, example: Example, draws: Draws, attention_question: Callable[[str], str]
) -> StudyItem:
    family = family_of(example)
    choices, parts = list(family.candidates(example)), family.answer_parts(example)
    parts = parts if set(parts) == set(choices) else {}  # data of others may offer some of the sets only
    answer, question, proof = example.answer, example.question, list(example.proof)
    if role == ATTENTION:
        others = [each for each in choices if each != answer] or choices
        answer = others[int(draws.below(len(others), 1)[0])]
        question, proof = attention_question(answer), []
    return StudyItem(
        number=number,
        role=role,
        key=example.id,
        stratum=family.kind(example),
        story=example.story.split("\n"),
        question=question,
        choices=choices,
        answer=answer,
        proof=proof,
        row=example.as_row(),
        family=family.name,
        parts={answer: list(each) for answer, each in parts.items()},
    )


def draw_tasks(design: StudyDesign, family: str) -> list[StudyItem]:
    """Draw the facts that participants write about, and the attention checks among the reviews.

    Raises:
        ConfigError: If the family does not collect paraphrases, or has too few known texts.
    """
    asked = find_paraphrasing(family)
    tasks = [
        StudyItem(number=number, role=MAIN, key=task.key, stratum=task.group, family=family, task=task.as_dict())
        for number, task in enumerate(asked.tasks(design.items, design.seed))
    ]
    known = list(asked.examples())[_SHOWN_EXAMPLES:]
    if design.attention_checks > len(known):
        raise ConfigError(f"--attention-checks is {design.attention_checks}; there are {len(known)} known stories.")
    for each in known[: design.attention_checks]:
        tasks.append(_known_text(len(tasks), each, family))
    return tasks


def _known_text(number: int, known: JudgedText, family: str) -> StudyItem:
    return StudyItem(
        number=number,
        role=ATTENTION,
        key=known.task.key,
        stratum=known.task.group,
        family=family,
        task=known.task.as_dict(),
        text=known.text,
        is_good=known.is_good,
    )


def default_family() -> str:
    """Return the first family that collects paraphrases.

    Raises:
        ConfigError: If none does.
    """
    for each in families():
        if each.paraphrasing() is not None:
            return each.name
    raise ConfigError("no family collects paraphrases; a solve study needs none.")


def find_paraphrasing(family: str) -> Paraphrasing:
    """Return how a family's paraphrases are collected.

    Raises:
        ConfigError: If it collects none.
    """
    paraphrasing = load_family(family).paraphrasing()
    if paraphrasing is None:
        raise ConfigError(f"stories of the family '{family}' cannot be paraphrased; choose another --family.")
    return paraphrasing


# The file.


class StudyItems:
    """The items of a study.

    Args:
        items: All items; their numbers are their places.
    """

    def __init__(self, items: Sequence[StudyItem]) -> None:
        self._items = tuple(items)
        self._by_role = {role: tuple(each for each in items if each.role == role) for role in ROLES}

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, number: int) -> StudyItem:
        return self._items[number]

    def of(self, role: str) -> tuple[StudyItem, ...]:
        """Return the items of a role."""
        return self._by_role[role]

    def as_bytes(self) -> bytes:
        """Return the file's content: one JSON object per line."""
        return b"".join(json.dumps(each.as_dict(), ensure_ascii=False).encode() + b"\n" for each in self._items)

    @property
    def sha256(self) -> str:
        """The hash of the file."""
        return sha256(self.as_bytes()).hexdigest()

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        write_whole(path, self.as_bytes())

    @classmethod
    def read(cls, path: Path) -> StudyItems:
        """Read the file.

        Raises:
            DataError: If it is missing or damaged.
        """
        try:
            lines = read_text(path, LARGEST_RUN).splitlines()
            items = [StudyItem(**parse_json(line)) for line in lines]
        except (OSError, DocumentError, UnicodeError, TypeError) as error:
            raise DataError(f"{path} cannot be read: {error}; restore the study from a backup.") from error
        if [each.number for each in items] != list(range(len(items))):
            raise DataError(f"{path} lacks items; restore the study from a backup.")
        return cls(items)


def check_kind(design: StudyDesign, items: StudyItems) -> None:
    """Raise DataError if items do not fit a design."""
    fits = len(items.of(MAIN)) == design.items and len(items.of(ATTENTION)) == design.attention_checks
    if design.kind == SOLVE:
        fits = fits and len(items.of(PRACTICE)) == design.practice
    if not fits:
        raise DataError("the items do not fit the design of the study; restore it from a backup.")
