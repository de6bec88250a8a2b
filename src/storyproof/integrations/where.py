"""The verb `where`: where the files are that another tool needs."""

from __future__ import annotations

from pathlib import Path

from storyproof.errors import UnknownNameError

PLACES = {"lm-eval": Path(__file__).with_name("lm_eval")}


def where(tool: str) -> Path:
    """Return the folder with the files of storyproof that another tool needs.

    Args:
        tool: `lm-eval`, for lm-evaluation-harness: the folder of its tasks.

    Raises:
        UnknownNameError: If there are no files for such a tool.

    Example:
        >>> import storyproof
        >>> folder = storyproof.where("lm-eval")
        >>> (folder / "storyproof_tomi.yaml").is_file()
        True
    """
    if tool not in PLACES:
        raise UnknownNameError("tool", tool, PLACES)
    return PLACES[tool]
