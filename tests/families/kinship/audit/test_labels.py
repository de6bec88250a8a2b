"""What is made verifies, and any change of a single row is caught: by the oracle, the checker, or the text."""

from __future__ import annotations

import ast
import contextlib
import csv
import io
import json
import random
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.writing import write_dataset
from storyproof.errors import DataError
from storyproof.families.kinship.checker import STATUSES
from storyproof.families.kinship.clutrr_records import COLUMNS
from storyproof.families.kinship.relations import NAMES, WORDS, gender_of
from storyproof.families.kinship.tasks import NOISE, TASKS
from storyproof.findings import TEXT
from tests.groups import only_first

pytestmark = pytest.mark.usefixtures("small_blocks")

Row = dict[str, Any]
Change = Callable[[Row, random.Random], Row | None]
TEXTS: list[dict[str, Any]] = [
    {},
    {"text": "synthetic"},
    {"cloze": True},
    {"text": "synthetic", "cloze": True},
    {"text": "plain"},
    {"text": "placeholders"},
    {"text": "placeholders", "cloze": True},
]
FORMATS = ("parquet", "jsonl", "csv")
KIN = re.compile(r"[a-z]+(?:-in-law)?")
OTHER = {"male": "female", "female": "male"}


def check(folder: Path, counts: dict[str, int], *formats: str, **settings: Any) -> None:
    """Make data in several formats, and verify them."""
    benchmark = make_benchmark("clutrr", seed=4, **settings)
    for name in formats:
        out = folder / name
        write_dataset(benchmark, counts, out, format_name=name)
        found = storyproof.verify(out)
        assert [str(finding) for finding in found.disagreements] == []
        assert found.questions == found.stories == sum(benchmark.stories(*each) for each in counts.items())
        assert sum(found.statuses.values()) == found.questions
        assert set(found.unchecked) == ({"candidates", "readings", "proof", "status"} if name == "csv" else set())
        if settings.get("reading") != "published":
            assert set(found.statuses) == {"entailed"}


# ------------------------------------------------------------------------------------------ what is made verifies


@pytest.mark.parametrize("reading", only_first(1, ["strict", "published"]))
@pytest.mark.parametrize("task", TASKS)
def test_natural_text_of_all_tasks_verifies(tmp_path: Path, task: str, reading: str) -> None:
    check(tmp_path, {"train": 60}, "jsonl", "csv", task=task, reading=reading, train_k=(2,))


@pytest.mark.parametrize("task", TASKS)
def test_other_text_of_all_tasks_verifies(tmp_path: Path, task: str) -> None:
    text = TEXTS[1 + TASKS.index(task) % (len(TEXTS) - 1)]
    check(tmp_path, {"train": 60}, "parquet", "csv", task=task, train_k=(2,), **text)


@pytest.mark.parametrize("reading", only_first(1, ["published", "strict"]))
@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_all_texts_and_readings_verify(tmp_path: Path, text: dict[str, Any], reading: str) -> None:
    check(tmp_path, {"test": 20}, *FORMATS, reading=reading, test_k=(2, 3), **text)


def test_splits_and_long_chains_verify(tmp_path: Path) -> None:
    check(tmp_path, {"train": 30, "val": 10, "test": 4}, *FORMATS, test_k=(2, 6))


def test_what_generate_writes_verifies(tmp_path: Path) -> None:
    storyproof.generate("clutrr", train=30, val=10, test=10, test_k=(2, 3), seed=1, out=tmp_path / "x")
    found = storyproof.verify(tmp_path / "x")
    assert (found.disagreements, found.questions) == ([], 60)


def test_statuses_are_counted(tmp_path: Path) -> None:
    manifest = storyproof.generate("clutrr", test=60, test_k=(3,), reading="published", out=tmp_path / "x")
    found = storyproof.verify(tmp_path / "x")
    assert found.ok
    assert dict(found.statuses) == manifest["splits"]["test"]["statuses"]
    assert found.statuses["ambiguous"] > 0


# ------------------------------------------------------------------------------------------- changes of single rows


@cache
def made(name: str) -> tuple[Row, ...]:
    options: dict[str, dict[str, Any]] = {
        "clean": {"text": "placeholders", "train_k": (2, 3)},
        "all": {"text": "placeholders", "task": "all", "train_k": (2,)},
        "memory": {"text": "placeholders", "task": "memory", "train_k": (2, 3)},
        "published": {"text": "placeholders", "reading": "published", "train_k": (3,)},
        "synthetic": {"text": "synthetic", "train_k": (2, 3)},
        "synthetic noise": {"text": "synthetic", "task": "irrelevant", "train_k": (2,)},
        "cloze": {"text": "placeholders", "cloze": True, "train_k": (2, 3)},
        "natural": {"train_k": (2, 3, 6)},
        "natural noise": {"task": "all", "train_k": (2,)},
        "natural memory": {"task": "memory", "train_k": (2, 3)},
        "natural published": {"reading": "published", "train_k": (3,)},
        "natural cloze": {"cloze": True, "train_k": (2, 3)},
        "plain": {"text": "plain", "train_k": (2, 3)},
    }
    return tuple(storyproof.generate("clutrr", train=200, seed=8, **options[name]).to_pylist())


SETS = ("clean", "all", "memory", "published", "synthetic", "synthetic noise", "cloze")
NATURAL = ("natural", "natural noise", "natural memory", "natural published", "natural cloze", "plain")


def another(dice: random.Random, values: Any, value: Any) -> Any:
    return dice.choice([each for each in values if each != value])


def replaced(values: list[Any], place: int, value: Any) -> list[Any]:
    return [*values[:place], value, *values[place + 1 :]]


def names_of(row: Row) -> list[str]:
    return [person.split(":")[0] for person in row["genders"]]


def lines_of(row: Row) -> list[str]:
    return list(row["story"].split("\n"))


def told(lines: list[str]) -> Row:
    return {"story": "\n".join(lines)}


def answer(row: Row, dice: random.Random) -> Row:
    return {"answer": another(dice, WORDS, row["answer"])}


