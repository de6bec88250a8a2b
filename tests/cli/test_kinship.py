"""Kinship as a user types it; and a user's mistakes, each answered in one sentence with nothing written."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest

import storyproof
from storyproof.families.kinship.placeholders.files import ours
from tests.cli.invocation import Refuse, run_line

pytestmark = pytest.mark.usefixtures("small_blocks")

RULES = """\
relations:
  cousin: [cousin-brother, cousin-sister, cousin]
stories: [child, inv-child, SO, sibling, inv-un]
rules:
  - inv-un: [inv-child, sibling]
  - cousin: [inv-un, child]
  - sibling: [inv-child, child]
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("data") / "kin"
    storyproof.generate("clutrr", train=30, test=5, train_k=(2, 3), test_k=(2, 3), seed=7, out=out)
    return out


def manifest(path: str = "out") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(path) / "manifest.json").read_text())
    return found


def rows(split: str = "train", path: str = "out") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(path) / f"{split}.jsonl").read_text().splitlines()]


def published(relations: str = "son", genders: str = "male-male", more: tuple[str, ...] = ()) -> str:
    """Placeholders in the published form: two for each single fact, and some more for one of them."""
    found: dict[str, dict[str, list[str]]] = {}
    for (words, people), texts in ours().templates.items():
        if len(words) == 1:
            found.setdefault("-".join(words), {})["-".join(people)] = list(texts[:2])
    found[relations].setdefault(genders, []).extend(more)
    return json.dumps(found)


# ------------------------------------------------------------------------------------------------------ what works


