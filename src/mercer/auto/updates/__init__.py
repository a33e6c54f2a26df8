"""Rows that come and go: statistics that a model keeps of its rows, to add rows to them and to take rows away."""
