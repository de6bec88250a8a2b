"""Plain and nested stories in one table and in texts of users: each is asked of its own kind, and of no other."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest

import storyproof
from storyproof.errors import DataError, ParseError
from storyproof.families.belief import story_choice
from storyproof.families.belief.family import FAMILY
from storyproof.families.belief.nested.nested_stories import NestedStories
from storyproof.families.belief.plain_stories import PlainStories
from storyproof.families.belief.story_choice import (
    is_belief_question,
    nearest_kind,
    read_by_either,
    story_kind_of_text,
    story_kinds,
    work_by_kind,
)
from storyproof.families.belief.story_kind import StoryKind

PLAIN = "Ada entered the hall.\nThe key is in the box.\nBo entered the hall."
NESTED = "Ada entered the hall.\nThe key is in the box.\nBo entered the hall.\nBo got distracted."
WHERE = "Where will Ada look for the key?"
KNOWS = "Does Ada know where the key is?"
UNREAD = "Ada sang."


def kinds_of(texts: list[tuple[str, str]]) -> list[tuple[type[StoryKind], list[int], bool]]:
    """Divide rows, and return which kind gets which of them, and whether it can be certain of them."""

    def work(kind: StoryKind, rows: pa.Table, is_certain: bool) -> tuple[type[StoryKind], bool]:
        if not is_certain and any(not is_read(kind, **row) for row in rows.to_pylist()):
            raise DataError("a row cannot be read.")
        return type(kind), is_certain

    def is_read(kind: StoryKind, story: str, question: str) -> bool:
        return not any(problem.is_fatal for problem in kind.find_problems(story, question))

    table = pa.table({"story": [story for story, _ in texts], "question": [question for _, question in texts]})
    return [(kind, rows.tolist(), certain) for rows, (kind, certain) in work_by_kind(table, work)]


@pytest.mark.parametrize(
    ("story", "question", "kind"),
    [
        (PLAIN, WHERE, PlainStories),
        (PLAIN, "", PlainStories),
        (PLAIN, KNOWS, NestedStories),
        (NESTED, WHERE, NestedStories),
        (NESTED, "", NestedStories),
        (UNREAD, WHERE, PlainStories),
        (UNREAD, "What?", PlainStories),
    ],
)
def test_story_or_question_make_a_text_nested(story: str, question: str, kind: type[StoryKind]) -> None:
    assert type(story_kind_of_text(story, question)) is kind


def test_a_kind_is_made_once() -> None:
    assert list(story_kinds()) == [story_kind_of_text(PLAIN), story_kind_of_text(NESTED)]


@pytest.mark.parametrize("question", [WHERE, KNOWS])
def test_questions_of_either_kind(question: str) -> None:
    assert is_belief_question(question)
    assert not is_belief_question("How is Ada related to Bo?")


def test_mistakes_are_explained_by_the_kind_that_reads_further() -> None:
    assert type(nearest_kind(f"{PLAIN}\n{UNREAD}", WHERE)) is PlainStories
    assert type(nearest_kind(f"{NESTED}\n{UNREAD}", WHERE)) is NestedStories
    assert [problem.line for problem in FAMILY.find_problems(f"{NESTED}\n{UNREAD}", WHERE)] == [5]


def test_what_neither_kind_reads_is_refused_in_the_words_of_the_plain_one() -> None:
    with pytest.raises(ParseError) as plain:
        PlainStories().lines(UNREAD)
    with pytest.raises(ParseError) as either:
        read_by_either(lambda kind: kind.lines(UNREAD))
    assert str(either.value) == str(plain.value)
    assert FAMILY.lines(NESTED.replace("\n", " ")) == NESTED


def test_tables_are_divided_by_row() -> None:
    plain, nested, unread = (PLAIN, WHERE), (NESTED, WHERE), (UNREAD, WHERE)
    assert kinds_of([plain, plain]) == [(PlainStories, [0, 1], False)]
    assert kinds_of([nested, nested]) == [(NestedStories, [0, 1], True)]
    both = [(NestedStories, [1, 3], True), (PlainStories, [0, 2], True)]
    assert kinds_of([plain, nested, plain, (PLAIN, KNOWS)]) == both
    assert kinds_of([nested, plain]) == [(NestedStories, [0], True), (PlainStories, [1], True)]
    assert kinds_of([plain, unread]) == [(PlainStories, [0, 1], True)]


def test_of_plain_tables_only_the_first_row_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def is_nested(story: str, question: str) -> bool:
        asked.append(story)
        return False

    monkeypatch.setattr(story_choice, "is_nested", is_nested)
    table = storyproof.generate("tomi", test=3)
    assert isinstance(table, pa.Table)
    assert FAMILY.complete(table.select(["id", "story", "question"])).num_rows == 18
    assert len(asked) == 1


def test_completed_rows_keep_their_places() -> None:
    plain, nested = (storyproof.generate(name, test=3, seed=3) for name in ("tomi", "tom-k"))
    assert isinstance(plain, pa.Table)
    assert isinstance(nested, pa.Table)
    pairs = zip(plain.to_pylist(), nested.to_pylist(), strict=False)
    rows = [row for pair in pairs for row in pair]
    found = FAMILY.complete(pa.Table.from_pylist([{name: row[name] for name in ("story", "question")} for row in rows]))
    labels = ("story", "question", "answer", "candidates", "question_type", "proof")
    assert [[row[name] for name in labels] for row in found.to_pylist()] == [
        [row[name] for name in labels] for row in rows
    ]


def test_plain_data_load_nothing_of_the_other_kind() -> None:
    code = (
        "import sys, storyproof\n"
        "from storyproof.families.belief.family import FAMILY\n"
        f"assert FAMILY.prove_text({PLAIN!r}, {WHERE!r}).answer == 'box'\n"
        "print([name for name in sys.modules if name.endswith(('nested_stories', 'nested.judge', 'nested.states'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
