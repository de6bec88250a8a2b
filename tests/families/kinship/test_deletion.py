"""Proofs hold by deletion: the named sentences give the answer, and none of them can be left out."""

from __future__ import annotations

import json
import random
from collections import Counter
from contextlib import nullcontext
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import storyproof
from storyproof.audits.row_pass import examine_table
from storyproof.engines import make_engine
from storyproof.example import plain_schema
from storyproof.families.family import load_family
from storyproof.families.kinship.audit.labels import check_row
from storyproof.families.kinship.baselines import decide_genders
from storyproof.families.kinship.deletion import GenderLines, ProofTest, derives, entails
from storyproof.families.kinship.language.reader import find_gender_lines, read
from storyproof.families.kinship.language.reading import NotUnderstood
from storyproof.families.kinship.oracle import derive
from storyproof.families.kinship.prove_labels import judge
from storyproof.families.kinship.relations import NAMES, Fact
from storyproof.families.kinship.row import read_row
from storyproof.families.kinship.rules import published_rules, strict_rules
from storyproof.families.kinship.schema import KINSHIP_SCHEMA
from storyproof.families.kinship.stated_facts import Text, stated_facts
from storyproof.families.kinship.tasks import TASKS
from storyproof.findings import PROOF_SAMPLE
from tests.cli.invocation import run
from tests.groups import only_first

pytestmark = pytest.mark.usefixtures("small_blocks")

Row = dict[str, Any]
FAMILY = load_family("kinship")
TEXTS = ("natural", "plain", "placeholders", "synthetic")
# Ann's son is Bob, whose wife is Clara; the second line also says what follows from both, from Clara's side.
REDUNDANT: Row = {
    "id": "mine",
    "story": "Ann's son is Bob.\nBob's wife is Clara. Clara's mother-in-law is Ann.",
    "question": "What is Clara to Ann?",
    "answer": "daughter-in-law",
    "proof": [1, 2],
    "k": 2,
    "query": ["Ann", "Clara"],
    "genders": ["Ann:female", "Bob:male", "Clara:female"],
    "edges": [[0, 1], [1, 2], [2, 0]],
    "edge_types": ["son", "wife", "mother-in-law"],
    "placeholders": [],
}


@cache
def made(text: str, task: str, reading: str = "strict") -> pa.Table:
    longest = 10 if reading == "strict" else 4
    lengths = tuple(range(2, longest + 1))
    return storyproof.generate(
        "clutrr", test=4, test_k=lengths, text=text, task=task, reading=reading, holdout=False, seed=9
    )


def as_table(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=plain_schema(KINSHIP_SCHEMA))


# ------------------------------------------------------------------------------------------------------ what is made


@pytest.mark.parametrize("reading", only_first(1, ["strict", "published"]))
@pytest.mark.parametrize(("text", "task"), list(product(TEXTS, TASKS)))
def test_proofs_of_all_texts_and_tasks_hold(text: str, task: str, reading: str) -> None:
    table = made(text, task, reading)
    report = examine_table(table, proofs=True)
    assert [str(finding) for finding in report.disagreements] == []
    assert report.proofs_checked == table.num_rows


def test_answers_by_the_published_rules_alone_are_checked_by_these() -> None:
    table = made("synthetic", "clean", "published")
    rows = [row for row in table.to_pylist() if "strict" not in row["readings"]]
    assert rows
    for row in rows:
        [finding] = examine_table(as_table([{**row, "proof": row["proof"][1:]}]), proofs=True).disagreements
        assert finding.field == "proof"


def test_the_sentences_of_a_proof_show_the_gender_asked_for() -> None:
    alone = 0
    for row in [*made("natural", "clean").to_pylist(), *made("natural", "all").to_pylist()]:
        names = [person.split(":")[0] for person in row["genders"]]
        asked = row["query"][1]
        assert find_gender_lines(row["story"], names, asked) & set(row["proof"])
        lines = row["story"].split("\n")
        try:  # also without the others, unless these are needed to know who "she" is
            found = read("\n".join(lines[number - 1] for number in row["proof"]), names)
        except NotUnderstood:
            continue
        alone += 1
        assert asked in found.genders
    assert alone > 50


# ----------------------------------------------------------------------------------------------------------- changes


def dropped(row: Row, dice: random.Random) -> list[int]:
    gone = dice.choice(row["proof"])
    return [number for number in row["proof"] if number != gone]


def added(row: Row, dice: random.Random) -> list[int] | None:
    others = others_of(row)
    return sorted([*row["proof"], dice.choice(others)]) if others else None


