"""Least squares and classification losses with l1 penalties and constraints."""
