"""Short names of models, for where there is little room: `openai/meta-llama/Llama-3.1-70B` is `Llama-3.1-70B`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def short_names(titles: Iterable[str]) -> dict[str, str]:
    """Return a short name for each title: its last part, and as many parts before it as tell it from the others.

    Example:
        >>> from storyproof.reports.model_names import short_names
        >>> list(short_names(["openai/meta-llama/Llama-3.1-70B, cot", "hf/a/gemma", "hf/b/gemma", "rules"]).values())
        ['Llama-3.1-70B, cot', 'a/gemma', 'b/gemma', 'rules']
    """
    parts = {title: _parts(title) for title in titles}
    kept = dict.fromkeys(parts, 1)
    while True:
        names = {title: "/".join(each[-kept[title] :]) for title, each in parts.items()}
        counts = Counter(names.values())
        double = [title for title in parts if counts[names[title]] > 1 and kept[title] < len(parts[title])]
        if not double:
            return names
        for title in double:
            kept[title] += 1


def _parts(title: str) -> list[str]:
    """Return the parts of a model's name; what follows it, such as the prompt, belongs to the last one."""
    model, comma, rest = title.partition(", ")
    parts = [part for part in model.split("/") if part] or [model]
    parts[-1] += comma + rest
    return parts
