import re

import pytest

from storyproof.catalog import BENCHMARKS
from storyproof.datasets.generate import make_benchmark
from storyproof.errors import UnknownNameError
from storyproof.experiments.declaration import PERCENT, Line, names, read
from storyproof.solvers.neural.data.batches import Shape
from storyproof.solvers.neural.models.registry import build
from storyproof.solvers.neural.train import make_settings

SHAPE = Shape(words=20, pool=12, sentences=5, length=6, question=2, edge_types=30, answers=7, pieces=3, vector=8)
MEASURE = re.compile(
    r"average|joint|((memory|reality|(first|second|third|fourth)_order|order_\d)(/(no_)?false_belief)?)|"
    r"k=\d+|task=\w+(/k=\d+)?"
)

# What the papers print, a line a row, its columns in order; "-" where they print nothing.
PAPERS = {
    # Le, Boureau and Nickel (2019), Tables 1 to 3: average and joint; memory, reality, first and second order; without
    # false belief first and second order, reality, memory, and with it first and second order.
    "tomi-table1": """
        ToM-easy Rules 100.0 -
        ToM-easy MemNN 100.0 -
        ToM-easy EntNet 100.0 -
        ToM-easy RelNet 100.0 -
        ToM Rules 100.0 -
        ToM MemNN 90.7 -
        ToM EntNet 94.9 -
        ToM RelNet 94.4 -
        ToMi Rules 77.5 36.5
        ToMi MemNN 77.2 44.3
        ToMi EntNet 90.6 66.8
        ToMi RelNet 86.0 57.4""",
    "tomi-table2": """
        ToM-easy MemNN 100.0 100.0 100.0 100.0
        ToM MemNN 71.9 100.0 98.6 95.3
        ToMi MemNN 98.90 93.39 70.72 64.66""",
    "tomi-table3": """
        ToMi MemNN 85.45 82.67 93.39 98.90 12.62 17.27
        ToMi RelNet 96.42 95.37 100.0 99.90 10.40 17.81
        ToMi EntNet 94.29 85.08 100.0 100.0 54.95 36.55""",
    # Sinha et al. (2019), appendix, Tables 1 and 2; clean → clean is of the main paper's ResultTable 2.
    "clutrr-robust": """
        clean clean 0.58 0.53 0.49 0.63 0.37 0.67 1.0
        supporting clean 0.38 0.32 0.4 0.45 0.19 0.39 0.92
        supporting supporting 0.67 0.66 0.68 0.65 0.32 0.57 0.98
        supporting irrelevant 0.44 0.39 0.51 0.46 0.2 0.36 0.5
        supporting disconnected 0.31 0.25 0.47 0.41 0.2 0.32 0.92
        irrelevant clean 0.57 0.56 0.46 0.67 0.24 0.46 0.92
        irrelevant supporting 0.38 0.31 0.61 0.61 0.27 0.46 0.77
        irrelevant irrelevant 0.51 0.52 0.5 0.56 0.25 0.53 0.93
        irrelevant disconnected 0.44 0.54 0.55 0.61 0.26 0.45 0.85
        disconnected clean 0.45 0.47 0.53 0.5 0.22 0.44 0.75
        disconnected supporting 0.47 0.46 0.54 0.58 0.22 0.38 0.78
        disconnected irrelevant 0.47 0.48 0.52 0.51 0.17 0.38 0.56
        disconnected disconnected 0.57 0.57 0.45 0.4 0.17 0.47 0.96""",
    "clutrr-robust-synthetic": """
        supporting clean 0.96 0.97 0.88 0.94 0.48 0.57 0.92
        supporting supporting 0.96 0.96 0.97 0.97 0.75 0.88 0.98
        supporting irrelevant 0.92 0.93 0.9 0.91 0.56 0.54 0.5
        supporting disconnected 0.8 0.83 0.76 0.86 0.27 0.42 0.92
        irrelevant clean 0.63 0.61 0.85 0.8 0.53 0.44 0.92
        irrelevant supporting 0.66 0.64 0.69 0.76 0.42 0.43 0.77
        irrelevant irrelevant 0.89 0.86 0.74 0.78 0.61 0.83 0.93
        irrelevant disconnected 0.64 0.62 0.72 0.73 0.41 0.61 0.85
        disconnected clean 0.9 0.82 0.94 0.93 0.68 0.64 0.75
        disconnected supporting 0.87 0.82 0.85 0.88 0.54 0.5 0.78
        disconnected irrelevant 0.87 0.85 0.83 0.87 0.59 0.58 0.56
        disconnected disconnected 0.91 0.91 0.8 0.71 0.49 0.79 0.96""",
}
ROBUST_MODELS = "bilstm-attention bilstm-mean rn mac bert bert-lstm gat"
UNPRINTED = ("lstm", "rmc")  # models that the CLUTRR paper describes, without figures
TOMI_MEASURES = {
    "tomi-table1": "average joint",
    "tomi-table2": "memory reality first_order second_order",
    "tomi-table3": "first_order/no_false_belief second_order/no_false_belief reality memory "
    "first_order/false_belief second_order/false_belief",
}
TOMI_DATA = {
    "ToM-easy": "tom-easy",
    "ToM": "tom",
    "ToMi": "tomi",
    "ToMi, published stories, proved labels": "tomi-proved-labels",
    "ToMi, proved": "tomi-proved",
    "ToMi, proved, 30,000 stories": "tomi-30k",
}


