"""N-grams of text, and kernels of sequences."""
