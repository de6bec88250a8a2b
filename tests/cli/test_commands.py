import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import storyproof
from storyproof import cli
from tests.cli.invocation import EXECUTABLE, Program, run


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("data") / "tomi"
    storyproof.generate("tomi", train=3, test=6, seed=7, out=out)
    return out


def test_version() -> None:
    assert run("--version").stdout == f"storyproof {storyproof.__version__}\n"


def test_help_names_the_commands() -> None:
    help_text = run("--help").stdout
    for verb in ("generate", "audit", "evaluate", "show", "errata"):
        assert verb in help_text


def test_every_verb_is_a_command_and_a_function() -> None:
    commands = {command.name for command in cli.app.registered_commands}
    objects = {"stream", "dials", "load", "story", "prompt", "judge"}  # of Python, for other programs to build on
    functions = {name for name in storyproof.__all__ if name.islower() and name != "__version__"}
    parts = {"draw", "pull", "rescore", "where"}  # options of show, doctor and compare
    parts |= {"lookup_errata", "apply_errata"}  # errata lookup, errata apply
    assert commands == {name.replace("_", "-") for name in functions - objects - parts}


def test_help_is_short() -> None:
    commands = re.findall(
        r"^  ([a-z-]+) ", run("--help").stdout.split("Commands:")[1].split("Exit codes:")[0], re.MULTILINE
    )
    assert len(commands) <= 16
    assert commands[-1] == "experiment"
    shown = subprocess.run(
        [EXECUTABLE, "evaluate", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert len(shown.stdout.splitlines()) <= 60


def test_generate(tmp_path: Path) -> None:
    out = tmp_path / "x"
    done = run(
        "generate", "tomi", "--out", out, "--train", 3, "--val", 0, "--test", 6, "--seed", 7, "--format", "jsonl"
    )
    assert done.exit_code == 0
    assert done.stdout.split("\n")[:2] == ["train: 3 stories, 18 questions", "test: 6 stories, 36 questions"]
    assert f"written to {out}" in done.stdout
    assert done.stderr == ""  # no progress bar in a pipe
    assert {path.name for path in out.iterdir()} == {"train.jsonl", "test.jsonl", "manifest.json"}


@pytest.mark.parametrize(
    ("options", "stories"),
    [
        ([], {"train": 999, "val": 999, "test": 999}),
        (["--val", 3], {"val": 3}),
        (["--train", 0, "--val", 0], {"test": 999}),
        (["--train", 0, "--val", 4], {"val": 4}),  # the second round is cut
    ],
)
def test_generate_takes_the_usual_numbers_unless_some_are_given(
    options: list[object], stories: dict[str, int], tmp_path: Path
) -> None:
    run("generate", "tomi", "--out", tmp_path / "x", *options)
    splits = json.loads((tmp_path / "x" / "manifest.json").read_text())["splits"]
    assert {split: entry["stories"] for split, entry in splits.items()} == stories


def test_generate_makes_what_the_function_makes(tmp_path: Path, data: Path) -> None:
    run("generate", "tomi", "--out", tmp_path / "x", "--train", 3, "--val", 0, "--test", 6, "--seed", 7)
    assert (tmp_path / "x" / "manifest.json").read_bytes() == (data / "manifest.json").read_bytes()


def test_generate_with_settings(tmp_path: Path) -> None:
    words = {
        "agents": [f"Agent{number}" for number in range(15)],
        "rooms": ["attic", "barn", "cellar"],
        "containers": ["box", "jar"],
        "objects": ["key", "map"],
    }
    vocabulary = tmp_path / "words.yaml"
    vocabulary.write_text(json.dumps(words))
    common = ("--out", tmp_path / "x", "--vocabulary", vocabulary, "--train", 12, "--val", 0, "--test", 12)
    done = run("generate", "tom-babi-easy", *common, "--noise", 1, "--disjoint", "agents", "--format", "jsonl")
    assert done.exit_code == 0
    config = json.loads((tmp_path / "x" / "manifest.json").read_text())["config"]
    assert config == {"vocabulary": words, "disjoint": ["agents"], "noise": 1.0}
    agents = {}
    for split in ("train", "test"):
        rows = [json.loads(line) for line in (tmp_path / "x" / f"{split}.jsonl").read_text().splitlines()]
        agents[split] = {word for row in rows for word in row["story"].split() if word.startswith("Agent")}
    assert not agents["train"] & agents["test"]


def test_force(tmp_path: Path) -> None:
    out, counts = tmp_path / "x", ("--train", 0, "--val", 0, "--test", 3)
    assert run("generate", "tomi", "--out", out, *counts, "--format", "jsonl").exit_code == 0
    assert isinstance(run("generate", "tomi", "--out", out, *counts).exception, storyproof.errors.DataError)
    assert run("generate", "tomi", "--out", out, *counts, "--force").exit_code == 0
    assert {path.name for path in out.iterdir()} == {"test.parquet", "manifest.json"}


def test_force_replaces_datasets_only(tmp_path: Path) -> None:
    (tmp_path / "letters").write_text("mine")
    done = run("generate", "tomi", "--out", tmp_path, "--test", 3, "--force")
    assert "is not a dataset that storyproof wrote (manifest.json is missing)" in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["letters"]


def test_verify(data: Path, tmp_path: Path) -> None:
    done = run("verify", data, "--json", tmp_path / "found.json")
    assert done.exit_code == 0
    counts = "54 rows of 9 stories: 54 judged, 0 wrong answers, 0 rule-dependent, 0 not understood"
    written = f"all findings written to {tmp_path / 'found.json'}"
    assert done.stdout == f"{counts}\n  checked by leaving out sentences: 54 proofs\n0 disagreements\n{written}\n"
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["totals"]["rows"], found["totals"]["stories"], found["disagreements"]) == (54, 9, 0)
    assert [file["errata"] for file in found["files"]] == [[]] * len(found["files"])


def test_verify_lists_what_is_wrong(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, out=tmp_path / "x", format="jsonl")
    path = tmp_path / "x" / "test.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[1]["answer"], rows[2]["answer"] = "nowhere", "nowhere"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("verify", path, "--json", tmp_path / "found.json")
    assert done.exit_code == 1
    lines = done.stdout.split("\n")
    assert lines[0] == "18 rows of 3 stories: 18 judged, 2 wrong answers, 0 rule-dependent, 0 not understood"
    assert "  disagreements by field: answer 2, file 1" in lines
    first = next(place for place, line in enumerate(lines) if not line.startswith(("18", " ")))
    assert lines[first].startswith("test.jsonl row 1 (test-000000000-1): answer: found nowhere, expected ")
    assert lines[first + 1].startswith("test.jsonl row 2 (test-000000000-2): answer: found nowhere, expected ")
    assert "test.jsonl differs from the manifest (sha256)" in lines[first + 2]  # a file is held against the manifest
    assert lines[first + 3] == "3 disagreements"
    report = json.loads((tmp_path / "found.json").read_text())
    assert (len(report["manifest"]), len(report["files"][0]["errata"])) == (1, 2)
    assert "… and 2 more" in run("verify", path, "--most", 1).stdout
    assert run("verify", tmp_path / "x").exit_code == 1


def test_evaluate(data: Path, tmp_path: Path) -> None:
    done = run("evaluate", "--model", "oracle", "--data", data, "--json", tmp_path / "scores.json")
    assert done.exit_code == 0
    assert "oracle" in done.stdout
    assert "36 questions of 6 stories" in done.stdout
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert scores["accuracy"] == scores["joint_accuracy"] == 1.0
    assert set(scores["by_false_belief"]) == {"false_belief", "no_false_belief"}
    assert "memory" in scores["by_question_type"]


def test_evaluate_several_to_standard_output(data: Path) -> None:
    done = run("evaluate", "--model", "rules, random", "--data", data, "--split", "train", "--json", "-")
    assert [(each["model"], each["split"]) for each in json.loads(done.stdout)] == [
        ("rules", "train"),
        ("random", "train"),
    ]


def test_evaluate_is_not_cut_short_in_a_pipe(data: Path) -> None:
    assert "…" not in run("evaluate", "--model", "majority", "--data", data).stdout


def test_show(data: Path) -> None:
    done = run("show", data, "--index", 5)
    assert done.exit_code == 0
    assert "story test-000000005" in done.stdout
    assert "Where was the" in done.stdout
    assert "story train-000000001" in run("show", data, "--index", 1, "--split", "train").stdout


def test_interrupt(monkeypatch: pytest.MonkeyPatch, program: Program, data: Path) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("storyproof.reports.show.show", interrupted)
    ended = program(f"show {data}")
    assert ended.code == 130
    assert ended.err == "storyproof: interrupted; nothing is half-written.\n"


def test_reader_who_leaves(data: Path) -> None:
    command = [EXECUTABLE, "show", data]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()