def test_the_issue_names_them() -> None:
    tomi = {"tomi-table1", "tomi-table2", "tomi-table3", "tomi-growth", "tomi-matched"}
    clutrr = {"generalization", "robust", "robust-synthetic", "settings", "placeholders", "embeddings"}
    assert set(names()) == tomi | {f"clutrr-{name}" for name in clutrr} | {"tom-k-orders", "tom-k-plain"}


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
    assert {name for cell in found.cells() for name in (cell.data, cell.test)} == set(found.data)
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
            make_settings(model.model, model.training)
            build(model.model, SHAPE, model.options)
    for data in found.data.values():
        assert bool(data.published) != bool(data.benchmark)
        if data.benchmark:
            assert data.benchmark.partition("@")[0] in BENCHMARKS
            made = make_benchmark(data.benchmark, data.seed, **dict(data.settings))
            assert data.train % made.round == data.test % made.round == 0
    for stack in {data.stack for data in found.data.values()}:
        together = [data for data in found.data.values() if data.stack == stack]
        assert len({(data.train, str(data.training), bool(data.published)) for data in together}) == 1


@pytest.mark.parametrize("name", sorted({*names()} - {"clutrr-settings"}))
def test_the_papers_figures_are_those_of_the_sources(name: str) -> None:
    """All of them, the same in every row that stands for the same; whatever no paper has is empty."""
    found, expected = read(name), figures(PAPERS.get(name, ""))
    printed = sum(column.fixes.get("model") not in UNPRINTED for column in found.columns)
    for row in found.rows:
        assert row.paper[:printed] == expected.get(of(row), ()), f"{row.group}: {row.label}"
        assert not any(row.paper[printed:])
    assert expected.keys() <= {of(row) for row in found.rows}


def test_other_settings_stand_beside_the_figures_of_their_model() -> None:
    found, expected = read("clutrr-settings"), figures(PAPERS["clutrr-robust"])
    for row in found.rows:
        printed = expected.get(of(row))
        places = [ROBUST_MODELS.split().index(column.label.partition(",")[0].lower()) for column in found.columns]
        assert row.paper == (tuple(printed[place] for place in places) if printed else ()), row.named(": ")
        assert row.fixes["data"] == row.group.partition(",")[0].join(("published-", ""))
        assert row.fixes["measure"] == f"task={row.label}"


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("clutrr-robust", (0.47, 0.46, 0.52, 0.53, 0.23, 0.43, 0.82)),
        ("clutrr-robust-synthetic", (0.83, 0.82, 0.83, 0.84, 0.53, 0.60, 0.82)),
    ],
)
def test_figures_come_to_the_means_that_the_paper_prints(name: str, printed: tuple[float, ...]) -> None:
    rows = [found for (group, _), found in figures(PAPERS[name]).items() if group != "clean"]
    assert len(rows) == 12
    for expected, *column in zip(printed, *rows, strict=True):
        assert sum(each or 0 for each in column) / 12 == pytest.approx(expected, abs=0.0051)


VARIANTS = {
    ", stories as they are": "-plain",
    ", 20 wide": "-narrow",
    ", last 10 sentences": "-last10",
    ", last 5 sentences": "-last5",
    ", rate of its source": "-source",
    ", sentences by LSTM": "-lstm",
}


def of(row: Line) -> tuple[str, str]:
    """What the paper calls a row, of which we may have several."""
    label = row.label.partition(", ")[0]
    return row.group.removesuffix(", published").removesuffix("; noise at the end"), label


def figures(text: str) -> dict[tuple[str, str], tuple[float | None, ...]]:
    lines = [line.split() for line in text.strip().splitlines()]
    return {
        (group, label): tuple(None if figure == "-" else float(figure) for figure in printed)
        for group, label, *printed in lines
    }


def test_rows_and_columns_measure_what_the_papers_do() -> None:
    for name in ("clutrr-robust", "clutrr-robust-synthetic"):
        found = read(name)
        assert found.unit == "fraction"
        models = ROBUST_MODELS.split() + [*UNPRINTED] * (name == "clutrr-robust")
        assert [column.fixes["model"] for column in found.columns] == models
        assert [column.label.lower() for column in found.columns] == models
        for row in found.rows:
            group, label = of(row)
            assert row.fixes["measure"].removesuffix("/k=3" * ("only" in row.label)) == f"task={label}"
            source = "published-" * ("published" in row.group) + "synthetic-" * name.endswith("synthetic")
            group, _, corrected = group.partition(", published")
            end = "-proved" * (corrected == ", corrected") + "-ordered" * ("noise at the end" in row.group)
            assert row.fixes["data"] == source + group + end
    for name, measures in TOMI_MEASURES.items():
        found = read(name)
        assert found.unit == PERCENT
        assert " ".join(column.fixes["measure"] for column in found.columns) == measures
        for row in found.rows:
            group, label = of(row)
            variant = row.label.removeprefix(label)
            assert row.fixes["model"] == label.lower() + VARIANTS.get(variant, variant)
            assert row.fixes["data"] == TOMI_DATA[group]


def test_unknown_experiments_list_the_known() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown experiment 'tomi-table4'.*Known: clutrr-embeddings, clutrr-gen"
    ):
        read("tomi-table4")
    with pytest.raises(UnknownNameError, match="unknown experiment 'quick'"):
        read("quick")
