"""Values replaced in place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import DataError
from storyproof.formats.json_edits import add_value, replace_value
from tests.groups import try_examples


@pytest.mark.parametrize(
    ("line", "path", "value", "expected"),
    [
        ('{"b":1,"answer":"x","a":2}', ["answer"], "y", '{"b":1,"answer":"y","a":2}'),
        ('{ "answer" :\t"x" , "a": [ ] }  ', ["answer"], "y", '{ "answer" :\t"y" , "a": [ ] }  '),
        ('{"a": "\\u00e9", "answer": "x"}', ["answer"], "é", '{"a": "\\u00e9", "answer": "\\u00e9"}'),
        ('{"a": "é", "answer": "x"}', ["answer"], "é", '{"a": "é", "answer": "é"}'),
        ('{"target": [ "x" ]}', ["target"], "y", '{"target": [ "y" ]}'),
        ('{"target":["x","z"]}', ["target"], "y", '{"target":["y"]}'),
        ('{"answer": 1, "answer": "x"}', ["answer"], "y", '{"answer": 1, "answer": "y"}'),
        ('{"a": {"answer": "}"}, "answer": "x"}', ["answer"], "y", '{"a": {"answer": "}"}, "answer": "y"}'),
        ('{"answer": "x", "a": {"answer": "z"}}', ["a", "answer"], "y", '{"answer": "x", "a": {"answer": "y"}}'),
    ],
)
def test_values_are_replaced_in_place(line: str, path: list[str], value: str, expected: str) -> None:
    assert replace_value(line, path, value) == expected


@pytest.mark.parametrize("line", ["{}", "[]", "", "{", '{"a": 1}', '{"answer"', '{"answer": }'])
def test_no_such_value(line: str) -> None:
    with pytest.raises(DataError, match="no value 'answer'"):
        replace_value(line, ["answer"], "y")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@try_examples(40)
@given(st.dictionaries(st.text(), values), st.text(), st.text(), st.booleans(), st.sampled_from([None, 1]))
def test_all_else_stays(row: dict[str, Any], old: str, new: str, ascii_only: bool, indent: int | None) -> None:
    row = {**row, "answer": old, "last": 0}
    line = json.dumps(row, ensure_ascii=ascii_only, indent=indent)
    changed = replace_value(line, ["answer"], new)
    assert json.loads(changed) == {**row, "answer": new}
    if ascii_only:  # else it depends on the rest of the line whether a letter is written as such
        assert replace_value(changed, ["answer"], old) == line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', '{"a": 1, "status": "é"}'),
        ('{"a":{"b":1}} ', '{"a":{"b":1},"status":"é"} '),
        ("{}", '{"status":"é"}'),
        ('{\n  "a": 1\n}', '{\n  "a": 1,\n  "status": "é"\n}'),
    ],
)
def test_adding(text: str, expected: str) -> None:
    assert json.loads(add_value(text, "status", "é")) == json.loads(expected)
    assert add_value(text, "status", "x") == expected.replace("é", "x")
    with pytest.raises(DataError, match="no object"):
        add_value("[1]", "status", "x")
