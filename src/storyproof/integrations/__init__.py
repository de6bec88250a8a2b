"""Other people's tools: Hugging Face, Inspect and lm-evaluation-harness.

Each module is thin: what is asked, how replies are judged and how stories are counted is storyproof's own. The tools
themselves are imported when they are used.
"""
