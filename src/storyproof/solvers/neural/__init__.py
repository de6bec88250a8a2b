"""The classical models: plain PyTorch modules, trained many runs at once.

What came before them is in the CLUTRR and ToMi papers; what is new here is that all runs of a model train as one.
"""

from __future__ import annotations

from importlib.util import find_spec

from storyproof.errors import ConfigError

for _package in ("torch", "safetensors"):
    if find_spec(_package) is None:
        raise ConfigError(f"models need the package '{_package}'; pip install 'storyproof[models]' brings it.")
