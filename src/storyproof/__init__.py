"""storyproof: reading tests of reasoning whose every answer is proved.

The verbs of the command line are functions here: generate, verify, audit, evaluate, rescore, show. They are imported
when first used, so that `import storyproof` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from storyproof.audits.auditing import audit as audit
    from storyproof.audits.verification import verify as verify
    from storyproof.datasets.generation import generate as generate
    from storyproof.report.timeline import show as show
    from storyproof.scoring.evaluation import evaluate as evaluate
    from storyproof.scoring.rescoring import rescore as rescore

_VERBS = {
    "generate": "storyproof.datasets.generation",
    "verify": "storyproof.audits.verification",
    "evaluate": "storyproof.scoring.evaluation",
    "audit": "storyproof.audits.auditing",
    "rescore": "storyproof.scoring.rescoring",
    "show": "storyproof.report.timeline",
}
__all__ = ["__version__", "audit", "evaluate", "generate", "rescore", "show", "verify"]


def __getattr__(name: str) -> Any:
    if name in _VERBS:
        return getattr(import_module(_VERBS[name]), name)
    raise AttributeError(f"module 'storyproof' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