def answer_of_the_same_gender(row: Row, dice: random.Random) -> Row:
    words = [each for each in WORDS if gender_of(each) == gender_of(row["answer"])]
    return {"answer": another(dice, words, row["answer"])}


def query_swapped(row: Row, dice: random.Random) -> Row:
    return {"query": row["query"][::-1]}


def query_and_question_swapped(row: Row, dice: random.Random) -> Row:
    first, second = row["query"]
    return {"query": [second, first], "question": f"What is {first} to {second}?"}


def query_of_somebody_else(row: Row, dice: random.Random) -> Row:
    place = dice.randrange(2)
    return {"query": replaced(row["query"], place, another(dice, names_of(row), row["query"][place]))}


def question_swapped(row: Row, dice: random.Random) -> Row:
    first, second = row["query"]
    return {"question": f"What is {first} to {second}?"}


def question_of_somebody_else(row: Row, dice: random.Random) -> Row:
    return {"question": row["question"].replace(row["query"][0], another(dice, names_of(row), row["query"][0]))}


def question_in_other_words(row: Row, dice: random.Random) -> Row:
    return {"question": row["question"].replace("What", dice.choice(["Who", "what", "What then"]))}


def edge_type(row: Row, dice: random.Random) -> Row:
    place = dice.randrange(len(row["edge_types"]))
    return {"edge_types": replaced(row["edge_types"], place, another(dice, WORDS, row["edge_types"][place]))}


def edge_type_of_the_same_gender(row: Row, dice: random.Random) -> Row:
    place = dice.randrange(len(row["edge_types"]))
    words = [each for each in WORDS if gender_of(each) == gender_of(row["edge_types"][place])]
    return {"edge_types": replaced(row["edge_types"], place, another(dice, words, row["edge_types"][place]))}


def edge_types_swapped(row: Row, dice: random.Random) -> Row | None:
    changed = row["edge_types"][::-1]
    return {"edge_types": changed} if changed != row["edge_types"] else None


def edge(row: Row, dice: random.Random) -> Row:
    place, end = dice.randrange(len(row["edges"])), dice.randrange(2)
    pair = row["edges"][place]
    return {
        "edges": replaced(
            row["edges"], place, replaced(pair, end, another(dice, range(len(row["genders"])), pair[end]))
        )
    }


def edge_turned(row: Row, dice: random.Random) -> Row:
    place = dice.randrange(len(row["edges"]))
    return {"edges": replaced(row["edges"], place, row["edges"][place][::-1])}


def edge_gone(row: Row, dice: random.Random) -> Row:
    place = dice.randrange(len(row["edges"]))
    return {name: row[name][:place] + row[name][place + 1 :] for name in ("edges", "edge_types")}


def _turned(row: Row, place: int) -> Row:
    name, old = row["genders"][place].split(":")
    return {"genders": replaced(row["genders"], place, f"{name}:{OTHER[old]}")}


def gender(row: Row, dice: random.Random) -> Row:
    """Of anybody; where every line says one thing, of somebody who is said to be something."""
    named = range(len(row["genders"])) if row["placeholders"] else [second for _, second in row["edges"]]
    return _turned(row, dice.choice(list(named)))


def gender_that_the_name_shows(row: Row, dice: random.Random) -> Row | None:
    """Of somebody of whom nothing is said, but who has a name of the other gender."""
    said = {second for _, second in row["edges"]}
    place = next(person for person in range(len(row["genders"])) if person not in said)
    return None if "@" in row["story"] else _turned(row, place)


def somebody_else(row: Row, dice: random.Random) -> Row:
    place = dice.randrange(len(row["genders"]))
    return {"genders": replaced(row["genders"], place, f"Zora:{row['genders'][place].split(':')[1]}")}


def people_in_another_order(row: Row, dice: random.Random) -> Row:
    return {"genders": row["genders"][1:] + row["genders"][:1]}


def one_more_person(row: Row, dice: random.Random) -> Row:
    return {"genders": [*row["genders"], "Zora:female"]}


def noise_type(row: Row, dice: random.Random) -> Row:
    if not row["noise_types"]:
        return {"noise_types": [dice.choice(NOISE)]}
    place = dice.randrange(len(row["noise_types"]))
    if dice.random() < 0.3:
        return {"noise_types": row["noise_types"][:place] + row["noise_types"][place + 1 :]}
    return {"noise_types": replaced(row["noise_types"], place, another(dice, NOISE, row["noise_types"][place]))}


def pattern(row: Row, dice: random.Random) -> Row:
    parts = row["pattern"].split(" ")
    place = dice.randrange(len(parts))
    if dice.random() < 0.3:
        return {"pattern": " ".join(parts[:place] + parts[place + 1 :])}
    return {"pattern": " ".join(replaced(parts, place, another(dice, NAMES, parts[place])))}


def k_one_off(row: Row, dice: random.Random) -> Row:
    return {"k": row["k"] + dice.choice([-1, 1])}


def k_nothing(row: Row, dice: random.Random) -> Row:
    return {"k": 0}


def task(row: Row, dice: random.Random) -> Row:
    return {"task": another(dice, [*TASKS, "easy"], row["task"])}


def question_type(row: Row, dice: random.Random) -> Row:
    known = [f"task_{number}.{k}" for number in range(1, 8) for k in range(2, 6)]
    return {"question_type": another(dice, [*known, "first_order_0_tom"], row["question_type"])}


def mixed_with_noise(row: Row, dice: random.Random) -> Row | None:
    """Mixed data are clean and memory stories, so noise has no place in them."""
    return {"task": "mixed", "question_type": f"task_7.{row['k']}"} if row["noise_types"] else None


def story_type(row: Row, dice: random.Random) -> Row:
    return {"story_type": another(dice, TASKS, row["story_type"])}


def status(row: Row, dice: random.Random) -> Row:
    return {"status": another(dice, STATUSES, row["status"])}


