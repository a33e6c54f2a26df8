"""Ridge regression: Gram matrices, penalty paths, blocks of columns."""
