"""Tasks for lm-evaluation-harness.

`lm_eval --include_path $(storyproof doctor --where lm-eval) --tasks storyproof_tomi` runs one.

The YAML files beside this one are the tasks: for every benchmark one by generation and one by log-likelihood over the
candidates. `make docs` writes them (`files`); what they call is in `tasks`.
"""
