import re

import pytest

from storyproof.catalog import BENCHMARKS
from storyproof.datasets.generation import make_benchmark
from storyproof.errors import UnknownNameError
from storyproof.experiments.declaring import PERCENT, names, read
from storyproof.experiments.sets import _settings
from storyproof.solvers.neural.layers import Shape
from storyproof.solvers.neural.models import build
from storyproof.solvers.neural.teaching import settings_of

SHAPE = Shape(words=20, pool=12, sentences=5, length=6, question=2, edge_types=30, answers=7, pieces=3, vector=8)
MEASURE = re.compile(
    r"average|joint|((memory|reality|first_order|second_order)(/(no_)?false_belief)?)|k=\d+|task=\w+(/k=\d+)?"
)


def test_the_issue_names_them() -> None:
    tomi = {"tomi-table1", "tomi-table2", "tomi-table3", "tomi-growth"}
    clutrr = {"generalization", "robust", "robust-synthetic", "placeholders", "embeddings"}
    assert set(names()) == tomi | {f"clutrr-{name}" for name in clutrr}


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", names())
def test_every_declaration_holds_together(name: str, quick: bool) -> None:
    found = read(name, quick=quick)
    for cell in found.cells():
        assert cell.model in found.models
        assert cell.data in found.data
        assert cell.test in found.data
        assert MEASURE.fullmatch(cell.measure)
    assert {cell.model for cell in found.cells()} == set(found.models)
    assert {cell.data for cell in found.cells()} == set(found.data)
    assert len(set(found.cells())) == len(found.cells())
    for row in found.rows:
        assert len(row.paper) in (0, len(found.columns))
        assert all(figure is None or 0 <= figure <= (100 if found.unit == PERCENT else 1) for figure in row.paper)


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", names())
def test_models_and_data_can_be_made(name: str, quick: bool) -> None:
    found = read(name, quick=quick)
    for model in found.models.values():
        assert bool(model.model) != bool(model.solver)
        if model.model:
            settings_of(model.model, model.training)
            build(model.model, SHAPE, model.options)
    for data in found.data.values():
        assert bool(data.published) != bool(data.benchmark)
        if data.benchmark:
            assert data.benchmark in BENCHMARKS
            made = make_benchmark(data.benchmark, data.seed, **_settings(data))
            assert data.train % made.round == data.test % made.round == 0
    for stack in {data.stack for data in found.data.values()}:
        together = [data for data in found.data.values() if data.stack == stack]
        assert len({(data.train, str(data.training), bool(data.published)) for data in together}) == 1


def test_the_papers_figures_are_those_of_the_sources() -> None:
    found = read("tomi-table1")
    published = [row for row in found.rows if row.fixes["data"] == "tomi"]
    assert [row.paper for row in published if row.label in ("MemNN", "EntNet", "RelNet")] == [
        (77.2, 44.3),
        (90.6, 66.8),
        (86.0, 57.4),
    ]
    means = {"clutrr-robust": [0.47, 0.46, 0.52, 0.53, 0.23, 0.43, 0.82]}  # the table's own last line
    means["clutrr-robust-synthetic"] = [0.83, 0.82, 0.83, 0.84, 0.53, 0.60, 0.82]
    for name, expected in means.items():
        rows = [row.paper for row in read(name).rows if row.group in ("supporting", "irrelevant", "disconnected")]
        for place, mean in enumerate(expected):
            figures = [row[place] for row in rows]
            assert len(figures) == 12
            assert sum(figures) / 12 == pytest.approx(mean, abs=0.0051)


def test_unknown_experiments_list_the_known() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown experiment 'tomi-table4'.*Known: clutrr-embeddings, clutrr-gen"
    ):
        read("tomi-table4")
    with pytest.raises(UnknownNameError, match="unknown experiment 'quick'"):
        read("quick")
