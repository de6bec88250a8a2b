"""The verb `judge`: whether a reply answers a row, and why."""

from __future__ import annotations

from dataclasses import dataclass

from storyproof.datasets.reading import as_example
from storyproof.errors import DataError, quoted
from storyproof.evaluation import matching as matchers
from storyproof.evaluation.answer_judge import LABEL, MistakeFinder, describe
from storyproof.evaluation.matching.kinds import MEANINGS
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.runtime.notebook import NotebookView
from storyproof.solvers.llm.prompt import Row, prompt_of
from storyproof.solvers.solver import DEFAULT_PROMPT


@dataclass(frozen=True, slots=True)
class ReplyVerdict(NotebookView):
    """Whether a reply answers a row. It is true if the reply is right.

    Attributes:
        right: Whether the reply is right.
        kind: How it matches, such as `exact_match` or `negated`.
        meant: The candidate that it means; None if that is none, or not clear.
        example: The row.
        unparsed: Whether it names no candidate, or several, whatever the matching.

    Example:
        >>> import storyproof
        >>> row = {"story": "Ada is the mother of Ben. Cleo is Ben's sister.", "question": "What is Cleo to Ada?"}
        >>> verdict = storyproof.judge("Cleo is her daughter.", row)
        >>> bool(verdict), verdict.kind, verdict.reason
        (True, 'suffix_match', 'right: the reply ends with the answer.')
    """

    right: bool
    kind: str
    meant: str | None
    example: Example
    unparsed: bool = False

    def __bool__(self) -> bool:
        return self.right

    @property
    def answer(self) -> str:
        """The right answer."""
        return self.example.answer

    @property
    def mistake(self) -> str:
        """The mistake of reasoning that leads to the reply, such as `reality`; empty if it is right or unclear."""
        if self.right or self.meant is None:
            return ""
        return MistakeFinder(self.example).explain(self.meant)[0]

    @property
    def reason(self) -> str:
        """Why it is right or wrong, in one sentence."""
        if self.right:
            return f"right: {MEANINGS[self.kind]}."
        expected = f"expected {quoted(self.answer)}"
        if self.meant is None:
            return f"wrong: {MEANINGS[self.kind]}; {expected}."
        mistake = self.mistake
        what = describe(family_of(self.example))[mistake]
        if mistake == LABEL:
            return f"wrong by its label {quoted(self.answer)}, but {quoted(self.meant)} is what is proved."
        return f"wrong: the reply says {quoted(self.meant)}, which is {what}; {expected}."


def judge(
    reply: str, row: Row, *, matching: str = "careful", prompt: str = DEFAULT_PROMPT, seed: int = 0
) -> ReplyVerdict:
    """Judge a reply to a row as `evaluate` would.

    Args:
        reply: What a model, or a person, said.
        row: An example, or a row of a table as a dictionary. `story` and `question` are enough: what the row lacks, the
            answer too, is proved from its text where that can be read.
        matching: `careful`, `strict` or `lenient`, or a matcher of your own by `module:function`.
        prompt: What was asked, so that letters of choices and markers such as "Answer:" are understood.
        seed: That of the prompt.

    Returns:
        The verdict: true if the reply is right, with `kind`, `meant`, `mistake` and `reason`.

    Raises:
        ConfigError: If there is no such matcher or prompt.
        DataError: If the row has no answer, or the reply is not a text.

    Example:
        >>> import storyproof
        >>> row = storyproof.stream("tomi", seed=7)[1].rows[2]
        >>> row.question, row.answer
        ('Where does Uma think that Amir searches for the carrot?', 'filing_cabinet')
        >>> storyproof.judge("She thinks that he will look in the filing cabinet.", row).right
        True
        >>> print(storyproof.judge("In the dustbin, of course.", row).reason)
        wrong: the reply says 'dustbin', which is where the object really is; expected 'filing_cabinet'.
    """
    example = as_example(row)
    if not isinstance(reply, str):
        raise DataError(f"the reply is {quoted(reply)}; expected a text.")
    return judge_text(prompt_of(prompt, seed=seed).answer([reply], example), example, matching)


def judge_text(text: str, example: Example, matching: str = "careful") -> ReplyVerdict:
    """Judge what a prompt took from the replies as their answer.

    Raises:
        ConfigError: If there is no such matcher.
        DataError: If the example has no answer.
    """
    if not example.answer:
        raise DataError(
            f"the row {quoted(example.id)} has no answer and none follows from its text, so a reply cannot be judged; "
            "add the answer."
        )
    matcher = matchers.load_matcher(matching)
    match = matchers.judge(matcher, example, text)
    meant = example.answer if match.right else matchers.find_meant(matcher, example, text)
    return ReplyVerdict(match.right, match.kind, meant, example, matchers.is_unparsed(example, text))
