"""How people read the identifiers of data: question types, story types and other names; files keep the identifiers."""

from __future__ import annotations

import re

_WORD_JOINT = re.compile(r"(?<=[^\W\d_])_(?=[^\W\d_])")
_BELIEF = re.compile(r"(?P<kind>\w+?)(?:_(?P<agent>\d+))?_(?P<true>no_)?tom")
_TASK = re.compile(r"task_(?P<task>\d+)\.(?P<k>\d+)")


def display_name(name: str) -> str:
    """Return an identifier in words.

    A question type such as `second_order_0_tom` says whether the belief is false (`tom`) or true (`no_tom`), and for
    ToMi's questions the number of the agent.

    Example:
        >>> from storyproof.language.display_names import display_name
        >>> display_name("second_order_0_tom"), display_name("task_1.3"), display_name("second_order_false_belief")
        ('second order, false belief (agent 0)', 'task 1, k = 3', 'second-order false belief')
    """
    if task := _TASK.fullmatch(name):
        return f"task {task['task']}, k = {task['k']}"
    if belief := _BELIEF.fullmatch(name):
        agent = f" (agent {belief['agent']})" if belief["agent"] else ""
        return f"{display_name(belief['kind'])}, {'true' if belief['true'] else 'false'} belief{agent}"
    return re.sub(r"^(\w+)_order(?=_\w)", r"\1-order", name).replace("_", " ").replace("+", ", ")


def spaced(text: str) -> str:
    """Return a text of data with spaces in words that are written as one, such as `filing_cabinet`."""
    return _WORD_JOINT.sub(" ", text)
