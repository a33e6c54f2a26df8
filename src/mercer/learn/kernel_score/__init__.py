"""The score of kernel ridge regression, out of fold."""
