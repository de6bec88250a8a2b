"""Language models: prompts, backends, and a store of replies."""

from storyproof.solvers.llm.backend import Backend
from storyproof.solvers.llm.messages import Message, Reply, Request
from storyproof.solvers.llm.options import ModelOptions

__all__ = ["Backend", "Message", "ModelOptions", "Reply", "Request"]