@pytest.mark.parametrize(
    ("options", "config", "files"),
    [
        (
            "--task clean --train-k 2,3 --test-k 2-10 --train 12 --val 4 --test 2 --format parquet",
            {"task": "clean", "train_k": [2, 3], "test_k": [2, 3, 4, 5, 6, 7, 8, 9, 10]},
            {"train.parquet", "val.parquet", "test.parquet"},
        ),
        (
            "--task supporting --test-task clean,memory --train-k 2 --test-k 2-3 --train 12 --test 2 --format csv",
            {"task": "supporting", "test_tasks": ["clean", "memory"]},
            {"2.2_train.csv", "1.2_test.csv", "1.3_test.csv", "6.2_test.csv", "6.3_test.csv"},
        ),
        (
            "--task memory --train-k 2-4 --train 12 --test 0 --format jsonl --reading published",
            {"task": "memory", "train_k": [2, 3, 4], "reading": "published"},
            {"train.jsonl"},
        ),
        (
            "--task mixed --train-k 3 --test-k 3 --train 12 --test 4 --format csv --text synthetic --no-holdout",
            {"text": "synthetic", "holdout": False},
            {"7.3_train.csv", "7.3_test.csv"},
        ),
        (
            "--train-k 2 --test-k 2 --train 12 --test 4 --no-split-placeholders --keep-placeholders 0.2 --cloze",
            {"split_placeholders": False, "keep_placeholders": 0.2, "cloze": True},
            {"train.parquet", "test.parquet"},
        ),
        (
            "--preset robust-irrelevant --train 12 --test 2 --test-k 2 --train-k 2 --holdout --split-placeholders",
            {
                "task": "irrelevant",
                "test_tasks": ["clean", "supporting", "irrelevant", "disconnected"],
                "train_k": [2],
                "holdout": True,
                "split_placeholders": True,
            },
            {"train.parquet", "test.parquet"},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_generate_and_verify(folder: Path, options: str, config: dict[str, Any], files: set[str]) -> None:
    done = run_line(f"generate clutrr --out out {options} --seed 7")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("train: 12 stories, 12 questions\n")
    assert done.stdout.endswith("written to out\n")
    assert {path.name for path in Path("out").iterdir()} == {*files, "manifest.json"}
    found = manifest()
    assert found["seed"] == 7
    assert {name: found["config"][name] for name in config} == config
    verified = run_line("verify out")
    assert verified.exit_code == 0
    questions = sum(entry["questions"] for entry in found["splits"].values())
    assert verified.stdout.startswith(f"{questions} rows of {questions} stories: {questions} judged, 0 wrong answers, ")
    assert verified.stdout.endswith("\n0 disagreements\n")
    assert "  under strict kinship: entailed " in verified.stdout
    assert run_line("show out").exit_code == 0
    assert run_line("evaluate --model oracle --data out").exit_code == 0


@pytest.mark.parametrize(
    ("preset", "train_k", "test_k", "tests"),
    [
        ("generalization-23", [2, 3], 9, 1),
        ("generalization-234", [2, 3, 4], 9, 1),
        ("robust-clean", [2, 3], 2, 4),
    ],
)
def test_presets(folder: Path, preset: str, train_k: list[int], test_k: int, tests: int) -> None:
    task = preset.removeprefix("robust-") if "robust" in preset else "clean"
    done = run_line(f"generate clutrr --out out --preset {preset} --train 10 --test 0")
    assert done.exit_code == 0
    config = manifest()["config"]
    assert (config["task"], config["train_k"], len(config["test_k"]), len(config["test_tasks"]) or 1) == (
        task,
        train_k,
        test_k,
        tests,
    )


def test_the_usual_number(folder: Path) -> None:
    run_line("generate clutrr --out out --train-k 2 --test-k 2,3 --text synthetic")
    splits = manifest()["splits"]
    assert {split: entry["stories"] for split, entry in splits.items()} == {"train": 10_000, "test": 200}


def test_it_makes_what_the_function_makes(folder: Path, data: Path) -> None:
    run_line("generate clutrr --out out --train 30 --test 5 --train-k 2,3 --test-k 2,3 --seed 7")
    assert manifest() == json.loads((data / "manifest.json").read_text())


def test_what_cannot_be_held_out_is_said(folder: Path) -> None:
    done = run_line("generate clutrr --out out --train 4 --test 1 --train-k 3 --test-k 3")
    assert "at k=3 these have a single pattern, which stays in training: husband, wife\n" in done.stdout


def test_no_holdout(folder: Path) -> None:
    common = "--train 400 --test 200 --train-k 3 --test-k 3 --format jsonl --text synthetic"
    run_line(f"generate clutrr --out apart {common}")
    run_line(f"generate clutrr --out together {common} --no-holdout")
    for name, shared in (("apart", False), ("together", True)):
        train, test = ({row["pattern"] for row in rows(split, name)} for split in ("train", "test"))
        assert bool(train & test) == shared


def test_own_placeholders(folder: Path) -> None:
    (folder / "mine.json").write_text(published(more=("ENT_0_male proudly named a boat after ENT_1_male, his son.",)))
    done = run_line(
        "generate clutrr --out out --placeholders mine.json --train 200 --test 0 --train-k 2 --format jsonl"
    )
    assert done.exit_code == 0
    assert manifest()["config"]["placeholders"]["name"] == "mine.json"
    used = {text for row in rows() for text in row["placeholders"]}
    assert not any("," in text.split("/")[0] for text in used)  # there are none for two facts
    assert run_line("verify out").exit_code == 0


def test_own_placeholders_for_the_test(folder: Path) -> None:
    (folder / "train.json").write_text(published())
    (folder / "test.json").write_text(published().replace(".", " today."))
    common = "--train 20 --test 20 --train-k 2 --test-k 2 --format jsonl --bad-placeholders keep"
    done = run_line(f"generate clutrr --out out --placeholders train.json --test-placeholders test.json {common}")
    assert done.exit_code == 0
    assert all(" today." in row["story"] for row in rows("test"))
    assert not any(" today." in row["story"] for row in rows("train"))
    assert run_line("verify out").exit_code == 0


@pytest.mark.parametrize("manner", ["keep", "drop"])
def test_bad_placeholders(folder: Path, manner: str) -> None:
    bad = "ENT_0_male has a son who collects stamps."
    (folder / "mine.json").write_text(published(more=(bad,)))
    common = "--train 2000 --test 0 --train-k 2 --no-split-placeholders --format jsonl"
    done = run_line(f"generate clutrr --out out --placeholders mine.json --bad-placeholders {manner} {common}")
    assert done.exit_code == 0
    assert "the checks found 1 problems" in done.stdout
    ((flaw,),) = manifest()["placeholder_flaws"].values()
    assert "missing-person" in flaw
    used = any("collects stamps" in row["story"] for row in rows())
    assert used == (manner == "keep")


def test_placeholders_are_verified(folder: Path) -> None:
    (folder / "mine.json").write_text(published(more=("ENT_0_male has a son who collects stamps.",)))
    done = run_line("verify mine.json --json found.json")
    assert done.exit_code == 1
    assert "missing-person" in done.stdout
    assert "placeholders\n" in done.stdout
    assert json.loads((folder / "found.json").read_text())["by_field"]["missing-person"] == 1


def test_own_rules(folder: Path) -> None:
    (folder / "rules.yaml").write_text(RULES)
    common = "--text synthetic --train-k 3 --test-k 3 --train 20 --test 10 --no-holdout"
    done = run_line(f"generate clutrr --rules rules.yaml --out out {common}")
    assert done.exit_code == 0
    assert manifest()["config"]["rules"].startswith("rules-")
    verified = run_line("verify out --rules rules.yaml")
    assert verified.exit_code == 0
    assert "undefined" in verified.stdout


@pytest.mark.parametrize(
    "verb", ["show out", "evaluate --model random --data out", "evaluate --model majority --data out"]
)
def test_data_of_own_rules_can_be_looked_at(folder: Path, verb: str) -> None:
    (folder / "rules.yaml").write_text(RULES)
    run_line(
        "generate clutrr --rules rules.yaml --out out --text synthetic --train-k 3 --train 20 --test 0 --format jsonl"
    )
    done = run_line(verb)
    assert isinstance(done.exception, SystemExit | storyproof.errors.StoryproofError | type(None))
    assert done.exit_code == 0


def test_force(folder: Path) -> None:
    command = "generate clutrr --out out --train 4 --test 0 --train-k 2"
    assert run_line(f"{command} --format csv").exit_code == 0
    assert "is not empty" in str(run_line(command).exception)
    assert run_line(f"{command} --force").exit_code == 0
    assert {path.name for path in Path("out").iterdir()} == {"train.parquet", "manifest.json"}


def test_verify_lists_what_is_wrong(folder: Path) -> None:
    run_line("generate clutrr --out out --train 0 --test 3 --test-k 2 --format jsonl")
    path = Path("out/test.jsonl")
    changed = rows("test")
    changed[1]["status"] = "ambiguous"
    path.write_text("".join(json.dumps(row) + "\n" for row in changed))
    done = run_line("verify out/test.jsonl --json found.json")
    assert done.exit_code == 1
    assert "test.jsonl row 1 (test-000000001-0): status: found ambiguous, expected entailed; " in done.stdout
    assert "\n2 disagreements\n" in done.stdout
    found = json.loads(Path("found.json").read_text())
    assert found["by_field"] == {"file": 1, "status": 1}
    assert found["statuses"] == {"entailed": 3}
    assert found["totals"]["ambiguous"] == 0


def test_verify_counts_statuses(folder: Path) -> None:
    run_line("generate clutrr --out out --train 0 --test 60 --test-k 3 --reading published --text synthetic")
    done = run_line("verify out")
    assert done.exit_code == 0
    counts = manifest()["splits"]["test"]["statuses"]
    said = ", ".join(
        f"{name} {counts.get(name, 0)}" for name in ("entailed", "ambiguous", "contradicted", "impossible")
    )
    assert f"  under strict kinship: {said}\n" in done.stdout
    assert counts["ambiguous"] > 0


def test_evaluate(data: Path, tmp_path: Path) -> None:
    done = run_line(f"evaluate --model random,majority,rules,oracle --data {data} --json {tmp_path / 'scores.json'}")
    assert done.exit_code == 0
    assert "k=2" in done.stdout
    assert "k=3" in done.stdout
    scores = {each["model"]: each for each in json.loads((tmp_path / "scores.json").read_text())}
    assert scores["oracle"]["accuracy"] == 1.0
    assert set(scores["oracle"]["by_question_type"]) == {"task_1.2", "task_1.3"}
    assert scores["rules"]["accuracy"] < 1.0
    assert run_line(f"evaluate --model oracle --data {data} --split train --labels proved").exit_code == 0


def test_show(data: Path) -> None:
    done = run_line(f"show {data} --index 3")
    assert done.exit_code == 0
    row = pq.read_table(data / "test.parquet").to_pylist()[3]
    assert f"story {row['story_id']}" in done.stdout
    assert row["question"] in done.stdout
    assert f"→ {row['answer']}" in done.stdout
    assert f"{row['query'][1]} is {row['query'][0]}'s {row['answer']}, because" in done.stdout
    assert "The answer holds in every family that fits the story" in done.stdout
    assert f"story train-{0:09d}" in run_line(f"show {data} --split train").stdout


def test_show_with_conventions(data: Path) -> None:
    plain, found = (run_line(f"show {data} {option}").stdout for option in ("--no-conventions", ""))
    assert found.endswith(plain)
    assert found.startswith("Rules for this story:\n- Everyone has two parents, a man and a woman, who are married")
    assert "\n- Different names are different people.\n" in found


def test_show_of_csv(folder: Path) -> None:
    run_line("generate clutrr --out out --train 0 --test 2 --test-k 3 --format csv")
    assert "story test-000000001" in run_line("show out --index 1").stdout
    assert "story test-000000001" in run_line("show out/1.3_test.csv --index 1").stdout


# ------------------------------------------------------------------------------------------------ a user's mistakes


@pytest.mark.parametrize(
    ("options", "place", "remedy"),
    [
        (
            "--task noisy",
            "unknown value of --task 'noisy'",
            "Known: all, clean, disconnected, irrelevant, memory, mixed, supporting",
        ),
        ("--test-task clean,claen", "unknown value of --test-task 'claen'", "Did you mean 'clean'?"),
        ("--test-task clean,clean", "test_tasks is ['clean', 'clean']", "name each task once"),
        ("--train-k 1,2", "--train-k has 1", "use whole numbers from 2 to 15"),
        ("--test-k 2-16", "--test-k has 16", "use whole numbers from 2 to 15"),
        ("--test-k 2-1000000000000000", "test", "chains have 2 to 15 facts"),
        ("--train-k 2,2", "train_k is [2, 2]", "each once"),
        ("--train-k two", "--train-k is 'two'", "expected numbers such as 2,3 or 2-10"),
        ("--train-k 2-", "--train-k is '2-'", "expected numbers such as 2,3 or 2-10"),
        ("--train-k ''", "--train-k is ''", "expected numbers such as 2,3 or 2-10"),
        ("--test-k 2,,3", "--test-k is '2,,3'", "expected numbers such as 2,3 or 2-10"),
        ("--test-k 4-2", "--test-k is '4-2'", "expected at least one length, such as 2-10"),
        ("--reading loose", "unknown value of --reading 'loose'", "Known: published, strict"),
        ("--text prose", "unknown value of --text 'prose'", "Known: natural, placeholders, plain, synthetic"),
        ("--preset robust", "unknown preset 'robust'", "Known: generalization-23, generalization-234, robust-clean"),
        ("--keep-placeholders 0", "--keep-placeholders is 0.0", "use a number above 0 and up to 1"),
        ("--keep-placeholders 2", "--keep-placeholders is 2.0", "use a number above 0 and up to 1"),
        ("--bad-placeholders fix", "unknown value of --bad-placeholders 'fix'", "Known: drop, keep, refuse"),
        ("--format babi", "unknown format of clutrr 'babi'", "Known: csv, hf, inspect, jsonl, parquet"),
        (
            "--noise 0.1",
            "--noise is not an option of clutrr, but of tom-babi and tom-babi-easy",
            "clutrr has --bad-placeholders, --cloze, --holdout",
        ),
        (
            "--disjoint agents",
            "--disjoint is not an option of clutrr",
            "clutrr has --bad-placeholders, --cloze",
        ),
        ("--keep-placeholders few", "--keep-placeholders is 'few'", "expected a number"),
        ("--train -1", "--train is -1", "0 leaves a split out"),
        ("--test -1", "--test is -1;", "0 leaves a split out"),
        ("--train 100000000000", "--train is 100000000000", "at most"),
        ("--train 0 --val 0 --test 0", "no stories requested", "set --train, --val or --test to a number above 0"),
        ("--seed -1", "the seed is -1", "use a whole number from 0 on"),
        ("--rules nowhere.yaml", "cannot read the rules in nowhere.yaml", ""),
        ("--placeholders nowhere.json", "cannot read the placeholders nowhere.json", ""),
        ("--test-placeholders good.json", "test_placeholders are given, but no placeholders for training", "give both"),
        (
            "--text synthetic --placeholders good.json",
            "synthetic text does not use placeholders",
            "leave them out",
        ),
        ("--workers 0", "--workers is 0", "use 1 or more"),
    ],
)
def test_generate(folder: Path, refuse: Refuse, options: str, place: str, remedy: str) -> None:
    (folder / "good.json").write_text(published())
    said = refuse(f"generate clutrr --out out {options}")
    assert place in said
    assert remedy in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "tomi --task clean",
            "--task is not an option of tomi, but of clutrr; tomi has --disjoint, --robust and --vocabulary",
        ),
        ("tomi --cloze", "--cloze is not an option of tomi"),
        ("tom-babi --train-k 2", "--train-k is not an option of tom-babi"),
        ("tom-babi --train_k 2", "--train-k is not an option of tom-babi"),
        ("tomi --no-holdout", "--no-holdout is not an option of tomi"),
        ("tomi --preset robust-clean", "--preset is not an option of tomi, but of tom-k and clutrr"),
    ],
)
def test_options_of_kinship_are_for_kinship(folder: Path, refuse: Refuse, options: str, message: str) -> None:
    assert message in refuse(f"generate {options} --out out")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rules.yaml: expected 'rules:' with a list of 'head: [first, second]'"),
        ("rules: []", "rules.yaml: expected 'rules:' with a list"),
        ("rules: [", "rules.yaml, line 1: not valid YAML"),
        ("rules:\n  - grand: [child]", "rules.yaml, line 2: the body of 'grand' is ['child'], expected two relations"),
        ("rules:\n  - grand", "rules.yaml, line 2: found 'grand', expected 'head: [first, second]'"),
        (
            "rules:\n  - grand: [child, cousin]",
            "rules.yaml, line 2: unknown relation 'cousin'; known: child, inv-child",
        ),
        (
            "rules:\n  - grand: [child, child]\n  - un: [child, child]",
            "rules.yaml, line 3: [child, child] has the head 'un', but 'grand' in line 2",
        ),
        (
            "stories: [child]\nrules:\n  - sibling: [inv-child, child]",
            "rules.yaml, line 3: 'sibling' cannot be concluded by this rule, because nothing yields 'inv-child'",
        ),
        ("story: [child]\nrules:\n  - grand: [child, child]", "rules.yaml: unknown section 'story'; expected rules"),
        (
            "stories: [child]\nrules:\n  - grand: [child, child]",
            "no relation has a pattern of 3 facts",
        ),
    ],
)
def test_broken_rules(folder: Path, refuse: Refuse, text: str, message: str) -> None:
    (folder / "rules.yaml").write_text(text)
    assert message in refuse("generate clutrr --out out --rules rules.yaml --train 10")


