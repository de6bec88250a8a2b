"""Reports for people: tables in the terminal, the audit page, and the verb `show`."""

__all__ = ["audit_page", "audit_sections", "numbers", "runs", "show", "terminal"]
