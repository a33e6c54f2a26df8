"""Cluster features and streaming k-means."""
