"""Imports NumPy and Arrow without what the processes of commands do not use.

Arrow imports pandas, if it is installed, at its first conversion of a list: a third of a second for each process. And
NumPy starts a thread for each core, for products of large matrices, and Arrow one that gives memory back. A process
with one thread can be copied, which is how workers begin with all imports done.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from typing import Any

_BLAS_THREADS = "OPENBLAS_NUM_THREADS"
_ARROW_POOL = "JE_ARROW_MALLOC_CONF"
_TRIMMED_FROM, _LEAST_MAPPED = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
_LARGEST = 32 << 20  # bytes, of M_MMAP_THRESHOLD


def import_arrow_alone() -> None:
    """Import NumPy with one thread, and Arrow without pandas, which it then imports only for frames.

    For processes that are storyproof's own. Elsewhere Arrow must know of pandas, since programs may pass it frames.
    """
    os.environ.setdefault(_ARROW_POOL, "background_thread:false")  # of a pool that is not used here, see below
    with one_blas_thread():
        import numpy as np  # noqa: F401
    import pyarrow as pa

    _keep_memory(pa)
    if "pandas" in sys.modules:
        return
    absence = _NoPandas()
    sys.meta_path.insert(0, absence)
    try:
        pa.array([0])  # here Arrow looks for pandas, once
    finally:
        sys.meta_path.remove(absence)


def _keep_memory(arrow: Any) -> None:
    """Keep memory that is freed for the next block, where C's library allows that (glibc).

    Otherwise every large array is handed back to the system, which clears the memory before it gives it out again: a
    seventh of the time it takes to generate. No more is held than was needed at once.
    """
    if not sys.platform.startswith("linux"):
        return
    with suppress(AttributeError, OSError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        if mallopt(_LEAST_MAPPED, _LARGEST) and mallopt(_TRIMMED_FROM, _LARGEST << 5):
            arrow.set_memory_pool(arrow.system_memory_pool())  # Arrow's own would give memory back, too


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
