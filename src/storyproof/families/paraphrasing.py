"""The protocol for collecting paraphrases of a family's facts: what to write, how it is checked, what becomes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple


@dataclass(frozen=True, slots=True)
class WritingTask:
    """Facts that a writer puts into a story.

    Attributes:
        key: What the facts are without names; tasks with the same key ask for the same kind of text.
        people: The names of the people.
        facts: What the story must state, in sentences.
        genders: Who is what, in sentences.
        hidden: What follows from the facts and must not be stated, in a sentence; empty if nothing follows.
        group: The group over which tasks are balanced, such as the number of facts.
    """

    key: str
    people: tuple[str, ...]
    facts: tuple[str, ...]
    genders: tuple[str, ...]
    hidden: str
    group: str

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> WritingTask:
        """Read what `as_dict` returned, from JSON."""
        lists = {name: tuple(plain[name]) for name in ("people", "facts", "genders")}
        return cls(key=plain["key"], hidden=plain["hidden"], group=plain["group"], **lists)


class TextRemark(NamedTuple):
    """What a check says about a text.

    Attributes:
        kind: One of `REMARKS`; pages have a sentence for each.
        what: What it is about: a name, a fact, or words of the text.
        is_question: Whether the writer may be right: the check has not understood something.
    """

    kind: str
    what: str
    is_question: bool = False


class JudgedText(NamedTuple):
    """A text of ours with a known verdict, for instructions and attention checks.

    Attributes:
        task: Its facts.
        text: The text.
        is_good: Whether it is good.
        reasons: Why not, by the names of `REASONS`.
    """

    task: WritingTask
    text: str
    is_good: bool
    reasons: tuple[str, ...] = ()


MISSING_PERSON, MISSING_FACT, REVEALS_HIDDEN = "missing-person", "missing-fact", "reveals-hidden"
OTHER_FACT, WRONG_GENDER, UNCLEAR = "other-fact", "wrong-gender", "unclear"
REMARKS = (MISSING_PERSON, MISSING_FACT, REVEALS_HIDDEN, OTHER_FACT, WRONG_GENDER, UNCLEAR)
REASONS = ("nonsense", "misses-fact", "reveals-hidden", "wrong-gender")  # why a reader finds a story bad


class CollectedTexts(NamedTuple):
    """Texts in the form of the file that `generate` takes.

    Attributes:
        document: What the file holds, as plain values for JSON.
        used: How many texts of the writers are in it.
        left_out: Texts that `generate` would refuse.
        added: How many texts of ours were added for facts that nobody wrote about.
    """

    document: dict[str, Any]
    used: int
    left_out: tuple[str, ...]
    added: int


class Paraphrasing(ABC):
    """Paraphrases of one family's facts.

    Attributes:
        use_texts: The command that uses collected texts; `{train}` and `{test}` are their files.
    """

    use_texts: ClassVar[str]

    @abstractmethod
    def tasks(self, count: int, seed: int) -> list[WritingTask]:
        """Return `count` tasks: first all that a collection cannot do without, then others at random.

        Raises:
            ConfigError: If there are not as many.
        """

    @abstractmethod
    def check(self, task: WritingTask, text: str) -> list[TextRemark]:
        """Return remarks on a text, problems before questions; none if all is well."""

    @abstractmethod
    def fingerprint(self, task: WritingTask, text: str) -> str:
        """Return a text without names, spaces and case, by which copies are found."""

    @abstractmethod
    def examples(self) -> Sequence[JudgedText]:
        """Return texts with known verdicts: for the instructions one good and two bad, then others."""

    @abstractmethod
    def collect(self, texts: Sequence[tuple[WritingTask, str]], *, fill: str = "") -> CollectedTexts:
        """Return texts in the form of the file that `generate` takes.

        Args:
            texts: Accepted texts.
            fill: For which split to add texts of ours for facts that stories need and that nobody wrote about, `train`
                or `test`, which share none of them; empty to add none.
        """
