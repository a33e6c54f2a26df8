"""Hashes of keys, strings and rows."""
