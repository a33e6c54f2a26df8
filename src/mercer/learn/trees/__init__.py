"""Boosted and randomized trees, and their leaves and scores as features."""
