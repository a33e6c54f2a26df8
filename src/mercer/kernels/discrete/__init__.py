"""Kernels on sets, sequences and trees."""
