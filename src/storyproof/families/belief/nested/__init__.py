"""Beliefs of any order in stories with secrets, messages and lies (docs/decisions/0021-nested-beliefs.md)."""
