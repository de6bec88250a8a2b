"""What is wrong with data.

The verbs are modules here: `verify` and `audit`, two views of one pass over the rows (`examination`), beside corrected
copies (`fixes`), duplicates (`contamination`), shortcuts (`shortcuts`) and variety of text (`language`).
"""

from storyproof.audits.contamination import find_overlaps
from storyproof.audits.examination import examine, examine_table
from storyproof.audits.fixes import fixed_files
from storyproof.audits.language import measure_language
from storyproof.audits.shortcuts import find_shortcuts
from storyproof.audits.verify import Verification

__all__ = [
    "Verification",
    "examine",
    "examine_table",
    "find_overlaps",
    "find_shortcuts",
    "fixed_files",
    "measure_language",
]