def readings(row: Row, dice: random.Random) -> Row:
    lists = ([], ["strict"], ["published"], ["strict", "published"], ["published", "strict"], ["open"])
    return {"readings": another(dice, lists, row["readings"])}


def an_unknown_reading_more(row: Row, dice: random.Random) -> Row:
    return {"readings": [*row["readings"], "loose"]}


def proof_line_gone(row: Row, dice: random.Random) -> Row:
    place = dice.randrange(len(row["proof"]))
    return {"proof": row["proof"][:place] + row["proof"][place + 1 :]}


def proof_line_more(row: Row, dice: random.Random) -> Row:
    return {"proof": [*row["proof"], len(lines_of(row)) + 1]}


def proof_line_of_noise(row: Row, dice: random.Random) -> Row | None:
    others = [number for number in range(1, len(lines_of(row)) + 1) if number not in row["proof"]]
    return {"proof": sorted([*row["proof"], dice.choice(others)])} if others else None


def proof_counted_from_nothing(row: Row, dice: random.Random) -> Row:
    return {"proof": [number - 1 for number in row["proof"]]}


def proof_step(row: Row, dice: random.Random) -> Row | None:
    if not row["proof_steps"]:
        return {"proof_steps": [[0, 1, 2]], "proof_relations": [row["answer"]]}
    place, end = dice.randrange(len(row["proof_steps"])), dice.randrange(3)
    step = row["proof_steps"][place]
    other = replaced(step, end, another(dice, range(len(row["genders"])), step[end]))
    return {"proof_steps": replaced(row["proof_steps"], place, other)}


def proof_step_gone(row: Row, dice: random.Random) -> Row | None:
    if not row["proof_steps"]:
        return None
    place = dice.randrange(len(row["proof_steps"]))
    return {name: row[name][:place] + row[name][place + 1 :] for name in ("proof_steps", "proof_relations")}


def proof_steps_turned(row: Row, dice: random.Random) -> Row | None:
    if len(row["proof_steps"]) < 2:
        return None
    return {name: row[name][::-1] for name in ("proof_steps", "proof_relations")}


def proof_relation(row: Row, dice: random.Random) -> Row | None:
    if not row["proof_relations"]:
        return {"proof_relations": [row["answer"]]}
    place = dice.randrange(len(row["proof_relations"]))
    old = row["proof_relations"][place]
    words = [each for each in WORDS if dice.random() < 0.2 or gender_of(each) == gender_of(old)]
    return {"proof_relations": replaced(row["proof_relations"], place, another(dice, words, old))}


def word_of_a_line(row: Row, dice: random.Random) -> Row:
    lines = lines_of(row)
    place = dice.randrange(len(lines))
    words = lines[place].split(" ")
    word = dice.randrange(len(words))
    return told(replaced(lines, place, " ".join(replaced(words, word, "thereafter"))))


def word_gone(row: Row, dice: random.Random) -> Row:
    lines = lines_of(row)
    place = dice.randrange(len(lines))
    words = lines[place].split(" ")
    word = dice.randrange(len(words))
    return told(replaced(lines, place, " ".join(words[:word] + words[word + 1 :])))


def full_stop_gone(row: Row, dice: random.Random) -> Row:
    return {"story": row["story"][:-1]}


def line_gone(row: Row, dice: random.Random) -> Row:
    lines = lines_of(row)
    place = dice.randrange(len(lines))
    return told(lines[:place] + lines[place + 1 :])


def line_twice(row: Row, dice: random.Random) -> Row:
    lines = lines_of(row)
    lines.insert(dice.randrange(len(lines) + 1), dice.choice(lines))
    return told(lines)


def lines_swapped(row: Row, dice: random.Random) -> Row | None:
    """Swap two lines that are worded differently; in synthetic text one that proves and one that does not."""
    lines = lines_of(row)
    kinds = row["placeholders"] or [number in row["proof"] for number in range(1, len(lines) + 1)]
    pairs = [(one, other) for one in range(len(lines)) for other in range(one) if kinds[one] != kinds[other]]
    if not pairs:
        return None
    one, other = dice.choice(pairs)
    lines[one], lines[other] = lines[other], lines[one]
    return told(lines)


def lines_joined(row: Row, dice: random.Random) -> Row | None:
    return {"story": row["story"].replace("\n", " ")} if "\n" in row["story"] else None


def a_line_more(row: Row, dice: random.Random) -> Row:
    return told([*lines_of(row), "It rained."])


def name_of_somebody_else(row: Row, dice: random.Random) -> Row:
    """In one line somebody has the name of somebody else of the story."""
    lines, names = lines_of(row), names_of(row)
    place = dice.choice([number for number, line in enumerate(lines) if any(name in line for name in names)])
    here = [name for name in names if name in lines[place]]
    old = max((name for name in here if dice.random() < 0.5), key=len, default=max(here, key=len))
    return told(replaced(lines, place, lines[place].replace(old, another(dice, names, old))))


def name_of_nobody(row: Row, dice: random.Random) -> Row:
    """All through the story, and nowhere else."""
    old = max((name for name in names_of(row) if dice.random() < 0.5), key=len, default=max(names_of(row), key=len))
    return {"story": row["story"].replace(old, "Zora")}


def no_story(row: Row, dice: random.Random) -> Row:
    return {"story": ""}


def placeholder_number(row: Row, dice: random.Random) -> Row | None:
    if not row["placeholders"]:
        return {"placeholders": ["son/male,male/0"] * len(lines_of(row))}
    place = dice.randrange(len(row["placeholders"]))
    head, _, which = row["placeholders"][place].rpartition("/")
    other = dice.choice([str((int(which) + 1) % 2), "99", "-1", "x", ""])
    changed = replaced(row["placeholders"], place, f"{head}/{other}")
    return {"placeholders": changed} if changed != row["placeholders"] else None


def placeholder_gender(row: Row, dice: random.Random) -> Row | None:
    if not row["placeholders"]:
        return None
    place = dice.randrange(len(row["placeholders"]))
    words, genders, number = row["placeholders"][place].split("/")
    parts = genders.split(",")
    which = dice.randrange(len(parts))
    other = ",".join(replaced(parts, which, OTHER[parts[which]]))
    return {"placeholders": replaced(row["placeholders"], place, f"{words}/{other}/{number}")}


