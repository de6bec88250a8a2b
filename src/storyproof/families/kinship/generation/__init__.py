"""Generate puzzles: schedule, puzzles, names, narration, table of columns."""
