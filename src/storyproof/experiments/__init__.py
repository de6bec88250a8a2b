"""The papers' tables as declared lists of runs: what to train on what, what to measure, and the papers' figures."""
