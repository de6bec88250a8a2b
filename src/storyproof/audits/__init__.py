"""What is wrong with data.

The verb is the module `audit`: one pass over the rows (`examination`), with corrected copies (`fixes`). Beside it stand
duplicates (`contamination`), shortcuts (`shortcuts`) and variety of text (`language`).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from storyproof.audits.duplicates import find_overlaps
    from storyproof.audits.fixes import fixed_files
    from storyproof.audits.language import measure_language
    from storyproof.audits.row_pass import examine, examine_table
    from storyproof.audits.shortcuts import find_shortcuts

# Where names are defined; a module is imported when one of its names is used, since each verb needs few of them.
_MODULES = {
    "examine": "examination",
    "examine_table": "examination",
    "find_overlaps": "contamination",
    "find_shortcuts": "shortcuts",
    "fixed_files": "fixes",
    "measure_language": "language",
}

__all__ = [
    "examine",
    "examine_table",
    "find_overlaps",
    "find_shortcuts",
    "fixed_files",
    "measure_language",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
