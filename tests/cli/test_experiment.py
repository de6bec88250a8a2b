import shutil
from pathlib import Path

import pytest

from storyproof.errors import DataError
from storyproof.experiments import worker
from storyproof.experiments.jobs import Job
from tests.cli.invocation import Program, Refuse


def test_it_shows_the_table_and_says_what_is_left(folder: Path, program: Program) -> None:
    ended = program("experiment tomi-table1 --quick --models rules --device cpu")
    assert ended.code == 0
    said = ended.out
    assert "Average and joint accuracy on ToM-bAbI and ToMi" in said
    assert "(100.0, +0.0)" in said
    assert "left out: ToMi, published; ToMi, published stories, proved labels ('tomi' is published data" in said
    assert "4 of 23 trainings done; written to experiments/results/tomi-table1-quick" in said
    assert (folder / "experiments/results/tomi-table1-quick/table.csv").is_file()


def test_folders_with_brackets_are_named(folder: Path, program: Program) -> None:
    ended = program("experiment tomi-table1 --quick --models rules --device cpu --out 'runs/[/b] [gat]'")
    assert ended.code == 0
    assert "4 of 23 trainings done; written to runs/[/b] [gat]/tomi-table1-quick\n" in ended.out


def test_it_says_when_a_table_is_left_as_it_is(folder: Path, program: Program) -> None:
    command = "experiment tomi-table1 --quick --models rules --device cpu --out out"
    program(command)
    shutil.rmtree("out/runs")
    ended = program(f"{command} --minutes 1e-9")
    assert ended.code == 0
    assert "the table in out/tomi-table1-quick was not changed, because it has figures in 8 cells" in ended.out
    assert ended.out.endswith("0 of 23 trainings done; nothing written to out/tomi-table1-quick\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("tomi-table9", "unknown experiment 'tomi-table9'. Did you mean 'tomi-table3'? Known: clutrr-embeddings, "),
        ("tomi-table1 --models memn", "unknown model of tomi-table1 'memn'. Did you mean 'memnn'?"),
        ("tomi-table1 --published nowhere", "--published is nowhere, which is not a folder"),
        ("tomi-table1 --runs 0", "--runs is 0; use a number above 0."),
        ("tomi-table1 --minutes 0", "--minutes is 0.0; use a number above 0."),
        ("clutrr-robust --quick --models gat --device gpu9", "unknown device 'gpu9'; use cpu, cuda or auto"),
        ("tomi-table1 --minutes nan", "--minutes is nan; use a number above 0."),
        (
            "clutrr-robust --encoder ./minilm",
            "--encoder is ./minilm, which is not a folder; give a folder with",
        ),
    ],
)
def test_mistakes(folder: Path, refuse: Refuse, arguments: str, said: str) -> None:
    assert said in refuse(f"experiment {arguments}")


def test_a_place_that_cannot_be_written_to_is_named(folder: Path, refuse: Refuse) -> None:
    (folder / "results").write_text("a file")
    said = refuse("experiment tomi-table1 --quick --models rules --device cpu --out results")
    assert said == "storyproof: cannot write to results/runs: Not a directory; choose another --out.\n"


def test_a_training_that_cannot_be_done_ends_it_with_2_and_a_table(
    folder: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(job: Job, *rest: object) -> None:
        raise DataError("the data are damaged; mend them.")

    monkeypatch.setattr(worker, "_train", fail)
    ended = program("experiment tomi-table3 --quick --models memnn-plain --device cpu")
    assert ended.code == 2
    assert ended.err.splitlines() == [
        "memnn-plain on tomi-proved: the data are damaged; mend them.",
        "storyproof: memnn-plain on tomi-proved: the data are damaged; mend them. The table so far is in "
        "experiments/results/tomi-table3-quick.",
    ]
    assert (folder / "experiments/results/tomi-table3-quick/table.md").is_file()
