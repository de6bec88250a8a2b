import pytest

from storyproof.experiments.declaration import TableCell, read
from storyproof.experiments.table import Entry, ResultTable

CELL = TableCell("memnn", "tomi", "tomi", "average")


def test_deviation_is_a_samples() -> None:
    assert Entry(CELL, (0.5, 0.7, 0.9), None).deviation == pytest.approx(0.2)
    assert Entry(CELL, (0.25, 0.75), None).deviation == pytest.approx(0.5**0.5 / 2)
    assert Entry(CELL, (0.5, 0.5), None).deviation == 0
    assert Entry(CELL, (0.5,), None).deviation is None
    assert Entry(CELL, (), None).deviation is None


@pytest.mark.parametrize(
    ("name", "text"), [("tomi-table1", "70.0 ± 20.0 (77.2, -7.2)"), ("clutrr-robust", "0.70 ± 0.20 (0.77, -0.07)")]
)
def test_cells_show_it(name: str, text: str) -> None:
    assert ResultTable(read(name), (), (), (), ()).text(Entry(CELL, (0.5, 0.7, 0.9), 0.772)) == text
