"""The benchmark that was made so that the shortcut audit finds nothing."""

import pytest

from storyproof.audits.shortcuts import find_shortcuts
from tests.shortcuts.stories import made

pytest.importorskip("sklearn")


def test_rules_and_priors_get_no_more_than_the_structure_forces() -> None:
    report = find_shortcuts(None, made("tomi-matched", "test", 297), learned=False)
    assert report.forced.accuracy == pytest.approx(5 / 6)
    assert report.forced.joint_accuracy == pytest.approx(1 / 3)
    for row in report.rows:
        assert row.above_structure < 1e-9, row.name
        assert row.joint_above_structure < 1e-9, row.name
    assert "no more than the structural baseline" in report.verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_no_probe_that_ignores_who_saw_what_beats_the_structure(seed: int) -> None:
    report = find_shortcuts(made("tomi-matched", "train", 3_000, seed), made("tomi-matched", "test", 1_998, seed))
    for row in report.rows:
        assert not (row.shortcut and (row.beats_structure or row.jointly_beats_structure)), row.name
    assert report.row("full_text").joint_accuracy.value > 0.98
    assert "no more than the structural baseline" in report.verdict
