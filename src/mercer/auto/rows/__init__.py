"""Training rows: encoded columns, targets, weights."""
