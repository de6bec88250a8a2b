"""The protocol between families and everything that is built on them.

A family is one kind of reasoning with its own meaning, text, oracle and checker. Formats, audits, solvers, evaluation
and reports never ask which family a row belongs to: they look its family up (`family_of`, `recognise`) and call it.
Another package adds a family through the entry point group `storyproof.families`; nothing here names it.

A new family must say what its rows look like and what follows from their text (`capabilities.Core`). All other methods
have defaults that suit plain text with one list of candidates per question; see `capabilities`, and `RowwiseFamily` for
the short way.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from storyproof.catalog import DEFAULT_FAMILY, load, names
from storyproof.example import Example
from storyproof.families.capabilities import (
    ANY_FAMILY,
    ENGLISH,
    NO_MINDS,
    OWN,
    Answering,
    Audits,
    Graph,
    Groups,
    ModelInput,
    OwnTexts,
    Picture,
    Pictures,
    QuestionForm,
    ReadingProblem,
    Reference,
    Rewording,
    SampleStory,
    StateEntry,
    Step,
    StoryModel,
    number_names,
    own_example,
)
from storyproof.io.bounded_input import parse_yaml, read_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "ANY_FAMILY",
    "ENGLISH",
    "NO_MINDS",
    "OWN",
    "Family",
    "Graph",
    "Picture",
    "QuestionForm",
    "ReadingProblem",
    "Reference",
    "Rewording",
    "SampleStory",
    "StateEntry",
    "Step",
    "StoryModel",
    "convention_text",
    "families",
    "family_of",
    "family_of_table",
    "load_conventions",
    "load_family",
    "number_names",
    "own_example",
    "recognise",
    "schema_of",
]

_USUAL = 1000  # characters of a question that is worth remembering
_HEADINGS = {
    ENGLISH: "Rules for this story:",
    "de": "Regeln für diese Geschichte:",
    "es": "Reglas para esta historia:",
    "zh": "这个故事的规则：",
}


class Family(Answering, OwnTexts, Pictures, Groups, ModelInput, Audits):
    """One kind of reasoning: `capabilities.Core`, which every family must implement, and optional capabilities.

    Required are `name`, `title`, `reads`, `complete`, `judge` and `checked_answer`; everything else has a default.
    """

    @property
    def is_always_settled(self) -> bool:
        """Whether an answer follows from every row that can be read."""
        return not self.standard

    def provides(self, member: str) -> bool:
        """Return whether the family has a member of its own, rather than the default of `Family`."""
        return getattr(type(self), member) is not getattr(Family, member)


def convention_text(*questions: Example) -> str:
    """Return the conventions of questions about one story as a list below a heading, in its language; else nothing."""
    family = family_of(questions[0])
    rules = sorted((family.conventions(each) for each in questions), key=len, reverse=True)
    lines = dict.fromkeys(line for each in rules for line in each)
    heading = _HEADINGS.get(family.language(questions[0]), _HEADINGS[ENGLISH])
    return "\n".join([heading, *(f"- {line}" for line in lines)]) if lines else ""


@cache
def load_conventions(path: Path, language: str) -> dict[str, Any]:
    """Read a file with the texts of conventions, by name and language; return those of a language, or else English."""
    texts = parse_yaml(read_text(path))
    return {name: by_language.get(language, by_language[ENGLISH]) for name, by_language in texts.items()}


@cache
def families() -> tuple[Family, ...]:
    """Return all families: those of storyproof, then those of other packages."""
    return tuple(load_family(name) for name in names("family"))


@cache  # it is asked for with every example
def load_family(name: str) -> Family:
    """Return a family by name.

    Raises:
        UnknownNameError: If there is no such family.
    """
    family: Family = load("family", name)
    return family


def recognise(columns: Iterable[str], question: str = "") -> Family:
    """Return the family of a table: by its columns, else by a question, else the default family."""
    present = frozenset(columns)
    marked = [family for family in families() if family.marks and family.marks <= present]
    if marked:
        return max(marked, key=lambda family: len(family.marks))
    if not question:
        return load_family(DEFAULT_FAMILY)
    return _by_question(question) if len(question) < _USUAL else _by_question.__wrapped__(question)


@lru_cache(maxsize=4096)
def _by_question(question: str) -> Family:
    readers = (family for family in families() if family.reads(question))
    return next(readers, load_family(DEFAULT_FAMILY))


def family_of(example: Example) -> Family:
    """Return the family of an example."""
    if example.family:
        return load_family(example.family)
    return recognise(example.extra, example.question)


def family_of_table(table: pa.Table) -> Family:
    """Return the family of a table's rows."""
    questions = table.column("question") if "question" in table.column_names and table.num_rows else None
    return recognise(table.column_names, str(questions[0].as_py() or "") if questions is not None else "")


def schema_of(columns: Iterable[str]) -> pa.Schema:
    """Return the schema that a table with these columns follows."""
    return recognise(columns).schema
