import csv
import io

import pytest

from storyproof.reports.table_text import as_md, as_tex, csv_lines, latex_table, markdown_table


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("50% of a_b & c", r"50\% of a\_b \& c"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("~^$#", r"\textasciitilde{}\textasciicircum{}\$\#"),
        ("+1.0 (-2.0 to +3.0)", "+1.0 ($-$2.0 to +3.0)"),
        ("gpt-4", "gpt-4"),
        ("–", "--"),
        ("a\nb\x1b[2J", "a b [2J"),
    ],
)
def test_latex_shows_text_as_it_is(text: str, written: str) -> None:
    assert as_tex(text) == written


@pytest.mark.parametrize("text", ["a|b", "*a*", "<b>", "[x](y)", "`c`", "a_b_c", "# h", "&lt;", "a\nb"])
def test_markdown_shows_text_as_it_is(text: str) -> None:
    """Every sign that means something is escaped, and nothing else is lost."""
    written = as_md(text)
    assert "\n" not in written
    bare = written
    for sign in "\\`*_[]<>|#&":
        assert f"\\{sign}" in written or sign not in text
        bare = bare.replace(f"\\{sign}", sign)
    assert bare == text.replace("\n", " ")


def test_tables() -> None:
    assert markdown_table(["a", "b"], [["x", "1"]]) == "| a | b |\n|---|---:|\n| x | 1 |"
    table = latex_table(["a", "b"], [["x_1", "1%"]])
    assert table.split("\n")[0] == r"\begin{tabular}{lr}"
    assert r"x\_1 & 1\% \\" in table


def test_csv_is_read_back() -> None:
    text = csv_lines(["a", "b", "c"], [['x,"y', None, 0.125], ["z\n", 3, 1 / 3]])
    assert list(csv.reader(io.StringIO(text))) == [["a", "b", "c"], ['x,"y', "", "0.125"], ["z\n", "3", "0.333333"]]
