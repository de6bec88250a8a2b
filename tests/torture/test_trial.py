"""The counts themselves: a trial that fails, or that tries nothing, must not pass."""

import pytest

from tests.torture.trial import Trial


def test_a_failed_case_fails_the_part_and_the_next_one_is_still_tried() -> None:
    trial = Trial("part")
    with trial.case("bad"):
        raise AssertionError("lost")
    with trial.case("good"):
        pass
    assert trial.tried == 2
    with pytest.raises(AssertionError, match=r"1 of 2 failed\nbad"):
        trial.assert_nothing_failed()


def test_a_part_that_tries_nothing_fails() -> None:
    with pytest.raises(AssertionError, match="nothing was tried"):
        Trial("part").assert_nothing_failed()
