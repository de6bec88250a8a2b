"""File formats: one object per format that recognises, reads, writes and patches files (`format.Format`)."""

from storyproof.formats.format import Format, Place, SplitWriter, format_of, formats, load_format
from storyproof.formats.json_edits import Changes, Write

__all__ = ["Changes", "Format", "Place", "SplitWriter", "Write", "format_of", "formats", "load_format"]