# Scenes.

SCENE = """\
openers: [The rain had stopped at last.]
begin:
  any:
    - "{A} went to the gate with {A.his} {kin} {B}."
then:
  any:
    - "{A} was tired. {A.His} {kin} {B} carried the basket."
    - "{A}'s {kin} {B} whistled a tune near the gate."
  child inv-child:
    - "{A} [scolded|thanked] {A.his} {kin} {B} at the gate."
"""


def write_scenes(folder: Path, *texts: str | bytes) -> None:
    (folder / "scenes").mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        content = text.encode() if isinstance(text, str) else text
        (folder / "scenes" / f"{number}.yaml").write_bytes(content)


def test_own_scenes(folder: Path) -> None:
    texts = [SCENE.replace("gate", place) for place in ("gate", "shore")]
    write_scenes(folder, *texts)
    options = "--train 30 --test 5 --train-k 2,3 --test-k 2,3 --format jsonl --scenes scenes"
    assert run_line(f"generate clutrr --out out {options}").exit_code == 0
    assert manifest()["config"]["scenes"]["name"] == "scenes"
    here, there = (
        {word for row in rows(split) for word in ("gate", "shore") if word in row["story"]}
        for split in ("train", "test")
    )
    assert len(here) == len(there) == 1
    assert here != there
    assert run_line("verify out").exit_code == 0


