"""Language models: prompts, backends, and a store of replies."""

from storyproof.solvers.llm.backend import Backend
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.requests import Message, Reply, Request

__all__ = ["Backend", "Message", "ModelOptions", "Reply", "Request"]
