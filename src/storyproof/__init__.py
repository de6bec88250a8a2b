"""storyproof: reasoning benchmarks with a machine-checked proof for every answer.

The verbs of the command line are functions here (`__all__` lists them). They are imported when first used, so that
`import storyproof` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from storyproof.audits.audit import audit as audit
    from storyproof.audits.verify import verify as verify
    from storyproof.datasets.generate import generate as generate
    from storyproof.datasets.process import process as process
    from storyproof.evaluation.ask import ask as ask
    from storyproof.evaluation.compare import compare as compare
    from storyproof.evaluation.evaluate import evaluate as evaluate
    from storyproof.evaluation.rescore import rescore as rescore
    from storyproof.experiments.experiment import experiment as experiment
    from storyproof.reports.draw import draw as draw
    from storyproof.reports.run_report import report as report
    from storyproof.reports.show import show as show
    from storyproof.solvers.llm.pull import pull as pull
    from storyproof.solvers.neural.train import train as train
    from storyproof.web.serve import serve as serve

_VERBS = {
    "ask": "storyproof.evaluation.ask",
    "pull": "storyproof.solvers.llm.pull",
    "generate": "storyproof.datasets.generate",
    "verify": "storyproof.audits.verify",
    "train": "storyproof.solvers.neural.train",
    "evaluate": "storyproof.evaluation.evaluate",
    "experiment": "storyproof.experiments.experiment",
    "audit": "storyproof.audits.audit",
    "process": "storyproof.datasets.process",
    "compare": "storyproof.evaluation.compare",
    "rescore": "storyproof.evaluation.rescore",
    "report": "storyproof.reports.run_report",
    "draw": "storyproof.reports.draw",
    "show": "storyproof.reports.show",
    "serve": "storyproof.web.serve",
}
__all__ = [
    "__version__",
    "ask",
    "audit",
    "compare",
    "draw",
    "evaluate",
    "experiment",
    "generate",
    "process",
    "pull",
    "report",
    "rescore",
    "serve",
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
