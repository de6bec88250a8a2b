"""Which pretrained encoder a folder holds, told by its files: wherever it lies, and however its path is spelt.

A module of its own, so that it can be asked without loading PyTorch.
"""

from __future__ import annotations

import hashlib
from fnmatch import fnmatch
from pathlib import Path

from storyproof.errors import ConfigError

# what decides an encoder's vectors; a README, a cache or another library's settings do not
_DECISIVE = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.*",
    "merges.txt",
    "*.model",
    "*.safetensors",
    "*.safetensors.index.json",
    "pytorch_model*.bin",
    "pytorch_model*.bin.index.json",
)


def encoder_identity(name: str | Path) -> str:
    """Give a digest of an encoder's configuration, vocabulary and weights; of what is no folder, its name.

    Raises:
        ConfigError: If a file of the folder cannot be read.
    """
    folder = Path(name)
    if not folder.is_dir():
        return str(name)
    found = hashlib.sha256()
    try:
        for path in sorted(folder.iterdir(), key=lambda path: path.name):
            if any(fnmatch(path.name, pattern) for pattern in _DECISIVE) and path.is_file():
                with path.open("rb") as file:
                    content = hashlib.file_digest(file, "sha256")
                found.update(f"{path.name} {content.hexdigest()}\n".encode())
    except OSError as error:
        raise ConfigError(f"the encoder in {folder} cannot be read: {error}; give --encoder another folder.") from error
    return found.hexdigest()
