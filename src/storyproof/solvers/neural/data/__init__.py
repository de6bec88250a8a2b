"""From text to arrays: vocabularies, encoded examples, batches, permuted words and pretrained vectors."""

from __future__ import annotations
