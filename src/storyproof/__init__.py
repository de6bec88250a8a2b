"""storyproof: reasoning benchmarks with a machine-checked proof for every answer.

The verbs of the command line are functions here, and so is what other tools build on: fresh stories (`stream`,
`dials`), data (`load`), prompts and verdicts (`prompt`, `judge`), and stories that can be asked (`story`). `__all__`
lists them; each has an example. They are imported when first used, so that `import storyproof` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.9.0"

if TYPE_CHECKING:
    from storyproof.audits.audit import audit as audit
    from storyproof.audits.audit import verify as verify
    from storyproof.audits.errata import apply_errata as apply_errata
    from storyproof.audits.errata import lookup_errata as lookup_errata
    from storyproof.datasets.dials import Dial as Dial
    from storyproof.datasets.dials import dials as dials
    from storyproof.datasets.generate import generate as generate
    from storyproof.datasets.load import load as load
    from storyproof.datasets.process import process as process
    from storyproof.datasets.stream import Stream as Stream
    from storyproof.datasets.stream import stream as stream
    from storyproof.errors import StoryproofError as StoryproofError
    from storyproof.evaluation.ask import ask as ask
    from storyproof.evaluation.compare import compare as compare
    from storyproof.evaluation.diagnose import diagnose as diagnose
    from storyproof.evaluation.evaluate import evaluate as evaluate
    from storyproof.evaluation.judge import ReplyVerdict as ReplyVerdict
    from storyproof.evaluation.judge import judge as judge
    from storyproof.evaluation.rescore import rescore as rescore
    from storyproof.example import Example as Example
    from storyproof.experiments.experiment import experiment as experiment
    from storyproof.families.new_family import new_family as new_family
    from storyproof.integrations import hf as hf
    from storyproof.integrations import rewards as rewards
    from storyproof.integrations.where import where as where
    from storyproof.reports.doctor import doctor as doctor
    from storyproof.reports.draw import draw as draw
    from storyproof.reports.report import report as report
    from storyproof.reports.show import show as show
    from storyproof.solvers.llm.prompt import prompt as prompt
    from storyproof.solvers.llm.pull import pull as pull
    from storyproof.solvers.neural.train import train as train
    from storyproof.stories import ProvedAnswer as ProvedAnswer
    from storyproof.stories import StoryText as StoryText
    from storyproof.stories import story as story
    from storyproof.web.serve import serve as serve

_PLACES = {
    "stream": "storyproof.datasets.stream",
    "dials": "storyproof.datasets.dials",
    "load": "storyproof.datasets.load",
    "story": "storyproof.stories",
    "prompt": "storyproof.solvers.llm.prompt",
    "judge": "storyproof.evaluation.judge",
    "ask": "storyproof.evaluation.ask",
    "pull": "storyproof.solvers.llm.pull",
    "generate": "storyproof.datasets.generate",
    "verify": "storyproof.audits.audit",
    "train": "storyproof.solvers.neural.train",
    "evaluate": "storyproof.evaluation.evaluate",
    "experiment": "storyproof.experiments.experiment",
    "audit": "storyproof.audits.audit",
    "lookup_errata": "storyproof.audits.errata",
    "apply_errata": "storyproof.audits.errata",
    "process": "storyproof.datasets.process",
    "new_family": "storyproof.families.new_family",
    "compare": "storyproof.evaluation.compare",
    "rescore": "storyproof.evaluation.rescore",
    "diagnose": "storyproof.evaluation.diagnose",
    "report": "storyproof.reports.report",
    "doctor": "storyproof.reports.doctor",
    "draw": "storyproof.reports.draw",
    "show": "storyproof.reports.show",
    "serve": "storyproof.web.serve",
    "where": "storyproof.integrations.where",
    "Dial": "storyproof.datasets.dials",
    "Example": "storyproof.example",
    "ProvedAnswer": "storyproof.stories",
    "ReplyVerdict": "storyproof.evaluation.judge",
    "StoryText": "storyproof.stories",
    "StoryproofError": "storyproof.errors",
    "Stream": "storyproof.datasets.stream",
}
__all__ = [
    "Dial",
    "Example",
    "ProvedAnswer",
    "ReplyVerdict",
    "StoryText",
    "StoryproofError",
    "Stream",
    "__version__",
    "apply_errata",
    "ask",
    "audit",
    "compare",
    "diagnose",
    "dials",
    "doctor",
    "draw",
    "evaluate",
    "experiment",
    "generate",
    "judge",
    "load",
    "lookup_errata",
    "new_family",
    "process",
    "prompt",
    "pull",
    "report",
    "rescore",
    "serve",
    "show",
    "story",
    "stream",
    "train",
    "verify",
    "where",
]

_MODULES = {  # for users of other packages, which must be installed
    "hf": "storyproof.integrations.hf",
    "rewards": "storyproof.integrations.rewards",
}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    if name in _MODULES:
        return import_module(_MODULES[name])
    raise AttributeError(f"module 'storyproof' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