def swapped(row: Row, dice: random.Random) -> list[int] | None:
    others = others_of(row)
    return sorted([*dropped(row, dice), dice.choice(others)]) if others else None


def others_of(row: Row) -> list[int]:
    return [number for number in range(1, row["story"].count("\n") + 2) if number not in row["proof"]]


@pytest.mark.parametrize("change", [dropped, added, swapped], ids=lambda each: each.__name__)
@pytest.mark.parametrize(("text", "task"), [("natural", "clean"), ("natural", "all"), *product(TEXTS[1:], TASKS[1:6])])
def test_a_changed_proof_is_found(text: str, task: str, change: Any) -> None:
    dice = random.Random(f"{text} {task} {change.__name__}")
    rows = dice.sample(made(text, task).to_pylist(), 12)
    proofs = [change(row, dice) for row in rows]
    pairs = [(row, proof) for row, proof in zip(rows, proofs, strict=True) if proof is not None]
    table = as_table([{**row, "proof": proof} for row, proof in pairs])
    findings = examine_table(table, proofs=True).disagreements
    assert [finding.row for finding in findings] == list(range(len(pairs)))
    for finding, (row, proof) in zip(findings, pairs, strict=True):
        shown = f"[{', '.join(map(str, proof))}]"
        assert (finding.field, finding.expected) == ("proof", f"[{', '.join(map(str, row['proof']))}]")
        assert finding.found == shown
        if change is dropped:
            assert finding.reason == f"{shown}, from which the answer does not follow"
        if change is added:
            assert "can be left out" in finding.reason


@pytest.mark.parametrize("change", [dropped, added], ids=lambda each: each.__name__)
def test_deletion_finds_changes_by_itself(change: Any) -> None:
    dice = random.Random(change.__name__)
    for text, task in product(TEXTS, TASKS):
        for values in dice.sample(made(text, task).to_pylist(), 4):
            proof = change(values, dice)
            row = read_row(values)
            lines = stated_facts(row, Text(values["story"], values["placeholders"], row.names))
            test = ProofTest(lines, entails(row.genders, row.query))
            assert test.find_flaw(values["proof"]) == ""
            assert proof is None or test.find_flaw(proof) != ""


@pytest.mark.parametrize("proof", [[2, 1], [1, 1, 2], [0, 1, 2], [1, 2, 9]])
def test_numbers_that_are_not_sentences_are_found(proof: list[int]) -> None:
    row = {**made("synthetic", "clean").to_pylist()[0]}
    [finding] = examine_table(as_table([{**row, "proof": proof}])).disagreements
    assert finding.found == str(proof)
    assert finding.reason == f"{proof}, which are not different sentences from 1 to {row['k']} in order"


def test_a_sentence_is_left_out_with_all_that_it_states() -> None:
    row = read_row(REDUNDANT)
    deleted: Counter[str] = Counter()
    found = list(check_row(row, judge([row.structure])[0], deleted=deleted))
    asked = "sentences that give the answer, and of which none can be left out"
    assert found == [("proof", "[1, 2], of which 1 can be left out", asked)]
    assert deleted == Counter(proof=1)
    assert list(check_row(row, judge([row.structure])[0])) == []


def test_a_sentence_that_shows_a_gender_belongs_to_the_proof() -> None:
    story = "Ann tied her shoes.\nAnn's son is Bob."
    values = {
        **REDUNDANT,
        "story": story,
        "question": "What is Ann to Bob?",
        "answer": "mother",
        "query": ["Bob", "Ann"],
        "k": 1,
        "genders": ["Ann:female", "Bob:male"],
        "edges": [[0, 1]],
        "edge_types": ["son"],
    }

    def found(proof: list[int]) -> list[Any]:
        row = read_row({**values, "proof": proof})
        return list(check_row(row, judge([row.structure])[0], deleted=Counter()))

    assert found([2]) == [("proof", "[2], from which the answer does not follow", [1, 2])]
    assert FAMILY.prove_text(story, values["question"]).proof == [1, 2]


# ------------------------------------------------------------------------------------------------------------ samples


def test_a_sample_is_checked_unless_all_proofs_are_asked_for() -> None:
    table = pa.concat_tables([made("synthetic", task) for task in TASKS])
    twice = pa.concat_tables([table, table])
    distinct = len({(row["story"], row["question"]) for row in table.to_pylist()})
    assert distinct > PROOF_SAMPLE
    assert examine_table(twice).proofs_checked == PROOF_SAMPLE
    assert examine_table(twice, proofs=True).proofs_checked == twice.num_rows
    few = table.slice(0, 50)
    assert examine_table(pa.concat_tables([few, few])).proofs_checked == 50  # each question once


