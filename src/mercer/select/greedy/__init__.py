"""Greedy selection: forward selection and matching pursuit for any loss."""
