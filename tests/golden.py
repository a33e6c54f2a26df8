"""Inputs and outputs of golden model files."""

import numpy as np

#: Outputs are compared in at most so many columns, evenly spaced.
COLUMNS = 12


def rows_of(inputs):
    """Inputs as a model takes them: numbers as an array."""
    return np.array(inputs) if isinstance(inputs, list) and isinstance(inputs[0], list) else inputs


def columns_of(output):
    """The output as an array of at most COLUMNS columns."""
    values = output.toarray() if hasattr(output, "toarray") else np.asarray(output)
    if values.ndim < 2 or values.shape[1] <= COLUMNS:
        return values
    return values[:, np.linspace(0, values.shape[1] - 1, COLUMNS).astype(int)]