def test_rows_without_a_proof_are_not_counted() -> None:
    rows = [{**row, "proof": None} for row in made("synthetic", "clean").to_pylist()]
    report = examine_table(as_table(rows), proofs=True)
    assert (report.proofs_checked, report.unchecked["proof"]) == (0, len(rows))


@pytest.mark.parametrize("workers", [None, 2])
def test_verify_checks_a_sample_or_all(tmp_path: Path, workers: int | None) -> None:
    storyproof.generate("clutrr", train=150, test=60, test_k=(2, 3), task="supporting", seed=3, out=tmp_path / "x")
    with make_engine(workers=workers) if workers else nullcontext() as engine:
        sample = storyproof.verify(tmp_path / "x", engine=engine)
        whole = storyproof.verify(tmp_path / "x", proofs=True, engine=engine)
    assert (sample.disagreements, whole.disagreements) == ([], [])
    assert (sample.proofs_checked, whole.proofs_checked) == (2 * PROOF_SAMPLE, 270)


def test_the_command_checks_a_sample_or_all(tmp_path: Path) -> None:
    storyproof.generate("clutrr", train=150, seed=3, out=tmp_path / "x")
    for options, count in (((), PROOF_SAMPLE), (("--proofs",), 150), (("--proofs", "--workers", 2), 150)):
        done = run("verify", tmp_path / "x", *options, "--json", tmp_path / "found.json")
        assert f"checked by leaving out sentences: {count} proofs" in done.stdout
        assert json.loads((tmp_path / "found.json").read_text())["proofs_checked"] == count


# ------------------------------------------------------------------------------------------------------ text and rules


@pytest.mark.parametrize(
    ("story", "question", "proof"),
    [
        ("Ann's son is Bob.\nAnn has a son named Bob.", "What is Bob to Ann?", [1]),  # said twice: the first stays
        ("Bob's mother is Ann.\nAnn's son is Bob.\nDan sang.", "What is Bob to Ann?", [2]),  # which shows his gender
        ("Dan sang.\nAnn's son is Bob. Bob's wife is Clara.", "What is Clara to Ann?", [2]),
        ("Ann's son is Bob.\nClara's mother-in-law is Ann.\nBob's wife is Clara.", "What is Clara to Ann?", [2, 3]),
    ],
)
def test_proofs_of_texts_of_ones_own(story: str, question: str, proof: list[int]) -> None:
    assert FAMILY.prove_text(story, question).proof == proof


def test_proofs_of_texts_with_more_facts_than_needed() -> None:
    dice, answered = random.Random(5), 0
    for values in made("synthetic", "clean").to_pylist():
        row = read_row(values)
        derived = derive(strict_rules(), [row.facts], len(row.genders))
        people = range(len(row.genders))
        known = [
            Fact(one, name, other)
            for one, other in product(people, people)
            if one != other
            for name in derived.relations(0, one, other)
        ]
        facts = dice.sample(known, min(len(known), 7))
        said = [(row.names[fact.second], row.word(fact), row.names[fact.first]) for fact in facts]
        story = "\n".join(f"{one} is the {word} of {other}." for one, word, other in said)
        asked = dice.choice(known)
        try:
            question = f"What is {row.names[asked.second]} to {row.names[asked.first]}?"
            example = FAMILY.prove_text(story, question, row.names)
        except storyproof.errors.ParseError:
            continue  # somebody is not named, or no gender shown
        if example.answer:
            answered += 1
            mine = read_row(decide_genders(example.as_row()))  # some are not shown, and not needed
            number = {person: mine.names.index(name) for person, name in enumerate(row.names) if name in mine.names}
            lines = [[Fact(number[fact.first], fact.predicate, number[fact.second])] for fact in facts]
            gender = GenderLines(story, mine.names, mine.asked_names[1])
            assert ProofTest(lines, entails(mine.genders, mine.query), gender).find_flaw(example.proof) == ""
    assert answered > 8


def test_the_rules_derive_what_the_oracle_derives() -> None:
    dice, rules, people = random.Random(3), published_rules(), 5
    followed = 0
    for _ in range(200):
        pairs = dice.sample([(one, other) for one in range(people) for other in range(people) if one != other], 5)
        facts = [Fact(one, dice.choice(rules.stated), other) for one, other in pairs]
        derived = derive(rules, [facts], people)
        for first, second in product(range(people), repeat=2):
            if first == second:
                continue
            expected = set(derived.relations(0, first, second))
            found = {name for name in NAMES if derives(rules, Fact(first, name, second))(facts)}
            assert found == expected
            followed += len(found)
    assert followed > 1000
