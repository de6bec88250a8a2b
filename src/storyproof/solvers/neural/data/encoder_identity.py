"""Which pretrained encoder a folder contains: a digest of its files, independent of the path.

A module of its own, so that experiments can be planned without loading PyTorch.
"""

from __future__ import annotations

import hashlib
from fnmatch import fnmatch
from pathlib import Path

from storyproof.errors import ConfigError

# the files that determine an encoder's vectors; a README, a cache or settings of other libraries do not
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


def check_encoder(encoder: str) -> None:
    """Check that there is a model if the name can only be a folder; names on the hub are `name` or `owner/name`.

    Raises:
        ConfigError: If there is no model.
    """
    path = Path(encoder)
    spelt = path.exists() or path.is_absolute() or encoder[:1] in ".~" or encoder[-1:] == "/"
    within = len(path.parts) > 2 or (len(path.parts) == 2 and path.parent.is_dir())
    if (spelt or within) and not (path / "config.json").is_file():
        why = "has no config.json" if path.is_dir() else "is not a folder"
        raise ConfigError(f"--encoder is {encoder}, which {why}; give a folder with a model in Hugging Face format.")


def encoder_identity(name: str | Path) -> str:
    """Return a digest of an encoder's configuration, vocabulary and weights; the name itself if it is not a folder.

    Raises:
        ConfigError: If a file of the folder cannot be read.
    """
    folder = Path(name)
    if not folder.is_dir():
        return str(name)
    digest = hashlib.sha256()
    try:
        for path in sorted(folder.iterdir(), key=lambda path: path.name):
            if any(fnmatch(path.name, pattern) for pattern in _DECISIVE) and path.is_file():
                with path.open("rb") as file:
                    content = hashlib.file_digest(file, "sha256")
                digest.update(f"{path.name} {content.hexdigest()}\n".encode())
    except OSError as error:
        raise ConfigError(f"the encoder in {folder} cannot be read: {error}; give --encoder another folder.") from error
    return digest.hexdigest()
