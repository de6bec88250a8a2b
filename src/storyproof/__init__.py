"""storyproof: reading tests of reasoning whose every answer is proved.

The verbs of the command line are functions here (`__all__` lists them). They are imported when first used, so that
`import storyproof` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from storyproof.audits.auditing import audit as audit
    from storyproof.audits.verification import verify as verify
    from storyproof.datasets.generation import generate as generate
    from storyproof.datasets.processing import process as process
    from storyproof.experiments.experimenting import experiment as experiment
    from storyproof.report.timeline import show as show
    from storyproof.scoring.comparison import compare as compare
    from storyproof.scoring.evaluation import evaluate as evaluate
    from storyproof.scoring.rescoring import rescore as rescore
    from storyproof.scoring.single import ask as ask
    from storyproof.solvers.llm.pull import pull as pull
    from storyproof.solvers.neural.teaching import train as train

_VERBS = {
    "ask": "storyproof.scoring.single",
    "pull": "storyproof.solvers.llm.pull",
    "generate": "storyproof.datasets.generation",
    "verify": "storyproof.audits.verification",
    "train": "storyproof.solvers.neural.teaching",
    "evaluate": "storyproof.scoring.evaluation",
    "experiment": "storyproof.experiments.experimenting",
    "audit": "storyproof.audits.auditing",
    "process": "storyproof.datasets.processing",
    "compare": "storyproof.scoring.comparison",
    "rescore": "storyproof.scoring.rescoring",
    "show": "storyproof.report.timeline",
}
__all__ = [
    "__version__",
    "ask",
    "audit",
    "compare",
    "evaluate",
    "experiment",
    "generate",
    "process",
    "pull",
    "rescore",
    "show",
    "train",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _VERBS:
        return getattr(import_module(_VERBS[name]), name)
    raise AttributeError(f"module 'storyproof' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
