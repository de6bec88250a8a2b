"""Datasets: folders of splits with a manifest, generated, found, read and processed."""

from storyproof.datasets.reading import Source, complete, find_source, find_sources, iterate_examples, read_examples

__all__ = ["Source", "complete", "find_source", "find_sources", "iterate_examples", "read_examples"]
