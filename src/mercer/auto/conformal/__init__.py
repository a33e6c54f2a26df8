"""Conformal prediction: intervals of numbers and sets of classes, calibrated on rows that models have not seen."""
