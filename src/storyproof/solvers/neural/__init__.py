"""The classical models of the CLUTRR and ToMi papers, in four parts.

`data` turns text into arrays; `models` has one model per file; `training_loop` trains many runs of a model at once;
`checkpoint` keeps a training so that it can be resumed, and `saved_runs` keeps its result. The verb is `train`, and
`solver` answers with trained runs.
"""

from __future__ import annotations

from importlib.util import find_spec

from storyproof.errors import ConfigError
from storyproof.solvers.neural.models import MODELS
from storyproof.solvers.training_settings import Settings

__all__ = ["MODELS", "Settings"]

for _package in ("torch", "safetensors"):
    if find_spec(_package) is None:
        raise ConfigError(
            f"models need the package '{_package}', which is not installed; install it with: "
            "pip install 'storyproof[models]'."
        )
