import sys
from pathlib import Path

import pytest

from storyproof import cli
from tests.cli.test_bad_input import refuse


def test_it_shows_the_table_and_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = "storyproof experiment tomi-table1 --quick --models rules --device cpu"
    monkeypatch.setattr(sys, "argv", command.split())
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    said = capsys.readouterr().out
    assert "Average and joint accuracy on ToM-bAbI and ToMi" in said
    assert "(100.0, +0.0)" in said
    assert "left out: ToMi, published: Rules" in said
    assert "4 of 28 trainings done; written to experiments/results/tomi-table1-quick" in said
    assert (tmp_path / "experiments/results/tomi-table1-quick/table.csv").is_file()


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
def test_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in refuse(monkeypatch, capsys, f"experiment {arguments}")
