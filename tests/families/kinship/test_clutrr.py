from __future__ import annotations

import json
import pickle
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import storyproof
from storyproof.benchmark import BLOCK_STORIES
from storyproof.datasets.generate import make_benchmark
from storyproof.errors import ConfigError, UnknownNameError
from storyproof.example import SPLITS, plain_schema
from storyproof.families.kinship.clutrr import ENTITIES, Clutrr
from storyproof.families.kinship.config import ClutrrConfig
from storyproof.families.kinship.generation.patterns import longest_run
from storyproof.families.kinship.language.frames import our_frames
from storyproof.families.kinship.language.names import our_names
from storyproof.families.kinship.language.scenes import Scenes, our_scenes, read_scene
from storyproof.families.kinship.placeholders.collection import Key, Placeholders
from storyproof.families.kinship.placeholders.files import ours
from storyproof.families.kinship.relations import BASIC, GENDERS, NAMES, WORDS, word
from storyproof.families.kinship.rules import load_rules, published_rules
from storyproof.families.kinship.schema import KINSHIP_SCHEMA
from tests.groups import only_first

Row = dict[str, Any]
TRADITION_OF = {name: each for each, pool in our_names().items() for names in pool.values() for name in names}
GENDER_OF = {name: gender for pool in our_names().values() for gender, names in pool.items() for name in names}
SMALL = {"train_k": (2, 3), "test_k": (2, 3)}
SON: Key = (("son",), ("male", "male"))
PUZZLE = (
    "answer",
    "candidates",
    "question_type",
    "story_type",
    "readings",
    "k",
    "task",
    "edges",
    "edge_types",
    "noise_types",
    "pattern",
    "status",
    "proof_steps",
    "proof_relations",
)


@cache
def benchmark(seed: int = 0, **settings: Any) -> Clutrr:
    return Clutrr(ClutrrConfig(**{**SMALL, **settings}), seed)


@cache
def block(split: str, index: int = 0, seed: int = 0, **settings: Any) -> pa.Table:
    return benchmark(seed, **settings).block(split, index)


@cache
def rows(split: str, **settings: Any) -> tuple[Row, ...]:
    """The first rows of a block."""
    return tuple(block(split, **settings).slice(0, 600).to_pylist())


def column(name: str, split: str, **settings: Any) -> list[Any]:
    return block(split, **settings).column(name).to_pylist()


def singles(son: tuple[str, ...] = ()) -> Placeholders:
    """A collection of single facts, with other texts for sons of men."""
    found = {key: texts[:3] for key, texts in ours().templates.items() if len(key[0]) == 1}
    return Placeholders("mine.json", {**found, **({SON: son} if son else {})})


# ----------------------------------------------------------------------------------------------------- reproducible


def test_same_seed_same_table() -> None:
    assert Clutrr(ClutrrConfig(**SMALL), 0).block("test", 0).equals(block("test"))


def test_other_seeds_tell_other_stories() -> None:
    assert not set(column("story", "train")) & set(column("story", "train", seed=1))


def spelt_out(table: pa.Table) -> pa.Table:
    return table.cast(plain_schema(table.schema))


def test_a_block_does_not_hang_on_those_before_it() -> None:
    first = block("train", 0), block("train", 1)
    alone = Clutrr(ClutrrConfig(**SMALL), 0)
    assert spelt_out(alone.block("train", 1)).equals(spelt_out(first[1]))
    # Nor on other splits, whose puzzles are on the same shelf.
    assert spelt_out(alone.block("val", 0)).equals(spelt_out(block("val")))
    assert spelt_out(alone.block("train", 0)).equals(spelt_out(first[0]))


def test_nor_do_its_dictionaries() -> None:
    """They are in the bytes of a Parquet file, which must not tell how many workers wrote it."""
    block("train", 0)
    assert Clutrr(ClutrrConfig(**SMALL), 0).block("train", 1).equals(block("train", 1))


def test_dictionaries_hold_each_word_once() -> None:
    """Arrow writes others to Parquet in bytes that differ from time to time."""
    for split in ("train", "test"):
        made = block(split)
        for field in made.schema:
            if pa.types.is_dictionary(field.type):
                words = made.column(field.name).chunk(0).dictionary.to_pylist()
                assert len(set(words)) == len(words), field.name


