"""Mercer."""
