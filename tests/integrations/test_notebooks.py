"""The notebooks of the docs run, and print what they show."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

import nbformat

from docs.notebooks.run import NOTEBOOKS, printed, run

pytestmark = pytest.mark.integrations


@pytest.mark.filterwarnings("default")  # of the packages that run notebooks
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_print_what_they_show(path: Path, tmp_path: Path) -> None:
    pytest.importorskip(
        "torch" if path.stem == "data-loader" else "datasets" if path.stem == "hugging-face" else "pandas"
    )
    stored = printed(nbformat.read(path, as_version=4))
    assert len(stored) >= 3
    assert printed(run(path, tmp_path)) == stored, "run make notebooks, and look at them"


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3
