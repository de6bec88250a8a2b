"""Studies with people: they write and review stories, or answer questions, in a browser.

The verbs of `storyproof study` are functions of these modules: `new_study` and `open_study` (`folder`), `serve_study`
(`serve`), `plan_participants` (`planning`), `export_study` (`export`), `back_up` and `restore` (`backup`).
"""
