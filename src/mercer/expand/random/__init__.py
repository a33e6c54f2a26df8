"""Random features and sketches of kernels."""
