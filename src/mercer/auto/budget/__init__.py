"""Effort, time and memory of a search."""
