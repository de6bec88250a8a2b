import re
from pathlib import Path

import pytest

from storyproof import limits
from storyproof.limits import size

PAGE = Path(__file__).parents[1] / "docs" / "formats.md"


@pytest.mark.parametrize(
    "limit",
    [
        size(limits.LONGEST_LINE),
        size(limits.LARGEST_ROW),
        size(limits.LARGEST_ROW_GROUP),
        f"{limits.MOST_COLUMNS:,}",
        str(limits.MOST_NESTED),
        str(limits.DEEPEST),
        size(limits.LARGEST_DOCUMENT),
        size(limits.LARGEST_YAML),
        size(limits.LARGEST_RUN),
    ],
)
def test_the_page_states_every_limit(limit: str) -> None:
    assert re.search(rf"\| {re.escape(limit)} \|", PAGE.read_text())
