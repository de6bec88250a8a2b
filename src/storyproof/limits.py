"""How much storyproof reads of what others wrote: beyond this, input is refused before it can fill the memory.

The limits are far above what any known dataset needs. `docs/formats.md` lists them.
"""

from __future__ import annotations

DEEPEST = 100  # lists and objects within each other, in JSON and YAML
LARGEST_DOCUMENT = 64 << 20  # bytes of a file of JSON that is read as a whole, such as a manifest or placeholders
LARGEST_YAML = 8 << 20  # bytes of a prompt, a vocabulary, or rules; parsing YAML takes a second per megabyte
LARGEST_RUN = 2 << 30  # bytes of a file of predictions
LONGEST_LINE = 16 << 20  # characters of a line, of an object in a JSON list, or of a text in Parquet
MOST_COLUMNS = 1_000  # of a table
MOST_NESTED = 16  # levels of a column in Parquet; a list has two
LARGEST_ROW_GROUP = 4 << 30  # bytes of a row group of Parquet, uncompressed
LARGEST_ROW = 256 << 20  # bytes of all texts of a row of Parquet, and of the rows that are held at a time
MOST_ALIASED = 1_000_000  # values that a YAML document has, those counted again to which aliases refer


def size(count: int) -> str:
    """Return a number of bytes in words, such as `16 MB`."""
    for unit, bytes_each in (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)):
        if count >= bytes_each:
            return f"{count / bytes_each:.3g} {unit}"
    return f"{count} bytes"
