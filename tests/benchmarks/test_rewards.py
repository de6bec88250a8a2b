import pytest

from benchmarks.rewards import BENCHMARKS, GROUP, completions
from storyproof import rewards


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_completions_state_steps_that_are_right_and_wrong(benchmark: str) -> None:
    _, replies, columns = completions(benchmark)
    rows = [{name: values[place] for name, values in columns.items()} for place in range(6 * GROUP)]
    reports = [rewards.check_steps(reply, row) for reply, row in zip(replies, rows, strict=False)]
    assert sum(report.counted for report in reports) >= len(reports) / 2
    assert {report.first_wrong is None for report in reports} == {True, False}
