"""Decisions between classes: costs, weights of classes, thresholds, and scorers of scikit-learn."""
