"""Datasets: folders of splits with a manifest, generated, found, read and processed."""

from storyproof.datasets.examples import complete, iterate_examples, read_examples
from storyproof.datasets.reading import Source, find_source, find_sources

__all__ = ["Source", "complete", "find_source", "find_sources", "iterate_examples", "read_examples"]
