"""Where work is done: in this process, in worker processes (`processes`), or on a cluster (`ray`).

Commands divide their work into items (blocks, shards, files) and pass them to an engine, which is chosen by name.
"""

from storyproof.engines.engine import Engine, in_order, make_engine

__all__ = ["Engine", "in_order", "make_engine"]