def placeholder_relation(row: Row, dice: random.Random) -> Row | None:
    if not row["placeholders"]:
        return None
    place = dice.randrange(len(row["placeholders"]))
    words, rest = row["placeholders"][place].split("/", 1)
    parts = words.split(",")
    which = dice.randrange(len(parts))
    other = ",".join(replaced(parts, which, another(dice, WORDS, parts[which])))
    return {"placeholders": replaced(row["placeholders"], place, f"{other}/{rest}")}


def placeholders_gone(row: Row, dice: random.Random) -> Row | None:
    """All but one; without any the text is natural text, which is read without them."""
    return {"placeholders": row["placeholders"][:1]} if len(row["placeholders"]) > 1 else None


def placeholders_turned(row: Row, dice: random.Random) -> Row | None:
    changed = row["placeholders"][::-1]
    return {"placeholders": changed} if changed != row["placeholders"] else None


def candidates(row: Row, dice: random.Random) -> Row:
    listed = row["candidates"]
    others = [each for each in listed if each != row["answer"]]
    gone = dice.choice(others)
    return {
        "candidates": dice.choice(
            [
                [each for each in listed if each != gone],
                [each for each in listed if each != row["answer"]],
                sorted([*listed, "cousin"]),
                listed[::-1],
                [row["answer"]],
                [],
            ]
        )
    }


def order(row: Row, dice: random.Random) -> Row:
    return {"order": dice.choice([1, 2])}


def chain(row: Row, dice: random.Random) -> Row:
    return {"chain": row["query"][:1]}


def false_belief(row: Row, dice: random.Random) -> Row:
    return {"false_belief": True}


CHANGES: tuple[Change, ...] = (
    answer, answer_of_the_same_gender, query_swapped, query_and_question_swapped, query_of_somebody_else,
    question_swapped, question_of_somebody_else, question_in_other_words, edge_type, edge_type_of_the_same_gender,
    edge_types_swapped, edge, edge_turned, edge_gone, gender, gender_that_the_name_shows, somebody_else,
    people_in_another_order, one_more_person,
    noise_type, pattern, k_one_off, k_nothing, task, question_type, mixed_with_noise, story_type, status, readings,
    an_unknown_reading_more, proof_line_gone, proof_line_more, proof_line_of_noise, proof_counted_from_nothing,
    proof_step, proof_step_gone, proof_steps_turned, proof_relation, word_of_a_line, word_gone, full_stop_gone,
    line_gone, line_twice, lines_swapped, lines_joined, a_line_more, name_of_somebody_else, name_of_nobody, no_story,
    placeholder_number, placeholder_gender, placeholder_relation, placeholders_gone, placeholders_turned, candidates,
    order, chain, false_belief,
)  # fmt: skip
# What a line says is known word for word where its placeholder is recorded. In natural text other words may state the
# same facts, and a line may state none.
OF_WORDS: tuple[Change, ...] = (
    word_of_a_line, word_gone, full_stop_gone, line_gone, line_twice, lines_swapped, lines_joined, a_line_more,
    name_of_somebody_else, placeholder_gender, placeholder_relation, placeholders_gone, placeholders_turned,
)  # fmt: skip
TRIES = 10  # rows of each set for each change


def renumbered(row: Row, number: int) -> Row:
    """Give a row an id of its own, as rows that are read together have."""
    return {**row, "id": f"train-{number:09d}-0", "story_id": f"train-{number:09d}", "split": "train"}