TUNE = "{A}'s {kin} {B} whistled a tune near the gate."


def tune(text: str) -> str:
    """Put something else into line 8."""
    return SCENE.replace(TUNE, text)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (tune("{A}'s {kin} {B} whistled"), ", line 8: '{A}'s {kin} {B} whistled' has no full stop at its end; add it"),
        (
            tune("{A} sang with {B}."),
            ", line 8: 'His aunt Nora sang.' is not understood at 'His': it is not clear who is meant",
        ),
        (
            tune("{A}'s {kin} {B} saw an aunt."),
            ", line 8: 'Omar's wife Freya saw an aunt.' is not understood at 'aunt'",
        ),
        (tune("{A}'s {kin} {B} was in bed."), "one person would be in two places at a time; use other words"),
        (tune("{A}'s {kin} {B} met the baker."), "Nora sang.' is not understood at"),
        (tune("{A}'s {kin} {B} saw {C}."), "has the unknown slot {C}; expected one of A, B, "),
        (tune("{A}'s {kin} {B} [ran. It rained|sat]."), "has the end of a sentence in a choice; write another frame"),
        (tune("{A} was tired. {A.His} {kin} {B} carried the basket."), ", line 8: .* stands in line 7 too; leave one"),
        (SCENE.replace("The rain", "Her aunt"), ", line 1: '"),
        (SCENE.replace("then:", "later:"), ", line 6: 'later' is unknown; expected begin and then, and maybe openers"),
        (SCENE.partition("then:")[0], "has no list then; expected begin and then, and maybe openers and closers"),
        (
            SCENE.replace("child inv-child", "child boss"),
            ", line 10: the relation 'boss' is unknown; expected some of any",
        ),
        (SCENE.replace("  child inv-child", "  any"), ", line 10: there is 'any' already; put both into one list"),
        (SCENE.replace('- "{A} went', '"{A} went'), ", line 4: expected a list of sentences; put '- ' before each"),
        (tune('", [a, b], "{A}'), ", line 8: not valid YAML: "),
        ("begin: [a]\n", ", line 1: found something else than relations, or any"),
        ("begin: " + "[" * 2000, ": not valid YAML: it is nested more than"),
        ("? [a]\n: [b]\n", ", line 1: not valid YAML: found unhashable key"),
        ("", ", line 1: found something else than begin and then"),
        (tune("a café tune").encode("latin-1"), ", line 8: found the byte 0xe9, which is not UTF-8; save the file as"),
    ],
)
def test_broken_scenes(folder: Path, refuse: Refuse, changed: str | bytes, message: str) -> None:
    write_scenes(folder, changed)
    said = refuse("generate clutrr --out out --scenes scenes")
    assert re.search(re.escape(message).replace(r"\.\*", ".*"), said)
    assert "storyproof: scenes/0.yaml" in said


