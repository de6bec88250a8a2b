"""Beliefs of any order in stories with secrets, messages and lies (docs/decisions/0019-nested-beliefs.md)."""