def write(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_as_they_are_verify(tmp_path: Path) -> None:
    rows = [
        renumbered(row, number)
        for number, row in enumerate(row for name in (*SETS, *NATURAL) for row in made(name)[:20])
    ]
    found = storyproof.verify(write(tmp_path / "train.jsonl", rows))
    assert [str(finding) for finding in found.disagreements] == []
    assert not found.unchecked


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("tries", [TRIES // 2, pytest.param(TRIES, marks=pytest.mark.slow)])
def test_a_change_is_caught(tmp_path: Path, change: Change, tries: int) -> None:
    dice = random.Random(change.__name__)
    rows: list[Row] = []
    changed: list[tuple[str, Row, Row]] = []
    for name in (*SETS, *(() if change in OF_WORDS else NATURAL)):
        for row in dice.sample(made(name), TRIES)[:tries]:
            what = change(row, dice)
            if what is None:
                continue
            assert any(row[field] != value for field, value in what.items())
            rows.append(renumbered({**row, **what}, len(rows)))
            changed.append((name, what, row))
    assert rows
    found = storyproof.verify(write(tmp_path / "train.jsonl", rows))
    caught = {finding.id for finding in found.findings if finding.is_claim}
    missed = [each for row, each in zip(rows, changed, strict=True) if row["id"] not in caught]
    assert missed == [], f"{len(missed)} of {len(rows)} missed"


def kin_word(row: Row, dice: random.Random) -> Row:
    """In one place, by a word for the same gender."""
    places = [match for match in KIN.finditer(row["story"]) if match[0] in WORDS]
    place = dice.choice(places)
    words = [each for each in WORDS if gender_of(each) == gender_of(place[0])]
    return {"story": place.string[: place.start()] + another(dice, words, place[0]) + place.string[place.end() :]}


def pronoun(row: Row, dice: random.Random) -> Row | None:
    """One that says whose relative somebody is; others may mean the relative as well: "Her aunt kept her tea warm"."""
    words = "|".join(sorted(WORDS, key=len, reverse=True))
    places = list(re.finditer(rf"\b([Hh]is|[Hh]er)\b(?= (?:{words})\b)", row["story"]))
    if not places:
        return None
    place = dice.choice(places)
    other = {"his": "her", "her": "his", "His": "Her", "Her": "His"}
    return {"story": place.string[: place.start()] + other[place[0]] + place.string[place.end() :]}


def line_with_a_fact_gone(row: Row, dice: random.Random) -> Row:
    lines = lines_of(row)
    place = dice.choice(row["proof"]) - 1
    return told(lines[:place] + lines[place + 1 :])


def line_with_a_fact_twice(row: Row, dice: random.Random) -> Row:
    lines = lines_of(row)
    return told([*lines, lines[dice.choice(row["proof"]) - 1]])


def a_fact_more(row: Row, dice: random.Random) -> Row:
    """Between two people of whom the story says nothing else together."""
    first, second = row["query"]
    return (
        told([*lines_of(row), f"{second} is {first}'s {row['answer']}."])
        if row["task"] != "memory"
        else no_story(row, dice)
    )


def a_stranger_more(row: Row, dice: random.Random) -> Row:
    return told([*lines_of(row), f"{row['query'][0]} has a niece called Zora."])


def an_unreal_fact(row: Row, dice: random.Random) -> Row:
    return told(
        [*lines_of(row), f"{row['query'][0]} dreamed that {row['query'][1]} was a brother of {row['query'][0]}."]
    )


@pytest.mark.parametrize(
    "change",
    [
        kin_word, pronoun, line_with_a_fact_gone, line_with_a_fact_twice, a_fact_more, a_stranger_more, an_unreal_fact,
    ],
)  # fmt: skip
def test_a_change_of_what_natural_text_says_is_caught(tmp_path: Path, change: Change) -> None:
    dice = random.Random(change.__name__)
    rows: list[Row] = []
    for name in NATURAL:
        for row in dice.sample(made(name), 2 * TRIES):
            what = change(row, dice)
            if what is not None:
                rows.append(renumbered({**row, **what}, len(rows)))
    assert len(rows) > 5 * TRIES
    findings = [each for each in storyproof.verify(write(tmp_path / "train.jsonl", rows)).findings if each.is_claim]
    caught = {finding.id for finding in findings}
    assert [row for row in rows if row["id"] not in caught] == []
    told = [each.found for each in findings if each.kind == TEXT and each.field == "story"]
    assert told
    known = ("line ", "a text that", "a story that fits no family")
    assert [text for text in told if not any(each in text for each in known)] == []


def test_other_words_for_the_same_facts_verify(tmp_path: Path) -> None:
    row = renumbered(
        {
            **made("natural")[0],
            "genders": ["Ada:female", "Ben:male", "Cid:male"],
            "query": ["Ada", "Cid"],
            "question": "What is Cid to Ada?",
            "answer": "grandson",
            "k": 2,
            "edges": [[0, 1], [1, 2]],
            "edge_types": ["son", "son"],
            "pattern": "child child",
            "question_type": "task_1.2",
            "proof_steps": [[0, 1, 2]],
            "proof_relations": ["grandson"],
        },
        0,
    )
    path = tmp_path / "train.jsonl"
    for story, proof in (
        ("It was raining at last. Ada phoned her son Ben.\nBen has a son called Cid.", [1, 2]),
        ("The bus was full.\nBen, Ada's son, has a son, Cid.", [2]),
        ("Ben's mother is Ada.\nBen is Cid's father, and he likes crosswords. Cid is a son of Ben's.", None),
    ):
        write(path, [{**row, "story": story, "proof": proof}])
        found = [str(each) for each in storyproof.verify(path).disagreements]
        assert found == [] if proof else "Cid is Ben's son" in found[0]
    write(path, [{**row, "story": "Ada phoned her son Ben.\nBen is Cid's father.", "proof": [1, 2]}])
    (finding,) = storyproof.verify(path).disagreements
    assert finding.found == "a text that does not show whether Cid is male or female"


def test_ids_benchmark_and_split_are_held_together(tmp_path: Path) -> None:
    rows = [renumbered(row, number) for number, row in enumerate(made("clean")[:4])]
    for changes, field in (
        ({"id": rows[0]["id"], "story_id": rows[0]["story_id"]}, "id"),
        ({"id": "test-000000002-0"}, "story_id"),
        ({"story_id": "train-000000009"}, "story_id"),
        ({"benchmark": "tomi"}, "benchmark"),
        ({"split": "test"}, "split"),
        ({"story": rows[1]["story"]}, "story_id"),
    ):
        path = write(tmp_path / "train.jsonl", [*rows[:2], {**rows[2], **changes}, rows[3]])
        assert field in {finding.field for finding in storyproof.verify(path).disagreements}


def test_a_finding_says_what_was_expected(tmp_path: Path) -> None:
    row = renumbered(next(row for row in made("clean") if row["pattern"] == "sibling child"), 0)
    path = tmp_path / "train.jsonl"

    def findings(**changes: Any) -> dict[str, tuple[str, str]]:
        write(path, [{**row, **changes}])
        return {each.field: (each.found, each.expected) for each in storyproof.verify(path).disagreements}

    wrong = "grandson" if row["answer"] == "nephew" else "granddaughter"
    assert findings(answer=wrong)["answer"] == (wrong, row["answer"])
    assert findings(status="ambiguous") == {"status": ("ambiguous", "entailed")}
    assert findings(pattern="x") == {"pattern": ("x", row["pattern"])}
    assert findings(proof=[]) == {"proof": ("[]", f"[{', '.join(map(str, row['proof']))}]")}
    assert findings(story_type="all") == {"story_type": ("all", "clean")}
    assert findings(readings=["published"])["readings"] == ('["published"]', '["strict", "published"]')


# ------------------------------------------------------------------------------------------------ what may be lacking


@pytest.mark.parametrize(
    "name",
    [
        "candidates", "question_type", "order", "chain", "story_type", "false_belief", "readings", "proof", "k", "task",
        "noise_types", "pattern", "placeholders", "status",
    ],
)  # fmt: skip
def test_a_label_that_is_lacking_is_counted_not_condemned(tmp_path: Path, name: str) -> None:
    row = renumbered({**made("all")[0], name: None}, 0)
    found = storyproof.verify(write(tmp_path / "train.jsonl", [row]))
    assert found.disagreements == []
    assert found.unchecked[name] == (name != "placeholders")


@pytest.mark.parametrize("name", ["genders", "edge_types", "query"])
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_row_without_its_facts_is_a_finding(tmp_path: Path, name: str, form: str) -> None:
    table = storyproof.generate("clutrr", train=3, train_k=(2,))
    path = tmp_path / f"train.{form}"
    if form == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table.drop_columns([name]), path)
    else:
        write(path, [{**row, name: None} for row in table.to_pylist()])
    try:
        findings = [str(finding) for finding in storyproof.verify(path).findings if finding.is_claim]
    except DataError as error:
        findings = [str(error)]
    assert findings
    assert all(name in finding for finding in findings)


def test_with_the_manifest_any_changed_byte_is_caught(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    storyproof.generate("clutrr", train=20, test=10, train_k=(2,), test_k=(2, 3), out=folder, format="csv")
    dice = random.Random(1)
    for path in sorted(folder.glob("*.csv")):
        before = path.read_bytes()
        for _ in range(4):
            place = dice.randrange(len(before))
            path.write_bytes(before[:place] + bytes([before[place] ^ 1]) + before[place + 1 :])
            with contextlib.suppress(DataError):
                assert not storyproof.verify(folder).ok
        path.write_bytes(before)
    assert storyproof.verify(folder).ok


# --------------------------------------------------------------------------------------------- rules of one's own

OWN = (
    "relations:\n  cousin: [cousin-brother, cousin-sister, cousin]\nstories: [child, inv-child, SO, sibling, inv-un]\n"
    "rules:\n  - inv-un: [inv-child, sibling]\n  - cousin: [inv-un, child]\n  - sibling: [inv-child, child]\n"
    "  - child: [child, sibling]\n"
)


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_data_made_by_rules_of_ones_own_verify_by_them(tmp_path: Path, form: str) -> None:
    from storyproof.families.kinship.rules import load_rules

    path = tmp_path / "rules.yaml"
    path.write_text(OWN)
    options: dict[str, Any] = {"rules": load_rules(path), "text": "synthetic", "train_k": (2,), "test_k": (2, 3)}
    storyproof.generate("clutrr", train=60, test=20, holdout=False, out=tmp_path / "x", format=form, **options)
    found = storyproof.verify(tmp_path / "x", rules=path)
    assert [str(finding) for finding in found.disagreements] == []
    assert found.statuses["undefined"] > 0


@pytest.mark.parametrize("change", [answer, edge_type, proof_step, word_of_a_line, pattern])
def test_changes_of_data_made_by_rules_of_ones_own_are_caught(tmp_path: Path, change: Change) -> None:
    from storyproof.families.kinship.rules import load_rules

    path = tmp_path / "rules.yaml"
    path.write_text(OWN)
    options: dict[str, Any] = {"rules": load_rules(path), "text": "synthetic", "train_k": (2, 3), "holdout": False}
    dice = random.Random(2)
    rows = storyproof.generate("clutrr", train=20, **options).to_pylist()
    for row in rows:
        changed = write(tmp_path / "train.jsonl", [{**row, **(change(row, dice) or {})}])
        assert not storyproof.verify(changed, rules=path).ok


# ------------------------------------------------------------------------------------------------------ published CSV

Record = dict[str, str]


@pytest.fixture(scope="module")
def csv_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_csv(tmp_path_factory.mktemp("csv") / "x", "placeholders")


@pytest.fixture(scope="module")
def natural_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_csv(tmp_path_factory.mktemp("csv") / "x", "natural")


def make_csv(folder: Path, text: str) -> Path:
    options: dict[str, Any] = {"test_tasks": ("clean", "irrelevant", "memory"), "test_k": (2, 3), "train_k": (2,)}
    storyproof.generate("clutrr", test=30, seed=2, out=folder, format="csv", text=text, **options)
    return folder


def records(folder: Path) -> list[Record]:
    return [
        record for path in sorted(folder.glob("*_test.csv")) for record in csv.DictReader(io.StringIO(path.read_text()))
    ]


def verify_record(folder: Path, task: str, record: Record) -> list[str]:
    """Verify a record in the file of its task."""
    path = folder / f"{task.removeprefix('task_')}_test.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerow(record)
    try:
        return [str(finding) for finding in storyproof.verify(path).findings if finding.is_claim]
    except DataError as error:
        return [str(error)]


def csv_target(record: Record, dice: random.Random) -> Record:
    return {"target": another(dice, [*WORDS, "", "cousin"], record["target"])}


def csv_query(record: Record, dice: random.Random) -> Record:
    return {"query": repr(ast.literal_eval(record["query"])[::-1])}


def csv_query_edge(record: Record, dice: random.Random) -> Record:
    first, second = ast.literal_eval(record["query_edge"])
    return {"query_edge": dice.choice([repr((second, first)), repr((first, second + 1)), "(7, 8)", "x"])}


def csv_task_name(record: Record, dice: random.Random) -> Record:
    known = [f"task_{number}.{k}" for number in (0, 1, 2, 3, 4, 5, 6, 8) for k in range(6)]  # 7 may be clean or memory
    return {"task_name": another(dice, [*known, ""], record["task_name"])}


def csv_task_split(record: Record, dice: random.Random) -> Record:
    return {"task_split": dice.choice(["train", "val"])}


def csv_task_split_unknown(record: Record, dice: random.Random) -> Record:
    return {"task_split": dice.choice(["dev", "Test", ""])}


def csv_edge(record: Record, dice: random.Random) -> Record:
    row = {"edges": [list(each) for each in ast.literal_eval(record["story_edges"])], "genders": [0] * 4}
    return {"story_edges": repr([tuple(each) for each in edge(row, dice)["edges"]])}


def csv_edge_type(record: Record, dice: random.Random) -> Record:
    row = {"edge_types": ast.literal_eval(record["edge_types"])}
    change = dice.choice([edge_type, edge_type_of_the_same_gender])
    return {"edge_types": repr(change(row, dice)["edge_types"])}  # type: ignore[index]


def csv_gender(record: Record, dice: random.Random) -> Record:
    people = record["genders"].split(",")
    return {"genders": ",".join(_turned({"genders": people}, dice.randrange(len(people)))["genders"])}


def csv_name(record: Record, dice: random.Random) -> Record:
    return {"genders": ",".join(somebody_else({"genders": record["genders"].split(",")}, dice)["genders"])}


def csv_word(record: Record, dice: random.Random) -> Record:
    words = record["story"].split(" ")
    return {"story": " ".join(replaced(words, dice.randrange(len(words)), "thereafter"))}


def csv_name_in_the_story(record: Record, dice: random.Random) -> Record:
    names = [each.split(":")[0] for each in record["genders"].split(",")]
    old = dice.choice([name for name in names if f"[{name}]" in record["story"]])
    return {"story": record["story"].replace(f"[{old}]", f"[{another(dice, [*names, 'Zora'], old)}]")}


def csv_story_of_another(record: Record, dice: random.Random) -> Record:
    return {"story": dice.choice(["", "It rained.", "[Zora] is the mother of [Tom]."])}


def csv_half_a_story(record: Record, dice: random.Random) -> Record:
    return {"story": record["story"][: len(record["story"]) // 2]}


def csv_story_twice(record: Record, dice: random.Random) -> Record:
    return {"story": f"{record['story']} {record['story']}"}


def _proof(record: Record, change: Callable[[Any, Any, Any], Any], dice: random.Random) -> Record | None:
    """Change a step of the proof, which has a conclusion and two halves."""
    steps = ast.literal_eval(record["proof_state"])
    if not steps:
        return None
    place = dice.randrange(len(steps))
    ((conclusion, (one, other)),) = steps[place].items()
    return {"proof_state": repr(replaced(steps, place, change(conclusion, one, other)))}


def csv_proof_conclusion(record: Record, dice: random.Random) -> Record | None:
    return _proof(
        record,
        lambda end, one, other: {(end[0], another(dice, WORDS, end[1]), end[2]): [one, other]},
        dice,
    )


def csv_proof_relation_below(record: Record, dice: random.Random) -> Record | None:
    half = dice.randrange(2)
    return _proof(
        record,
        lambda end, one, other: {
            end: [
                (each[0], another(dice, [*WORDS, "x"], each[1]), each[2]) if place == half else each
                for place, each in enumerate((one, other))
            ]
        },
        dice,
    )


def csv_proof_people(record: Record, dice: random.Random) -> Record | None:
    """Somebody else in one of the four places below a conclusion."""
    names = [each.split(":")[0] for each in record["genders"].split(",")]
    half, end_ = dice.randrange(2), dice.choice([0, 2])

    def change(end: Any, one: Any, other: Any) -> Any:
        halves = [list(one), list(other)]
        halves[half][end_] = another(dice, names, halves[half][end_])
        return {end: [tuple(each) for each in halves]}

    return _proof(record, change, dice)


def csv_proof_step_gone(record: Record, dice: random.Random) -> Record | None:
    steps = ast.literal_eval(record["proof_state"])
    return {"proof_state": repr(steps[:-1])} if steps else None


def csv_text_query(record: Record, dice: random.Random) -> Record:
    return {"text_query": "Who is who?"}


def csv_text_target(record: Record, dice: random.Random) -> Record:
    return {"text_target": another(dice, ["", "[]", "['It rained.']", "x"], record["text_target"])}


def csv_word_of_the_text_target(record: Record, dice: random.Random) -> Record:
    return {"text_target": record["text_target"].replace(record["target"], another(dice, WORDS, record["target"]))}


def csv_people_of_the_text_target(record: Record, dice: random.Random) -> Record:
    first, second = ast.literal_eval(record["query"])
    return {"text_target": record["text_target"].replace(first, "?").replace(second, first).replace("?", second)}


def csv_clean_story(record: Record, dice: random.Random) -> Record:
    return {"clean_story": another(dice, ["", "It rained."], record["clean_story"])}


def csv_word_of_the_clean_story(record: Record, dice: random.Random) -> Record:
    words = record["clean_story"].split(" ")
    return {"clean_story": " ".join(replaced(words, dice.randrange(len(words)), "thereafter"))}


def csv_name_in_the_clean_story(record: Record, dice: random.Random) -> Record:
    old, other = dice.sample([each.split(":")[0] for each in record["genders"].split(",")], 2)
    return {"clean_story": record["clean_story"].replace(f"[{old}]", f"[{other}]")}


def csv_brackets_of_the_clean_story(record: Record, dice: random.Random) -> Record:
    return {"clean_story": record["clean_story"].replace("[", "").replace("]", "")}


def csv_clean_story_in_the_order_of_the_story(record: Record, dice: random.Random) -> Record | None:
    """Where it is not the chain's order, or there is noise."""
    return {"clean_story": record["story"]}


def csv_clean_story_cut(record: Record, dice: random.Random) -> Record:
    return {"clean_story": record["clean_story"][: dice.randrange(len(record["clean_story"]))]}


def csv_node_mapping(record: Record, dice: random.Random) -> Record:
    mapping = ast.literal_eval(record["node_mapping"])
    turned = dict(zip(mapping, [*mapping][::-1], strict=True))
    more, less = {**mapping, len(mapping): len(mapping)}, {key: mapping[key] for key in [*mapping][1:]}
    moved = {key + 1: value for key, value in mapping.items()}
    return {"node_mapping": another(dice, [*map(repr, (turned, more, less, moved)), "", "x", "[]"], repr(mapping))}


def csv_index(record: Record, dice: random.Random) -> Record:
    return {"": dice.choice(["", "x", "-1", "1.0", "999999"])}


CSV_CHANGES = (
    csv_target, csv_query, csv_query_edge, csv_task_name, csv_task_split, csv_task_split_unknown, csv_edge,
    csv_edge_type, csv_gender, csv_name, csv_word, csv_name_in_the_story, csv_story_of_another, csv_half_a_story,
    csv_story_twice, csv_proof_conclusion, csv_proof_relation_below, csv_proof_people, csv_proof_step_gone,
    csv_text_query, csv_text_target, csv_word_of_the_text_target, csv_people_of_the_text_target, csv_clean_story,
    csv_word_of_the_clean_story, csv_name_in_the_clean_story, csv_brackets_of_the_clean_story,
    csv_clean_story_in_the_order_of_the_story, csv_clean_story_cut, csv_node_mapping, csv_index,
)  # fmt: skip


def test_records_as_they_are_verify(csv_folder: Path, natural_folder: Path, tmp_path: Path) -> None:
    for record in [*records(csv_folder)[::12], *records(natural_folder)[::12]]:
        assert verify_record(tmp_path, record["task_name"], record) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        pytest.param(change, text, id=f"{change.__name__}-{text}")
        for change in CSV_CHANGES
        for text in ("placeholders", "natural")
        if (change, text) != (csv_word, "natural")  # other words of a scene may state the same facts
    ],
)
@pytest.mark.parametrize("most", [6, pytest.param(24, marks=pytest.mark.slow)])
def test_a_change_of_a_record_is_caught(
    csv_folder: Path,
    natural_folder: Path,
    tmp_path: Path,
    change: Callable[[Record, random.Random], Record | None],
    text: str,
    most: int,
) -> None:
    dice = random.Random(change.__name__)
    missed, tried = [], 0
    for record in dice.sample(records(csv_folder if text == "placeholders" else natural_folder), 24):
        what = change(record, dice)
        if tried == most or what is None or {**record, **what} == record:
            continue
        tried += 1
        if not verify_record(tmp_path, record["task_name"], {**record, **what}):
            missed.append((what, record))
    assert tried > min(most - 1, 5 if text == "natural" else 10)  # a clean story without noise is the story
    assert missed == [], f"{len(missed)} of {tried} missed"


def test_a_record_of_two_is_caught(csv_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "x"
    shutil.copytree(csv_folder, path)
    (path / "manifest.json").unlink()
    file = path / "1.2_test.csv"
    file.write_text(file.read_text() + file.read_text().splitlines()[3] + "\n")
    assert {finding.field for finding in storyproof.verify(path).disagreements} == {"id", "index"}


def write_records(path: Path, rows: list[Record]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def fields_of(path: Path) -> set[str]:
    return {finding.field for finding in storyproof.verify(path).disagreements}


@pytest.mark.parametrize("name", ["1.2_test.csv", "6.3_test.csv"])
def test_rows_are_counted_by_the_first_column(csv_folder: Path, tmp_path: Path, name: str) -> None:
    """Some may be left out, and then be counted anew or not."""
    whole = list(csv.DictReader(io.StringIO((csv_folder / name).read_text())))
    some = [row for number, row in enumerate(whole) if number not in (0, 7, 8, 20)]
    for rows in (whole, some, [{**row, "": str(number)} for number, row in enumerate(some)]):
        assert fields_of(write_records(tmp_path / name, rows)) == set()
        for place in (0, 1, 2, 12, len(rows) - 1):
            for step in (-1, 1, 5):
                index = str(int(rows[place][""]) + step)
                changed = [*rows[:place], {**rows[place], "": index}, *rows[place + 1 :]]
                left_out = rows is some and place < 2  # who knows what stood before the second row?
                assert left_out or fields_of(write_records(tmp_path / name, changed)) == {"index"}
    assert fields_of(write_records(tmp_path / name, whole[::-1])) == {"index"}
    without = [{column: value for column, value in row.items() if column} for row in whole[::-1]]
    assert fields_of(write_records(tmp_path / name, without)) == set()


def test_a_clean_story_in_other_peoples_words_is_held_against_the_story(tmp_path: Path) -> None:
    from storyproof.families.kinship.placeholders.collection import Placeholders
    from storyproof.families.kinship.placeholders.files import ours

    texts = {key: tuple(f"So then, {text}" for text in each) for key, each in ours().templates.items()}
    options: dict[str, Any] = {"placeholders": Placeholders("theirs", texts), "bad_placeholders": "keep"}
    folder = tmp_path / "x"
    storyproof.generate(
        "clutrr", test=12, test_k=(3,), test_tasks=("clean", "irrelevant"), out=folder, format="csv", **options
    )
    assert storyproof.verify(folder).disagreements == []
    for row in records(folder):
        clean = row["clean_story"]
        changes = ["", clean + " It rained."]
        if row["task_name"] == "task_1.3":  # with noise nobody knows where the sentences of the chain end
            changes += [clean.partition(" ")[2], f"{clean} then,"]
        for changed in changes:
            found = verify_record(tmp_path, row["task_name"], {**row, "clean_story": changed})
            assert found
            assert all("clean_story" in each for each in found)


def test_columns_of_others_are_held_against_what_is_known_of_them(csv_folder: Path, tmp_path: Path) -> None:
    names = [each["genders"].replace(":", ",").split(",")[::2] for each in records(csv_folder)]
    somebody_comes_later = (
        each
        for each, people in zip(records(csv_folder), names, strict=True)
        if not all(f"[{name}]" in each["clean_story"].split(".")[0] for name in people)
    )
    row = {**next(somebody_comes_later), "id": "theirs", "syn_story": ""}
    people = len(row["genders"].split(","))
    for column, value, fine in (
        ("", "7", True),
        ("text_query", "?", True),
        ("text_target", "['x']", True),
        ("node_mapping", repr({10 * place: place for place in range(people)}), True),
        ("node_mapping", repr({10 * place: place for place in range(people - 1)}), False),
        ("node_mapping", repr({place: people - 1 - place for place in range(people)}), False),
        ("node_mapping", "{" * 300, False),
        ("clean_story", "", True),
        ("clean_story", row["clean_story"].split(".")[0] + ".", False),
        ("clean_story", "It rained.", False),
    ):
        found = verify_record(tmp_path, row["task_name"], {**row, column: value})
        assert bool(found) is not fine
        assert all(column in each for each in found)
