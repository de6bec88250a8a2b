"""Imports NumPy and Arrow without what the processes of commands do not use.

Arrow imports pandas, if it is installed, at its first conversion of a list: a third of a second for each process. And
NumPy starts a thread for each core, for products of large matrices.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from typing import Any

_BLAS_THREADS = "OPENBLAS_NUM_THREADS"


def import_arrow_alone() -> None:
    """Import NumPy with one thread, and Arrow without pandas, which it then imports only for frames.

    For processes that are storyproof's own. Elsewhere Arrow must know of pandas, since programs may pass it frames.
    """
    with one_blas_thread():
        import numpy as np  # noqa: F401
    import pyarrow as pa

    if "pandas" in sys.modules:
        return
    absence = _NoPandas()
    sys.meta_path.insert(0, absence)
    try:
        pa.array([0])  # here Arrow looks for pandas, once
    finally:
        sys.meta_path.remove(absence)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let NumPy start no threads if it is imported now, also by processes that are started, unless users want some."""
    given = os.environ.get(_BLAS_THREADS)
    os.environ.setdefault(_BLAS_THREADS, "1")
    try:
        yield
    finally:
        if given is None:
            os.environ.pop(_BLAS_THREADS, None)


class _NoPandas(MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
