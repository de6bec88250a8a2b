from pathlib import Path

import pytest

from tests.cli.invocation import Program, Refuse


def test_it_shows_the_table_and_says_what_is_left(folder: Path, program: Program) -> None:
    ended = program("experiment tomi-table1 --quick --models rules --device cpu")
    assert ended.code == 0
    said = ended.out
    assert "Average and joint accuracy on ToM-bAbI and ToMi" in said
    assert "(100.0, +0.0)" in said
    assert "left out: ToMi, published: Rules" in said
    assert "4 of 19 trainings done; written to experiments/results/tomi-table1-quick" in said
    assert (folder / "experiments/results/tomi-table1-quick/table.csv").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("tomi-table9", "unknown experiment 'tomi-table9'. Did you mean 'tomi-table3'? Known: clutrr-embeddings, "),
        ("tomi-table1 --models memn", "unknown model of tomi-table1 'memn'. Did you mean 'memnn'?"),
        ("tomi-table1 --published nowhere", "--published is nowhere, which is no folder"),
        ("tomi-table1 --runs 0", "--runs is 0; use a number above 0."),
        ("tomi-table1 --minutes 0", "--minutes is 0.0; use a number above 0."),
        ("clutrr-robust --quick --models gat --device gpu9", "unknown device 'gpu9'; use cpu, cuda or auto."),
    ],
)
def test_mistakes(folder: Path, refuse: Refuse, arguments: str, said: str) -> None:
    assert said in refuse(f"experiment {arguments}")