def test_scenes_that_are_not_there(folder: Path, refuse: Refuse) -> None:
    (folder / "empty").mkdir()
    assert "empty has no scene; expected files called *.yaml" in refuse("generate clutrr --out out --scenes empty")
    said = refuse("generate clutrr --out out --scenes nowhere")
    assert "cannot read the scenes nowhere: No such file or directory; give a folder of YAML files" in said
    write_scenes(folder, SCENE)
    said = refuse("generate clutrr --out out --scenes scenes --test-k 2 --train-k 2")
    assert "scenes has one scene, but training and test need different ones; add another" in said
    said = refuse("generate clutrr --out out --scenes scenes --text plain")
    assert "plain text does not use scenes; leave them out, or use natural text" in said


def test_a_hold_out_that_leaves_nothing(folder: Path, refuse: Refuse) -> None:
    (folder / "rules.yaml").write_text("stories: [sibling]\nrules:\n  - sibling: [sibling, sibling]\n")
    command = "generate clutrr --out out --rules rules.yaml --train-k 3 --test-k 3 --train 10 --test 5"
    assert "use --no-holdout" in refuse(command)
    assert run_line(f"{command} --no-holdout").exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.json, line 1: not valid JSON"),
        ("[]", "mine.json: expected lists by relations and genders, found list"),
        (
            '{"cousin": {"male-male": ["x"]}}',
            "mine.json: 'cousin', 'male-male': 'cousin' does not consist of the words son",
        ),
        ('{"son": {"male": ["x"]}}', "mine.json: 'son', 'male': expected 2 genders"),
        ('{"son": {"male-female": ["x"]}}', "mine.json: 'son', 'male-female': a son is male, but person 1 is female"),
        ('{"son": {"male-male": "x"}}', "mine.json: 'son', 'male-male': expected a list of texts, found str"),
        ('{"son": {"male-male": [7]}}', "mine.json: 'son', 'male-male', number 1: expected a text, found 7"),
        ("{}", "mine.json has no placeholder for "),
        (
            published(more=("ENT_0_male has a son who collects stamps.",)),
            "mine.json has 1 placeholders that lack a person or reveal an answer, the first: son male-male 2: missing-",
        ),
        (
            published(more=("ENT_0_male and his son ENT_1_male met ENT_2_male.",)),
            "unknown-slot",
        ),
    ],
)
def test_broken_placeholders(folder: Path, refuse: Refuse, text: str, message: str) -> None:
    (folder / "mine.json").write_text(text)
    command = "generate clutrr --out out --placeholders mine.json --train 10 --train-k 2 --test-k 2"
    said = refuse(command)
    assert message in said


