"""Terminal escapes from data, file names, replies and servers, in every verb; and outputs of every kind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import storyproof
from tests.torture.hostile_server import ESCAPES
from tests.torture.terminal import hidden_in, run_on_terminal
from tests.torture.trial import Trial

# Colours that rich itself would never choose show whether styles of data reach a terminal.
HOSTILE = f"{ESCAPES}\x1b[38;5;201mpink\x1b]8;;http://x\x1b\\link\x1b[6n\x9d0;c1\x9c"
PINK = "\x1b[38;5;201m"
NAME = "a\x1b[2J\x1b]0;pwned\x07\u202e\x9b31m\nforged"  # as a file may be called
PROGRAM = (sys.executable, "-m", "storyproof")
_TEXTS = ("id", "story_id", "benchmark", "story", "question", "answer", "question_type", "story_type")
_LISTS = ("candidates", "chain", "readings")
_SERVER = Path(__file__).with_name("hostile_server.py")
_FUNCTION = f"""
def reply(prompt):
    return {HOSTILE!r}


def fail(prompt):
    raise ValueError({HOSTILE!r})
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with hostile files of every kind, in which all commands run."""
    place = tmp_path_factory.mktemp("hostile")
    for name in ("tomi", "clutrr"):
        for form in ("jsonl", "parquet", "csv" if name == "clutrr" else "babi"):
            storyproof.generate(name, train=3, test=3, seed=7, out=place / f"{name}-{form}", format=form)
    lines = (place / "tomi-jsonl" / "test.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    for field in _TEXTS:
        write_rows(place / f"{field}.jsonl", [{**row, field: row[field] + HOSTILE} for row in rows])
    for field in _LISTS:
        write_rows(place / f"{field}.jsonl", [{**row, field: [*row[field], HOSTILE]} for row in rows])
    labels = {field for field in _TEXTS if field not in ("story", "question")}
    write_rows(place / "labels.jsonl", [{**row, **{field: row[field] + HOSTILE for field in labels}} for row in rows])
    write_rows(place / "key.jsonl", [{**row, HOSTILE: 1} for row in rows])
    (place / "broken.jsonl").write_text(lines[0] + "\n" + HOSTILE + "\n")
    (place / "broken.json").write_text(HOSTILE)
    (place / "broken.txt").write_text(f"1 Ada {HOSTILE} entered the attic.\n2 Where is it?\tbox\t1\n")
    text = (place / "tomi-babi" / "test.txt").read_text()
    (place / "label.txt").write_text(text.replace("\tcoffee_pot\t", f"\tcoffee_pot{HOSTILE}\t".replace("\n", "")))
    csv = (place / "clutrr-csv" / "1.2_test.csv").read_text()
    (place / "1.2_test.csv").write_text(csv.replace("grandfather", "grandfather" + HOSTILE.replace("\r", "")))
    (place / "head.csv").write_text(csv.replace("genders", f"genders{HOSTILE}".replace("\r", "")))
    kin = [json.loads(line) for line in (place / "clutrr-jsonl" / "test.jsonl").read_text().splitlines()]
    write_rows(place / "kin.jsonl", [{**row, "answer": HOSTILE, "question_type": HOSTILE} for row in kin])
    shutil.copytree(place / "tomi-jsonl", place / NAME)
    (place / NAME / "manifest.json").write_text(json.dumps({"manifest_version": HOSTILE}))
    shutil.copy(place / "tomi-jsonl" / "test.jsonl", os.fsencode(place / "not-utf8-") + b"\xff\x9b.jsonl")
    (place / "function.py").write_text(_FUNCTION)
    (place / "prompt.yaml").write_text(json.dumps({"name": HOSTILE, "version": 1, HOSTILE: 2}))
    (place / "own.yaml").write_text(
        json.dumps({"name": HOSTILE, "version": "1", "any": {"steps": [{"user": "{question}", "max_tokens": 9}]}})
    )
    (place / "words.yaml").write_text(json.dumps({"agents": [HOSTILE], HOSTILE: []}))
    for name, answer in (("first", HOSTILE), ("second", "box")):
        predictions = [{"id": row["id"], "answer": answer, "target": "box", "question_type": HOSTILE} for row in rows]
        run = {"model": f"{name}{HOSTILE}", "labels": "given", "predictions": predictions}
        (place / f"{name}.json").write_text(json.dumps(run))
    (place / "run.json").write_text(json.dumps({"model": HOSTILE, "schema": HOSTILE, "predictions": [HOSTILE]}))
    return place


def write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with subprocess.Popen([sys.executable, str(_SERVER)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().split()[0]}"
        process.kill()


def commands(place: Path, server: str) -> dict[str, list[str]]:
    """All verbs with hostile data, names, replies and servers, by a title."""
    files = sorted(path.name for path in place.iterdir() if path.suffix in (".jsonl", ".json", ".txt", ".csv"))
    found = {f"{verb} {file!r}": [verb, file] for verb in ("show", "verify", "audit") for file in files}
    some = ("answer.jsonl", "labels.jsonl", "story.jsonl", "1.2_test.csv", "broken.jsonl")
    found |= {f"process {file}": ["process", file, "--out", f"processed-{file}"] for file in some}
    found |= {f"evaluate majority {file}": ["evaluate", "--model", "majority,rules", "--data", file] for file in some}
    asked = ("evaluate", "--data", "labels.jsonl", "--output-dir")
    model = ("--model", "openai/m", "--option", "retries=0", "--base-url")
    for mode in ("escapes", "error-escapes", "error-escapes-some", "escapes-raw", "list-escapes", "no-http-escapes"):
        found[f"evaluate {mode}"] = [*asked, f"runs-{mode}", *model, f"{server}/{mode}/v1"]
        found[f"ask {mode}"] = ["ask", "--data", "answer.jsonl", *model[:2], "--base-url", f"{server}/{mode}/v1"]
    for function in ("reply", "fail"):
        name = f"function.py:{function}"
        found[f"evaluate {name}"] = [*asked, f"runs-{function}", "--model", name]
        found[f"ask {name}"] = ["ask", "--data", "labels.jsonl", "--show-prompt", "--model", name]
    own = ("ask", "--model", "function.py:reply", "--story", HOSTILE.replace("\0", ""), "--question")
    argument = HOSTILE.replace("\0", "")  # which no argument can hold
    return found | {
        "evaluate prompt": [*asked, "runs-prompt", "--model", "function.py:reply", "--prompt", "own.yaml"],
        "evaluate bad prompt": [*asked, "runs-bad", "--model", "function.py:reply", "--prompt", "prompt.yaml"],
        "evaluate json": [*asked, "runs-json", "--model", "function.py:reply", "--json", "-"],
        "evaluate unknown model": ["evaluate", "--model", argument, "--data", "labels.jsonl"],
        "evaluate folder": ["evaluate", "--model", "majority", "--data", NAME],
        "ask own": [*own, argument],
        "ask json": ["ask", "--data", "labels.jsonl", "--model", "function.py:reply", "--json", "-"],
        "show folder": ["show", NAME],
        "verify folder": ["verify", NAME],
        "audit folder": ["audit", NAME, "--fix", f"{NAME}-fixed"],
        "audit all": ["audit", "labels.jsonl", "--shortcuts", "--overlaps", "--against", "answer.jsonl"],
        "process folder": ["process", NAME, "--out", f"{NAME}-processed", "--force"],
        "compare": ["compare", "first.json", "second.json"],
        "compare json": ["compare", "first.json", "second.json", "--json", "-"],
        "compare bad run": ["compare", "run.json", "second.json"],
        "compare no run": ["compare", "first.json:" + argument, "second.json"],
        "labels": ["compare", "first.json", "--labels", "tomi-jsonl", "--published", "tomi-jsonl"],
        "labels hostile": ["compare", "first.json", "--labels", "labels.jsonl"],
        "generate": ["generate", "tomi", "--out", f"{NAME}-made", "--train", "0", "--val", "0", "--test", "3"],
        "generate unknown": ["generate", argument, "--out", "made"],
        "generate format": ["generate", "tomi", "--out", "made", "--format", argument],
        "generate words": ["generate", "tomi", "--out", "made", "--vocabulary", "words.yaml"],
        "train data": ["train", "entnet", "--data", "broken.jsonl", "--out", "trained", "--device", "cpu"],
        "train": [
            *("train", "memnn", "--data", "answer.jsonl", "--out", f"{NAME}-run", "--epochs", "1", "--device", "cpu"),
            *("--option", "width=4"),
        ],
        "train unknown": ["train", argument, "--data", NAME, "--out", "trained"],
        "experiment unknown": ["experiment", argument, "--out", "results"],
        "experiment published": ["experiment", "tomi-table1", "--quick", "--published", NAME, "--out", "results"],
        "pull": ["doctor", "--pull", argument],
        "unknown verb": [argument],
        "unknown option": ["show", "labels.jsonl", "--" + argument],
        "not a number": ["show", "labels.jsonl", "--index", argument],
    }


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    return {**kept, "TERM": "xterm-256color", "OMP_NUM_THREADS": "1", "OPENAI_API_KEY": "sk-0123456789", **more}


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("where", ["pipe", "terminal"])
def test_terminal_escapes(where: str, part: int, place: Path, server: str, tmp_path: Path, trial: Trial) -> None:
    here = tmp_path / "here"
    shutil.copytree(place, here)
    for title, arguments in list(commands(place, server).items())[part::2]:
        with trial.case(title):
            command = ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", str(here), *PROGRAM, *arguments]
            if where == "pipe":
                done = subprocess.run(
                    command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), check=False
                )
                code, written = done.returncode, done.stdout
            else:
                code, written = run_on_terminal(command, environment())
            text = written.decode("utf-8")
            assert "Traceback" not in text, text
            assert code in (0, 1, 2, 3)
            assert text.strip()
            assert hidden_in(text, styled=where == "terminal") == []
            assert PINK not in text
            assert "\nforged" not in text.replace("\r", "")


VERBS = {
    "show": ["show", "tomi-jsonl"],
    "show hostile": ["show", "labels.jsonl"],
    "show kinship": ["show", "clutrr-jsonl"],
    "verify": ["verify", "labels.jsonl"],
    "audit": ["audit", "answer.jsonl", "--overlaps"],
    "evaluate": ["evaluate", "--model", "majority,rules", "--data", "tomi-jsonl"],
    "evaluate function": ["evaluate", "--model", "function.py:reply", "--data", "tomi-jsonl"],
    "compare": ["compare", "first.json", "second.json"],
    "json": ["compare", "first.json", "second.json", "--json", "-"],
    "help": ["generate", "--help"],
    "refusal": ["verify", "字 …"],
}


def run(place: Path, command: Sequence[str], encoding: str = "utf-8") -> subprocess.CompletedProcess[bytes]:
    given = environment(PYTHONIOENCODING=encoding, PYTHONUTF8="1")
    return subprocess.run(command, cwd=place, env=given, capture_output=True, check=False)


@pytest.fixture(scope="module")
def usual(place: Path) -> dict[str, subprocess.CompletedProcess[bytes]]:
    """How commands end whose outputs are ordinary pipes in UTF-8."""
    return {title: run(place, [*PROGRAM, *arguments]) for title, arguments in VERBS.items()}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-16"])
def test_encodings(
    encoding: str, place: Path, usual: dict[str, subprocess.CompletedProcess[bytes]], trial: Trial
) -> None:
    for title, arguments in VERBS.items():
        with trial.case(title):
            done, before = run(place, [*PROGRAM, *arguments], encoding), usual[title]
            assert done.returncode == before.returncode
            text = (done.stdout + done.stderr).decode("utf-8" if title == "help" and encoding == "ascii" else encoding)
            assert "Traceback" not in text
            assert len(text.splitlines()) == len((before.stdout + before.stderr).decode().splitlines())


CLOSED = {
    "no output": ('"$@" >&-', None),
    "no errors": ('"$@" 2>&-', None),
    "nothing": ('"$@" <&- >&- 2>&-', None),
    "full": ('"$@" >/dev/full', 2),
    "full errors": ('"$@" 2>/dev/full', None),
    "left": ('"$@" | true', 141),
}


@pytest.mark.parametrize("how", CLOSED)
def test_closed_outputs(
    how: str, place: Path, usual: dict[str, subprocess.CompletedProcess[bytes]], trial: Trial
) -> None:
    for title, arguments in VERBS.items():
        with trial.case(title):
            before = usual[title]
            script, expected = CLOSED[how]
            code = before.returncode if expected is None or not before.stdout else expected
            done = run(place, ["bash", "-c", f"{script}; exit ${{PIPESTATUS[0]}}", "bash", *PROGRAM, *arguments])
            assert done.returncode == code, done.stderr
            assert b"Traceback" not in done.stderr
            assert b"Exception ignored" not in done.stderr
            if code == 141:
                assert done.stderr.count(b"\n") <= before.stderr.count(b"\n")  # nothing is said about it
