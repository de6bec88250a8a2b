"""The explorer: a local web page on which stories are made, edited, proved, stepped through and put to models."""

__all__ = ["app", "serve"]
