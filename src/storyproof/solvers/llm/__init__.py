"""Language models: prompts, backends, and replies that are asked for once."""

from storyproof.solvers.llm.backend import Backend
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.requests import Message, Reply, Request

__all__ = ["Backend", "Message", "ModelOptions", "Reply", "Request"]
