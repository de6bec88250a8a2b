"""A user's mistake gets one sentence on standard error that names the place and the remedy, exit code 2, no traceback,
and nothing written."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.invocation import Ended, Program, Refuse, execute
from tests.samples import STORY, example, plain_table

WORDS = {
    "agents": ["Ada", "Ben", "Cleo"],
    "rooms": ["attic", "barn"],
    "containers": ["box", "jar"],
    "objects": ["key"],
}


@pytest.mark.parametrize(
    ("arguments", "place", "remedy"),
    [
        ("tomy", "unknown benchmark 'tomy'", "Did you mean 'tomi'? Known: clutrr, "),
        ("tomi --train -3", "--train is -3", "0 leaves a split out"),
        ("tom-babi --test -1", "--test is -1", "0 leaves a split out"),
        ("tomi --train 0 --val 0 --test 0", "no stories requested", "set --train, --val or --test to a number above 0"),
        ("tom-babi --noise 1.01", "--noise is 1.01", "use a number from 0 to 1"),
        ("tom-babi --noise -0.1", "--noise is -0.1", "use a number from 0 to 1"),
        ("tom-babi --noise nan", "--noise is nan", "use a number from 0 to 1"),
        (
            "tomi --noise 0.1",
            "--noise is not an option of tomi, but of tom-babi and tom-babi-easy",
            "tomi has --disjoint, --robust and --vocabulary",
        ),
        ("tom-babi --noise much", "--noise is 'much'", "expected a number"),
        ("tomi --train 1e6", "--train is '1e6'; expected a whole number", "See storyproof generate --help"),
        ("tomi --seed=x", "--seed is 'x'; expected a whole number", "See storyproof generate --help"),
        ("tomi@2", "unknown version of tomi '2'", "Known: 1"),
        ("tomi --version 2", "unknown version of tomi '2'", "Known: 1"),
        ("tomi --persons 5", "No such option: --persons", "See storyproof generate --help"),
        ("tomi --disjoint agent", "unknown value of --disjoint 'agent'", "Did you mean 'agents'?"),
        ("tom-babi --disjoint rooms --vocabulary few.yaml", "few.yaml", "cannot read the vocabulary"),
        ("tomi --seed -1", "the seed is -1", "use a whole number from 0 on"),
        ("tomi --format csv", "unknown format of tomi 'csv'", "Known: babi, hf, inspect, jsonl, parquet"),
        ("tomi --workers 0", "--workers is 0", "use 1 or more"),
    ],
)
def test_generate(folder: Path, refuse: Refuse, arguments: str, place: str, remedy: str) -> None:
    said = refuse(f"generate {arguments} --out out")
    assert place in said
    assert remedy in said


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("file", "file is a file; choose a folder for --out"),
        ("file/below", "file: File exists; choose another folder for --out"),
        ("/proc/below", "cannot write to /proc: No such file or directory; choose another folder for --out"),
        ("full", "full is not empty; choose another folder or replace it with --force"),
    ],
)
def test_unwritable_folder(folder: Path, refuse: Refuse, out: str, message: str) -> None:
    (folder / "file").write_text("mine")
    (folder / "full").mkdir()
    (folder / "full" / "note").write_text("mine")
    assert message in refuse(f"generate tomi --out {out} --train 3")


@pytest.mark.parametrize(
    ("words", "place", "remedy"),
    [
        ({**WORDS, "objects": ["box"]}, "words.yaml: 'box'", "a word may have one role only"),
        (
            {**WORDS, "agents": ["Ada", "Ben", "Cleo", "Ada"]},
            "words.yaml: 'Ada' stands twice in 'agents'",
            "remove one",
        ),
        ({**WORDS, "objects": []}, "words.yaml: the list 'objects' is empty", "give it at least one word"),
        ({**WORDS, "objects": None}, "words.yaml: the list 'objects' is empty", "give it at least one word"),
        ({**WORDS, "rooms": ["attic"]}, "too few rooms: 1 found", "needs at least 2"),
        ({"agents": ["Ada"]}, "words.yaml: the list 'rooms' is missing", "expected agents, rooms, containers, objects"),
        ({**WORDS, "people": ["Ada"]}, "words.yaml: unknown list 'people'", "expected agents, rooms"),
        ({**WORDS, "objects": "key"}, "words.yaml: 'objects' is not a list", "write it as [a, b, …]"),
        ({**WORDS, "objects": [True]}, "words.yaml: True in 'objects'", "put it in quotes"),
        (
            {**WORDS, "objects": ["my key"]},
            "words.yaml: 'my key' in 'objects' is no single word",
            "beginning with a letter",
        ),
        ({**WORDS, "agents": ["The", "Ben", "Cleo"]}, "words.yaml: 'The' in 'agents'", "choose another"),
        ([], "words.yaml: ", "expected the lists agents, rooms, containers, objects"),
        ("agents: [", "words.yaml, line 1: not valid YAML", ""),
        ("agents: [Ada]\n\trooms: []", "words.yaml, line 2: not valid YAML", ""),
        ("", "words.yaml: ", "expected the lists"),
    ],
)
def test_vocabulary(folder: Path, refuse: Refuse, words: object, place: str, remedy: str) -> None:
    (folder / "words.yaml").write_text(words if isinstance(words, str) else json.dumps(words))
    said = refuse("generate tomi --out out --train 3 --vocabulary words.yaml")
    assert place in said
    assert remedy in said


def test_vocabulary_that_is_not_there(folder: Path, refuse: Refuse) -> None:
    said = refuse("generate tomi --out out --train 3 --vocabulary nowhere.yaml")
    assert "cannot read the vocabulary nowhere.yaml" in said


def test_vocabulary_too_small_for_so_many_stories(folder: Path, refuse: Refuse) -> None:
    (folder / "words.yaml").write_text(json.dumps(WORDS))
    # 3 x 2 agents, 2 rooms, 1 object, 2 x 1 containers: 24 casts, 8 a split, of which 6 are two rounds.
    said = refuse("generate tomi --out out --train 9 --vocabulary words.yaml")
    assert "--train is 9; this vocabulary allows at most 6 different stories there; add words" in said


def make_data(folder: Path) -> None:
    row = json.dumps(example().as_row())
    (folder / "broken.jsonl").write_text(f"{row}\n{row[:-5]}\n")
    (folder / "lacking.jsonl").write_text('{"story": "x"}\n')
    pq.write_table(plain_table(example()), folder / "whole.parquet")
    (folder / "cut.parquet").write_bytes((folder / "whole.parquet").read_bytes()[:-20])
    pq.write_table(plain_table(example()).select(["id"]), folder / "lacking.parquet")
    told = "".join(f"{number} {line}\n" for number, line in enumerate(STORY.split("\n"), start=1))
    (folder / "broken.txt").write_text(told.replace("moved", "took") + "6 Where is the key really?\tjar\t1\n")
    (folder / "cut.txt").write_text(told)
    (folder / "data.tsv").write_text("")
    (folder / "data.md").write_text("")
    (folder / "empty").mkdir()
    (folder / "whole").mkdir()
    (folder / "whole" / "train.jsonl").write_text(row + "\n")
    (folder / "odd").mkdir()
    (folder / "odd" / "test.jsonl").write_text(row + "\n")
    (folder / "odd" / "manifest.json").write_text("{")


SUFFIXES = ".arrow, .csv, .feather, .json, .jsonl, .parquet, .tsv, .txt, .xlsx"
AUDITED = {  # files with a row that cannot be judged: what an audit says
    "broken.jsonl": """\
