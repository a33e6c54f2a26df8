"""One file per topic beside the plane: its controls, its panels and the Python code that reproduces them."""
