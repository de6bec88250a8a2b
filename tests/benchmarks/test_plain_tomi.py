from __future__ import annotations

from collections import Counter

import pyarrow as pa

from benchmarks.plain_tomi import PlainTomi
from storyproof.audits.row_pass import examine_table
from storyproof.families.belief.vocabulary import default_vocabulary


def test_the_plain_generator_labels_as_the_oracle_does() -> None:
    rows = PlainTomi(default_vocabulary(), seed=3).balanced(900)
    for number, row in enumerate(rows):
        row["id"] = f"plain-{number}"
    report = examine_table(pa.Table.from_pylist(rows), "plain")
    assert report.findings == []
    assert Counter(row["story_type"] for row in rows[::6]) == {
        "true_belief": 300,
        "false_belief": 300,
        "second_order_false_belief": 300,
    }
