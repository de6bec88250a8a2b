"""From text to arrays: vocabularies, encoded examples, batches, permuted words and pretrained vectors."""

from __future__ import annotations

from storyproof.solvers.neural.data.encoding import Encoded, encode
from storyproof.solvers.neural.data.vocabulary import TokenVocabulary, learn_vocabulary

__all__ = ["Encoded", "TokenVocabulary", "encode", "learn_vocabulary"]
