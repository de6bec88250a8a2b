"""Arrays confirm the rows that are right, and those only: what is found is what is found without them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from storyproof.audits.row_pass import examine_table
from storyproof.datasets.generate import make_benchmark
from storyproof.example import plain_schema
from storyproof.families.belief.audit.row_judge import RowJudge
from storyproof.families.belief.worded_rows import confirm_rows
from storyproof.families.belief.wording import LANGUAGES, find_wording
from storyproof.findings import FileReport
from tests.groups import only_first

Row = dict[str, Any]
STORIES = 60
WORDS = (
    "Ada",
    "Greta",
    "Zoe",
    "he",
    "the",
    "kitchen",
    "wardrobe",
    "drawer",
    "key",
    "Then",
    "At noon,",
    "in",
    "scissors",
)


@cache
def rows_of(preset: str, **settings: Any) -> pa.Table:
    """Return rows of tom-k."""
    return make_benchmark("tom-k", 4, preset=preset, **settings).part("test", STORIES, 0)


def test_all_rows_in_plain_english_are_confirmed_by_arrays() -> None:
    for preset, trust in (("easy", "always"), ("medium", "always"), ("hard", "fresher"), ("medium", "hi-tom")):
        table = rows_of(preset, trust=trust)
        assert table.num_rows > STORIES
        assert confirm_rows(table).rows.all(), (preset, trust)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("style", ["plain", "narrative"])
def test_all_rows_are_confirmed_by_arrays(language: str, style: str) -> None:
    assert confirm_rows(rows_of("medium", language=language, style=style)).rows.all()


def test_rows_in_several_languages_are_confirmed_together() -> None:
    tables = [rows_of("medium", language=each, style="narrative" if each < "es" else "plain") for each in LANGUAGES]
    assert confirm_rows(pa.concat_tables(tables, promote_options="permissive")).rows.all()


def test_what_arrays_confirm_was_not_narrated_by_us() -> None:
    story = (
        "Ada entered the kitchen.\nThe key is in the drawer in the kitchen.\nAda likes the drawer.\n"
        "Greta entered the kitchen.\nThe scissors are in the drawer in the kitchen.\nGreta exited the kitchen.\n"
        "Ada moved the key to the basket."
    )
    labels = {
        "answer": "drawer",
        "candidates": ["basket", "drawer"],
        "question_type": "first_order_tom",
        "order": 1,
        "chain": ["Greta"],
        "story_type": "plain",
        "false_belief": True,
        "proof": [2, 4, 6],
    }
    row = {"story": story, "question": "Where will Greta look for the key?", **labels}
    assert confirm_rows(pa.Table.from_pylist([row])).rows.tolist() == [True]
    for name, wrong in {
        "answer": "basket",
        "candidates": ["drawer"],
        "question_type": "memory",
        "order": 2,
        "chain": ["Ada"],
        "story_type": "lies",
        "false_belief": False,
        "proof": [2, 4],
    }.items():
        assert confirm_rows(pa.Table.from_pylist([{**row, name: wrong}])).rows.tolist() == [False], name


def change_text(text: str, rng: random.Random, vocabulary: Sequence[str] = WORDS) -> str:
    """Return a story or question with something else in it."""
    sentences = text.split("\n")
    place = rng.randrange(len(sentences))
    words = sentences[place].split(" ")
    match rng.randrange(9):
        case 0:
            del sentences[place]
        case 1:
            sentences.insert(rng.randrange(len(sentences) + 1), sentences[place])
        case 2:
            other = rng.randrange(len(sentences))
            sentences[place], sentences[other] = sentences[other], sentences[place]
        case 3:
            words[rng.randrange(len(words))] = rng.choice(vocabulary)
            sentences[place] = " ".join(words)
        case 4:
            at = rng.randrange(len(sentences[place]))
            sentences[place] = (
                sentences[place][:at] + rng.choice(("", ".", " ", "’", "é", "?")) + sentences[place][at + 1 :]
            )
        case 5:
            at = rng.randrange(len(words))
            words.insert(at, rng.choice(vocabulary))
            sentences[place] = " ".join(words)
        case 6:
            sentences[place] = sentences[place].swapcase() if rng.random() < 0.3 else sentences[place].lower()
        case 7:
            used = [word for word in vocabulary if word in text] or [text[:1]]
            return text.replace(rng.choice(used), rng.choice(vocabulary))
        case 8:
            sentences.append(rng.choice(("The key is in the box.", "Ada likes the oven.", "She moved it.", "")))
    return "\n".join(sentences)


def change_label(name: str, value: Any, rng: random.Random) -> Any:
    """Return another value of a label."""
    if rng.random() < 0.2:
        return None
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1))
    if isinstance(value, list):
        changed = list(value)
        if changed and rng.random() < 0.5:
            del changed[rng.randrange(len(changed))]
        else:
            changed.insert(rng.randrange(len(changed) + 1), 3 if name == "proof" else rng.choice((*WORDS, "unknown")))
        return changed
    return rng.choice((f"{value}x", "unknown", "no", "plain", "memory", "wardrobe"))


def damage(table: pa.Table, rng: random.Random, language: str = "en") -> pa.Table:
    """Return a table of which about half of the stories have been changed."""
    rows: list[Row] = table.to_pylist()
    vocabulary = [word for words in find_wording(language).vocabulary.as_dict().values() for word in words]
    vocabulary = [*WORDS, *vocabulary]
    stories: dict[str, list[Row]] = {}
    for row in rows:
        stories.setdefault(row["story"], []).append(row)
    texts = list(stories)
    for text, group in stories.items():
        if rng.random() < 0.5:
            continue
        row = rng.choice(group)
        match rng.randrange(8):
            case 0 | 1 | 2:
                changed = change_text(text, rng, vocabulary)
                for each in group:
                    each["story"] = changed
            case 3:
                row["story"] = change_text(text, rng, vocabulary)
            case 4 | 5:
                row["question"] = change_text(row["question"], rng, vocabulary)
            case 6:
                name = rng.choice(LABELS)
                row[name] = change_label(name, row[name], rng)
            case 7:
                row["story"] = rng.choice(texts)
    return pa.Table.from_pylist(rows, schema=plain_schema())


LABELS = ("answer", "candidates", "question_type", "order", "chain", "story_type", "false_belief", "readings", "proof")


def examined(table: pa.Table) -> tuple[Any, ...]:
    """Return all that an examination says."""
    report: FileReport = examine_table(table)
    said = (report.findings, report.totals, dict(report.unchecked), report.gone, dict(report.unread), report.unmarked)
    return (*said, report.proofs_checked)


@pytest.mark.parametrize("seed", only_first(2, range(4)))
@pytest.mark.parametrize(
    "settings",
    [
        {"preset": "easy"},
        {"preset": "medium"},
        {"preset": "medium", "trust": "never-liars"},
        {"preset": "medium", "style": "narrative"},
        {"preset": "easy", "language": "de"},
        {"preset": "medium", "language": "es"},
        {"preset": "medium", "language": "zh"},
        {"preset": "medium", "language": "es", "style": "narrative"},
    ],
)
def test_findings_are_those_of_reading_row_by_row(settings: Row, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = damage(rows_of(**settings), random.Random(seed), settings.get("language", "en"))
    found = examined(table)
    confirmed = confirm_rows(table).rows
    assert confirmed.any()
    assert not confirmed.all()
    unchanged: Callable[[RowJudge, pa.Table], pa.Table] = lambda judge, rows: rows  # noqa: E731
    monkeypatch.setattr(RowJudge, "set_apart", unchanged)
    assert found == examined(table)
    assert len(found[0]) > 10
