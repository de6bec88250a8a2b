"""Rows of long chains: every answer is proved, few stories name many siblings, and nothing depends on the order."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.families.kinship import clutrr
from storyproof.families.kinship.checker import ENTAILED, status
from storyproof.families.kinship.clutrr import Clutrr
from storyproof.families.kinship.config import ClutrrConfig
from storyproof.families.kinship.generation.proof_file import Proofs
from storyproof.families.kinship.oracle import ProofStep, derive, replay
from storyproof.families.kinship.relations import Fact, gender_of, predicate_of
from storyproof.families.kinship.rules import published_rules, strict_rules
from tests.groups import only_first

Row = dict[str, Any]
LONG: dict[str, Any] = {"train_k": (2, 6, 10), "test_k": (3, 6, 15), "text": "synthetic"}
SHORT: dict[str, Any] = {"train_k": (2, 3), "test_k": (3,), "text": "synthetic"}  # puzzles with noise take time


@cache
def benchmark(**settings: Any) -> Clutrr:
    usual = LONG if settings.get("task", "clean") == "clean" else SHORT
    return Clutrr(ClutrrConfig(**{**usual, **settings}), 3)


def fact(edge: list[int], word: str, genders: list[str]) -> Fact:
    assert gender_of(word) == genders[edge[1]]
    return Fact(edge[0], predicate_of(word), edge[1])


@pytest.mark.parametrize("task", ["clean", "mixed", "all"])
@pytest.mark.parametrize("split", only_first(1, ["test", "train", "val"]))
def test_oracle_and_checker_confirm_every_row(split: str, task: str) -> None:
    """From the columns alone: facts, genders, question, answer, proof, readings."""
    rows = benchmark(task=task).block(split, 1).slice(0, 150 if task == "clean" else 60).to_pylist()
    people = [[person.split(":") for person in row["genders"]] for row in rows]
    genders = [[gender for _, gender in each] for each in people]
    stories = [
        [fact(edge, word, genders[number]) for edge, word in zip(row["edges"], row["edge_types"], strict=True)]
        for number, row in enumerate(rows)
    ]
    most = max(map(len, people))
    derived, published = (derive(rules, stories, most) for rules in (strict_rules(), published_rules()))
    for number, row in enumerate(rows):
        names = [name for name, _ in people[number]]
        query = fact([names.index(name) for name in row["query"]], row["answer"], genders[number])
        assert derived.relations(number, query.first, query.second) == [query.predicate]
        assert derived.size(number, query) == (1 if row["story_type"] == "memory" else row["k"])
        assert status(genders[number], stories[number], query) == ENTAILED == row["status"]
        also = published.relations(number, query.first, query.second) == [query.predicate]
        assert row["readings"] == ["strict", "published"][: 1 + also]
        steps = [
            ProofStep(fact([first, second], word, genders[number]), via)
            for (first, via, second), word in zip(row["proof_steps"], row["proof_relations"], strict=True)
        ]
        assert replay(strict_rules(), stories[number], query, steps) is None
        assert row["pattern"] == " ".join(each.predicate for each in stories[number][: row["k"]])


@pytest.mark.parametrize("task", ["clean", "mixed"])
def test_blocks_depend_on_nothing_but_their_number(task: str) -> None:
    asked = [("train", 1), ("test", 0), ("train", 0)]
    settings = LONG if task == "clean" else SHORT
    one, other = (Clutrr(ClutrrConfig(**settings, task=task), 4) for _ in range(2))
    first = {each: one.block(*each) for each in asked}
    assert all(other.block(*each).equals(first[each]) for each in reversed(asked))


def test_workers_change_nothing_in_long_chains(tmp_path: Path) -> None:
    for workers in (1, 2):
        storyproof.generate("clutrr", train=7000, seed=2, out=tmp_path / str(workers), workers=workers, **LONG)
    one, other = (json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("1", "2"))
    assert one["splits"] == other["splits"]


def test_training_and_test_share_no_pattern_of_a_held_out_length() -> None:
    patterns = {}
    for split in ("train", "test"):
        block = benchmark(test_k=(6, 10)).block(split, 0)
        patterns[split] = {
            (k, pattern)
            for k, pattern in zip(block["k"].to_pylist(), block["pattern"].to_pylist(), strict=True)
            if k in (6, 10)
        }
    assert not patterns["train"] & patterns["test"]
    assert len(patterns["test"]) > 100


def test_genders_are_drawn_for_every_row() -> None:
    """Rows of one pattern have all genders, not those of a few prepared puzzles."""
    block = Clutrr(ClutrrConfig(train_k=(2,), text="synthetic"), 0).block("train", 0)
    grand = [
        tuple(person.split(":")[1] for person in genders)
        for pattern, genders in zip(block["pattern"].to_pylist(), block["genders"].to_pylist(), strict=True)
        if pattern == "child child"
    ]
    counts = Counter(grand)
    assert len(counts) == 8
    assert min(counts.values()) > 0.6 * len(grand) / 8


# -------------------------------------------------------------------------------------------------------- siblings


def many_siblings(row: Row) -> bool:
    """Whether six or more people of a story are linked by facts about brothers and sisters."""
    group = {person: {person} for edge in row["edges"] for person in edge}
    for (first, second), word in zip(row["edges"], row["edge_types"], strict=True):
        if word in ("brother", "sister"):
            both = group[first] | group[second]
            group |= dict.fromkeys(both, both)
    return max(map(len, group.values())) >= 6


def share(manifest: dict[str, Any], k: int) -> float:
    found: float = manifest["splits"]["test"]["balance"][f"task_1.{k}"]["six_or_more_siblings"]
    return found


def test_of_ten_facts_only_husbands_and_wives_need_six_siblings(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"test": 220, "test_k": (10,), "text": "synthetic", "seed": 1}
    manifest = storyproof.generate("clutrr", out=tmp_path / "x", **settings)
    rows = storyproof.generate("clutrr", **settings).to_pylist()
    crowded = [row["answer"] for row in rows if many_siblings(row)]
    assert Counter(crowded) == {"husband": 10, "wife": 10}
    assert share(manifest, 10) == round(20 / 220, 4)
    assert manifest["longer_sibling_runs"]["10"] == {
        "son": 4, "daughter": 4, "father": 4, "mother": 4, "husband": 8, "wife": 8
    }  # fmt: skip


def test_any_bound_can_be_asked_for(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"test": 220, "test_k": (10,), "text": "synthetic", "sibling_run": 15}
    manifest = storyproof.generate("clutrr", out=tmp_path / "x", **settings)
    assert share(manifest, 10) > 0.35
    assert manifest["longer_sibling_runs"] == {}


# ---------------------------------------------------------------------------------------------- without the file


def test_without_the_file_of_proofs_the_same_is_generated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"train": 60, "test": 20, "train_k": (2, 4), "test_k": (3, 5), "seed": 6}
    usual = storyproof.generate("clutrr", out=tmp_path / "usual", **settings)
    proofs = Proofs(tmp_path / "strict.proofs")
    monkeypatch.setattr(clutrr, "strict_proofs", lambda: proofs)
    again = storyproof.generate("clutrr", out=tmp_path / "again", **settings)
    assert again["splits"] == usual["splits"]
    assert usual["proofs"]["problem"] == ""
    assert len(usual["proofs"]["sha256"]) == 64
    assert again["proofs"] == {"sha256": "", "problem": "strict.proofs cannot be read: No such file or directory"}
    made = Clutrr(ClutrrConfig(), 6)
    assert not any("proved again" in remark for remark in made.remarks(usual))
    assert [remark for remark in made.remarks(again) if "proved again" in remark] == [
        "strict.proofs cannot be read: No such file or directory; the puzzles were proved again, which takes longer "
        "(make proofs writes the file)"
    ]
