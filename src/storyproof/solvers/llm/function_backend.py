"""Python functions as models: `module:function`, `file.py:function` or a function itself, from a prompt to a reply."""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any
from uuid import uuid4

from storyproof.errors import ConfigError, quoted, shorten
from storyproof.io.bounded_input import open_file
from storyproof.solvers.llm.backend import KeyedReply, KeyedRequest
from storyproof.solvers.llm.messages import Reply


def load_function(name: str, what: str = "model") -> Callable[..., Any]:
    """Import a user's function, or a class or object that models may be, by `module:name` or `path/to/file.py:name`.

    Args:
        name: The name of the function.
        what: What the function is used as, for messages.

    Raises:
        ConfigError: If there is no such function.
    """
    place, _, attribute = name.rpartition(":")
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else import_module(place)
    except Exception as error:  # whatever a user's module raises while it is imported
        kind = "" if isinstance(error, ImportError | OSError) else f"{type(error).__name__}: "
        raise ConfigError(
            f"cannot import the {what} '{name}': {kind}{error}; give module:function, or path/to/file.py:function."
        ) from error
    imported: Any = getattr(module, attribute, None)
    if not callable(imported) and not callable(getattr(imported, "predict", None)):
        raise ConfigError(f"{place} has no function '{attribute}', which should be the {what}.")
    function: Callable[..., Any] = imported
    return function


class _AsWritten(SourceFileLoader):
    """Compiles what a file says now, and leaves no `__pycache__` beside a user's file."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _from_file(path: Path) -> Any:
    open_file(path).close()  # a pipe would be waited for
    name = f"storyproof_user_{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]}"
    spec = spec_from_file_location(name, path, loader=_AsWritten(name, str(path)))
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look up the module by its name
    spec.loader.exec_module(module)
    return module


class Function:
    """A function from text to text, called for one request at a time; if it raises, the request has failed.

    Args:
        name: The name of the function.
        function: The function, if it is loaded already.
        is_named: Whether it was given by name. What another function does depends on more than its file, so its
            replies are not used again by later runs.
    """

    def __init__(self, name: str, function: Callable[[str], str] | None = None, *, is_named: bool = True) -> None:
        self.name = name
        self._function = function or load_function(name)
        self._unique = {} if is_named else {"object": uuid4().hex}

    def identity(self) -> dict[str, Any]:
        """Return the name of the function and the hash of its file."""
        return {"model": self.name, "source": self._source(), **self._unique}

    def about(self) -> dict[str, Any]:
        """Return the hash of the function's file."""
        return {"backend": "function", "source_sha256": self._source()}

    def complete(self, requests: Iterable[KeyedRequest]) -> Iterator[KeyedReply]:
        """Yield what the function returns for each request."""
        for name, request in requests:
            start = time.perf_counter()
            try:
                returned: object = self._function(request.text)
            except Exception as error:
                reply = Reply("", error=shorten(f"{type(error).__name__}: {error}"))
            else:
                reply = Reply(returned) if isinstance(returned, str) else Reply("", error=_not_text(returned))
            yield name, replace(reply, seconds=time.perf_counter() - start)

    def close(self) -> None:
        """Release nothing."""

    def _source(self) -> str | None:
        try:
            file = inspect.getsourcefile(inspect.unwrap(self._function))
            return None if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()
        except (OSError, TypeError):
            return None


def _not_text(value: object) -> str:
    kind = "" if value is None else f" ({type(value).__name__})"
    return f"the function returned {quoted(value)}{kind}; expected text"
