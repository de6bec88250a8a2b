"""Measure how well data can be answered without the reasoning that they claim to test."""
