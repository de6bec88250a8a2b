"""Two small generators for tests of audits, and for their measure on mutants. Both are right.

Each draws a story with a question, and has a tracker that reads the text, from which its answers follow.
"""
