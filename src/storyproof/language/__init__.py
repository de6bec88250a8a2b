"""Language of people and models: how answers are worded, chains of thought, and names of types for readers."""
