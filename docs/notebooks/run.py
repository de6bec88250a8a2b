"""Run the notebooks of the docs and store their outputs: `make notebooks`.

Each runs in an empty folder, so that nothing that it writes stays here.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = sorted(Path(__file__).parent.glob("*.ipynb"))
_QUIET = {"HF_DATASETS_DISABLE_PROGRESS_BARS": "1", "OMP_NUM_THREADS": "1"}


def run(path: Path, folder: Path) -> Any:
    """Run a notebook in a folder and return it with its outputs; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    os.environ.update(_QUIET)
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=600, resources=place, extra_arguments=["--log-level=ERROR"]).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it ran
        if cell.cell_type == "code":  # warnings of packages differ between environments
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata.language_info = {"name": "python"}  # not which Python
    return notebook


def printed(notebook: Any) -> list[str]:
    """Return what each cell of a notebook printed and returned, as one text: a warning can divide it."""
    return [
        "".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


if __name__ == "__main__":
    for each in [Path(name) for name in sys.argv[1:]] or NOTEBOOKS:
        with TemporaryDirectory() as empty:
            nbformat.write(run(each, Path(empty)), each)
        print(each)
