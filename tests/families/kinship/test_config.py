from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest

from storyproof.errors import ConfigError, UnknownNameError
from storyproof.families.kinship.clutrr import Clutrr
from storyproof.families.kinship.config import LEAST_K, MOST_K, ClutrrConfig
from storyproof.families.kinship.language.scenes import our_scenes
from storyproof.families.kinship.placeholders.collection import Placeholders
from storyproof.families.kinship.placeholders.files import ours
from storyproof.families.kinship.rules import load_rules, published_rules, strict_rules
from storyproof.families.kinship.tasks import TASK_NUMBERS, TASKS

SON = (("son",), ("male", "male"))
MINE = Placeholders("mine.json", {SON: ("ENT_0_male saw his son ENT_1_male.",)})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"task": "clear"},
            r"unknown value of --task 'clear'\. Did you mean 'clean'\? Known: all, clean, disconnected, irrel",
        ),
        ({"test_tasks": ("clean", "noisy")}, r"unknown value of --test-task 'noisy'.*Known: all, clean"),
        ({"test_tasks": ("clean", "all", "clean")}, r"test_tasks is \['clean', 'all', 'clean'\]; name each task once"),
        ({"train_k": ()}, r"train_k is \[\]; give at least one length"),
        ({"test_k": ()}, r"test_k is \[\]; give at least one length"),
        ({"train_k": (2, 3, 2)}, r"train_k is \[2, 3, 2\]; give at least one length, each once"),
        ({"train_k": (1, 2)}, r"--train-k has 1; use whole numbers from 2 to 15"),
        ({"test_k": (2, 16)}, r"--test-k has 16; use whole numbers from 2 to 15"),
        ({"test_k": (0,)}, r"--test-k has 0; use whole numbers from 2 to 15"),
        ({"test_k": (-2,)}, r"--test-k has -2; use whole numbers from 2 to 15"),
        ({"train_k": (2.5,)}, r"--train-k has 2\.5; use whole numbers from 2 to 15"),
        ({"train_k": ("2",)}, r"--train-k has '2'; use whole numbers from 2 to 15"),
        ({"train_k": (None,)}, r"--train-k has None; use whole numbers from 2 to 15"),
        ({"reading": "loose"}, r"unknown value of --reading 'loose'\. Known: published, strict"),
        ({"sibling_run": 0}, r"--sibling-run is 0; use a whole number from 1 to 15"),
        ({"sibling_run": "2"}, r"--sibling-run is '2'; use a whole number from 1 to 15"),
        ({"text": "prose"}, r"unknown value of --text 'prose'\. Known: natural, placeholders, plain, synthetic"),
        ({"bad_placeholders": "ignore"}, r"unknown value of --bad-placeholders 'ignore'.* Known: drop, keep, refuse"),
        (
            {"text": "synthetic", "placeholders": MINE},
            r"synthetic text does not use placeholders; leave them out",
        ),
        (
            {"text": "synthetic", "test_placeholders": MINE},
            r"synthetic text does not use placeholders; leave them out",
        ),
        ({"test_placeholders": MINE}, r"test_placeholders are given, but no placeholders for training; give both"),
        ({"test_scenes": our_scenes()}, r"test_scenes are given, but no scenes for training; give both"),
        ({"keep_placeholders": 0.0}, r"--keep-placeholders is 0\.0; use a number above 0 and up to 1"),
        ({"keep_placeholders": -0.2}, r"--keep-placeholders is -0\.2; use a number above 0 and up to 1"),
        ({"keep_placeholders": 1.01}, r"--keep-placeholders is 1\.01; use a number above 0 and up to 1"),
        ({"keep_placeholders": math.nan}, r"--keep-placeholders is nan; use a number above 0 and up to 1"),
        ({"keep_placeholders": math.inf}, r"--keep-placeholders is inf; use a number above 0 and up to 1"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_to_do(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{message}.*\.$"):
        ClutrrConfig(**settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"train_k": 3},
        {"test_k": None},
        {"task": None},
        {"reading": None},
        {"test_tasks": None},
        {"keep_placeholders": "half"},
        {"placeholders": "mine.json"},
        {"test_placeholders": Path("mine.json"), "placeholders": MINE},
        {"rules": "rules.yaml"},
        {"scenes": "scenes"},
        {"test_scenes": Path("scenes"), "scenes": our_scenes()},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_a_setting_of_another_type_is_refused_too(settings: dict[str, Any]) -> None:
    # Whoever calls the library writes train_k=3, or the path of a file, as on the command line.
    with pytest.raises(ConfigError, match=next(iter(settings))):
        ClutrrConfig(**settings)


@pytest.mark.parametrize("k", range(LEAST_K, MOST_K + 1))
def test_all_lengths_in_between_are_good(k: int) -> None:
    assert ClutrrConfig(train_k=(k,), test_k=(k,)).train_k == (k,)


@pytest.mark.parametrize("task", TASKS)
def test_all_tasks_are_good(task: str) -> None:
    assert ClutrrConfig(task=task, test_tasks=TASKS).task == task


def test_tasks_are_numbered_as_published() -> None:
    assert TASK_NUMBERS == {
        "clean": 1,
        "supporting": 2,
        "irrelevant": 3,
        "disconnected": 4,
        "all": 5,
        "memory": 6,
        "mixed": 7,
    }


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(FrozenInstanceError):
        ClutrrConfig().task = "all"  # type: ignore[misc]


def test_rules_are_those_of_the_reading_unless_given(tmp_path: Path) -> None:
    assert ClutrrConfig().used_rules is strict_rules()
    assert ClutrrConfig(reading="published").used_rules is published_rules()
    (tmp_path / "rules.yaml").write_text("rules:\n  - grand: [child, child]\n")
    mine = load_rules(tmp_path / "rules.yaml")
    assert ClutrrConfig(rules=mine).used_rules is mine


# ----------------------------------------------------------------------------------------------- for the manifest


def test_as_dict_names_every_setting_in_plain_values() -> None:
    found = ClutrrConfig().as_dict()
    assert list(found) == [item.name for item in fields(ClutrrConfig)]
    assert json.loads(json.dumps(found)) == found
    assert found == {
        "task": "clean",
        "train_k": [2, 3],
        "test_k": [2, 3, 4, 5, 6, 7, 8, 9, 10],
        "test_tasks": [],
        "reading": "strict",
        "rules": None,
        "text": "natural",
        "placeholders": None,
        "test_placeholders": None,
        "holdout": True,
        "split_placeholders": True,
        "bad_placeholders": "refuse",
        "keep_placeholders": 1.0,
        "cloze": False,
        "scenes": None,
        "test_scenes": None,
        "names": "one",
        "sibling_run": 3,
    }


def test_as_dict_names_collections_and_rules_by_what_is_in_them(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("rules:\n  - grand: [child, child]\n")
    other = Placeholders("mine.json", {SON: ("ENT_0_male met his son ENT_1_male.",)})
    same = Placeholders("mine.json", {SON: ("ENT_0_male saw his son ENT_1_male.",)})
    rules = load_rules(tmp_path / "rules.yaml")
    found = ClutrrConfig(rules=rules, placeholders=MINE, test_placeholders=other).as_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["rules"] == rules.name
    assert found["placeholders"]["name"] == "mine.json"
    assert len(found["placeholders"]["sha256"]) == 64
    assert found["placeholders"] != found["test_placeholders"]
    assert found["placeholders"] == ClutrrConfig(placeholders=same).as_dict()["placeholders"]


def test_the_order_of_a_collection_does_not_change_its_hash() -> None:
    # A JSON file may list its relations in any order; the content for a seed hangs on each list alone.
    turned = Placeholders("storyproof", dict(reversed(ours().templates.items())))
    assert ClutrrConfig(placeholders=turned).as_dict() == ClutrrConfig(placeholders=ours()).as_dict()


# -------------------------------------------------------------------------------------------------- the paper's sets

ROBUST = ("clean", "supporting", "irrelevant", "disconnected")
TABLE_4 = {  # source 002: training variant and lengths, testing variants and lengths
    "generalization-23": ("clean", (2, 3), ("clean",), (2, 3, 4, 5, 6, 7, 8, 9, 10)),
    "generalization-234": ("clean", (2, 3, 4), ("clean",), (2, 3, 4, 5, 6, 7, 8, 9, 10)),
    "robust-clean": ("clean", (2, 3), ROBUST, (2, 3)),
    "robust-supporting": ("supporting", (2, 3), ROBUST, (2, 3)),
    "robust-irrelevant": ("irrelevant", (2, 3), ROBUST, (2, 3)),
    "robust-disconnected": ("disconnected", (2, 3), ROBUST, (2, 3)),
}


def test_presets_are_those_of_the_paper() -> None:
    made = {name: ClutrrConfig(**Clutrr.preset(name)[0]) for name in Clutrr.presets}
    found = {
        name: (config.task, config.train_k, config.test_tasks or (config.task,), config.test_k)
        for name, config in made.items()
    }
    assert found == TABLE_4
    for name in Clutrr.presets:
        assert Clutrr.preset(name)[1] == Clutrr.usual_counts == {"train": 10_000, "val": 0, "test": 100}


def test_presets_leave_all_else_as_usual() -> None:
    usual = ClutrrConfig().as_dict()
    for name in Clutrr.presets:
        found = ClutrrConfig(**Clutrr.preset(name)[0]).as_dict()
        changed = {name for name in usual if usual[name] != found[name]}
        assert changed <= {"task", "train_k", "test_k", "test_tasks"}


def test_names_are_of_one_tradition_or_mixed() -> None:
    assert ClutrrConfig().as_dict()["names"] == "one"
    assert ClutrrConfig(names="mixed").as_dict()["names"] == "mixed"
    with pytest.raises(UnknownNameError, match=r"unknown value of --names 'Greek'.*Known: mixed, one"):
        ClutrrConfig(names="Greek")
    with pytest.raises(ConfigError, match=r"names is 7; expected a name\."):
        ClutrrConfig(names=7)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="names is 'mixed', but cloze stories have no names"):
        ClutrrConfig(names="mixed", cloze=True)
