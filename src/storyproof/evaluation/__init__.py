"""How good answers are.

The verbs stand here (`evaluation`, `single`, `comparison`, `rescoring`), beside what looks at several runs
(`sensitivity`, `twins`) and the figures that all share (`metrics`, `intervals`, `permutation`). `runs` is what a run is
made of; `matching` judges replies by their words.
"""
