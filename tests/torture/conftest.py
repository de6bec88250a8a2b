from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.torture.trial import Trial

_HERE = Path(__file__).parent
_TRIED, _FAILED = "torture tried", "torture failed"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in this folder, so that no file can forget to."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.torture)


@pytest.fixture
def trial(request: pytest.FixtureRequest) -> Iterator[Trial]:
    """Yield the counts of a part, named after the test; the test fails if a case did."""
    trial = Trial(request.node.name.removeprefix("test_").replace("_", " "))
    yield trial
    # Reports carry these from the worker's process to the one that prints.
    request.node.user_properties += [(_TRIED, trial.tried), (_FAILED, len(trial.failures))]
    trial.assert_nothing_failed()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what each part tried and what failed."""
    kinds = ("passed", "failed", "error", "")  # the last has the ends of tests that passed, which carry the counts
    found_reports = [report for kind in kinds for report in terminalreporter.stats.get(kind, [])]
    reports = [report for report in found_reports if isinstance(report, pytest.TestReport)]  # not those of collecting
    rows = {}
    seconds: dict[str, float] = {}
    for report in reports:
        seconds[report.nodeid] = seconds.get(report.nodeid, 0) + report.duration
        found = dict(report.user_properties)
        if _TRIED in found:
            rows[report.nodeid] = found
    if not rows:
        return
    terminalreporter.section("torture: tried / failed")
    for node, found in sorted(rows.items()):
        part = node.partition("::")[2].removeprefix("test_").replace("_", " ")
        terminalreporter.write_line(f"{part:<60}{found[_TRIED]:>8,} /{found[_FAILED]:>4}{seconds[node]:>8.0f} s")
    tried, failed = (sum(found[kind] for found in rows.values()) for kind in (_TRIED, _FAILED))
    terminalreporter.write_line(f"{'all':<60}{tried:>8,} /{failed:>4}")
