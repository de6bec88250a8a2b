"""Tables as text: Markdown, LaTeX with booktabs, and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

_MINUS = re.compile(r"(?<![\w-])-(?=[0-9])")
_TEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    | {"–": "--", "±": r"$\pm$", "−": "$-$", "…": r"\dots{}", "×": r"$\times$", "\n": " ", "\r": " "}
)
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#&])")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")


def as_tex(text: str) -> str:
    """Escape a text for LaTeX; minus signs of numbers become those of mathematics."""
    return _MINUS.sub("$-$", _CONTROLS.sub(" ", text).translate(_TEX))


def as_md(text: str) -> str:
    """Escape a text for Markdown, so that it is shown as it is, in a table or elsewhere."""
    return _MARKDOWN.sub(r"\\\1", _CONTROLS.sub(" ", text))


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, labels: int = 1) -> str:
    """Return a table in Markdown; cells are escaped already.

    Args:
        heads: What stands above the columns.
        rows: The cells.
        labels: How many columns from the left hold names; the others are right-aligned.
    """
    marks = "".join("---|" if place < labels else "---:|" for place in range(len(heads)))
    return "\n".join([f"| {' | '.join(heads)} |", f"|{marks}", *(f"| {' | '.join(row)} |" for row in rows)])


def latex_table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, labels: int = 1) -> str:
    """Return a tabular with the rules of booktabs; cells are escaped here."""
    lines = [f"{' & '.join(map(as_tex, row))} \\\\" for row in [heads, *rows]]
    columns = "l" * labels + "r" * (len(heads) - labels)
    begin, end = f"\\begin{{tabular}}{{{columns}}}", "\\end{tabular}"
    return "\n".join([begin, "\\toprule", lines[0], "\\midrule", *lines[1:], "\\bottomrule", end])


def csv_lines(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return CSV; fractions have six digits, and nothing stands where a value is missing."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    for row in rows:
        writer.writerow(["" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row])
    return out.getvalue()
