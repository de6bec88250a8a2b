"""Redraw the plots of the experiments from their results: `make figures`."""

from __future__ import annotations

from pathlib import Path

from storyproof.experiments.declaration import read
from storyproof.experiments.table import draw, read_table

RESULTS = Path(__file__).parents[1] / "experiments" / "results"


def redraw(folder: Path, out: Path) -> None:
    """Draw the plot of an experiment from its written table."""
    remark = draw(out, read_table(read(folder.name), folder / "results.json"))
    if remark:
        raise SystemExit(remark)


if __name__ == "__main__":
    for each in sorted(path.parent for path in RESULTS.glob("*/results.json")):
        redraw(each, each)
        print(each.relative_to(RESULTS))
