"""`python -m storyproof`."""

from storyproof.cli import main

main()
