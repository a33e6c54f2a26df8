"""Trigonometric, Hadamard, hashed and monomial maps of rows."""
