"""Diagnostics of a fitted model on held-out rows, as plain values: the sections of a report."""