def test_a_placeholder_that_reveals_the_answer(folder: Path, refuse: Refuse) -> None:
    found = json.loads(published())
    found["son-son"] = {
        "male-male-male": ["ENT_0_male's son ENT_1_male has a son, ENT_2_male, who is ENT_0_male's grandson."]
    }
    (folder / "mine.json").write_text(json.dumps(found))
    said = refuse("generate clutrr --out out --placeholders mine.json --train 10")
    assert "1 placeholders" in said
    assert "reveals" in said
    assert "--bad-placeholders drop" in said


@cache
def some_csv() -> str:
    with TemporaryDirectory() as folder:
        storyproof.generate("clutrr", train=4, train_k=(2,), out=Path(folder) / "x", format="csv")
        return (Path(folder) / "x" / "1.2_train.csv").read_text()


def broken_files(folder: Path) -> None:
    whole = some_csv()
    (folder / "cut.csv").write_text(whole[: len(whole) - 40])
    (folder / "lacking.csv").write_text(whole.replace("story_edges", "edges", 1))
    (folder / "literal.csv").write_text(whole.replace('"[(0, 1), (1, 2)]"', '"[(0, 1), (1, 2)"', 1))
    (folder / "edges.csv").write_text(whole.replace('"[(0, 1), (1, 2)]"', '"[0, 1]"', 1))
    (folder / "task.csv").write_text(whole.replace("task_1.2", "task_9.2", 1))
    (folder / "latin.csv").write_bytes(whole.encode() + "José".encode("latin-1"))
    (folder / "empty.csv").write_text("")


