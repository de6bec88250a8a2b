"""Steps of a chain of thought: what it states on the way, each compared with what is proved.

A step is a statement that the family of the row understands, such as a belief or a relation. What is not understood is
not counted; neither is what the text takes back ("Wait, no …").
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from storyproof.datasets.reading import as_example
from storyproof.errors import DataError, quoted
from storyproof.families.family import family_of
from storyproof.language.chain_of_thought import RIGHT, UNCLEAR, WRONG, Statement, find_retractions
from storyproof.solvers.llm.prompt import Row


@dataclass(frozen=True, slots=True)
class ReasoningStep:
    """A statement of a chain of thought, and what the prover says about it.

    Attributes:
        index: Its place among the steps of the text, from 0 on.
        sentence: The sentence in which it stands.
        start: Where the statement begins in the text.
        end: Where it ends.
        question: The question to which it is an answer.
        stated: What it says.
        holds: The proved answer to the question; empty if none follows.
        verdict: `right`, `wrong`, or `unclear` where neither it nor its opposite is proved.
        reason: Why, if there is more to say.
        is_denial: Whether it says that something is not so.
    """

    index: int
    sentence: str
    start: int
    end: int
    question: str
    stated: str
    holds: str
    verdict: str
    reason: str = ""
    is_denial: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class StepReport:
    """All steps of a chain of thought.

    Attributes:
        steps: The steps that were understood and not taken back, each statement once, in the order of the text.

    Example:
        >>> from storyproof import rewards, stream
        >>> row = stream("tomi", seed=7)[0].rows[5]
        >>> report = rewards.check_steps("Ada thinks the shell is in the hamper. Felix believes in the sack.", row)
        >>> [(step.verdict, step.stated) for step in report.steps]
        [('right', 'Ada thinks that the shell is in the hamper')]
        >>> report = rewards.check_steps("Ada thinks the shell is in the tub.", row)
        >>> report.first_wrong.holds
        'hamper'
    """

    steps: tuple[ReasoningStep, ...]

    @property
    def first_wrong(self) -> ReasoningStep | None:
        """The first wrong step; None if there is none."""
        return next((step for step in self.steps if step.verdict == WRONG), None)

    @property
    def right_before(self) -> int:
        """How many right steps come before the first wrong one; denials that hold are not counted.

        There are many true denials ("the ball is not in the jar"), so credit for them would be credit for nothing.
        """
        wrong = self.first_wrong
        until = self.steps if wrong is None else self.steps[: wrong.index]
        return sum(step.verdict == RIGHT and not step.is_denial for step in until)

    @property
    def counted(self) -> int:
        """How many steps are right or wrong, without denials that hold."""
        return sum(step.verdict == WRONG or (step.verdict == RIGHT and not step.is_denial) for step in self.steps)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON: all steps, and the first wrong one."""
        wrong = self.first_wrong
        return {
            "steps": [step.as_dict() for step in self.steps],
            "first_wrong": None if wrong is None else wrong.as_dict(),
        }


def check_steps(reply: str, row: Row) -> StepReport:
    r"""Compare each step of a chain of thought with what is proved about its story.

    Args:
        reply: The chain of thought, with or without an answer at its end.
        row: An example, or a row of a table as a dictionary; `story` and `question` are enough.

    Raises:
        DataError: If the reply is not a text, or the row has no story or question.

    Example:
        >>> from storyproof import rewards
        >>> story = "Ada is the mother of Ben.\nCleo is the sister of Ben."
        >>> row = {"story": story, "question": "What is Cleo to Ada?"}
        >>> report = rewards.check_steps("Cleo is Ben's sister, so Cleo is Ada's niece.", row)
        >>> report.first_wrong.index, report.first_wrong.stated, report.first_wrong.holds
        (1, "Cleo is Ada's niece", 'daughter')
    """
    if not isinstance(reply, str):
        raise DataError(f"the reply is {quoted(reply)}; expected a text.")
    example = as_example(row)
    family = family_of(example)
    steps: list[ReasoningStep] = []
    seen: set[tuple[str, tuple[str, ...], bool]] = set()
    for statement in _kept(family.statements(reply, example), find_retractions(reply)):
        what = statement.question, statement.answers, statement.is_denied
        if what in seen:
            continue
        verdict = family.check_statement(statement, example)
        if verdict.kind != UNCLEAR:
            seen.add(what)
        steps.append(
            ReasoningStep(
                len(steps),
                statement.sentence,
                statement.start,
                statement.end,
                statement.question,
                statement.stated,
                verdict.holds,
                verdict.kind,
                verdict.reason,
                statement.is_denied,
            )
        )
    return StepReport(tuple(steps))


def _kept(statements: Sequence[Statement], retractions: Sequence[int]) -> list[Statement]:
    """Return statements without those that are taken back.

    A retraction takes back the last statement before it, and all before it whose question is answered again after it.
    """
    if not retractions:
        return list(statements)
    starts = [statement.start for statement in statements]
    taken = {bisect_right(starts, place) - 1 for place in retractions}
    last_answer: dict[str, int] = {}
    for place, statement in enumerate(statements):
        last_answer[statement.question] = place
    kept = []
    for place, statement in enumerate(statements):
        again = last_answer[statement.question]
        passed = bisect_right(retractions, statement.start), bisect_right(retractions, statements[again].start)
        if place not in taken and passed[0] == passed[1]:
            kept.append(statement)
    return kept
