"""Sparse coding, dictionary learning and image patches."""
