"""Where the records of a table end, told by quotes and ends of lines alone."""

import csv
import io
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from storyproof.formats.delimited import COMMAS, _ends_of_records


@given(st.text(alphabet='ab,"\n\r', max_size=40))
def test_ends_are_those_of_the_records_that_python_reads(text: str) -> None:
    ends = _ends_of_records(text.encode(), COMMAS, is_last=True)
    if ends is None:  # only reading them tells
        return
    records = [
        list(csv.reader(io.StringIO(text[one:other], newline=""))) for one, other in pairwise([0, *ends.tolist()])
    ]
    assert all(len(each) <= 1 for each in records)
    assert [each for found in records for each in found] == list(csv.reader(io.StringIO(text, newline="")))
