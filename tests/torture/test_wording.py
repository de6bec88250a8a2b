"""Damaged stories and questions about nested beliefs, in every language: refused with their place, never a crash."""

from __future__ import annotations

import pytest

from storyproof.families.belief.wording import LANGUAGES
from tests.families.belief.test_wording import read_damaged
from tests.torture.trial import Trial


@pytest.mark.parametrize("language", LANGUAGES)
def test_damaged_text(trial: Trial, language: str) -> None:
    for seed in range(20):
        with trial.case(f"{language}, 250 stories and questions, seed {seed}"):
            assert read_damaged(language, 250, seed) < 100
