"""The environment of storyproof under a name that `verifiers` can import: `vf-eval storyproof-verifiers`."""

from storyproof.integrations.verifiers_tasks import StoryEnv, StoryHarness, StoryTaskset, load_environment

__all__ = ["StoryEnv", "StoryHarness", "StoryTaskset", "load_environment"]