2 rows of 2 stories: 1 judged (50.0%), 0 wrong answers, 0 rule-dependent, 1 not understood
  not understood: record 1
  checked by leaving out sentences: 1 proof
broken.jsonl row 1, line 2 (broken-2): record: not valid JSON (Expecting ',' delimiter: line 1 column 481 (char 480)); \
expected one object per line
0 disagreements; 1 of 2 rows not understood
""",
    "lacking.jsonl": """\
1 row of 1 story: 0 judged (0%), 0 wrong answers, 0 rule-dependent, 1 not understood
  not understood: question 1
lacking.jsonl row 0, line 1 (lacking-1): question: no column for the question; expected one, such as 'question'
0 disagreements; 1 of 1 row not understood
""",
    "broken.txt": """\
1 row of 1 story: 0 judged (0%), 0 wrong answers, 0 rule-dependent, 1 not understood
  not understood: story 1
broken.txt row 0, line 5 (broken-6): story, line 5: 'took' does not fit here.
0 disagreements; 1 of 1 row not understood
""",
}


@pytest.mark.parametrize("verb", ["verify", "show", "evaluate --model rules --data"])
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("broken.jsonl", "broken.jsonl, line 2: not valid JSON"),
        ("lacking.jsonl", "lacking.jsonl, line 1: no column for the question; expected one, such as 'question'.\n"),
        ("cut.parquet", "cut.parquet is not a readable Parquet file"),
        ("lacking.parquet", "lacking.parquet: no column for a story or a question is found; it has: id"),
        (
            "broken.txt",
            "broken.txt, line 5: not a sentence of a story: 'Ada took the key to the jar.'; expected one of",
        ),
        ("cut.txt", "cut.txt, line 6: the story before it ends without a question; expected a question"),
        ("nowhere", "nowhere does not exist; give a dataset folder or a file"),
        ("data.tsv", "data.tsv is empty, expected a header with the names of columns"),
        ("data.md", f"data.md has an unknown form; expected a file ending in {SUFFIXES}.\n"),
        ("empty", f"empty contains no data; expected files ending in {SUFFIXES}.\n"),
    ],
)
def test_data(folder: Path, refuse: Refuse, program: Program, verb: str, path: str, message: str) -> None:
    make_data(folder)
    if verb == "verify" and path in AUDITED:  # one row does not end an audit
        assert program(f"{verb} {path}") == Ended(1, AUDITED[path], "")
        return
    said = refuse(f"{verb} {path}")
    assert message in said
    if path == "lacking.parquet":  # only an audit has --columns
        named = "; expected at least story, question, answer.\n"
        assert said.endswith(
            ". Name them with --columns story=NAME,question=NAME,answer=NAME.\n" if verb == "verify" else named
        )


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("verify odd", "manifest.json is not valid JSON"),
        ("show whole --index 1", "--index is 1, but there are only 1 stories; they are counted from 0"),
        ("show whole --index -1", "--index is -1; stories are counted from 0"),
        ("show whole --split dev", "unknown split 'dev'. Known: test, train, val"),
        ("show whole --split val", "whole has no val split, only: train; choose one with --split"),
        (
            "evaluate --model rules --data whole --split val",
            "whole has no val split, only: train; choose one with --split",
        ),
        ("evaluate --model ruler --data odd", "unknown solver 'ruler'. Did you mean 'rules'?"),
        ("evaluate --model rules,ruler --data odd", "unknown solver 'ruler'. Did you mean 'rules'?"),
        ("evaluate --model rules --data odd --labels best", "unknown kind of labels 'best'. Known: given, proved"),
        ("evaluate --model rules --data odd --max-stories 0", "--max-stories is 0; use 1 or more"),
        ("evaluate --model rules --data odd --json empty", "cannot write empty: it is a folder; choose another file"),
    ],
)
def test_options(folder: Path, refuse: Refuse, command: str, message: str) -> None:
    make_data(folder)
    assert message in refuse(command)


def test_verify_that_cannot_write_its_findings(folder: Path) -> None:
    make_data(folder)
    done = execute("verify", "whole.parquet", "--json", "nowhere/found.json")
    assert done.returncode == 2
    assert done.stderr.startswith("storyproof: cannot write nowhere/found.json: there is no such folder; choose")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", ["generate tomi", "generate tomi --out out --train many", "show", "shew x", "evaluate --data whole"]
)
def test_usage(folder: Path, arguments: str) -> None:
    done = execute(*arguments.split())
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "--help" in done.stderr
    assert list(folder.iterdir()) == []
