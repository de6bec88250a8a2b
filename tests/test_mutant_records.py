"""What is known of mutants belongs to functions, wherever they stand."""

from dataclasses import replace

from tests.mutant_records import (
    RECORDS,
    Part,
    Record,
    Survivor,
    fitting,
    parts_of,
    read_records,
    share_killed,
    write_page,
    write_records,
)
from tests.mutation_targets import TARGETS

CODE = '''
"""A module."""
from a import b
LIMIT = 3

def first(x):
    """Return it."""
    return x + 1  # one more

class Box:
    size: int = 2

    @property
    def half(self):
        return self.size / 2
'''


def test_parts_are_functions_methods_and_other_statements() -> None:
    assert [part.name for part in parts_of(CODE)] == ["", "first", "Box", "Box.half"]


def test_layout_comments_docstrings_and_imports_do_not_count() -> None:
    other = CODE.replace("from a import b", "import c\nfrom d import (\n    e,\n)").replace("  # one more", "")
    other = other.replace('"""Return it."""', "'''Return one more.'''").replace("x + 1", "(x\n        + 1)")
    assert parts_of(other) == parts_of(CODE)


def test_names_of_local_variables_do_not_count() -> None:
    code = "def f(given):\n    found = [each for each in given if each]\n    return min(found)\n"
    assert parts_of(code.replace("found", "kept").replace("each", "one").replace("given", "all_of")) == parts_of(code)
    assert parts_of(code.replace("min(found)", "min(given)")) != parts_of(code)
    assert parts_of(code.replace("min(", "max(")) != parts_of(code)


def test_a_change_loses_only_the_function_that_changed() -> None:
    before = [Record("a.py", part, "2026-01-01", 3) for part in parts_of(CODE)]
    present = {"a.py": parts_of(CODE.replace("x + 1", "x + 2"))}
    assert [part.name for _, part in fitting(before, present)] == ["", "Box", "Box.half"]


def test_what_moves_keeps_its_record_and_its_own_comes_first() -> None:
    [_, first, *_] = parts_of(CODE)
    moved = Record("old.py", first, "2026-01-02", 3)
    assert fitting([moved], {"new.py": [first]}) == {("new.py", first): replace(moved, module="new.py")}
    own = Record("new.py", first, "2026-01-01", 5)
    assert fitting([moved, own], {"new.py": [first]}) == {("new.py", first): own}


def test_records_are_written_and_read() -> None:
    survivor = Survivor("f", 'return "a\\n" | b', "return `b`", "Equivalent: ü")
    records = [
        Record("a.py", Part("f", "01234567"), "2026-01-01", 2, (survivor,)),
        Record("b.py", Part("", "0"), "d", 0),
    ]
    assert read_records(write_records(records)) == records


def test_equivalent_mutants_are_left_out_of_the_share() -> None:
    part = Part("f", "0")
    survivors = (Survivor("f", "a", "b", "Equivalent: slower"), Survivor("f", "a", "c", "only a message"))
    records = [Record("a.py", part, "d", 3, survivors), Record("b.py", part, "d", 4)]
    assert share_killed(records) == 7 / 8
    assert share_killed([]) == 1


def test_the_page_counts_what_was_measured() -> None:
    target = TARGETS[0]
    present = {each.module: [] for each in TARGETS} | {target.module: parts_of(CODE)}
    [part, *_] = parts_of(CODE)
    record = Record(target.module, part, "2026-01-01", 3, (Survivor("", "a", "b", "Equivalent: x"),))
    page = write_page({(target.module, part): record}, present)
    assert f"| {target.module} | 1 of 4 | 4 | 1 | 100.0% | 2026-01-01 |" in page
    assert "| all | 1 of 4 | 4 | 1 | 100.0% |" in page
    assert page.count(" | 0 of 0 | – | – | – |") >= len(TARGETS) - 1


def test_stored_records_can_be_read_and_say_what_survived() -> None:
    records = read_records(RECORDS.read_text("utf-8"))
    assert sum(each.mutants for each in records) > 2000
    for record in records:
        assert record.killed >= 0
        for survivor in record.survivors:
            assert survivor.code != survivor.change
