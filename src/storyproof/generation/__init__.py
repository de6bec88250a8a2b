"""What generation of stories rests on: seeds, and Arrow columns from arrays."""
