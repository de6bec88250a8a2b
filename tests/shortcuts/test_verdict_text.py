from storyproof.shortcuts.results import HEURISTIC, ShortcutScore, points_above
from storyproof.stats import Share


def scored(average: float, joint: float) -> ShortcutScore:
    share = Share(0.5, 0.4, 0.6, 100)
    return ShortcutScore("x", HEURISTIC, "guesses", True, share, share, {}, {}, average, joint, average > 0, joint > 0)


def test_only_what_is_above_the_structure_is_called_so() -> None:
    assert points_above(scored(0.05, 0.1)) == "5.0 (joint 10.0) points above"
    assert points_above(scored(-0.013, 0.133)) == "joint 13.3 points above"