@pytest.mark.parametrize("verb", ["audit", "show", "evaluate --model oracle --data"])
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("cut.csv", "cut.csv, row 3, line 5: it has 16 fields, expected 18 as in the header"),
        ("lacking.csv", "lacking.csv, line 1: it has no column 'story_edges', expected the columns of CLUTRR"),
        ("literal.csv", "literal.csv, row 0, line 2: story_edges is '[(0, 1), (1, 2)', expected a list of"),
        ("edges.csv", "edges.csv, row 0, line 2: story_edges is '[0, 1]', expected"),
        ("task.csv", "task.csv, row 0, line 2: task_name is 'task_9.2', expected task_T.k"),
        ("latin.csv", "latin.csv, row 4, line 6: found bytes that are not valid UTF-8"),
        ("empty.csv", "empty.csv is empty, expected a header with the names of columns"),
    ],
)
def test_broken_csv(folder: Path, refuse: Refuse, verb: str, path: str, message: str) -> None:
    broken_files(folder)
    if verb == "audit" and path in ("literal.csv", "edges.csv", "task.csv"):  # one row does not end an audit
        done = run_line(f"{verb} {path}")
        assert done.exit_code == 1
        assert message.partition(": ")[2] in done.stdout
        assert done.stdout.endswith("\n0 disagreements; 1 of 4 rows not understood\n")
        return
    assert message in refuse(f"{verb} {path}")


@pytest.mark.parametrize("lacking", ["genders", "edge_types", "query"])
@pytest.mark.parametrize("verb", ["show", "evaluate --model oracle --data"])
def test_rows_without_their_facts(folder: Path, refuse: Refuse, verb: str, lacking: str) -> None:
    table = storyproof.generate("clutrr", test=1, test_k=(2,), text="synthetic")
    (row,) = table.to_pylist()
    (folder / "x.jsonl").write_text(json.dumps({**row, lacking: None}) + "\n")
    pq.write_table(table.drop_columns([lacking]), folder / "x.parquet")
    for name in ("x.jsonl", "x.parquet"):
        assert lacking in refuse(f"{verb} {name}")


def test_rules_for_verify_that_cannot_be_read(folder: Path, refuse: Refuse, data: Path) -> None:
    assert "cannot read the rules in nowhere.yaml" in refuse(f"verify {data} --rules nowhere.yaml")
