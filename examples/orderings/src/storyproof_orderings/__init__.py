"""Who is taller than whom: a family of reasoning problems for storyproof."""
