"""Whatever answers examples: rules, baselines, and later neural and language models."""
