from io import StringIO

import pytest
from rich.console import Console

from storyproof.reports.numbers import Column, Fitting, counted, percent, signed, with_interval


def lines(table: Fitting, width: int) -> list[str]:
    out = StringIO()
    Console(file=out, width=width, color_system=None).print(table)
    return [" ".join(line.split()) for line in out.getvalue().split("\n") if line.strip() and "─" not in line]


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        (1, "story", "1 story"),
        (0, "story", "0 stories"),
        (1, "question", "1 question"),
        (1200, "question", "1,200 questions"),
    ],
)
def test_counts(count: int, noun: str, words: str) -> None:
    assert counted(count, noun) == words


def test_figures() -> None:
    assert (percent(0.25), percent(None)) == ("25.0", "–")
    assert with_interval(0.25, [0.1, 0.5]) == "25.0 (10.0 to 50.0)"
    assert with_interval(0.25, (0.1, 0.5), "–") == "25.0 (10.0–50.0)"
    assert (with_interval(0.25, None), with_interval(None, [0, 1])) == ("25.0", "–")
    assert signed(-0.0, -0.1, 0.1) == "+0.0 (-10.0 to +10.0)"


def test_a_table_gives_way_step_by_step() -> None:
    name = Column("name", ["[b]first[/b]"], name=True)
    table = Fitting([name, Column("average", ["25.0 (10.0 to 50.0)"]), Column("false belief", ["12.5"], rank=1)])
    assert lines(table, 60) == ["name average false belief", "[b]first[/b] 25.0 (10.0 to 50.0) 12.5"]
    assert lines(table, 44) == ["false", "name average belief", "[b]first[/b] 25.0 (10.0 to 50.0) 12.5"]
    left_out = "no room for: false belief; --json has all"
    assert lines(table, 41) == ["name average", "[b]first[/b] 25.0 (10.0 to 50.0)", left_out]
    below = lines(table, 32)
    assert below[:3] == ["name average", "[b]first[/b] 25.0", "(10.0 to 50.0)"]
