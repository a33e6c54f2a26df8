"""AdaBoost over decision stumps or columns."""