def test_noise_of_several_widths_does_not_hang_on_the_order_either() -> None:
    settings: dict[str, Any] = {"train_k": (2,), "test_k": (2,), "test_tasks": ("clean", "irrelevant", "memory")}
    first, second = (Clutrr(ClutrrConfig(**settings), 3) for _ in range(2))
    expected = [spelt_out(first.block("test", index)) for index in (0, 1)]
    assert spelt_out(second.block("test", 1)).equals(expected[1])
    assert spelt_out(second.block("test", 0)).equals(expected[0])


@pytest.mark.parametrize("settings", [{}, {"task": "mixed", "reading": "published"}], ids=str)
def test_a_worker_makes_the_same_block(settings: dict[str, Any]) -> None:
    made = benchmark(**settings)
    sent = pickle.dumps(made)
    assert len(sent) < 10_000  # what was made before does not travel
    assert spelt_out(pickle.loads(sent).block("train", 1)).equals(spelt_out(made.block("train", 1)))


def test_a_worker_gets_own_rules_and_placeholders(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("stories: [child, sibling]\nrules:\n  - child: [child, sibling]\n")
    config = ClutrrConfig(
        rules=load_rules(tmp_path / "rules.yaml"), placeholders=singles(), train_k=(2,), test_k=(2,), holdout=False
    )
    made = Clutrr(config, 2)
    assert pickle.loads(pickle.dumps(made)).block("test", 0).equals(made.block("test", 0))


def test_a_longer_split_begins_with_the_shorter_one() -> None:
    made = benchmark()
    long = pa.concat_tables(made.blocks("train", BLOCK_STORIES + 100))
    assert long.num_rows == BLOCK_STORIES + 100
    assert pa.concat_tables(made.blocks("train", 100)).to_pylist() == long.slice(0, 100).to_pylist()


def test_workers_change_nothing(tmp_path: Path) -> None:
    for workers in (1, 2):
        out = tmp_path / str(workers)
        storyproof.generate("clutrr", train=BLOCK_STORIES + 12, train_k=(2, 3), out=out, workers=workers)
    one, other = (json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("1", "2"))
    assert one["splits"] == other["splits"]


# -------------------------------------------------------------------------------------------------------- the rows


@pytest.mark.parametrize(
    ("split", "reading"), [("train", "strict"), ("val", "strict"), ("test", "strict"), ("test", "published")]
)
def test_rows_are_whole(split: str, reading: str) -> None:
    made = block(split, reading=reading)
    assert made.schema == KINSHIP_SCHEMA
    assert made.num_rows == BLOCK_STORIES
    assert {name: made.column(name).null_count for name in made.column_names} == dict.fromkeys(KINSHIP_SCHEMA.names, 0)
    assert made.column("id")[7].as_py() == f"{split}-000000007-0"
    assert made.column("story_id")[7].as_py() == f"{split}-000000007"
    assert set(made.column("benchmark").to_pylist()) == {"clutrr"}
    assert set(made.column("split").to_pylist()) == {split}


@pytest.mark.parametrize("settings", only_first(1, [{"task": "mixed"}, {}, {"cloze": True}]), ids=str)
def test_no_question_is_asked_twice(settings: dict[str, Any]) -> None:
    asked = [
        pair
        for split, index in (("train", 0), ("train", 1), ("val", 0), ("test", 0))
        for pair in zip(
            *(column(name, split, index=index, **settings) for name in ("story", "question")),
            strict=True,
        )
    ]
    assert len(asked) == 4 * BLOCK_STORIES
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize(
    "settings", only_first(1, [{"names": "mixed"}, {}, {"text": "synthetic", "cloze": True}]), ids=str
)
def test_no_question_is_asked_twice_in_other_words(settings: dict[str, Any]) -> None:
    """The same people in the same facts, whatever the order of lines and the placeholders."""
    found = set()
    for split in SPLITS:
        for genders, edges, types, question in zip(
            *(column(name, split, **settings) for name in ("genders", "edges", "edge_types", "question")), strict=True
        ):
            names = [person.split(":")[0] for person in genders]
            facts = frozenset(
                (names[first], told, names[second]) for (first, second), told in zip(edges, types, strict=True)
            )
            found.add((facts, question))
    assert len(found) == len(SPLITS) * BLOCK_STORIES


@pytest.mark.parametrize("task", ["clean", "all"])
def test_columns_fit_together(task: str) -> None:
    for row in rows("train", task=task, train_k=(2,), test_k=(2,), text="placeholders"):
        names = [person.split(":")[0] for person in row["genders"]]
        genders = [person.split(":")[1] for person in row["genders"]]
        assert len(set(names)) == len(names)
        assert all(GENDER_OF[name] == gender for name, gender in zip(names, genders, strict=True))
        assert row["query"] == [names[0], names[row["k"]]]
        assert row["question"] == f"What is {row['query'][1]} to {row['query'][0]}?"
        assert row["edges"][: row["k"]] == [[place, place + 1] for place in range(row["k"])]
        assert len(row["edges"]) == len(row["edge_types"]) == row["k"] + len(row["noise_types"])
        assert {person for edge in row["edges"] for person in edge} == set(range(len(names)))
        assert len(row["placeholders"]) == row["story"].count("\n") + 1
        assert len(row["proof_steps"]) == len(row["proof_relations"]) == row["k"] - 1
        assert row["proof_steps"][0][::2] == [0, row["k"]]
        assert row["proof_relations"][0] == row["answer"]
        assert all(re.search(rf"\b{name}\b", row["story"]) for name in names)
        assert (row["order"], row["chain"], row["false_belief"]) == (0, [], False)


@pytest.mark.parametrize(
    ("task", "number", "noise"),
    [
        ("clean", 1, {()}),
        ("supporting", 2, {("supporting",) * 2}),
        ("irrelevant", 3, {("irrelevant",)}),
        ("disconnected", 4, {("disconnected",)}),
        ("all", 5, {("supporting", "supporting", "irrelevant", "disconnected")}),
        ("memory", 6, {()}),
        ("mixed", 7, {()}),
    ],
)
def test_tasks_have_their_noise(task: str, number: int, noise: set[tuple[str, ...]]) -> None:
    made = rows("train", task=task, train_k=(2,), test_k=(2,))
    assert {tuple(row["noise_types"]) for row in made} == noise
    assert {row["question_type"] for row in made} == {f"task_{number}.2"}
    assert {row["task"] for row in made} == {task}
    assert {row["story_type"] for row in made} == ({"clean", "memory"} if task == "mixed" else {task})


def test_test_scenarios_follow_each_other() -> None:
    types = column("question_type", "test", test_tasks=("clean", "memory"), test_k=(2, 3))
    assert types[:8] == ["task_1.2", "task_1.3", "task_6.2", "task_6.3"] * 2


# ------------------------------------------------------------------------------------------------ the same puzzles


@pytest.mark.parametrize(
    "other", [{"text": "synthetic"}, {"cloze": True}, {"text": "synthetic", "cloze": True}], ids=str
)
@pytest.mark.parametrize("split", ["train", "test"])
def test_other_words_tell_the_same_puzzles(split: str, other: dict[str, Any]) -> None:
    natural, told = rows(split), rows(split, **other)
    for one, same in zip(natural, told, strict=True):
        assert {name: one[name] for name in PUZZLE} == {name: same[name] for name in PUZZLE}
        assert [person.split(":")[1] for person in one["genders"]] == [
            person.split(":")[1] for person in same["genders"]
        ]
    assert {row["story"] for row in natural}.isdisjoint(row["story"] for row in told)


@pytest.mark.parametrize("settings", [{"split_placeholders": False}, {"keep_placeholders": 0.2}], ids=str)
def test_other_placeholders_tell_the_same_puzzles(settings: dict[str, Any]) -> None:
    told: dict[str, Any] = {"text": "placeholders"}
    assert column("edge_types", "test", **told) == column("edge_types", "test", **told, **settings)
    assert column("story", "test", **told) != column("story", "test", **told, **settings)


def test_cloze_names_show_no_gender() -> None:
    seen: dict[str, set[str]] = {gender: set() for gender in GENDERS}
    for people in column("genders", "train", cloze=True):
        pairs = [person.split(":") for person in people]
        assert len({name for name, _ in pairs}) == len(pairs)
        for name, gender in pairs:
            seen[gender].add(name)
    assert seen["male"] == seen["female"]
    assert seen["male"] <= {f"@entity-{number}" for number in range(ENTITIES)}
    assert len(seen["male"]) > 100


def test_synthetic_text_has_no_placeholders() -> None:
    assert all(row["placeholders"] == [] for row in rows("train", text="synthetic"))
    line = re.compile(r"\w+ is the [a-z-]+ of \w+\.")
    assert all(line.fullmatch(each) for row in rows("train", text="synthetic") for each in row["story"].split("\n"))


def test_a_word_of_a_text_is_nobodys_name() -> None:
    texts = (
        *ours().templates[SON],
        '"Simon!" called ENT_0_male, and his son ENT_1_male ran; Hugues? Feliks: no (Lars).',
    )
    made = Clutrr(ClutrrConfig(placeholders=singles(son=texts), bad_placeholders="keep", **SMALL), 0)
    assert {"Simon", "Hugues", "Feliks", "Lars"} <= set(benchmark().name_assigner.names)
    assert not {"Simon", "Hugues", "Feliks", "Lars"} & set(made.name_assigner.names)


def own_scenes(name: str, word: str) -> Scenes:
    """Return scenes whose every sentence has a word that no other scene has."""
    text = f"""
begin:
  any:
    - "{{A}} and {{A.his}} {{kin}} {{B}} [carried|cleaned|found|sold] the {word}."
    - "{{A}} wanted the {word}. {{A.His}} {{kin}} {{B}} [carried|cleaned|found|sold] it."
then:
  any:
    - "{{A}} looked at the {word}. {{A.His}} {{kin}} {{B}} looked away."
    - "{{A}} touched the {word}. {{A.His}} {{kin}} {{B}} touched it."
    - "{{A}} painted the {word} red. {{A.His}} {{kin}} {{B}} painted it blue."
"""
    return Scenes(name, (read_scene(text, f"{word}.yaml"),))


def test_a_word_of_a_scene_is_nobodys_name() -> None:
    [scene] = own_scenes("mine", "boat").scenes
    scenes = Scenes("mine", (replace(scene, openers=("Olga was painted on the hull.",)),))
    made = Clutrr(ClutrrConfig(scenes=scenes, **SMALL), 0)
    assert "Olga" in benchmark().name_assigner.names
    assert "Olga" not in made.name_assigner.names


@pytest.mark.parametrize("is_split", [True, False])
def test_test_stories_have_scenes_of_their_own(is_split: bool, tmp_path: Path) -> None:
    given = {"scenes": own_scenes("mine", "gimbal"), "test_scenes": own_scenes("yours", "anvil")}
    words = {"train": "gimbal", "val": "gimbal", "test": "anvil"}
    storyproof.generate(
        "clutrr", train=40, val=20, test=20, out=tmp_path / "data", split_placeholders=is_split, **SMALL, **given
    )
    assert not storyproof.verify(tmp_path / "data").disagreements
    for split, thing in words.items():
        for row in pq.read_table(tmp_path / "data" / f"{split}.parquet").to_pylist():
            assert {each for each in words.values() if each in row["story"]} == {thing}
    settings = json.loads((tmp_path / "data" / "manifest.json").read_text("utf-8"))["config"]
    assert settings["scenes"]["name"] == "mine"
    assert settings["test_scenes"]["name"] == "yours"


# ------------------------------------------------------------------------------------------------------------ names


def traditions(row: list[str]) -> set[str]:
    return {TRADITION_OF[person.split(":")[0]] for person in row}


@pytest.mark.parametrize("text", only_first(1, ["natural", "plain", "placeholders", "synthetic"]))
def test_the_names_of_a_story_are_of_one_tradition(text: str) -> None:
    seen = Counter[str]()
    for people in column("genders", "train", text=text, task="all"):
        [tradition] = traditions(people)
        seen[tradition] += 1
    assert set(seen) == set(our_names())
    assert max(seen.values()) < 1.5 * min(seen.values())


def test_traditions_can_be_mixed() -> None:
    mixed = [len(traditions(people)) for people in column("genders", "train", names="mixed", train_k=(3,))]
    assert sum(mixed) / len(mixed) > 3.5  # of four people
    assert column("answer", "train", names="mixed", train_k=(3,)) == column("answer", "train", train_k=(3,))


@pytest.mark.parametrize("format_name", only_first(1, ["jsonl", "csv"]))
def test_placeholders_are_read_back(format_name: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    storyproof.generate("clutrr", train=200, test=40, out=data, format=format_name, text="placeholders", **SMALL)
    found = storyproof.verify(data)
    assert found.disagreements == []
    assert "story" not in found.unchecked
    if format_name == "csv":
        return
    rows = [json.loads(line) for line in (data / "train.jsonl").read_text().splitlines()]
    assert all(each.rpartition("/")[2].isdecimal() for row in rows for each in row["placeholders"])
    for row in rows:  # the next text for the same relations is another one, where there is one
        row["placeholders"] = [
            re.sub(r"\d+$", lambda number: str(int(number[0]) + 1), each) for each in row["placeholders"]
        ]
    other = tmp_path / "other.jsonl"
    other.write_text("".join(json.dumps(row) + "\n" for row in rows))
    wrong = storyproof.verify(other).disagreements
    assert len(wrong) > 20
    assert any("does not match its placeholder" in str(each.found) for each in wrong)


# ----------------------------------------------------------------------------------------------------------- labels


def test_every_answer_is_entailed_under_strict_kinship() -> None:
    for split in SPLITS:
        assert set(column("status", split)) == {"entailed"}
        assert all("strict" in readings for readings in column("readings", split))


def test_published_rules_give_doubtful_answers_and_say_so() -> None:
    settings: dict[str, Any] = {"reading": "published", "test_k": (3, 4)}
    statuses = column("status", "test", **settings)
    assert set(statuses) == {"entailed", "ambiguous", "contradicted"}
    assert statuses.count("ambiguous") > 500
    for status, readings in zip(statuses, column("readings", "test", **settings), strict=True):
        assert readings == (["strict", "published"] if status == "entailed" else ["published"])


@pytest.mark.parametrize(
    ("settings", "targets"),
    [
        ({}, NAMES),
        ({"reading": "published"}, published_rules().targets),
        ({"reading": "published", "task": "memory"}, (*published_rules().targets, "SO")),
        ({"task": "mixed"}, NAMES),
    ],
    ids=str,
)
def test_candidates_are_all_that_could_be_asked_for(settings: dict[str, Any], targets: tuple[str, ...]) -> None:
    expected = sorted(word(target, gender) for target in set(targets) for gender in GENDERS)
    for row in rows("train", **settings):
        assert row["candidates"] == expected
        assert row["answer"] in expected


def test_all_answers_come_up() -> None:
    for split in SPLITS:
        assert set(column("answer", split)) == set(WORDS)
    told = {word(relation, gender) for relation in BASIC for gender in GENDERS}
    assert set(column("answer", "train", task="memory")) == told


# ----------------------------------------------------------------------------------------------------------- counts


def test_a_test_count_is_for_each_scenario() -> None:
    made = benchmark(test_tasks=("clean", "all"))
    assert made.stories("test", 10) == 40
    assert made.stories("train", 10) == made.stories("val", 10) == 10
    assert storyproof.generate("clutrr", test=5, test_k=(2, 3)).num_rows == 10
    assert storyproof.generate("clutrr", train=5, train_k=(2, 3)).num_rows == 5


def test_usual_counts_are_the_papers() -> None:
    assert [benchmark().usual_counts[split] for split in SPLITS] == [10_000, 0, 100]


@pytest.mark.parametrize("settings", [{}, {"cloze": True}, {"names": "mixed"}], ids=str)
def test_there_are_millions_of_stories(settings: dict[str, Any]) -> None:
    made = benchmark(**settings)
    for split in SPLITS:
        assert made.capacity(split) > 3_000_000
        made.check_count(split, made.capacity(split))
        with pytest.raises(ConfigError, match=rf"--{split} is \d+; .* at most {made.capacity(split)} different"):
            made.check_count(split, made.capacity(split) + 1)
    assert benchmark().capacity("test") == 2 * 11 * 16 * (88 - 24) ** 3 // 3
    assert benchmark(names="mixed").capacity("test") == 10**9  # ids have nine digits


def test_the_last_story_is_as_new_as_the_first() -> None:
    """Names go round after the last story that there is room for, not before."""
    made = benchmark(train_k=(2,), test_k=(2,))
    last = made.capacity("train")
    for split in ("train", "val"):
        early, late = made.schedule.assign(split, 0, 3000), made.schedule.assign(split, last - 3000, 3000)
        named = [
            set(
                zip(each.target.tolist(), each.gender.tolist(), each.pattern.tolist(), each.place.tolist(), strict=True)
            )
            for each in (early, late)
        ]
        assert not named[0] & named[1]


@pytest.mark.parametrize(
    ("split", "count", "message"),
    [
        ("train", -1, "--train is -1; the number of stories cannot be negative"),
        ("train", 1.5, "train is 1.5; expected a whole number of stories"),
        ("dev", 1, "unknown split 'dev'"),
    ],
)
def test_wrong_counts_are_refused(split: str, count: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        benchmark().check_count(split, count)


def test_unknown_settings_and_seeds_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown setting of clutrr 'noise'.*Known: bad_placeholders, cloze"):
        make_benchmark("clutrr", noise=0.1)
    with pytest.raises(ConfigError, match="the seed is -1; use a whole number from 0 on"):
        make_benchmark("clutrr", seed=-1)


# ---------------------------------------------------------------------------------------------------- the manifest


@cache
def manifest(folder: Path, **settings: Any) -> dict[str, Any]:
    return storyproof.generate("clutrr", out=folder, seed=5, **settings)


def test_the_manifest_says_what_was_made(tmp_path: Path) -> None:
    found = manifest(tmp_path / "x", train=500, test=60, text="placeholders", **SMALL)
    assert found == json.loads((tmp_path / "x" / "manifest.json").read_text())
    assert found["readings"] == ["strict", "published"]
    assert found["config"]["train_k"] == [2, 3]
    assert found["held_out_lengths"] == [3]
    assert found["single_pattern_labels_kept_in_training"] == {"3": ["husband", "wife"]}
    assert found["config"]["names"] == "one"
    assert found["naming_traditions"] == list(our_names())
    assert found["placeholders"] == {
        side: each.count for side, each in benchmark(5, text="placeholders").placeholders.items()
    }
    assert sum(found["placeholders"].values()) == ours().count
    assert found["placeholder_flaws"] == {}
    train, test = found["splits"]["train"], found["splits"]["test"]
    assert (train["stories"], train["questions"], test["stories"]) == (500, 500, 120)
    assert train["story_types"] == {"clean": 500}
    assert train["question_types"] == {"task_1.2": 250, "task_1.3": 250}
    assert test["question_types"] == {"task_1.2": 60, "task_1.3": 60}
    assert test["statuses"] == {"entailed": 120}


def test_the_manifest_says_how_even_labels_and_patterns_are(tmp_path: Path) -> None:
    settings: dict[str, Any] = {**SMALL, "text": "synthetic"}
    found = manifest(tmp_path / "x", test=60, **settings)["splits"]["test"]["balance"]
    assert set(found) == {"task_1.2", "task_1.3"}
    made = storyproof.generate("clutrr", test=60, seed=5, **settings).to_pylist()
    for name, balance in found.items():
        mine = [row for row in made if row["question_type"] == name]
        labels = Counter(row["answer"] for row in mine)
        patterns = Counter((row["answer"], row["pattern"]) for row in mine)
        spreads = [
            max(uses) - min(uses)
            for label in labels
            for uses in [[count for (answer, _), count in patterns.items() if answer == label]]
        ]
        assert balance == {
            "labels": len(labels),
            "rows_per_label": [min(labels.values()), max(labels.values())],
            "patterns": len({row["pattern"] for row in mine}),
            "most_uneven_patterns_of_a_label": max(spreads),
            "longest_sibling_run": max(longest_run(row["pattern"].split(" ")) for row in mine),
            "six_or_more_siblings": 0.0,
        }
        assert balance["rows_per_label"][1] - balance["rows_per_label"][0] <= 1
        assert balance["most_uneven_patterns_of_a_label"] <= 1


def test_the_manifest_says_what_was_reached_of_the_bound_on_siblings(tmp_path: Path) -> None:
    options: dict[str, Any] = {"test_k": (8,), "train_k": (2,), "test": 220}
    found = {
        bound: manifest(tmp_path / str(bound), **options, sibling_run=bound)["splits"]["test"]["balance"]["task_1.8"]
        for bound in (3, 15)
    }
    assert {bound: each["longest_sibling_run"] for bound, each in found.items()} == {3: 6, 15: 8}
    assert found[3]["six_or_more_siblings"] < 0.1 < found[15]["six_or_more_siblings"]


def test_the_manifest_says_how_many_scenes_and_frames_there_are(tmp_path: Path) -> None:
    options: dict[str, Any] = {"train": 5, "test": 5, "train_k": (2,), "test_k": (2,)}
    found = manifest(tmp_path / "natural", **options)["language"]
    scenes, frames = len(our_scenes().scenes), our_scenes().frames
    assert found["train"]["scenes"] + found["test"]["scenes"] == scenes
    assert found["train"]["frames"] + found["test"]["frames"] == frames
    shared = manifest(tmp_path / "shared", **options, split_placeholders=False)["language"]
    assert shared["train"] == shared["test"] == {"scenes": scenes, "frames": frames}
    few = manifest(tmp_path / "few", **options, keep_placeholders=0.2)["language"]
    for side in ("train", "test"):
        assert few[side]["scenes"] == round(0.2 * found[side]["scenes"])
        assert few[side]["frames"] < found[side]["frames"]
    plain = manifest(tmp_path / "plain", **options, text="plain")["language"]
    assert plain["test"] == {"scenes": 0, "frames": len(our_frames().plain)}
    assert "language" not in manifest(tmp_path / "synthetic", **options, text="synthetic")


def test_notes_speak_of_a_hold_out_only_where_there_are_two_sides() -> None:
    assert benchmark().notes(["train", "test"])["held_out_lengths"] == [3]
    for splits in (["train"], ["test"], ["train", "val"]):
        assert benchmark().notes(splits)["held_out_lengths"] == []
        assert benchmark().notes(splits)["single_pattern_labels_kept_in_training"] == {}
    assert benchmark(holdout=False).notes(SPLITS)["held_out_lengths"] == []


def test_remarks_name_what_could_not_be_held_out() -> None:
    assert benchmark().remarks(benchmark().notes(SPLITS)) == [
        "at k=3 these have a single pattern, which stays in training: husband, wife"
    ]
    assert benchmark(holdout=False).remarks(benchmark(holdout=False).notes(SPLITS)) == []


# ---------------------------------------------------------------------------------------- other people's placeholders

FINE = ours().templates[SON][:3]
LACKING = (*FINE, "ENT_0_male has a son.")
REVEALING = (*FINE, "ENT_0_male and his son ENT_1_male met ENT_0_male's grandson.")
DOUBTFUL = (*FINE, "ENT_0_male and ENT_1_male went fishing.")


def other(texts: tuple[str, ...], manner: str = "refuse", **settings: Any) -> Clutrr:
    return Clutrr(ClutrrConfig(placeholders=singles(son=texts), bad_placeholders=manner, **SMALL, **settings), 0)


def test_placeholders_that_lack_somebody_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"mine\.json has 1 placeholders .*missing-person.*Fix them, or .* --bad-placeholders drop"
    ):
        _ = other(LACKING).placeholders


def test_placeholders_that_lack_somebody_can_be_left_out() -> None:
    made = other(LACKING, "drop")
    assert all(LACKING[-1] not in side.templates[SON] for side in made.placeholders.values())
    ((flaw,),) = made.notes(SPLITS)["placeholder_flaws"].values()
    assert "missing-person" in flaw
    assert "found 1 problems" in made.remarks(made.notes(SPLITS))[-1]


def test_doubtful_placeholders_are_used_unless_they_are_dropped() -> None:
    used = [text for side in other(DOUBTFUL).placeholders.values() for text in side.templates[SON]]
    assert DOUBTFUL[-1] in used
    used = [text for side in other(DOUBTFUL, "drop").placeholders.values() for text in side.templates[SON]]
    assert DOUBTFUL[-1] not in used


def test_flawless_placeholders_call_for_no_remark() -> None:
    made = other(FINE, holdout=False)
    assert list(made.notes(SPLITS)["placeholder_flaws"].values()) == [[]]
    assert made.remarks(made.notes(SPLITS)) == []


def test_two_files_of_one_name_are_told_apart() -> None:
    """Such as train/placeholders.json and test/placeholders.json."""
    good, bad = singles(), singles(son=LACKING)
    for train, test in ((good, bad), (bad, good)):
        made = Clutrr(ClutrrConfig(placeholders=train, test_placeholders=test, **SMALL), 0)
        with pytest.raises(ConfigError, match="missing-person"):
            _ = made.placeholders
    made = Clutrr(ClutrrConfig(placeholders=good, test_placeholders=bad, bad_placeholders="drop", **SMALL), 0)
    assert made.placeholders["train"].templates[SON] == FINE


def test_bad_placeholders_can_be_kept() -> None:
    made = other(("ENT_0_male has a son.",) * 2, "keep", split_placeholders=False)
    assert made.block("train", 0).num_rows == BLOCK_STORIES


def test_texts_about_nobody_cannot_be_kept() -> None:
    with pytest.raises(ConfigError, match="has no placeholder for 'son'"):
        _ = other(("ENT_0_male, his son ENT_1_male and ENT_7_male waved.",), "keep").placeholders


def test_a_collection_that_cannot_tell_a_relation_is_refused() -> None:
    few = Placeholders("few.json", {key: texts for key, texts in singles().templates.items() if key != SON})
    with pytest.raises(ConfigError, match=r"few\.json has no placeholder for 'son' with genders male-male.*add at lea"):
        _ = Clutrr(ClutrrConfig(placeholders=few, **SMALL), 0).placeholders


def test_a_collection_too_small_to_be_split_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"mine\.json has only one placeholder for 'son'.*train and test need one each"
    ):
        _ = other(FINE[:1]).placeholders
    assert other(FINE[:1], split_placeholders=False).placeholders["test"].templates[SON] == FINE[:1]


def test_texts_of_more_than_one_line_stay_one_line() -> None:
    made = other(("ENT_0_male has a son.\nHis name is ENT_1_male.",), "keep", split_placeholders=False)
    for row in made.block("train", 0).to_pylist()[:500]:
        assert row["story"].count("\n") + 1 == len(row["placeholders"])


# ---------------------------------------------------------------------------------------------- rules of one's own


def test_relations_of_ones_own_can_be_told(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(
        "relations:\n  milk: [milk-brother, milk-sister, milk]\nstories: [sibling, milk]\nrules:\n"
        "  - milk: [sibling, milk]\n  - milk: [milk, sibling]\n  - sibling: [sibling, sibling]\n"
    )
    options: dict[str, Any] = {"rules": load_rules(path), "text": "synthetic", "train_k": (2,), "test_k": (2, 3)}
    found = storyproof.generate("clutrr", train=40, test=10, out=tmp_path / "x", **options)
    assert found["splits"]["train"]["questions"] == 40
    assert storyproof.verify(tmp_path / "x", rules=path).disagreements == []


def test_supporting_noise_that_no_rule_makes_is_refused(tmp_path: Path) -> None:
    # Nothing tells a child in two facts, so there is no second path to tell; a clean story is none.
    (tmp_path / "rules.yaml").write_text("stories: [child]\nrules:\n  - grand: [child, child]\n")
    config = ClutrrConfig(rules=load_rules(tmp_path / "rules.yaml"), task="supporting", train_k=(2,), test_k=(2,))
    with pytest.raises(ConfigError, match="no supporting story"):
        Clutrr(config, 0).block("train", 0)
