"""Theory-of-mind stories: who was where, who saw what, who believes what."""
