"""The classical models as plain PyTorch modules, one per file, and the registry that builds them by name."""

from __future__ import annotations
