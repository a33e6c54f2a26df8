"""Ridge regression with one penalty per block of features."""
