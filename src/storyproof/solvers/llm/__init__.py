"""Language models: prompts, the ways to reach a model, and replies that are asked for once."""
