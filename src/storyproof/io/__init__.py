"""Input and output: bounded reading, whole files, locks, local and remote folders, and secrets kept out of them."""
