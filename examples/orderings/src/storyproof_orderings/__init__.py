"""A family of reasoning problems for storyproof: who is taller than whom?"""
