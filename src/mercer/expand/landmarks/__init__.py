"""Landmarks: similarities to chosen rows, and the Nystrom approximation."""
