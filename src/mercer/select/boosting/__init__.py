"""AdaBoost over stumps or columns."""
